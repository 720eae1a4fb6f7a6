//! The traits [`Encode`] and [`Decode`], their error, and their implementations for basic types.

use alloc::borrow::{Cow, ToOwned};
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::Unencodable;
use crate::json::{
    JsonReader, Kind, ParseError, Raw, Str, push_pointer, write_f64, write_i64, write_str,
    write_text, write_u64,
};
use crate::revision::Revision;

/// A value that can be encoded as JSON for a peer that uses a given revision.
pub trait Encode {
    /// Appends exactly one JSON value to `out`, on one line, in a form that `revision` defines.
    ///
    /// # Errors
    /// Fails if the value is invalid or `revision` cannot represent it. In that case, the caller
    /// must discard any partial output.
    fn encode(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable>;

    /// Returns the value as JSON, in the form of `revision`.
    ///
    /// `serde` also serializes schema types, in the form of the newest revision.
    ///
    /// ```
    /// use mcp_proto::schema::{Encode, Tool};
    /// use mcp_proto::{Raw, Revision};
    ///
    /// let tool = Tool::new("add", Raw::empty_object()).title("Add");
    /// let old = tool.to_raw(Revision::V2024_11_05).unwrap();
    /// assert_eq!(old.as_str(), r#"{"name":"add","inputSchema":{}}"#);
    /// assert_eq!(
    ///     serde_json::to_string(&tool).unwrap(),
    ///     r#"{"name":"add","title":"Add","inputSchema":{}}"#,
    /// );
    /// ```
    ///
    /// # Errors
    /// Fails if the value is invalid or `revision` cannot represent it.
    fn to_raw(&self, revision: Revision) -> Result<Raw, Unencodable> {
        let mut out = Vec::new();
        self.encode(revision, &mut out)?;
        Raw::from_text(core::str::from_utf8(&out).map_err(|_| Unencodable)?)
    }

    /// Returns whether `revision` allows this value as an optional member of an object.
    ///
    /// If the result is `false`, the encoded object does not contain the member. The default
    /// implementation returns `true`.
    fn is_for(&self, revision: Revision) -> bool {
        let _ = revision;
        true
    }
}

/// A value that can be decoded from JSON.
pub trait Decode: Sized {
    /// Reads one value.
    ///
    /// After an error, the position of `reader` is unspecified. A caller that continues after an
    /// error must clone the reader before the call.
    ///
    /// # Errors
    /// Fails if the value has the wrong type, or if a required member is missing or malformed. A
    /// malformed optional member is an error only if ignoring the member would lose information.
    /// Unknown members are never an error.
    fn read(reader: &mut JsonReader<'_>) -> Result<Self, DecodeError>;

    /// Decodes `raw`.
    ///
    /// The decoded value can share the memory of `raw` and keep that memory allocated; see [`Str`].
    ///
    /// # Errors
    /// Fails if `raw` does not have the expected form; see [`read`](Self::read).
    fn decode(raw: &Raw) -> Result<Self, DecodeError> {
        Self::read(&mut JsonReader::new(raw))
    }
}

/// A decoding error: its location, the expected value, and the value found.
///
/// ```
/// use mcp_proto::Raw;
/// use mcp_proto::schema::{Decode, ListToolsResult};
///
/// let raw = Raw::from_text(r#"{"tools":{}}"#).unwrap();
/// let error = ListToolsResult::decode(&raw).unwrap_err();
/// assert_eq!(error.to_string(), "expected an array at \"/tools\", found {}");
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DecodeError {
    /// The location of the error, as a JSON pointer (RFC 6901).
    pub pointer: String,
    /// The expected value, such as `an array`.
    pub expected: Cow<'static, str>,
    /// The value found instead; `None` if the value is missing.
    pub found: Option<Raw>,
}

impl DecodeError {
    /// Creates an error for the next value of `reader`, which does not have the expected form.
    ///
    /// `expected` describes that form, for example `an array`. Does not consume the value.
    #[must_use]
    pub fn expected(expected: impl Into<Cow<'static, str>>, reader: &JsonReader<'_>) -> Self {
        let expected = expected.into();
        Self { pointer: String::new(), expected, found: Some(reader.clone().raw()) }
    }

    /// Creates an error for a missing required member `name`.
    #[must_use]
    pub fn missing(name: &str) -> Self {
        Self { pointer: String::new(), expected: "a value".into(), found: None }.within(name)
    }

    /// Creates an error for a value that does not match a type of `serde`.
    fn from_parse(ParseError { pointer, reason }: ParseError, raw: &Raw) -> Self {
        let found = value_at(raw, &pointer);
        if reason.starts_with("unknown field `") {
            let expected = alloc::format!("no such member ({reason})").into();
            return Self { pointer, expected, found };
        }
        // The reason also quotes the value, which is `found`.
        let expected = match reason.rsplit_once(", expected ") {
            Some((_, expected)) => expected.to_owned(),
            None if found.is_none() => "a value".to_owned(),
            None => alloc::format!("another value ({reason})"),
        };
        Self { pointer, expected: expected.into(), found }
    }

    /// Creates an error for the string `found`, which is the value of the member `name`.
    pub(crate) fn unacceptable(expected: &'static str, name: &str, found: &str) -> Self {
        let mut text = Vec::new();
        write_str(&mut text, found);
        let found = Some(Raw::from_written(text));
        Self { pointer: String::new(), expected: expected.into(), found }.within(name)
    }

    /// Prefixes the pointer with `member`, which is an object key or an array index.
    #[must_use]
    pub fn within(self, member: impl fmt::Display) -> Self {
        self.prefixed(&member.to_string())
    }

    fn prefixed(mut self, member: &str) -> Self {
        let mut pointer = String::new();
        push_pointer(&mut pointer, member);
        pointer.push_str(&self.pointer);
        self.pointer = pointer;
        self
    }
}

/// Returns the value at a JSON pointer.
fn value_at(raw: &Raw, pointer: &str) -> Option<Raw> {
    pointer.split('/').skip(1).try_fold(raw.clone(), |value, member| {
        let key = member.replace("~1", "/").replace("~0", "~");
        value.member(&key).or_else(|| value.elements().nth(member.parse().ok()?))
    })
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}", self.expected)?;
        if !self.pointer.is_empty() {
            write!(f, " at \"{}\"", self.pointer)?;
        }
        f.write_str(", found ")?;
        match &self.found {
            // Quote only short values.
            Some(found) if found.as_bytes().len() <= 40 => found.fmt(f),
            Some(_) => f.write_str("another value"),
            None => f.write_str("nothing"),
        }
    }
}

impl core::error::Error for DecodeError {}

impl Encode for Raw {
    fn encode(&self, _: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        out.extend_from_slice(self.as_bytes());
        Ok(())
    }
}

impl Encode for serde_json::Value {
    fn encode(&self, _: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        out.extend_from_slice(Raw::new(self)?.as_bytes());
        Ok(())
    }
}

/// A value can be passed wherever a [`Raw`] is taken.
impl From<serde_json::Value> for Raw {
    fn from(value: serde_json::Value) -> Self {
        // Cannot fail: the keys are strings.
        Self::new(&value).unwrap_or_else(|_| Self::empty_object())
    }
}

impl Decode for Raw {
    fn read(reader: &mut JsonReader<'_>) -> Result<Self, DecodeError> {
        Ok(reader.raw())
    }
}

/// A value of any type of `serde`, encoded identically for every revision.
///
/// Also decodes values of any `Deserialize` type.
///
/// ```
/// use mcp_proto::schema::{Decode, Encode, Serialized};
/// use mcp_proto::{Raw, Revision};
///
/// let mut out = Vec::new();
/// Serialized(&["a", "b"]).encode(Revision::V2025_11_25, &mut out).unwrap();
/// assert_eq!(out, br#"["a","b"]"#);
///
/// let raw = Raw::from_text(r#"["a","b"]"#).unwrap();
/// assert_eq!(Serialized::<Vec<String>>::decode(&raw).unwrap().0, ["a", "b"]);
/// assert!(Serialized::<Vec<u8>>::decode(&raw).is_err());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Serialized<T>(pub T);

impl<T: Serialize> Encode for Serialized<T> {
    fn encode(&self, _: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        out.extend_from_slice(Raw::new(&self.0)?.as_bytes());
        Ok(())
    }
}

impl<T: DeserializeOwned> Decode for Serialized<T> {
    fn read(reader: &mut JsonReader<'_>) -> Result<Self, DecodeError> {
        let raw = reader.raw();
        raw.parse().map(Self).map_err(|error| DecodeError::from_parse(error, &raw))
    }
}

macro_rules! basic_types {
    ($($type:ty, $expected:literal, $read:expr, $write:expr;)*) => {$(
        impl Decode for $type {
            fn read(reader: &mut JsonReader<'_>) -> Result<Self, DecodeError> {
                let read: fn(&mut JsonReader<'_>) -> Option<Self> = $read;
                read(reader).ok_or_else(|| DecodeError::expected($expected, reader))
            }
        }

        impl Encode for $type {
            fn encode(&self, _: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
                let write: fn(&mut Vec<u8>, &Self) = $write;
                write(out, self);
                Ok(())
            }
        }
    )*};
}

basic_types! {
    bool, "true or false", |reader| reader.bool(),
        |out, value| out.extend_from_slice(if *value { b"true" } else { b"false" });
    i64, "an integer", |reader| reader.integer(), |out, value| write_i64(out, *value);
    u64, "a non-negative integer", |reader| read_u64(reader), |out, value| write_u64(out, *value);
    f64, "a number", |reader| reader.float(), |out, value| write_f64(out, *value);
    String, "a string", |reader| reader.text().map(Into::into), |out, value| write_str(out, value);
    Str, "a string", |reader| reader.shared_text(), |out, value| write_text(out, value.as_bytes());
    Box<str>, "a string", |reader| reader.text().map(Into::into),
        |out, value| write_str(out, value);
}

fn read_u64(reader: &mut JsonReader<'_>) -> Option<u64> {
    let before = reader.clone();
    let number = reader.integer().and_then(|number| u64::try_from(number).ok());
    if number.is_none() {
        *reader = before;
    }
    number
}

impl<T: Encode> Encode for Vec<T> {
    fn encode(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        self.as_slice().encode(revision, out)
    }
}

impl<T: Encode> Encode for [T] {
    fn encode(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        let mut array = crate::json::Array::begin(out);
        for element in self {
            element.encode(revision, array.next())?;
        }
        array.end();
        Ok(())
    }
}

/// Fails at the first malformed element; use [`List`](super::List) to skip malformed elements.
impl<T: Decode> Decode for Vec<T> {
    fn read(reader: &mut JsonReader<'_>) -> Result<Self, DecodeError> {
        let mut all = Self::new();
        let before = reader.clone();
        let walked = reader.elements(|index, reader| {
            all.push(T::read(reader).map_err(|error| error.within(index))?);
            Ok(())
        });
        match walked {
            Some(walked) => walked.map(|()| all),
            None => Err(DecodeError::expected("an array", &before)),
        }
    }
}

impl<T: Encode + ?Sized> Encode for Box<T> {
    fn encode(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        (**self).encode(revision, out)
    }
}

impl<T: Decode> Decode for Box<T> {
    fn read(reader: &mut JsonReader<'_>) -> Result<Self, DecodeError> {
        T::read(reader).map(Self::new)
    }
}

/// `None` is written as `null`.
impl<T: Encode> Encode for Option<T> {
    fn encode(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        match self {
            Some(value) => value.encode(revision, out),
            None => Raw::null().encode(revision, out),
        }
    }
}

/// `null` is read as `None`.
impl<T: Decode> Decode for Option<T> {
    fn read(reader: &mut JsonReader<'_>) -> Result<Self, DecodeError> {
        if reader.kind() == Some(Kind::Null) {
            reader.skip();
            return Ok(None);
        }
        T::read(reader).map(Some)
    }
}

/// Reads the next value as an object and calls `member` with each key, as raw bytes.
pub(crate) fn read_object(
    reader: &mut JsonReader<'_>,
    member: impl FnMut(&[u8], &mut JsonReader<'_>) -> Result<(), DecodeError>,
) -> Result<(), DecodeError> {
    if reader.kind() != Some(Kind::Object) {
        return Err(DecodeError::expected("an object", reader));
    }
    reader.members_by_bytes(member).unwrap_or(Ok(()))
}
