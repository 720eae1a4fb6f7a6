//! A type of the core, reduced to decoding and encoding JSON.

use std::fmt;

use mcp_proto::schema::{Decode, DecodeError, Encode};
use mcp_proto::{Raw, Revision, Unencodable};
use serde_json::Value;

use crate::compare;

/// A value of some type of the core.
pub trait Typed: Encode + fmt::Debug {}

impl<T: Encode + fmt::Debug> Typed for T {}

/// The decoder of a type.
#[derive(Clone, Copy)]
pub struct Codec {
    /// The type's name in `mcp_proto::schema`.
    pub name: &'static str,
    decode: fn(&Raw) -> Result<Box<dyn Typed>, DecodeError>,
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
    pub const fn of<T: Decode + Typed + 'static>(name: &'static str) -> Self {
        Self { name, decode: |raw| T::decode(raw).map(|value| Box::new(value) as Box<dyn Typed>) }
    }

    /// Decodes JSON text.
    ///
    /// # Errors
    ///
    /// If the text is not a value of the type.
    ///
    /// # Panics
    ///
    /// If the text is not JSON.
    pub fn read(&self, text: &str) -> Result<Box<dyn Typed>, DecodeError> {
        let raw = Raw::from_text(text).unwrap_or_else(|error| panic!("{error}: {text}"));
        (self.decode)(&raw)
    }
}

/// Encodes `value` for a peer of `revision`.
///
/// # Errors
///
/// If the output is not one line of JSON without repeated members.
pub fn write(value: &dyn Typed, revision: Revision) -> Result<Written, String> {
    let mut out = Vec::new();
    match value.encode(revision, &mut out) {
        Ok(()) => match compare::parse(&out) {
            Ok(value) => Ok(Written::As(value)),
            Err(error) => Err(format!("{error}: {}", String::from_utf8_lossy(&out))),
        },
        Err(Unencodable) => Ok(Written::Not),
    }
}
