//! Strict reading of JSON documents from servers and storage.

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::fmt;

use super::limits::AuthLimits;
use crate::json::{Cursor, elements, key_is, members, unescape, unsigned};
use crate::secret::Secret;

/// A validated JSON object. A member that is `null` counts as absent.
#[derive(Clone, Copy)]
pub(super) struct Document<'a>(&'a [u8]);

/// Why a document cannot be read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum InvalidDocument {
    /// The document exceeds its limit.
    Length,
    /// The document is not one JSON object in UTF-8 within the maximum depth.
    Json,
    /// A member is missing, repeated, or of the wrong type.
    Member(&'static str),
}

type Read<T> = Result<T, InvalidDocument>;

impl<'a> Document<'a> {
    /// Validates a document of at most `bytes_max` bytes.
    pub(super) fn parse(bytes: &'a [u8], bytes_max: usize, limits: &AuthLimits) -> Read<Self> {
        if bytes.len() > bytes_max {
            return Err(InvalidDocument::Length);
        }
        let text = core::str::from_utf8(bytes).map_err(|_| InvalidDocument::Json)?;
        let mut cursor = Cursor::new(text, limits.depth_max);
        let value = cursor.value().map_err(|_| InvalidDocument::Json)?;
        cursor.finish().map_err(|_| InvalidDocument::Json)?;
        if value.first() == Some(&b'{') { Ok(Self(value)) } else { Err(InvalidDocument::Json) }
    }

    /// Returns the JSON text of a member.
    fn value(&self, name: &'static str) -> Read<Option<&'a [u8]>> {
        let mut found = members(self.0).filter(|(key, _)| key_is(key, name));
        let value = found.next().map(|(_, value)| value);
        // Parsers differ in which of two equal members they take.
        if found.next().is_some() {
            return Err(InvalidDocument::Member(name));
        }
        Ok(value.filter(|value| *value != b"null"))
    }

    /// Returns the text of a string member.
    pub(super) fn text(&self, name: &'static str) -> Read<Option<Cow<'a, str>>> {
        let value = self.value(name)?;
        value.map(|value| unescape(value).ok_or(InvalidDocument::Member(name))).transpose()
    }

    /// Returns the text of a required string member.
    pub(super) fn required(&self, name: &'static str) -> Read<Cow<'a, str>> {
        self.text(name)?.ok_or(InvalidDocument::Member(name))
    }

    /// Returns a string member as a secret, which must be visible ASCII of at most `bytes_max`.
    pub(super) fn secret(&self, name: &'static str, bytes_max: usize) -> Read<Option<Secret>> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        if text.len() > bytes_max || !text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            return Err(InvalidDocument::Member(name));
        }
        Ok(Some(Secret::new(text)))
    }

    /// Returns a boolean member; false if it is absent.
    pub(super) fn flag(&self, name: &'static str) -> Read<bool> {
        match self.value(name)? {
            None | Some(b"false") => Ok(false),
            Some(b"true") => Ok(true),
            Some(_) => Err(InvalidDocument::Member(name)),
        }
    }

    /// Returns a member that is an integer without sign and fraction.
    pub(super) fn integer(&self, name: &'static str) -> Read<Option<u64>> {
        let Some(value) = self.value(name)? else { return Ok(None) };
        let number = core::str::from_utf8(value).ok().and_then(unsigned);
        number.map(Some).ok_or(InvalidDocument::Member(name))
    }

    /// Returns the text of a member that is a number, or the content of a string. The content need
    /// not be a number.
    pub(super) fn number_text(&self, name: &'static str) -> Read<Option<Cow<'a, str>>> {
        let value = self.value(name)?;
        Ok(value.and_then(|value| {
            let text = core::str::from_utf8(value).ok()?;
            unescape(value).or(Some(Cow::Borrowed(text)))
        }))
    }

    /// Returns the elements of an array of strings.
    pub(super) fn texts(&self, name: &'static str) -> Read<Option<Vec<Cow<'a, str>>>> {
        let Some(value) = self.value(name)? else { return Ok(None) };
        if value.first() != Some(&b'[') {
            return Err(InvalidDocument::Member(name));
        }
        let texts: Option<Vec<_>> = elements(value).map(unescape).collect();
        texts.map(Some).ok_or(InvalidDocument::Member(name))
    }

    /// Returns a member that is an object, as JSON text.
    pub(super) fn object(&self, name: &'static str) -> Read<Option<Self>> {
        let Some(value) = self.value(name)? else { return Ok(None) };
        if value.first() == Some(&b'{') {
            Ok(Some(Self(value)))
        } else {
            Err(InvalidDocument::Member(name))
        }
    }

    /// Returns whether every member is one of `names`.
    pub(super) fn has_only(&self, names: &[&str]) -> bool {
        members(self.0).all(|(key, _)| names.iter().any(|name| key_is(key, name)))
    }
}

/// Omits the text, which may hold secrets.
impl fmt::Debug for Document<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Document({} bytes)", self.0.len())
    }
}

#[cfg(test)]
mod tests;
