//! How types and JSON text meet: the traits, the error that names the place, and the readers they share.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use serde::Serialize;

use crate::error::Unencodable;
use crate::json::Raw;
use crate::revision::Revision;

/// A value that can be written as JSON for a peer of a given revision.
pub trait Encode {
    /// Writes exactly one JSON value, on one line, that a peer of `revision` understands.
    ///
    /// # Errors
    /// When the value has no JSON form. What was written is then discarded.
    fn encode(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable>;
}

/// A value that can be read from JSON.
pub trait Decode: Sized {
    /// Reads `raw`; parts that are kept share its bytes.
    ///
    /// # Errors
    /// When the value lacks what the type requires. Members that the type does not know never are an error.
    fn decode(raw: &Raw) -> Result<Self, DecodeError>;
}

/// Why JSON could not be read as a type: where, what was expected there, and what stood there.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DecodeError {
    /// The place, as a JSON pointer (RFC 6901).
    pub pointer: String,
    /// What was expected there.
    pub expected: &'static str,
    /// What stood there; `None` when nothing did.
    pub found: Option<Raw>,
}

impl DecodeError {
    pub(crate) fn new(expected: &'static str, found: &Raw) -> Self {
        Self { pointer: String::new(), expected, found: Some(found.clone()) }
    }

    /// The same error, seen from one level further out.
    pub(crate) fn within(mut self, member: impl fmt::Display) -> Self {
        let member = member.to_string().replace('~', "~0").replace('/', "~1");
        self.pointer.insert_str(0, &member);
        self.pointer.insert(0, '/');
        self
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = if self.found.is_some() { "found another value" } else { "found nothing" };
        write!(f, "expected {} at \"{}\", {found}", self.expected, self.pointer)
    }
}

impl core::error::Error for DecodeError {}

impl Encode for Raw {
    fn encode(&self, _: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        out.extend_from_slice(self.as_bytes());
        Ok(())
    }
}

impl Decode for Raw {
    fn decode(raw: &Self) -> Result<Self, DecodeError> {
        Ok(raw.clone())
    }
}

/// Any `serde` value as JSON, the same for every revision.
///
/// ```
/// use mcp_proto::Raw;
/// use mcp_proto::schema::{Encode, Json};
/// # use mcp_proto::Revision;
///
/// let mut out = Vec::new();
/// Json(&["a", "b"]).encode(Revision::V2025_11_25, &mut out).unwrap();
/// assert_eq!(out, br#"["a","b"]"#);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Json<T>(pub T);

impl<T: Serialize> Encode for Json<T> {
    fn encode(&self, _: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        out.extend_from_slice(Raw::new(&self.0)?.as_bytes());
        Ok(())
    }
}

/// The member `name`, which must be there and decode.
pub(crate) fn required<T: Decode>(raw: &Raw, name: &'static str) -> Result<T, DecodeError> {
    match raw.member(name) {
        Some(value) => T::decode(&value).map_err(|error| error.within(name)),
        None => Err(DecodeError { pointer: String::new(), expected: "a member", found: None }.within(name)),
    }
}

/// The member `name` if it is there and not null; it must decode.
pub(crate) fn optional<T: Decode>(raw: &Raw, name: &'static str) -> Result<Option<T>, DecodeError> {
    match raw.member(name) {
        Some(value) if value.as_bytes() != b"null" => {
            T::decode(&value).map(Some).map_err(|error| error.within(name))
        }
        _ => Ok(None),
    }
}

/// Any object, as text: what a schema, arguments or a form's fields are kept as.
pub(crate) struct AnyObject(pub(crate) Raw);

impl Decode for AnyObject {
    fn decode(raw: &Raw) -> Result<Self, DecodeError> {
        if raw.is_object() { Ok(Self(raw.clone())) } else { Err(DecodeError::new("an object", raw)) }
    }
}

/// The text of `raw`, where only an object may be written.
pub(crate) fn object_text(raw: &Raw) -> Result<&[u8], Unencodable> {
    if raw.is_object() { Ok(raw.as_bytes()) } else { Err(Unencodable) }
}

/// The string member `name` if there is one; a value of another type counts as none.
pub(crate) fn text_member(raw: &Raw, name: &str) -> Option<String> {
    raw.member(name).and_then(|value| value.to_text().map(Into::into))
}

/// Whether the member `name` is `true`.
pub(crate) fn bool_member(raw: &Raw, name: &str) -> bool {
    raw.member(name).is_some_and(|value| value.as_bytes() == b"true")
}

impl Decode for String {
    fn decode(raw: &Raw) -> Result<Self, DecodeError> {
        raw.to_text().map(Into::into).ok_or_else(|| DecodeError::new("a string", raw))
    }
}

impl<T: Decode> Decode for Vec<T> {
    fn decode(raw: &Raw) -> Result<Self, DecodeError> {
        if raw.as_bytes().first() != Some(&b'[') {
            return Err(DecodeError::new("an array", raw));
        }
        raw.elements()
            .enumerate()
            .map(|(index, element)| T::decode(&element).map_err(|error| error.within(index)))
            .collect()
    }
}
