//! [`JsonReader`]: a pull parser that reads typed values from validated JSON in one pass.
//!
//! The input is a [`Raw`], which is valid JSON, so the reader only has to find where values end.
//! Values it returns share the bytes of the input.

use alloc::borrow::Cow;
use bytes::Bytes;

use super::cursor::Cursor;
use super::escape::{unescape, unescape_some};
use super::raw::Raw;
use super::str::Str;

/// A pull parser that reads one JSON value from front to back.
///
/// Each method that reads a value consumes exactly one value. If the next value does not have the
/// requested type, the method returns `None` and consumes nothing.
///
/// ```
/// use mcp_proto::Raw;
/// use mcp_proto::schema::{DecodeError, JsonReader};
///
/// let raw = Raw::from_text(r#"{"name":"Oslo","days":3}"#).unwrap();
/// let mut days = None;
/// JsonReader::new(&raw).members(|key, reader| {
///     match key {
///         "days" => days = reader.integer(),
///         _ => reader.skip(),
///     }
///     Ok::<(), DecodeError>(())
/// });
/// assert_eq!(days, Some(3));
/// ```
#[derive(Clone, Debug)]
pub struct JsonReader<'a> {
    source: &'a Bytes,
    cursor: Cursor<'a>,
}

/// Parts of an input up to this length are shared. Of a longer one, only large parts are.
const SHARED_BYTES_MAX: usize = 16 << 10;

/// Parts of a long input are shared if they are at least this fraction of it: one eighth.
const SHARED_PART_MIN: usize = 8;

/// The type of a JSON value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// An array, `[…]`.
    Array,
    /// A boolean, `true` or `false`.
    Bool,
    /// The value `null`.
    Null,
    /// A number.
    Number,
    /// An object, `{…}`.
    Object,
    /// A string, `"…"`.
    Text,
}

impl<'a> JsonReader<'a> {
    /// Creates a reader whose next value is `raw`.
    #[must_use]
    pub fn new(raw: &'a Raw) -> Self {
        let source = raw.shared();
        Self { source, cursor: Cursor::trusted(source) }
    }

    /// Returns the type of the next value, or `None` at the end. Does not consume the value.
    pub fn kind(&mut self) -> Option<Kind> {
        Some(match self.cursor.peek()? {
            b'[' => Kind::Array,
            b't' | b'f' => Kind::Bool,
            b'n' => Kind::Null,
            b'{' => Kind::Object,
            b'"' => Kind::Text,
            _ => Kind::Number,
        })
    }

    /// Reads the next value of any type as JSON text. Returns `null` at the end.
    pub fn raw(&mut self) -> Raw {
        let value = self.cursor.skip_value().unwrap_or(b"null");
        if value == b"null" { Raw::null() } else { Raw::part_of(self.source, value) }
    }

    /// Skips the next value of any type.
    pub fn skip(&mut self) {
        self.cursor.skip_value();
    }

    /// Reads a string, borrowed unless it contains escapes.
    ///
    /// Returns `None`, consuming nothing, if the next value is not a string.
    pub fn text(&mut self) -> Option<Cow<'a, str>> {
        if self.kind() != Some(Kind::Text) {
            return None;
        }
        Some(self.string())
    }

    /// Reads a string, sharing the bytes of the input if possible.
    ///
    /// Copies the string if it contains escapes or is a small part of a large input.
    pub fn shared_text(&mut self) -> Option<Str> {
        if self.kind() != Some(Kind::Text) {
            return None;
        }
        Some(match self.string_content() {
            (inner, true) => unescape_some(as_text(inner)).into(),
            (inner, false) if self.shares(inner.len()) => Str::part_of(self.source, inner),
            (inner, false) => as_text(inner).into(),
        })
    }

    /// Returns whether a part of `len` bytes is shared.
    fn shares(&self, len: usize) -> bool {
        let source = self.source.len();
        source <= SHARED_BYTES_MAX || len >= source / SHARED_PART_MIN
    }

    /// Converts a key passed by `members_by_bytes` to text, sharing the input if possible. Intended
    /// for keys that are stored together with their values, which share the input too.
    pub(crate) fn keep_key(&self, key: &[u8]) -> Str {
        let (source, place) = (self.source.as_ptr_range(), key.as_ptr_range());
        // An unescaped key is not part of the input.
        if source.start <= place.start && place.end <= source.end {
            Str::part_of(self.source, key)
        } else {
            as_text(key).into()
        }
    }

    /// Reads a key and its colon.
    #[cold]
    fn key(&mut self) -> Cow<'a, [u8]> {
        let key = if self.kind() == Some(Kind::Text) {
            self.string_bytes()
        } else {
            Cow::Borrowed(&[][..])
        };
        self.cursor.accept(b':');
        key
    }

    /// Reads the string at the cursor.
    fn string(&mut self) -> Cow<'a, str> {
        match self.string_content() {
            (inner, true) => Cow::Owned(unescape_some(as_text(inner))),
            (inner, false) => Cow::Borrowed(as_text(inner)),
        }
    }

    /// Like [`string`](Self::string), without UTF-8 validation, for comparisons.
    fn string_bytes(&mut self) -> Cow<'a, [u8]> {
        match self.string_content() {
            (inner, true) => Cow::Owned(unescape_some(as_text(inner)).into_bytes()),
            (inner, false) => Cow::Borrowed(inner),
        }
    }

    /// Reads the content of the string at the cursor, still escaped, and whether it has escapes.
    #[inline(always)]
    fn string_content(&mut self) -> (&'a [u8], bool) {
        let start = self.cursor.position() + 1;
        let has_escapes = self.cursor.skip_string();
        let inner =
            self.source.get(start..self.cursor.position().saturating_sub(1)).unwrap_or_default();
        (inner, has_escapes)
    }

    /// Reads `true` or `false`.
    pub fn bool(&mut self) -> Option<bool> {
        let (value, len) = match self.cursor.peek() {
            Some(b't') => (true, 4),
            Some(b'f') => (false, 5),
            _ => return None,
        };
        self.cursor.skip_bytes(len);
        Some(value)
    }

    /// Reads an integer that fits in an `i64`.
    ///
    /// Forms such as `3.0` and `3e0` are accepted if the absolute value is below 2^53. Returns
    /// `None` for any other number.
    pub fn integer(&mut self) -> Option<i64> {
        let before = self.cursor.clone();
        let number = self.number_text().and_then(|text| {
            text.parse().ok().or_else(|| {
                let number: f64 = text.parse().ok()?;
                let whole = number as i64;
                (whole as f64 == number && whole.unsigned_abs() < 1 << 53).then_some(whole)
            })
        });
        self.or_rewind(before, number)
    }

    /// Reads a number as an `f64`. Returns `None` if the number is too large for a finite `f64`.
    pub fn float(&mut self) -> Option<f64> {
        let before = self.cursor.clone();
        let number = self
            .number_text()
            .and_then(|text| text.parse().ok())
            .filter(|number: &f64| number.is_finite());
        self.or_rewind(before, number)
    }

    /// Reads an object by calling `member` once per member.
    ///
    /// `member` receives the member's key and this reader, and must read or skip the member's
    /// value. If `member` returns an error, the iteration stops and the error is returned.
    ///
    /// Returns `None` and consumes nothing if the next value is not an object.
    pub fn members<E>(
        &mut self,
        mut member: impl FnMut(&str, &mut Self) -> Result<(), E>,
    ) -> Option<Result<(), E>> {
        self.members_by_bytes(|key, reader| member(as_text(key), reader))
    }

    /// Like [`members`](Self::members), without UTF-8 validation of the keys.
    pub(crate) fn members_by_bytes<E>(
        &mut self,
        mut member: impl FnMut(&[u8], &mut Self) -> Result<(), E>,
    ) -> Option<Result<(), E>> {
        if !self.cursor.accept(b'{') {
            return None;
        }
        if self.cursor.accept(b'}') {
            return Some(Ok(()));
        }
        loop {
            let other;
            let key = match self.cursor.skip_short_key() {
                Some(key) => self.source.get(key).unwrap_or_default(),
                None => {
                    other = self.key();
                    &*other
                }
            };
            if let Err(error) = member(key, self) {
                return Some(Err(error));
            }
            if !self.cursor.accept(b',') {
                self.cursor.accept(b'}');
                return Some(Ok(()));
            }
        }
    }

    /// Reads an array by calling `element` once per element.
    ///
    /// `element` receives the element's index and this reader, and must read or skip the element.
    /// If `element` returns an error, the iteration stops and the error is returned.
    ///
    /// Returns `None` and consumes nothing if the next value is not an array.
    pub fn elements<E>(
        &mut self,
        mut element: impl FnMut(usize, &mut Self) -> Result<(), E>,
    ) -> Option<Result<(), E>> {
        if !self.cursor.accept(b'[') {
            return None;
        }
        if self.cursor.accept(b']') {
            return Some(Ok(()));
        }
        for index in 0.. {
            if let Err(error) = element(index, self) {
                return Some(Err(error));
            }
            if !self.cursor.accept(b',') {
                break;
            }
        }
        self.cursor.accept(b']');
        Some(Ok(()))
    }

    /// Consumes the next value if it is the string `word`. Returns whether it was.
    pub(crate) fn take_word(&mut self, word: &str) -> bool {
        let before = self.clone();
        let taken = self.kind() == Some(Kind::Text)
            && match self.string_content() {
                (inner, false) => inner == word.as_bytes(),
                (inner, true) => unescape_some(as_text(inner)) == word,
            };
        if !taken {
            *self = before;
        }
        taken
    }

    /// Like [`peek_member`](Self::peek_member), for the bytes of a string member.
    pub(crate) fn peek_text(&mut self, name: &str) -> Option<Cow<'a, [u8]>> {
        // Fast path: the member is usually the first and has no escapes.
        let mut ahead = self.clone();
        if ahead.cursor.accept(b'{')
            && ahead.cursor.peek() == Some(b'"')
            && ahead.string_content() == (name.as_bytes(), false)
            && ahead.cursor.accept(b':')
        {
            return match ahead.cursor.peek() {
                Some(b'"') => Some(ahead.string_bytes()),
                _ => None,
            };
        }
        self.peek_value(name).and_then(unescape).map(into_bytes)
    }

    /// Returns the value of a member of the next object, without consuming the object.
    ///
    /// If several members are called `name`, the first one counts. Returns `None` if the next value
    /// is not an object or has no such member.
    ///
    /// Scans only up to that member, so the call is cheap if the member comes first.
    pub fn peek_member(&mut self, name: &str) -> Option<Raw> {
        self.peek_value(name).map(|value| Raw::part_of(self.source, value))
    }

    fn peek_value(&mut self, name: &str) -> Option<&'a [u8]> {
        self.cursor.peek();
        let mut members = super::members(self.cursor.rest());
        members.find(|(key, _)| super::escape::key_is(key, name)).map(|(_, value)| value)
    }

    fn number_text(&mut self) -> Option<&'a str> {
        if self.kind() != Some(Kind::Number) {
            return None;
        }
        let start = self.cursor.position();
        self.cursor.skip_value()?;
        Some(as_text(self.source.get(start..self.cursor.position())?))
    }

    fn or_rewind<T>(&mut self, before: Cursor<'a>, value: Option<T>) -> Option<T> {
        if value.is_none() {
            self.cursor = before;
        }
        value
    }
}

fn into_bytes(text: Cow<'_, str>) -> Cow<'_, [u8]> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    }
}

/// Converts a slice of the input, which is UTF-8.
#[inline]
fn as_text(part: &[u8]) -> &str {
    core::str::from_utf8(part).unwrap_or_default()
}

#[cfg(test)]
mod tests;
