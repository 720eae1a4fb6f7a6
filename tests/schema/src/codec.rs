//! A type of the core, reduced to decoding and encoding JSON.

use std::fmt;

use mcp_proto::schema::{Decode, DecodeError, Encode};
use mcp_proto::{Raw, Revision, Unencodable};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::compare;

/// A value of some type of the core.
pub trait Typed: Encode + fmt::Debug {
    /// Serializes the value with `serde`; `None` if it has no form.
    fn serialized(&self) -> Option<Value>;
}

impl<T: Encode + Serialize + fmt::Debug> Typed for T {
    fn serialized(&self) -> Option<Value> {
        serde_json::to_value(self).ok()
    }
}

/// The decoder of a type.
#[derive(Clone, Copy)]
pub struct Codec {
    /// The type's name in `mcp_proto::schema`.
    pub name: &'static str,
    decode: fn(&Raw) -> Result<Box<dyn Typed>, DecodeError>,
    deserialize: fn(&str) -> Option<Box<dyn Typed>>,
}

impl fmt::Debug for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// The outcome of encoding a value.
#[derive(Debug)]
pub enum Written {
    /// The JSON text.
    As(Value),
    /// Nothing: the revision has no form for the value.
    Not,
}

impl Codec {
    /// Creates the codec of the type `T` with the name `name`.
    #[must_use]
    pub const fn of<T: Decode + DeserializeOwned + Typed + 'static>(name: &'static str) -> Self {
        Self {
            name,
            decode: |raw| T::decode(raw).map(|value| Box::new(value) as Box<dyn Typed>),
            deserialize: |text| {
                serde_json::from_str(text).ok().map(|value: T| Box::new(value) as Box<dyn Typed>)
            },
        }
    }

    /// Decodes JSON text, with `serde` as well.
    ///
    /// # Errors
    ///
    /// If the text is not a value of the type.
    ///
    /// # Panics
    ///
    /// If the text is not JSON, or if `serde` reads another value.
    pub fn read(&self, text: &str) -> Result<Box<dyn Typed>, DecodeError> {
        let raw = Raw::from_text(text).unwrap_or_else(|error| panic!("{error}: {text}"));
        let typed = (self.decode)(&raw);
        let deserialized = (self.deserialize)(text);
        assert_eq!(typed.is_ok(), deserialized.is_some(), "{self:?}: {text}");
        if let (Ok(typed), Some(deserialized)) = (&typed, deserialized) {
            assert_eq!(typed.serialized(), deserialized.serialized(), "{self:?}: {text}");
        }
        typed
    }
}

/// Encodes `value` for a peer of `revision`.
///
/// # Errors
///
/// If the output is not one line of JSON without repeated members, or, in the newest revision,
/// differs from that of `serde`.
pub fn write(value: &dyn Typed, revision: Revision) -> Result<Written, String> {
    let written = encode(value, revision)?;
    if Revision::ALL.last() == Some(&revision) {
        let encoded = if let Written::As(encoded) = &written { Some(encoded) } else { None };
        let serialized = value.serialized();
        if serialized.as_ref() != encoded {
            return Err(format!("is serialized as {serialized:?}"));
        }
    }
    Ok(written)
}

fn encode(value: &dyn Typed, revision: Revision) -> Result<Written, String> {
    let mut out = Vec::new();
    match value.encode(revision, &mut out) {
        Ok(()) => match compare::parse(&out) {
            Ok(value) => Ok(Written::As(value)),
            Err(error) => Err(format!("{error}: {}", String::from_utf8_lossy(&out))),
        },
        Err(Unencodable) => Ok(Written::Not),
    }
}
