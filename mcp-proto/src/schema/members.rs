//! [`ExtraMembers`]: the members of a JSON object, kept as text.

use alloc::vec::Vec;

use super::containers::AnyObject;
use super::decode::{Decode, DecodeError, Encode, read_object};
use super::serde_impls::serde_impls;
use crate::error::Unencodable;
use crate::json::{JsonReader, Object, Raw, Str};
use crate::revision::Revision;

/// The members of a JSON object, in order and with unparsed values.
///
/// Holds the unknown members of a schema type, or all members of an object with free-form keys.
///
/// ```
/// use mcp_proto::Raw;
/// use mcp_proto::schema::{Decode, Tool};
///
/// let raw = Raw::from_text(r#"{"name":"x","inputSchema":{"type":"object"},"vendor":7}"#).unwrap();
/// let tool = Tool::decode(&raw).unwrap();
/// assert_eq!(tool.extra.get("vendor").unwrap().as_str(), "7");
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ExtraMembers(Vec<(Str, Raw)>);

impl ExtraMembers {
    /// Creates an empty set of members.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Returns the value of the member `name`, or `None` if it is absent.
    ///
    /// If the name occurs more than once, the last value is returned.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Raw> {
        self.0.iter().rev().find(|(key, _)| *key == *name).map(|(_, value)| value)
    }

    /// Sets the member `name` to `value` and moves the member to the end.
    ///
    /// Any previous value of the member is removed.
    pub fn set(&mut self, name: &str, value: impl Into<Raw>) {
        self.remove(name);
        self.0.push((name.into(), value.into()));
    }

    /// Removes the member `name` and returns its value, or `None` if it was absent.
    pub fn remove(&mut self, name: &str) -> Option<Raw> {
        let found = self.get(name).cloned();
        self.0.retain(|(key, _)| *key != *name);
        found
    }

    /// Iterates over the members in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Raw)> {
        self.0.iter().map(|(key, value)| (&**key, value))
    }

    /// Returns the number of members.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there are no members.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Appends the next value of `reader` under `name`, a key that `reader` reported.
    pub(crate) fn keep(&mut self, name: &[u8], reader: &mut JsonReader<'_>) {
        let name = reader.keep_key(name);
        self.push(name, reader.raw());
    }

    /// Appends a member without a check for duplicates, in constant time: a peer can send many
    /// members.
    pub(crate) fn push(&mut self, name: Str, value: Raw) {
        self.0.push((name, value));
    }

    /// Writes the members into `object`, except those for which `written` returns true.
    pub(crate) fn write(&self, object: &mut Object<'_>, mut written: impl FnMut(&str) -> bool) {
        for (key, value) in self.iter() {
            if !written(key) {
                object.raw(key, value.as_bytes());
            }
        }
    }
}

impl From<ExtraMembers> for AnyObject {
    fn from(members: ExtraMembers) -> Self {
        let mut out = Vec::new();
        let mut object = Object::begin(&mut out);
        members.write(&mut object, |_| false);
        object.end();
        Self(Raw::from_written(out))
    }
}

serde_impls!(ExtraMembers);

impl Encode for ExtraMembers {
    fn encode(&self, _: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        let mut object = Object::begin(out);
        self.write(&mut object, |_| false);
        object.end();
        Ok(())
    }
}

impl Decode for ExtraMembers {
    fn read(reader: &mut JsonReader<'_>) -> Result<Self, DecodeError> {
        let mut members = Self::new();
        read_object(reader, |key, reader| {
            members.keep(key, reader);
            Ok(())
        })?;
        Ok(members)
    }
}
