//! [`Raw`]: a JSON value as validated, unparsed text.

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::fmt;

use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde::ser::Serialize;

use super::cursor::Cursor;
use super::escape::unescape;
use super::parse_error::ParseError;
use super::syntax::{DEPTH_CEILING, escape_end};
use super::whole_numbers::with_whole_numbers;
use crate::error::Unencodable;
use crate::limits::SHARED_BYTES_MIN;

/// A JSON value, kept as validated but unparsed text without line breaks.
///
/// Escapes of unpaired surrogates, such as `\ud83d`, which no Rust string can hold, are kept as the
/// escape of the replacement character, `\ufffd`.
///
/// Cloning is cheap because clones share the bytes. A value received from a peer shares the bytes
/// of its message if the value is a large part of the message; otherwise, the value is a copy.
/// Equality compares the text, so `1.0` and `1` differ.
///
/// ```
/// use mcp_proto::Raw;
///
/// let raw = Raw::from_text("{ \"city\": \"Oslo\",\n  \"days\": 3 }").unwrap();
/// assert_eq!(raw.as_str(), r#"{"city":"Oslo","days":3}"#);
/// assert_eq!(raw.member("days").unwrap().parse::<u8>().unwrap(), 3);
/// assert!(Raw::from_text("{\"half\": ").is_err());
/// ```
#[derive(Clone, Eq, Hash, PartialEq)]
pub struct Raw(Bytes);

impl Raw {
    /// Serializes `value` to JSON.
    ///
    /// # Errors
    /// Fails if the value's `Serialize` implementation fails, or if a map key cannot be written as
    /// a string.
    pub fn new<T: Serialize + ?Sized>(value: &T) -> Result<Self, Unencodable> {
        let mut out = serde_json::to_vec(value).map_err(|_| Unencodable)?;
        // Only a `RawValue` inside the value can contain line breaks.
        if memchr::memchr2(b'\n', b'\r', &out).is_some() {
            out = compact(&out);
        }
        Ok(Self(out.into()))
    }

    /// Creates a value from JSON text, which is validated but not parsed.
    ///
    /// If `text` contains line breaks between tokens or an unpaired surrogate, all white space
    /// between tokens is removed.
    ///
    /// # Errors
    /// Fails if `text` is not exactly one JSON value or is nested deeper than 128 levels.
    pub fn from_text(text: &str) -> Result<Self, Unencodable> {
        let mut scanner = Cursor::new(text, DEPTH_CEILING);
        let value = scanner.value().map_err(|_| Unencodable)?;
        scanner.finish().map_err(|_| Unencodable)?;
        Ok(Self(rewritten(value, scanner.needs_rewrite).into_owned().into()))
    }

    /// Returns the empty object, `{}`.
    #[must_use]
    pub const fn empty_object() -> Self {
        Self(Bytes::from_static(b"{}"))
    }

    /// Wraps the output of a writer of this crate: one JSON value without line breaks.
    pub(crate) fn from_written(text: Vec<u8>) -> Self {
        Self(text.into())
    }

    /// Deserializes the value as a `T`.
    ///
    /// As in JSON Schema, a number without a fraction is an integer, however it is written: `1.0`
    /// and `1e0` can be a `u8`.
    ///
    /// # Errors
    /// Fails if the value does not match `T`. The error says where, and what is allowed.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, ParseError> {
        parse(&self.0)
    }

    /// Returns the JSON text as bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the JSON text. Each call validates it as UTF-8, in time linear in its length.
    #[must_use]
    pub fn as_str(&self) -> &str {
        core::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// Returns whether the value is an object.
    #[must_use]
    pub fn is_object(&self) -> bool {
        self.0.first() == Some(&b'{')
    }

    /// Returns the unescaped content if the value is a string, or `None` otherwise.
    #[must_use]
    pub fn to_text(&self) -> Option<Cow<'_, str>> {
        unescape(&self.0)
    }

    /// Returns the value of the last member called `name`.
    ///
    /// Returns `None` if this value is not an object or has no such member.
    ///
    /// Scans the value once, in linear time. The result shares the bytes of this value.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<Self> {
        super::find(&self.0, name).map(|value| self.part(value))
    }

    /// Iterates over the elements of an array. Yields nothing if the value is not an array.
    ///
    /// The elements share the bytes of this value.
    pub fn elements(&self) -> impl Iterator<Item = Self> + '_ {
        super::elements(&self.0).map(|value| self.part(value))
    }

    /// Returns the value `null`.
    pub(crate) const fn null() -> Self {
        Self::literal(b"null")
    }

    /// Wraps a literal, which must be one JSON value without line breaks.
    pub(crate) const fn literal(text: &'static [u8]) -> Self {
        Self(Bytes::from_static(text))
    }

    pub(super) fn shared(&self) -> &Bytes {
        &self.0
    }

    /// Creates a value from a validated slice of `source`, sharing its bytes.
    pub(super) fn part_of(source: &Bytes, value: &[u8]) -> Self {
        Self(shared_part(source, value))
    }

    fn part(&self, value: &[u8]) -> Self {
        Self::part_of(&self.0, value)
    }
}

impl fmt::Debug for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Deserializes valid JSON without line breaks.
// JSON Schema 2020-12, validation, section 6.1.1: 1.0 is an integer.
pub(crate) fn parse<T: DeserializeOwned>(json: &[u8]) -> Result<T, ParseError> {
    let error = match serde_json::from_slice(json) {
        Ok(value) => return Ok(value),
        Err(error) => error,
    };
    let Some(rewritten) = with_whole_numbers(json) else {
        return Err(ParseError::new(json, &error));
    };
    serde_json::from_slice(&rewritten).map_err(|error| ParseError::new(&rewritten, &error))
}

/// The bytes of one message, from which values are extracted.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Frame<'a> {
    /// Borrowed bytes: extracted values are copied.
    Borrowed(&'a [u8]),
    /// Reference-counted bytes, which extracted values may share.
    Shared(&'a Bytes),
}

impl<'a> Frame<'a> {
    pub(crate) fn bytes(&self) -> &'a [u8] {
        match self {
            Self::Borrowed(bytes) => bytes,
            Self::Shared(bytes) => bytes,
        }
    }

    /// Extracts `part`, a validated value of this message.
    pub(crate) fn keep(&self, part: &[u8], needs_rewrite: bool) -> Raw {
        match (self, rewritten(part, needs_rewrite)) {
            (_, Cow::Owned(compacted)) => Raw(compacted.into()),
            // A part that is most of the message keeps little else alive.
            (Self::Shared(bytes), Cow::Borrowed(part))
                if part.len() >= SHARED_BYTES_MIN && part.len() >= bytes.len() / 2 =>
            {
                Raw(shared_part(bytes, part))
            }
            (_, Cow::Borrowed(part)) => Raw(copied(part)),
        }
    }
}

/// Returns `part` as a slice of `source`, or a copy if it lies outside. Like `Bytes::slice_ref`,
/// but checks the position only once.
#[inline]
pub(super) fn shared_part(source: &Bytes, part: &[u8]) -> Bytes {
    let start = part.as_ptr().addr().wrapping_sub(source.as_ptr().addr());
    match start.checked_add(part.len()) {
        Some(end) if end <= source.len() => source.slice(start..end),
        _ => Bytes::copy_from_slice(part),
    }
}

/// Copies `part` into its own allocation.
///
/// Most copies are cloned later. `Bytes::copy_from_slice` allocates the reference count separately
/// at the first clone, so a small copy includes it from the start.
fn copied(part: &[u8]) -> Bytes {
    // With the reference count and the vtable, these sizes fit common allocator size classes.
    match part.len() {
        0..=30 => Small::<30>::copy(part),
        31..=62 => Small::<62>::copy(part),
        63..=126 => Small::<126>::copy(part),
        127..=190 => Small::<190>::copy(part),
        191..=254 => Small::<254>::copy(part),
        255..=382 => Small::<382>::copy(part),
        383..=510 => Small::<510>::copy(part),
        _ => Bytes::copy_from_slice(part),
    }
}

/// Up to `N` bytes, stored inline.
struct Small<const N: usize> {
    bytes: [u8; N],
    len: u16,
}

impl<const N: usize> Small<N> {
    fn copy(part: &[u8]) -> Bytes {
        let mut small = Self { bytes: [0; N], len: part.len() as u16 };
        match small.bytes.get_mut(..part.len()) {
            Some(bytes) => bytes.copy_from_slice(part),
            None => return Bytes::copy_from_slice(part),
        }
        Bytes::from_owner(small)
    }
}

impl<const N: usize> AsRef<[u8]> for Small<N> {
    fn as_ref(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.len)).unwrap_or_default()
    }
}

fn rewritten(value: &[u8], needs_rewrite: bool) -> Cow<'_, [u8]> {
    if needs_rewrite { Cow::Owned(compact(value)) } else { Cow::Borrowed(value) }
}

/// Removes the white space between the tokens of validated JSON, and replaces unpaired surrogates.
pub(crate) fn compact(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut in_string = false;
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        let start = at;
        at += 1;
        if in_string && byte == b'\\' {
            let mut is_unpaired = false;
            at = escape_end(text, start, &mut is_unpaired).unwrap_or(at);
            let escape = text.get(start..at).unwrap_or_default();
            out.extend_from_slice(if is_unpaired { br"\ufffd" } else { escape });
            continue;
        } else if in_string {
            in_string = byte != b'"';
        } else if matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
            continue;
        } else {
            in_string = byte == b'"';
        }
        out.push(byte);
    }
    // White space can be most of the text, and limits count only the remaining length.
    out.shrink_to_fit();
    out
}

#[cfg(test)]
mod tests;
