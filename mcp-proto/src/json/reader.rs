//! A cursor that reads typed values from checked JSON in one pass; knows nothing of the types.
//!
//! What is read is a [`Raw`], so the grammar needs no second check: the cursor only has to find
//! where values end. Parts that are kept share the bytes they came in.

use alloc::borrow::Cow;
use bytes::Bytes;

use super::cursor::Cursor;
use super::escape::{unescape, unescape_some};
use super::raw::Raw;
use super::str::Str;

/// Reads the values of one checked JSON text, from front to back.
///
/// Each method takes exactly one value, or leaves the cursor where it was.
///
/// ```
/// use mcp_proto::Raw;
/// use mcp_proto::schema::{DecodeError, Reader};
///
/// let raw = Raw::from_text(r#"{"name":"Oslo","days":3}"#).unwrap();
/// let mut days = None;
/// Reader::new(&raw).members(|key, reader| {
///     match key {
///         "days" => days = reader.integer(),
///         _ => reader.skip(),
///     }
///     Ok::<(), DecodeError>(())
/// });
/// assert_eq!(days, Some(3));
/// ```
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    source: &'a Bytes,
    cursor: Cursor<'a>,
}

/// Of a text that is no longer, all parts may be shared; of a longer one those that are a good part
/// of it.
const SHARED_BYTES_MAX: usize = 16 << 10;

/// A part that is less than this part of a long text is copied.
const SHARED_PART_MIN: usize = 8;

/// What kind of value comes next.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// `[…]`
    Array,
    /// `true` or `false`
    Bool,
    /// `null`
    Null,
    /// A number.
    Number,
    /// `{…}`
    Object,
    /// `"…"`
    Text,
}

impl<'a> Reader<'a> {
    /// Starts at the value itself.
    #[must_use]
    pub fn new(raw: &'a Raw) -> Self {
        let source = raw.shared();
        Self { source, cursor: Cursor::trusted(source) }
    }

    /// What comes next; `None` at the end.
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

    /// Takes the next value as text.
    pub fn raw(&mut self) -> Raw {
        let value = self.cursor.skip_value().unwrap_or(b"null");
        if value == b"null" { Raw::null() } else { Raw::part_of(self.source, value) }
    }

    /// Takes the next value and forgets it.
    pub fn skip(&mut self) {
        self.cursor.skip_value();
    }

    /// Takes the next value if it is a string.
    pub fn text(&mut self) -> Option<Cow<'a, str>> {
        if self.kind() != Some(Kind::Text) {
            return None;
        }
        Some(self.string())
    }

    /// As `text`; what is kept shares the bytes of the value, unless it has escapes or is a small
    /// part of a large one.
    pub fn shared_text(&mut self) -> Option<Str> {
        if self.kind() != Some(Kind::Text) {
            return None;
        }
        Some(match self.inside() {
            (inner, true) => unescape_some(as_text(inner)).into(),
            (inner, false) if self.shares(inner.len()) => Str::part_of(self.source, inner),
            (inner, false) => as_text(inner).into(),
        })
    }

    /// Whether a part of so many bytes is shared.
    fn shares(&self, len: usize) -> bool {
        let source = self.source.len();
        source <= SHARED_BYTES_MAX || len >= source / SHARED_PART_MIN
    }

    /// `key`, which `members_by_bytes` showed, for as long as its value: that is shared as well.
    pub(crate) fn keep_key(&self, key: &[u8]) -> Str {
        let (source, place) = (self.source.as_ptr_range(), key.as_ptr_range());
        // A key that has escapes is not of the source.
        if source.start <= place.start && place.end <= source.end {
            Str::part_of(self.source, key)
        } else {
            as_text(key).into()
        }
    }

    /// Takes the key that comes next, and the colon behind it.
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

    /// Takes the string that comes next.
    fn string(&mut self) -> Cow<'a, str> {
        match self.inside() {
            (inner, true) => Cow::Owned(unescape_some(as_text(inner))),
            (inner, false) => Cow::Borrowed(as_text(inner)),
        }
    }

    /// As `string`, for who only compares it.
    fn string_bytes(&mut self) -> Cow<'a, [u8]> {
        match self.inside() {
            (inner, true) => Cow::Owned(unescape_some(as_text(inner)).into_bytes()),
            (inner, false) => Cow::Borrowed(inner),
        }
    }

    /// Takes the string that comes next, as it stands there; and whether it has escapes.
    #[inline(always)]
    fn inside(&mut self) -> (&'a [u8], bool) {
        let start = self.cursor.position() + 1;
        let has_escapes = self.cursor.skip_string();
        let inner =
            self.source.get(start..self.cursor.position().saturating_sub(1)).unwrap_or_default();
        (inner, has_escapes)
    }

    /// Takes the next value if it is `true` or `false`.
    pub fn bool(&mut self) -> Option<bool> {
        let (value, len) = match self.cursor.peek() {
            Some(b't') => (true, 4),
            Some(b'f') => (false, 5),
            _ => return None,
        };
        self.cursor.skip_bytes(len);
        Some(value)
    }

    /// Takes the next value if it is a whole number that fits; `3.0` and `3e0` are whole, too.
    pub fn integer(&mut self) -> Option<i64> {
        let before = self.cursor.clone();
        let number = self.number_text().and_then(|text| {
            text.parse().ok().or_else(|| {
                let number: f64 = text.parse().ok()?;
                let whole = number as i64;
                (whole as f64 == number && whole.unsigned_abs() < 1 << 53).then_some(whole)
            })
        });
        self.or_back(before, number)
    }

    /// Takes the next value if it is a number that is finite as an `f64`.
    pub fn float(&mut self) -> Option<f64> {
        let before = self.cursor.clone();
        let number =
            self.number_text().and_then(|text| text.parse().ok()).filter(|n: &f64| n.is_finite());
        self.or_back(before, number)
    }

    /// Takes the next value if it is an object, showing each member: `member` must take its value.
    ///
    /// `None`, with nothing taken, when it is not an object; an error of `member` ends the walk.
    pub fn members<E>(
        &mut self,
        mut member: impl FnMut(&str, &mut Self) -> Result<(), E>,
    ) -> Option<Result<(), E>> {
        self.members_by_bytes(|key, reader| member(as_text(key), reader))
    }

    /// As `members`, for who only compares the keys.
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

    /// Takes the next value if it is an array, showing each element: `element` must take it.
    ///
    /// `None`, with nothing taken, when it is not an array; an error of `element` ends the walk.
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

    /// Takes the next value if it is the string `word`.
    pub(crate) fn take_word(&mut self, word: &str) -> bool {
        let before = self.clone();
        let taken = self.kind() == Some(Kind::Text)
            && match self.inside() {
                (inner, false) => inner == word.as_bytes(),
                (inner, true) => unescape_some(as_text(inner)) == word,
            };
        if !taken {
            *self = before;
        }
        taken
    }

    /// As `peek_member`, for the text of a member that is a string, for who only compares it.
    pub(crate) fn peek_text(&mut self, name: &str) -> Option<Cow<'a, [u8]>> {
        // It mostly stands first, without escapes.
        let mut ahead = self.clone();
        if ahead.cursor.accept(b'{')
            && ahead.cursor.peek() == Some(b'"')
            && ahead.inside() == (name.as_bytes(), false)
            && ahead.cursor.accept(b':')
        {
            return match ahead.cursor.peek() {
                Some(b'"') => Some(ahead.string_bytes()),
                _ => None,
            };
        }
        self.peek_value(name).and_then(unescape).map(into_bytes)
    }

    /// Looks at a member of the object that comes next, without taking anything; the first where it
    /// is repeated.
    ///
    /// Looks no further than that member, which is cheap where it stands first.
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

    fn or_back<T>(&mut self, before: Cursor<'a>, value: Option<T>) -> Option<T> {
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

/// A part of a value, which is UTF-8.
#[inline]
fn as_text(part: &[u8]) -> &str {
    core::str::from_utf8(part).unwrap_or_default()
}

#[cfg(test)]
mod tests;
