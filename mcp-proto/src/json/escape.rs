//! Unescaping of JSON strings and keys.

use alloc::borrow::Cow;
use alloc::string::String;

/// Returns the text of a validated JSON string with quotes, or `None` if the value is not a string.
pub(crate) fn unescape(quoted: &[u8]) -> Option<Cow<'_, str>> {
    let inner = quoted.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    core::str::from_utf8(inner).ok().map(unescape_text)
}

/// Returns the text of a validated key without quotes.
pub(crate) fn unescape_key(key: &[u8]) -> Cow<'_, str> {
    unescape_text(core::str::from_utf8(key).unwrap_or_default())
}

/// Undoes the escapes in the content of a string, or of all strings in a JSON text.
pub(crate) fn unescape_text(inner: &str) -> Cow<'_, str> {
    if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
        return Cow::Borrowed(inner);
    }
    Cow::Owned(unescape_some(inner))
}

/// Unescapes the content of a validated string that has escapes.
pub(super) fn unescape_some(inner: &str) -> String {
    let mut text = String::with_capacity(inner.len());
    let mut rest = inner;
    // Copy the text between escapes as a whole.
    while let Some((before, from)) = split_at_escape(rest) {
        text.push_str(before);
        // All escapes but `\u` consist of a backslash and one letter.
        if let Some(char) = from.as_bytes().get(1).and_then(|letter| short_escape(*letter)) {
            text.push(char);
            rest = from.get(2..).unwrap_or_default();
        } else {
            let mut escaped = Unescape { rest: from };
            text.extend(escaped.next());
            rest = escaped.rest;
        }
    }
    text.push_str(rest);
    text
}

fn split_at_escape(text: &str) -> Option<(&str, &str)> {
    text.split_at_checked(memchr::memchr(b'\\', text.as_bytes())?)
}

fn short_escape(letter: u8) -> Option<char> {
    Some(match letter {
        b'"' | b'\\' | b'/' => char::from(letter),
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        _ => return None,
    })
}

/// Returns whether a validated key, without quotes and still escaped, equals `name`.
#[inline]
pub(crate) fn key_is(key: &[u8], name: &str) -> bool {
    // Most keys differ in their first byte.
    let differs = |first: &u8| *first != b'\\' && name.as_bytes().first() != Some(first);
    !key.first().is_some_and(differs) && is_spelling_of(key, name)
}

fn is_spelling_of(key: &[u8], name: &str) -> bool {
    // An escape is longer than the character it denotes.
    let may_be = if key.len() > name.len() { key.contains(&b'\\') } else { key == name.as_bytes() };
    if !may_be || !key.contains(&b'\\') {
        return may_be;
    }
    core::str::from_utf8(key).is_ok_and(|key| Unescape { rest: key }.eq(name.chars()))
}

/// An iterator over the characters of a validated string's content.
struct Unescape<'a> {
    rest: &'a str,
}

impl Unescape<'_> {
    fn take(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let first = chars.next()?;
        self.rest = chars.as_str();
        Some(first)
    }

    fn unit(&mut self) -> u32 {
        (0..4).fold(0, |unit, _| {
            unit * 16 + self.take().and_then(|digit| digit.to_digit(16)).unwrap_or(0)
        })
    }

    /// Consumes the low surrogate after `high` and returns the code of the pair. Returns `high` if
    /// there is none.
    fn pair(&mut self, high: u32) -> u32 {
        let mut after = Self { rest: self.rest.strip_prefix("\\u").unwrap_or_default() };
        let low = after.unit();
        if !(0xDC00..0xE000).contains(&low) {
            return high;
        }
        self.rest = after.rest;
        0x1_0000 + ((high & 0x3FF) << 10) + (low & 0x3FF)
    }
}

impl Iterator for Unescape<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        let first = self.take()?;
        if first != '\\' {
            return Some(first);
        }
        let second = self.take()?;
        Some(match second {
            'u' => {
                let unit = self.unit();
                // A surrogate without its other half has no character.
                let code = if (0xD800..0xDC00).contains(&unit) { self.pair(unit) } else { unit };
                char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            _ => u8::try_from(second).ok().and_then(short_escape).unwrap_or(second),
        })
    }
}

#[cfg(test)]
mod tests;
