//! Text of a peer for errors and logs: one line without anything that controls a terminal.

use alloc::string::String;

/// Returns the first `chars_max` characters of a peer's text, safe for terminals and logs.
///
/// The result is one line. Escape sequences of terminals, other control characters and characters
/// that change the direction of text are removed; white space becomes single spaces, and bytes that
/// are not UTF-8 become U+FFFD. A text that was shortened ends with `…`.
///
/// ```
/// use mcp_proto::printable;
///
/// let usage = b"\x1b[31mUsage:\x1b[0m\r\n  server [port]\n";
/// assert_eq!(printable(usage, 99), "Usage: server [port]");
/// assert_eq!(printable("to\u{202e}ken=abc".as_bytes(), 4), "toke…");
/// ```
#[must_use]
pub fn printable(text: &[u8], chars_max: usize) -> String {
    let (mut out, mut count, mut is_space_due) = (String::new(), 0, false);
    // Most of a long text is not looked at: four bytes are the longest character.
    let is_cut = text.len() > chars_max.saturating_mul(SCANNED_BYTES_PER_CHAR);
    let scanned = text.get(..chars_max.saturating_mul(SCANNED_BYTES_PER_CHAR)).unwrap_or(text);
    let text = String::from_utf8_lossy(scanned);
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        match char {
            '\u{1b}' => skip_sequence(&mut chars),
            // The control sequence introducer in one character.
            '\u{9b}' => skip_parameters(&mut chars),
            // UTF-16 text has a NUL beside each ASCII character.
            '\0' => {}
            _ if is_invisible(char) => {}
            _ if char.is_whitespace() || char.is_control() => is_space_due = count > 0,
            _ => {
                let space = usize::from(is_space_due);
                if count + space >= chars_max {
                    out.push('…');
                    return out;
                }
                if is_space_due {
                    out.push(' ');
                }
                out.push(char);
                (count, is_space_due) = (count + space + 1, false);
            }
        }
    }
    if is_cut {
        out.push('…');
    }
    out
}

/// How many bytes are searched for each printed character.
const SCANNED_BYTES_PER_CHAR: usize = 16;

/// Skips the rest of an escape sequence of a terminal (ECMA-48).
fn skip_sequence(chars: &mut core::str::Chars<'_>) {
    match chars.next() {
        Some('[') => skip_parameters(chars),
        // A command with text, which ends with BEL or with another escape sequence.
        Some(']' | 'P' | 'X' | '^' | '_') => {
            let mut ahead = chars.clone();
            while let Some(char) = ahead.next() {
                if matches!(char, '\u{7}' | '\u{1b}') {
                    if char == '\u{1b}' {
                        ahead.next();
                    }
                    *chars = ahead;
                    return;
                }
            }
        }
        _ => {}
    }
}

fn skip_parameters(chars: &mut core::str::Chars<'_>) {
    while chars.as_str().starts_with(|char| matches!(char, ' '..='?')) {
        chars.next();
    }
    if chars.as_str().starts_with(|char| matches!(char, '@'..='~')) {
        chars.next();
    }
}

/// Returns whether a character has no width or changes the direction of text.
const fn is_invisible(char: char) -> bool {
    matches!(
        char,
        '\u{ad}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_controls_a_terminal_remains() {
        for (text, printed) in [
            ("a\x1b[2J\x1b[1;31mb\x1b[0m", "ab"),
            ("a\x1b]0;title\x07b\x1b]8;;http://x\x1b\\c", "abc"),
            ("a\u{9b}31mb\x1bcd", "abd"),
            ("a\x1b]no end", "ano end"),
            ("\r\n a\tb\u{2028}c\u{85}d\r", "a b c d"),
            ("a\x08\x7f\u{80}b", "a b"),
            ("a\u{202e}b\u{2066}c\u{200f}\u{61c}\u{feff}\u{e0041}", "abc"),
            ("{\0\"\0a\0", "{\"a"),
            ("größe 😀", "größe 😀"),
            ("", ""),
        ] {
            assert_eq!(printable(text.as_bytes(), 99), printed, "{text:?}");
        }
        assert_eq!(printable(b"\xff\xfe{\0}\0", 99), "\u{fffd}\u{fffd}{}");
    }

    #[test]
    fn the_length_is_bounded() {
        assert_eq!(printable(b"abcd", 4), "abcd");
        assert_eq!(printable(b"abcde", 4), "abcd…");
        assert_eq!(printable(b"abc  d", 4), "abc…");
        assert_eq!(printable("é".repeat(99).as_bytes(), 2), "éé…");
        assert_eq!(printable(&[b' '; 99], 2), "…");
        assert_eq!(printable(b"abc", 0), "…");
    }
}
