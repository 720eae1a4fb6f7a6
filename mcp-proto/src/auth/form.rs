//! Writing and reading of `application/x-www-form-urlencoded` text.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

use crate::secret::Secret;

/// The maximum number of pairs that [`parse`] reads.
const PAIRS_MAX: usize = 64;

/// A form under construction, which may hold secrets.
pub(super) struct Form<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Form<'a> {
    pub(super) const fn new() -> Self {
        Self(Vec::new())
    }

    pub(super) fn push(&mut self, name: &'a str, value: &'a str) {
        self.0.push((name, value));
    }

    /// Adds a pair unless `value` is `None`.
    pub(super) fn push_some(&mut self, name: &'a str, value: Option<&'a str>) {
        self.0.extend(value.map(|value| (name, value)));
    }

    /// Writes the form after `prefix`.
    pub(super) fn encode(&self, prefix: &str) -> Secret {
        // Enough room for every byte as `%XX`: growing would leave copies of secrets in memory.
        let pair = |(name, value): &(&str, &str)| 3 * (name.len() + value.len()) + 2;
        let mut out = String::with_capacity(prefix.len() + self.0.iter().map(pair).sum::<usize>());
        out.push_str(prefix);
        for (index, (name, value)) in self.0.iter().enumerate() {
            if index > 0 {
                out.push('&');
            }
            encode_into(&mut out, name);
            out.push('=');
            encode_into(&mut out, value);
        }
        Secret::new(out)
    }
}

/// Appends text in form encoding.
pub(super) fn encode_into(out: &mut String, text: &str) {
    const HEX: [char; 16] =
        ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F'];
    let digit = |value: u8| HEX.get(usize::from(value & 15)).copied().unwrap_or('0');
    for byte in text.bytes() {
        match byte {
            b' ' => out.push('+'),
            b'*' | b'-' | b'.' | b'_' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => {
                out.push(char::from(byte));
            }
            _ => out.extend(['%', digit(byte >> 4), digit(byte)]),
        }
    }
}

/// Reads a form: names and values in order. Empty pairs, as in `a=1&&b=2`, are skipped.
///
/// Returns `None` for more than [`PAIRS_MAX`] pairs, an incomplete `%XX`, and text that does not
/// decode to UTF-8.
pub(super) fn parse(text: &str) -> Option<Vec<(Cow<'_, str>, Cow<'_, str>)>> {
    let mut pairs = Vec::new();
    for pair in text.split('&').filter(|pair| !pair.is_empty()) {
        if pairs.len() == PAIRS_MAX {
            return None;
        }
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        pairs.push((decode(name)?, decode(value)?));
    }
    Some(pairs)
}

fn decode(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains(['%', '+']) {
        return Some(Cow::Borrowed(text));
    }
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        out.push(match byte {
            b'+' => b' ',
            b'%' => {
                let mut digit = || char::from(bytes.next()?).to_digit(16);
                let (high, low) = (digit()?, digit()?);
                u8::try_from(high << 4 | low).ok()?
            }
            _ => byte,
        });
    }
    String::from_utf8(out).ok().map(Cow::Owned)
}

#[cfg(test)]
mod tests;
