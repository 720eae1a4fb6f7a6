//! URI characters in templates: how they match and are percent-encoded.

use alloc::string::String;

pub(super) use crate::vocabulary::uri::{UriChar, is_reserved, pop_front};
use crate::vocabulary::uri::{pop_encoded_byte, write_encoded};

impl UriChar {
    /// Returns whether two characters of URIs are equal. Whether they are encoded matters only if
    /// they are reserved.
    // RFC 3986, section 6.2.2.2.
    pub(super) fn matches(self, other: Self) -> bool {
        self.char == other.char && (self.encoded == other.encoded || !is_reserved(self.char))
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

/// Returns a URI in which only `%` stays percent-encoded, so that spellings that differ in how they
/// write reserved characters are equal. `None` if a `%` sequence is invalid.
pub(in crate::catalog) fn with_reserved_decoded(mut uri: &str) -> Option<String> {
    let mut out = String::with_capacity(uri.len());
    while !uri.is_empty() {
        match pop_front(&mut uri)? {
            UriChar { char: '%', encoded: true } => out.push_str("%25"),
            UriChar { char, .. } => out.push(char),
        }
    }
    Some(out)
}

/// Returns whether a URI contains percent-encoded reserved characters.
pub(in crate::catalog) fn encodes_reserved(mut uri: &str) -> bool {
    while let Some(UriChar { char, encoded }) = pop_front(&mut uri) {
        if encoded && is_reserved(char) {
            return true;
        }
    }
    false
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

pub(super) fn is_unreserved(char: char) -> bool {
    char.is_ascii_alphanumeric() || matches!(char, '-' | '.' | '_' | '~')
}
