//! Lenient containers: a malformed element does not invalidate the others.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::{self, Vec};
use core::fmt;
use core::ops::{Deref, DerefMut};
use core::slice;

use super::decode::{Decode, DecodeError, Encode, read_object};
use super::serde_impls::serde_impls;
use crate::error::Unencodable;
use crate::json::{JsonReader, Kind, Object, Raw};
use crate::revision::Revision;

/// Maximum number of errors kept per list or map. Bounds the memory that a peer can occupy.
const BROKEN_MAX: usize = 64;

/// A list in which a malformed element does not invalidate the others.
///
/// Dereferences to the well-formed elements. Malformed elements are reported in
/// [`broken`](Self::broken) and left out when the list is encoded.
///
/// ```
/// use mcp_proto::Raw;
/// use mcp_proto::schema::{Decode, ListToolsResult};
///
/// let text = r#"{"tools":[{"name":"good","inputSchema":{}},{"title":"no name"}]}"#;
/// let raw = Raw::from_text(text).unwrap();
/// let page = ListToolsResult::decode(&raw).unwrap();
/// assert_eq!(page.tools.len(), 1);
/// assert_eq!(page.tools.broken[0].pointer, "/1/name");
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct List<T> {
    /// The well-formed elements, in order.
    pub items: Vec<T>,
    /// The errors of the first 64 malformed elements.
    ///
    /// Each error's `pointer` begins with the element's index.
    pub broken: Vec<DecodeError>,
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self { items: Vec::new(), broken: Vec::new() }
    }
}

impl<T> Deref for List<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.items
    }
}

impl<T> DerefMut for List<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.items
    }
}

impl<T> From<Vec<T>> for List<T> {
    fn from(items: Vec<T>) -> Self {
        Self { items, broken: Vec::new() }
    }
}

impl<T, const N: usize> From<[T; N]> for List<T> {
    fn from(items: [T; N]) -> Self {
        Vec::from(items).into()
    }
}

impl<T> FromIterator<T> for List<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Vec::from_iter(items).into()
    }
}

impl<T> IntoIterator for List<T> {
    type Item = T;
    type IntoIter = vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

impl<'a, T> IntoIterator for &'a List<T> {
    type Item = &'a T;
    type IntoIter = slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}

serde_impls!(List<T>);

impl<T: Encode> Encode for List<T> {
    fn encode(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        self.items.encode(revision, out)
    }
}

impl<T: Decode> Decode for List<T> {
    fn read(reader: &mut JsonReader<'_>) -> Result<Self, DecodeError> {
        let mut list = Self::default();
        let before = reader.clone();
        let walked = reader.elements(|index, reader| {
            let element = reader.clone();
            match T::read(reader) {
                Ok(item) => {
                    // Most lists hold a single content block, which is large.
                    if list.items.is_empty() {
                        list.items.reserve_exact(1);
                    }
                    list.items.push(item);
                }
                Err(error) => {
                    *reader = element;
                    reader.skip();
                    if list.broken.len() < BROKEN_MAX {
                        list.broken.push(error.within(index));
                    }
                }
            }
            Ok::<(), DecodeError>(())
        });
        match walked {
            Some(_) => Ok(list),
            None => Err(DecodeError::expected("an array", &before)),
        }
    }
}

/// A map from names to values of one type, in order of appearance.
///
/// A malformed value does not invalidate the others. Malformed values are reported in
/// [`broken`](Self::broken) and left out when the map is encoded.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Map<T> {
    /// The well-formed values with their names, in order.
    pub items: Vec<(Box<str>, T)>,
    /// The errors of the first 64 malformed values.
    ///
    /// Each error's `pointer` begins with the value's name.
    pub broken: Vec<DecodeError>,
}

impl<T> Map<T> {
    /// Creates an empty map.
    #[must_use]
    pub const fn new() -> Self {
        Self { items: Vec::new(), broken: Vec::new() }
    }

    /// Returns the value named `name`, or `None` if it is absent.
    ///
    /// If the name occurs more than once, the last value is returned.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&T> {
        self.items.iter().rev().find(|(key, _)| **key == *name).map(|(_, value)| value)
    }

    /// Adds `value` under `name`, replacing any existing value of that name.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<T>) -> Self {
        self.items.retain(|(key, _)| **key != *name);
        self.items.push((name.into(), value.into()));
        self
    }

    /// Iterates over the names and values in order of appearance.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &T)> {
        self.items.iter().map(|(key, value)| (&**key, value))
    }
}

impl<T> Default for Map<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Into<Box<str>>, T> FromIterator<(K, T)> for Map<T> {
    fn from_iter<I: IntoIterator<Item = (K, T)>>(values: I) -> Self {
        Self {
            items: values.into_iter().map(|(key, value)| (key.into(), value)).collect(),
            broken: Vec::new(),
        }
    }
}

serde_impls!(Map<T>);

impl<T: Encode> Encode for Map<T> {
    fn encode(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        let mut object = Object::begin(out);
        for (key, value) in &self.items {
            value.encode(revision, object.key(key))?;
        }
        object.end();
        Ok(())
    }
}

impl<T: Decode> Decode for Map<T> {
    fn read(reader: &mut JsonReader<'_>) -> Result<Self, DecodeError> {
        let mut map = Self::new();
        read_object(reader, |key, reader| {
            let key = reader.keep_key(key);
            let value = reader.clone();
            match T::read(reader) {
                Ok(item) => map.items.push((String::from(key).into(), item)),
                Err(error) => {
                    *reader = value;
                    reader.skip();
                    if map.broken.len() < BROKEN_MAX {
                        map.broken.push(error.within(key));
                    }
                }
            }
            Ok(())
        })?;
        Ok(map)
    }
}

/// A JSON object as unparsed text.
///
/// Can be created from any [`Raw`], but encoding fails if the value is not an object.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AnyObject(pub Raw);

impl Deref for AnyObject {
    type Target = Raw;

    fn deref(&self) -> &Raw {
        &self.0
    }
}

impl From<Raw> for AnyObject {
    fn from(raw: Raw) -> Self {
        Self(raw)
    }
}

impl From<serde_json::Value> for AnyObject {
    fn from(value: serde_json::Value) -> Self {
        Self(value.into())
    }
}

serde_impls!(AnyObject);

impl Encode for AnyObject {
    fn encode(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        if self.0.is_object() { self.0.encode(revision, out) } else { Err(Unencodable) }
    }
}

impl Decode for AnyObject {
    fn read(reader: &mut JsonReader<'_>) -> Result<Self, DecodeError> {
        if reader.kind() == Some(Kind::Object) {
            Ok(Self(reader.raw()))
        } else {
            Err(DecodeError::expected("an object", reader))
        }
    }
}

/// A value that matches `T`, or any other JSON value as unparsed text.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum OrUnknown<T> {
    /// A value that matches `T`.
    Known(T),
    /// Any other value, verbatim.
    Unknown(Raw),
}

impl<T> OrUnknown<T> {
    /// Returns the value if it matches `T`, or `None` for any other JSON value.
    pub const fn known(&self) -> Option<&T> {
        if let Self::Known(value) = self { Some(value) } else { None }
    }
}

/// Formats a value that matches `T` as `T`, and any other value as JSON.
impl<T: fmt::Display> fmt::Display for OrUnknown<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(value) => value.fmt(f),
            Self::Unknown(raw) => raw.fmt(f),
        }
    }
}

impl<T> From<T> for OrUnknown<T> {
    fn from(value: T) -> Self {
        Self::Known(value)
    }
}

impl<T: PartialEq> PartialEq<T> for OrUnknown<T> {
    fn eq(&self, other: &T) -> bool {
        self.known() == Some(other)
    }
}

serde_impls!(OrUnknown<T>);

impl<T: Encode> Encode for OrUnknown<T> {
    fn encode(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        match self {
            Self::Known(value) => value.encode(revision, out),
            Self::Unknown(raw) => raw.encode(revision, out),
        }
    }
}

impl<T: Decode> Decode for OrUnknown<T> {
    fn read(reader: &mut JsonReader<'_>) -> Result<Self, DecodeError> {
        let before = reader.clone();
        Ok(match T::read(reader) {
            Ok(value) => Self::Known(value),
            Err(_) => {
                *reader = before;
                Self::Unknown(reader.raw())
            }
        })
    }
}
