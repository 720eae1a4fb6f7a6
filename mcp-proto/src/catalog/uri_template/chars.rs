//! The characters of URIs: which are which, and how they stand percent-encoded.

use alloc::string::String;

/// One character of a URI, and whether it stood percent-encoded.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct UriChar {
    pub(super) char: char,
    pub(super) encoded: bool,
}

impl UriChar {
    /// Whether both mean the same. Only in ASCII does it matter how a character is written.
    pub(super) fn is(self, other: Self) -> bool {
        self.char == other.char && (self.encoded == other.encoded || !self.char.is_ascii())
    }

    /// Writes the character as it stands in URIs: what stood encoded stays so.
    pub(super) fn write(self, out: &mut String) {
        if !self.encoded && (is_unreserved(self.char) || is_reserved(self.char)) {
            out.push(self.char);
        } else {
            percent(self.char, out);
        }
    }
}

/// Takes the first character of `text`; what is left is cut off. `None` at the end, and for a `%`
/// that encodes none.
pub(super) fn take(text: &mut &str) -> Option<UriChar> {
    let mut chars = text.chars();
    let char = chars.next()?;
    if char != '%' {
        *text = chars.as_str();
        return Some(UriChar { char, encoded: false });
    }
    let mut bytes = [0; 4];
    let mut rest = *text;
    let first = triple(&mut rest)?;
    let length = match first {
        0..=0x7F => 1,
        0x80..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xFF => 4,
    };
    for (at, byte) in bytes.iter_mut().take(length).enumerate() {
        *byte = if at == 0 { first } else { triple(&mut rest)? };
    }
    let char = core::str::from_utf8(bytes.get(..length)?).ok()?.chars().next()?;
    *text = rest;
    Some(UriChar { char, encoded: true })
}

/// Takes `%XX`.
fn triple(text: &mut &str) -> Option<u8> {
    let mut digits = text.strip_prefix('%')?.chars();
    let high = digits.next()?.to_digit(16)?;
    let low = digits.next()?.to_digit(16)?;
    *text = digits.as_str();
    u8::try_from(high * 16 + low).ok()
}

/// The text that `encoded` stands for; `None` when a `%` in it encodes nothing.
pub(super) fn decode(mut encoded: &str) -> Option<String> {
    let mut out = String::with_capacity(encoded.len());
    while !encoded.is_empty() {
        out.push(take(&mut encoded)?.char);
    }
    Some(out)
}

/// Writes `text` percent-encoded, but for what is unreserved; with `reserved`, also but for what is
/// reserved or encoded already.
pub(super) fn encode(mut text: &str, reserved: bool, out: &mut String) {
    while let Some(char) = text.chars().next() {
        let before = text;
        let mut rest = text;
        if reserved && triple(&mut rest).is_some() {
            text = rest;
            out.extend(before.chars().take(3));
            continue;
        }
        text = before.strip_prefix(char).unwrap_or_default();
        if is_unreserved(char) || reserved && is_reserved(char) {
            out.push(char);
        } else {
            percent(char, out);
        }
    }
}

fn percent(char: char, out: &mut String) {
    for byte in char.encode_utf8(&mut [0; 4]).bytes() {
        out.push('%');
        out.push(digit(byte >> 4));
        out.push(digit(byte & 15));
    }
}

fn digit(half: u8) -> char {
    char::from_digit(half.into(), 16).unwrap_or('0').to_ascii_uppercase()
}

pub(super) fn is_unreserved(char: char) -> bool {
    char.is_ascii_alphanumeric() || matches!(char, '-' | '.' | '_' | '~')
}

pub(super) fn is_reserved(char: char) -> bool {
    ":/?#[]@!$&'()*+,;=".contains(char)
}
