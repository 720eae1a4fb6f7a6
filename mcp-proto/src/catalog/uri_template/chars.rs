//! URI characters: classes and percent-encoding.

use alloc::string::String;

/// One character of a URI, decoded, and whether it was percent-encoded.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct UriChar {
    pub(super) char: char,
    pub(super) encoded: bool,
}

impl UriChar {
    /// Returns whether both match. Encoded and literal forms differ only for ASCII characters.
    pub(super) fn matches(self, other: Self) -> bool {
        self.char == other.char && (self.encoded == other.encoded || !self.char.is_ascii())
    }

    /// Writes the character for use in a URI; an encoded character stays encoded.
    pub(super) fn write(self, out: &mut String) {
        if !self.encoded && (is_unreserved(self.char) || is_reserved(self.char)) {
            out.push(self.char);
        } else {
            write_encoded(self.char, out);
        }
    }
}

/// Removes the first character from `text`. Returns `None` at the end and for an invalid `%`
/// sequence.
pub(super) fn pop_front(text: &mut &str) -> Option<UriChar> {
    let mut chars = text.chars();
    let char = chars.next()?;
    if char != '%' {
        *text = chars.as_str();
        return Some(UriChar { char, encoded: false });
    }
    let mut bytes = [0; 4];
    let mut rest = *text;
    let first = pop_encoded_byte(&mut rest)?;
    let length = match first {
        0..=0x7F => 1,
        0x80..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xFF => 4,
    };
    for (at, byte) in bytes.iter_mut().take(length).enumerate() {
        *byte = if at == 0 { first } else { pop_encoded_byte(&mut rest)? };
    }
    let char = core::str::from_utf8(bytes.get(..length)?).ok()?.chars().next()?;
    *text = rest;
    Some(UriChar { char, encoded: true })
}

/// Removes a percent-encoded byte, `%XX`, from the front of `text`.
fn pop_encoded_byte(text: &mut &str) -> Option<u8> {
    let mut digits = text.strip_prefix('%')?.chars();
    let high = digits.next()?.to_digit(16)?;
    let low = digits.next()?.to_digit(16)?;
    *text = digits.as_str();
    u8::try_from(high * 16 + low).ok()
}

/// Percent-decodes `encoded`; `None` if a `%` sequence is invalid.
pub(super) fn decode(mut encoded: &str) -> Option<String> {
    let mut out = String::with_capacity(encoded.len());
    while !encoded.is_empty() {
        out.push(pop_front(&mut encoded)?.char);
    }
    Some(out)
}

/// Percent-encodes all but unreserved characters; with `reserved`, reserved characters and
/// percent-encoded triples are copied, too.
pub(super) fn encode(mut text: &str, reserved: bool, out: &mut String) {
    while let Some(char) = text.chars().next() {
        let before = text;
        let mut rest = text;
        if reserved && pop_encoded_byte(&mut rest).is_some() {
            text = rest;
            out.extend(before.chars().take(3));
            continue;
        }
        text = before.strip_prefix(char).unwrap_or_default();
        if is_unreserved(char) || reserved && is_reserved(char) {
            out.push(char);
        } else {
            write_encoded(char, out);
        }
    }
}

fn write_encoded(char: char, out: &mut String) {
    for byte in char.encode_utf8(&mut [0; 4]).bytes() {
        out.push('%');
        out.push(hex_digit(byte >> 4));
        out.push(hex_digit(byte & 15));
    }
}

fn hex_digit(nibble: u8) -> char {
    char::from_digit(nibble.into(), 16).unwrap_or('0').to_ascii_uppercase()
}

pub(super) fn is_unreserved(char: char) -> bool {
    char.is_ascii_alphanumeric() || matches!(char, '-' | '.' | '_' | '~')
}

pub(super) fn is_reserved(char: char) -> bool {
    ":/?#[]@!$&'()*+,;=".contains(char)
}
