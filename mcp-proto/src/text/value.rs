//! [`Value`]: a value with a text form, and its implementations for basic types.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::time::Duration;

use crate::json::{Array, JsonReader, Kind, Object, Raw, write_f64, write_str, write_u64};
use crate::schema::{Decode, DecodeError, Encode};
use crate::vocabulary::{CallId, IncomingId};

/// The version of the text form.
pub const VERSION: u64 = 1;

/// The member of a document that holds its version.
pub(super) const VERSION_KEY: &str = "v";

/// A value with a text form. Only this crate implements it.
#[expect(unnameable_types, reason = "other crates cannot implement `TextForm` and `Numbered`")]
pub trait Value: Sized {
    /// Appends the value to `out` as JSON on one line.
    fn write(&self, out: &mut Vec<u8>);

    /// Reads the next value of `reader`.
    fn read(reader: &mut JsonReader<'_>) -> Result<Self, DecodeError>;

    /// Returns the value of a member that is left out; `None` if the member is required.
    fn absent() -> Option<Self> {
        None
    }

    /// Returns whether a member with this value is left out.
    fn is_absent(&self) -> bool {
        false
    }

    /// Reads an optional value. `null` is none.
    fn read_option(reader: &mut JsonReader<'_>) -> Result<Option<Self>, DecodeError> {
        if reader.kind() == Some(Kind::Null) {
            reader.skip();
            return Ok(None);
        }
        Self::read(reader).map(Some)
    }
}

/// Reads an object whose members are `keys`, and calls `member` with each.
///
/// # Errors
/// Fails for any other member, because it is probably misspelled, and for another version.
pub(super) fn read_members(
    reader: &mut JsonReader<'_>,
    keys: &[&str],
    member: &mut dyn FnMut(&str, &mut JsonReader<'_>) -> Result<(), DecodeError>,
) -> Result<(), DecodeError> {
    let before = reader.clone();
    let read = reader.members(|key, reader| {
        let read = match key {
            known if keys.contains(&known) => member(key, reader),
            VERSION_KEY => {
                let is_version = |text: &str| (text.parse() == Ok(VERSION)).then_some(());
                number(reader, || format!("version {VERSION}"), is_version)
            }
            _ => Err(DecodeError::expected(nearest(key, keys), reader)),
        };
        read.map_err(|error| error.within(key))
    });
    read.unwrap_or_else(|| Err(DecodeError::expected("an object", &before)))
}

/// Describes the known member whose name begins and ends most like `key`.
fn nearest(key: &str, keys: &[&str]) -> String {
    let score = |known: &&&str| {
        let equal = |(one, other): &(u8, u8)| one == other;
        let start = known.bytes().zip(key.bytes()).take_while(equal).count();
        let end = known.bytes().rev().zip(key.bytes().rev()).take_while(equal).count();
        (start + end, Reverse(known.len()))
    };
    match keys.iter().max_by_key(score) {
        Some(known) => format!("a known member such as `{known}`"),
        None => "no member".into(),
    }
}

/// Returns the name of a variant in the member `tag` of the next object.
pub(super) fn read_tag(
    reader: &mut JsonReader<'_>,
    tag: &str,
    names: &[&'static str],
) -> Result<&'static str, DecodeError> {
    let found = reader.peek_member(tag);
    let text = found.as_ref().and_then(Raw::to_text);
    names.iter().find(|name| text.as_deref() == Some(name)).copied().ok_or_else(|| {
        let expected = format!("one of {}", names.join(", ")).into();
        DecodeError { pointer: String::new(), expected, found: found.clone() }.within(tag)
    })
}

/// Returns the value of a member, which may have been left out.
pub(super) fn take<T: Value>(value: Option<T>, key: &str) -> Result<T, DecodeError> {
    value.or_else(T::absent).ok_or_else(|| DecodeError::missing(key))
}

/// Writes a member unless it can be left out.
pub(super) fn write_member<T: Value>(object: &mut Object<'_>, key: &'static str, value: &T) {
    if !value.is_absent() {
        value.write(object.plain_key(key));
    }
}

/// Implements [`Value`] for types that the schema encodes, in the form of the newest revision.
macro_rules! of_schema {
    ($($type:ty),*) => {$(
        impl Value for $type {
            fn write(&self, out: &mut Vec<u8>) {
                let start = out.len();
                if Encode::encode(self, $crate::revision::R5, out).is_err() {
                    out.truncate(start);
                    out.extend_from_slice(b"null");
                }
            }

            fn read(reader: &mut JsonReader<'_>) -> Result<Self, DecodeError> {
                Decode::read(reader)
            }
        }
    )*};
}

of_schema!(Box<str>, String, crate::schema::Implementation, crate::schema::Level);

/// Implements [`Value`] for integers. Unlike those of the schema, they use the whole range.
macro_rules! integers {
    ($($type:ty)*) => {$(
        impl Value for $type {
            fn write(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(self.to_string().as_bytes());
            }

            fn read(reader: &mut JsonReader<'_>) -> Result<Self, DecodeError> {
                let expected = || format!("an integer from {} to {}", Self::MIN, Self::MAX);
                number(reader, expected, |text| text.parse().ok())
            }
        }
    )*};
}

integers!(i64 u8 u16 u32 u64 usize);

/// Reads a number from its text.
fn number<T>(
    reader: &mut JsonReader<'_>,
    expected: impl FnOnce() -> String,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Result<T, DecodeError> {
    let before = reader.clone();
    parse(reader.raw().as_str()).ok_or_else(|| DecodeError::expected(expected(), &before))
}

/// Infinities and NaN are strings, such as `"inf"`.
impl Value for f64 {
    fn write(&self, out: &mut Vec<u8>) {
        match *self {
            zero if zero.to_bits() == (-0.0_f64).to_bits() => out.extend_from_slice(b"-0.0"),
            finite if finite.is_finite() => write_f64(out, finite),
            other => write_str(out, &other.to_string()),
        }
    }

    fn read(reader: &mut JsonReader<'_>) -> Result<Self, DecodeError> {
        let other = |reader: &mut JsonReader<'_>| reader.text()?.parse::<Self>().ok();
        let before = reader.clone();
        let number = reader.float().or_else(|| other(reader).filter(|it| !it.is_finite()));
        number.ok_or_else(|| DecodeError::expected("a number", &before))
    }
}

/// A number of seconds, exact to the nanosecond.
impl Value for Duration {
    fn write(&self, out: &mut Vec<u8>) {
        write_u64(out, self.as_secs());
        if self.subsec_nanos() > 0 {
            let fraction = format!(".{:09}", self.subsec_nanos());
            out.extend_from_slice(fraction.trim_end_matches('0').as_bytes());
        }
    }

    fn read(reader: &mut JsonReader<'_>) -> Result<Self, DecodeError> {
        number(reader, || "a number of seconds".into(), seconds)
    }
}

fn seconds(text: &str) -> Option<Duration> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let exact = || {
        let nanos = format!("{fraction:0<9}").parse().ok()?;
        (fraction.len() <= 9).then_some(Duration::new(whole.parse().ok()?, nanos))
    };
    exact().or_else(|| Duration::try_from_secs_f64(text.parse().ok()?).ok())
}

impl Value for bool {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.to_string().as_bytes());
    }

    fn read(reader: &mut JsonReader<'_>) -> Result<Self, DecodeError> {
        Decode::read(reader)
    }

    fn absent() -> Option<Self> {
        Some(false)
    }

    fn is_absent(&self) -> bool {
        !self
    }
}

/// Any value, verbatim.
impl Value for Raw {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.as_bytes());
    }

    fn read(reader: &mut JsonReader<'_>) -> Result<Self, DecodeError> {
        Ok(reader.raw())
    }

    /// A member that is `null` is not one that is left out.
    fn read_option(reader: &mut JsonReader<'_>) -> Result<Option<Self>, DecodeError> {
        Ok(Some(reader.raw()))
    }
}

impl<T: Value> Value for Option<T> {
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Some(value) => value.write(out),
            None => out.extend_from_slice(b"null"),
        }
    }

    fn read(reader: &mut JsonReader<'_>) -> Result<Self, DecodeError> {
        T::read_option(reader)
    }

    fn absent() -> Option<Self> {
        Some(None)
    }

    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

impl<T: Value> Value for Vec<T> {
    fn write(&self, out: &mut Vec<u8>) {
        let mut array = Array::begin(out);
        self.iter().for_each(|value| value.write(array.next()));
        array.end();
    }

    fn read(reader: &mut JsonReader<'_>) -> Result<Self, DecodeError> {
        let (mut all, before) = (Self::new(), reader.clone());
        let read = reader.elements(|index, reader| {
            all.push(T::read(reader).map_err(|error| error.within(index))?);
            Ok(())
        });
        read.unwrap_or_else(|| Err(DecodeError::expected("an array", &before))).map(|()| all)
    }

    fn absent() -> Option<Self> {
        Some(Self::new())
    }

    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

/// An array of two.
impl<T: Value> Value for (T, T) {
    fn write(&self, out: &mut Vec<u8>) {
        let mut array = Array::begin(out);
        self.0.write(array.next());
        self.1.write(array.next());
        array.end();
    }

    fn read(reader: &mut JsonReader<'_>) -> Result<Self, DecodeError> {
        let before = reader.clone();
        let pair: [T; 2] = <Vec<T> as Value>::read(reader)?
            .try_into()
            .map_err(|_| DecodeError::expected("an array of two", &before))?;
        Ok(pair.into())
    }
}

/// An object with either member.
impl<T: Value, E: Value> Value for Result<T, E> {
    fn write(&self, out: &mut Vec<u8>) {
        let mut object = Object::begin(out);
        match self {
            Ok(result) => result.write(object.plain_key("result")),
            Err(error) => error.write(object.plain_key("error")),
        }
        object.end();
    }

    fn read(reader: &mut JsonReader<'_>) -> Result<Self, DecodeError> {
        let mut outcome = None;
        read_members(reader, &["result", "error"], &mut |key, reader| {
            outcome = Some(match key {
                "result" => Ok(T::read(reader)?),
                _ => Err(E::read(reader)?),
            });
            Ok(())
        })?;
        outcome.ok_or_else(|| DecodeError::missing("result"))
    }
}

/// Implements [`Value`] for a type that is written like another one.
macro_rules! like {
    ($($type:ty: $other:ty, $to:expr, $from:expr;)*) => {$(
        impl Value for $type {
            fn write(&self, out: &mut Vec<u8>) {
                let to: fn(&Self) -> $other = $to;
                to(self).write(out);
            }

            fn read(reader: &mut JsonReader<'_>) -> Result<Self, DecodeError> {
                <$other as Value>::read(reader).map($from)
            }
        }
    )*};
}

pub(super) use like;

like! {
    CallId: u64, |it| it.0, CallId;
    IncomingId: u64, |it| it.0, IncomingId;
    Cow<'static, str>: String, |it| it.as_ref().into(), Cow::Owned;
}

impl<T: Value> Value for Arc<T> {
    fn write(&self, out: &mut Vec<u8>) {
        (**self).write(out);
    }

    fn read(reader: &mut JsonReader<'_>) -> Result<Self, DecodeError> {
        T::read(reader).map(Self::new)
    }
}
