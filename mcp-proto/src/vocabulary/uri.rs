//! The characters of URIs, and the form that equivalent spellings of a URI share.

use alloc::borrow::Cow;
use alloc::string::String;

/// One character of a URI, decoded, and whether it was percent-encoded.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct UriChar {
    pub(crate) char: char,
    pub(crate) encoded: bool,
}

/// Removes the first character from `text`. Returns `None` at the end and for an invalid `%`
/// sequence.
pub(crate) fn pop_front(text: &mut &str) -> Option<UriChar> {
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
pub(crate) fn pop_encoded_byte(text: &mut &str) -> Option<u8> {
    let mut digits = text.strip_prefix('%')?.chars();
    let high = digits.next()?.to_digit(16)?;
    let low = digits.next()?.to_digit(16)?;
    *text = digits.as_str();
    u8::try_from(high * 16 + low).ok()
}

/// Returns the form of `uri` that all its equivalent spellings share, to compare URIs.
///
/// Only reserved characters and `%` stay percent-encoded, with digits in upper case.
///
/// A URI with an invalid `%` sequence has no equivalent spelling and is returned unchanged.
pub(crate) fn normalize(uri: &str) -> Cow<'_, str> {
    let is_encoded = memchr::memchr(b'%', uri.as_bytes()).is_some();
    is_encoded.then(|| normalize_encoded(uri)).flatten().map_or(Cow::Borrowed(uri), Cow::Owned)
}

fn normalize_encoded(mut uri: &str) -> Option<String> {
    let mut out = String::with_capacity(uri.len());
    while !uri.is_empty() {
        let UriChar { char, encoded } = pop_front(&mut uri)?;
        if encoded && (is_reserved(char) || char == '%') {
            write_encoded(char, &mut out);
        } else {
            out.push(char);
        }
    }
    Some(out)
}

pub(crate) fn write_encoded(char: char, out: &mut String) {
    for byte in char.encode_utf8(&mut [0; 4]).bytes() {
        out.push('%');
        out.push(hex_digit(byte >> 4));
        out.push(hex_digit(byte & 15));
    }
}

fn hex_digit(nibble: u8) -> char {
    char::from_digit(nibble.into(), 16).unwrap_or('0').to_ascii_uppercase()
}

pub(crate) fn is_reserved(char: char) -> bool {
    ":/?#[]@!$&'()*+,;=".contains(char)
}
