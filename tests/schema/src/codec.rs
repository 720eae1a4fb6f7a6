//! A type of the core, seen only as something that reads and writes JSON.

use std::fmt;

use mcp_proto::schema::{Decode, DecodeError, Encode};
use mcp_proto::{Raw, Revision, Unencodable};
use serde_json::Value;

use crate::compare;

/// A value of some type of the core.
pub trait Typed: Encode + fmt::Debug {}

impl<T: Encode + fmt::Debug> Typed for T {}

/// How one type is read.
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

/// What a value became when it was written.
#[derive(Debug)]
pub enum Written {
    /// This JSON.
    As(Value),
    /// Nothing: a peer of that revision has no form for it.
    Not,
}

impl Codec {
    /// The type `T`, which is called `name`.
    #[must_use]
    pub const fn of<T: Decode + Typed + 'static>(name: &'static str) -> Self {
        Self { name, decode: |raw| T::decode(raw).map(|value| Box::new(value) as Box<dyn Typed>) }
    }

    /// Reads JSON text as the type.
    ///
    /// # Errors
    /// When it is none.
    ///
    /// # Panics
    /// When the text is no JSON.
    pub fn read(&self, text: &str) -> Result<Box<dyn Typed>, DecodeError> {
        let raw = Raw::from_text(text).unwrap_or_else(|error| panic!("{error}: {text}"));
        (self.decode)(&raw)
    }
}

/// Writes `value` for a peer of `revision`.
///
/// # Errors
/// When what is written is not one line of JSON without repeated members.
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
