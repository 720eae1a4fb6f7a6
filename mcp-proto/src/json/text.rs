//! JSON strings: what their escapes say; knows nothing of where strings come from.

use alloc::borrow::Cow;
use alloc::string::String;

/// The text of a checked JSON string, which comes with its quotes; `None` when it is not a string.
pub(crate) fn unescape(quoted: &[u8]) -> Option<Cow<'_, str>> {
    let inner = quoted.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    core::str::from_utf8(inner).ok().map(unescape_text)
}

/// The text of a checked key, which comes without its quotes.
pub(crate) fn unescape_key(key: &[u8]) -> Cow<'_, str> {
    unescape_text(core::str::from_utf8(key).unwrap_or_default())
}

fn unescape_text(inner: &str) -> Cow<'_, str> {
    if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
        return Cow::Borrowed(inner);
    }
    let mut text = String::with_capacity(inner.len());
    let mut escaped = Unescape { rest: inner };
    // What lies between escapes is copied as it is.
    while let Some(plain) = memchr::memchr(b'\\', escaped.rest.as_bytes()) {
        let (before, from) = escaped.rest.split_at_checked(plain).unwrap_or_default();
        text.push_str(before);
        escaped.rest = from;
        text.extend(escaped.next());
    }
    text.push_str(escaped.rest);
    Cow::Owned(text)
}

/// Whether a checked key, without its quotes and still escaped, is `name`.
pub(crate) fn key_is(key: &[u8], name: &str) -> bool {
    // An escape is longer than what it stands for.
    let may_be = if key.len() > name.len() { key.contains(&b'\\') } else { key == name.as_bytes() };
    if !may_be || !key.contains(&b'\\') {
        return may_be;
    }
    core::str::from_utf8(key).is_ok_and(|key| Unescape { rest: key }.eq(name.chars()))
}

/// The characters of a checked string's inside.
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
        (0..4).fold(0, |unit, _| unit * 16 + self.take().and_then(|digit| digit.to_digit(16)).unwrap_or(0))
    }
}

impl Iterator for Unescape<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        let first = self.take()?;
        if first != '\\' {
            return Some(first);
        }
        Some(match self.take()? {
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let high = self.unit();
                let code = if (0xD800..0xDC00).contains(&high) {
                    self.take();
                    self.take();
                    0x1_0000 + ((high & 0x3FF) << 10) + (self.unit() & 0x3FF)
                } else {
                    high
                };
                char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            plain => plain,
        })
    }
}

#[cfg(test)]
mod tests;
