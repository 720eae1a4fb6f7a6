//! JSON-RPC ids and progress tokens.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::fmt;

use crate::json::{unescape, whole_number, write_str};

// ID-04: ids are equal if type and value are. ID-05: ids are echoed exactly. T-05: one spelling
// per number.
/// A JSON-RPC id or a progress token: an integer or a string.
///
/// Ids are equal if their type and value are equal: `1` differs from `"1"`, while `"A"` equals
/// `"\u0041"`. A received id is sent back with exactly the received text.
///
/// Integers range from -2^63 to 2^64-1. A number without a fraction is an integer however it is
/// written: `7.0` and `70e-1` equal `7`.
#[derive(Clone)]
pub struct RequestId(Repr);

#[derive(Clone)]
enum Repr {
    Negative(i64),
    Unsigned(u64),
    Text(Box<str>),
    /// An integer that is written with a fraction or an exponent, or as `-0`: its JSON text and
    /// its value.
    Spelled(Box<(Box<str>, i128)>),
    /// A string with escapes: its JSON text including quotes, and its value.
    Escaped(Box<(Box<str>, Box<str>)>),
}

impl RequestId {
    /// Parses a valid JSON value. Returns `None` if it is not an id.
    // JSON-02: a string or an integer. ID-07: numbers with a fraction are not ids.
    pub(crate) fn from_json(value: &[u8]) -> Option<Self> {
        if let Some(number) = short_unsigned(value) {
            return Some(Self(Repr::Unsigned(number)));
        }
        let spelling = core::str::from_utf8(value).ok()?;
        match value.first()? {
            b'"' => Some(Self(match unescape(value)? {
                Cow::Borrowed(text) => Repr::Text(text.into()),
                Cow::Owned(text) => Repr::Escaped(Box::new((spelling.into(), text.into()))),
            })),
            b'-' | b'0'..=b'9' => Some(Self(if let Ok(number) = spelling.parse() {
                Repr::Unsigned(number)
            } else if let Ok(number @ ..0) = spelling.parse() {
                Repr::Negative(number)
            } else {
                Repr::Spelled(Box::new((spelling.into(), integer(spelling)?)))
            })),
            _ => None,
        }
    }

    /// Returns the value if the id is a non-negative integer.
    #[must_use]
    pub fn as_u64(&self) -> Option<u64> {
        match &self.0 {
            Repr::Unsigned(number) => Some(*number),
            Repr::Spelled(both) => u64::try_from(both.1).ok(),
            Repr::Negative(_) | Repr::Text(_) | Repr::Escaped(_) => None,
        }
    }

    /// Returns the value if the id is a string.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match &self.0 {
            Repr::Text(text) => Some(text),
            Repr::Escaped(both) => Some(&both.1),
            Repr::Negative(_) | Repr::Unsigned(_) | Repr::Spelled(_) => None,
        }
    }

    /// Writes the id as received.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        match &self.0 {
            Repr::Negative(number) => crate::json::write_i64(out, *number),
            Repr::Unsigned(number) => crate::json::write_u64(out, *number),
            Repr::Text(text) => write_str(out, text),
            Repr::Spelled(both) => out.extend_from_slice(both.0.as_bytes()),
            Repr::Escaped(both) => out.extend_from_slice(both.0.as_bytes()),
        }
    }

    /// Returns the sort key: integers by value, followed by strings by value.
    fn key(&self) -> (i128, Option<&str>) {
        match &self.0 {
            Repr::Negative(number) => (i128::from(*number), None),
            Repr::Unsigned(number) => (i128::from(*number), None),
            Repr::Spelled(both) => (both.1, None),
            Repr::Text(text) => (i128::MAX, Some(text)),
            Repr::Escaped(both) => (i128::MAX, Some(&both.1)),
        }
    }
}

/// Parses up to 18 decimal digits: the fast path, since nearly all ids are short numbers.
fn short_unsigned(value: &[u8]) -> Option<u64> {
    if value.is_empty() || value.len() > 18 {
        return None;
    }
    value.iter().try_fold(0, |number, byte| {
        let digit = byte.wrapping_sub(b'0');
        (digit < 10).then(|| number * 10 + u64::from(digit))
    })
}

/// Returns the value of a JSON number without a fraction, such as `7.0` or `70e-1`, if it is in
/// the range of ids.
pub(super) fn integer(number: &str) -> Option<i128> {
    let digits = whole_number(number)?;
    let unsigned = digits.parse::<u64>().map(i128::from);
    unsigned.or_else(|_| digits.parse::<i64>().map(i128::from)).ok()
}

impl From<u64> for RequestId {
    fn from(number: u64) -> Self {
        Self(Repr::Unsigned(number))
    }
}

impl From<&str> for RequestId {
    fn from(text: &str) -> Self {
        Self(Repr::Text(text.into()))
    }
}

impl PartialEq for RequestId {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for RequestId {}

impl PartialOrd for RequestId {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for RequestId {
    fn cmp(&self, other: &Self) -> Ordering {
        match (&self.0, &other.0) {
            (Repr::Unsigned(one), Repr::Unsigned(other)) => one.cmp(other),
            _ => self.key().cmp(&other.key()),
        }
    }
}

/// Writes strings with quotes, so that `1` and `"1"` look different.
impl fmt::Debug for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Negative(number) => write!(f, "{number}"),
            Repr::Unsigned(number) => write!(f, "{number}"),
            Repr::Spelled(both) => f.write_str(&both.0),
            Repr::Text(text) => write!(f, "{text:?}"),
            Repr::Escaped(both) => write!(f, "{:?}", both.1),
        }
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_echoed_exactly_id_05() {
        for spelling in [
            "0",
            "-1",
            "9007199254740993",
            "18446744073709551615",
            "-9223372036854775808",
            "\"\"",
            r#""\u0041b""#,
            r#""\ud83d""#,
            "1.0",
            "-0",
            "10e-1",
            "1E+2",
            "-9223372036854775808.00",
        ] {
            let id = RequestId::from_json(spelling.as_bytes()).unwrap();
            let mut out = Vec::new();
            id.write(&mut out);
            assert_eq!(out, spelling.as_bytes());
        }
    }

    #[test]
    fn fractions_and_other_types_are_rejected_id_07() {
        for spelling in [
            "1.5",
            "15e-1",
            "1e-1",
            "0.1",
            "1e99",
            "1e99999999999999999999",
            "null",
            "true",
            "[]",
            "{}",
            "18446744073709551616",
            "18446744073709551615.5",
            "-9223372036854775809",
        ] {
            assert_eq!(RequestId::from_json(spelling.as_bytes()), None, "{spelling}");
        }
    }

    #[test]
    fn a_number_without_a_fraction_is_an_integer_id_07() {
        for (spelling, value) in [
            ("7.0", 7),
            ("70e-1", 7),
            ("0.7e1", 7),
            ("7E0", 7),
            ("7.000e+0", 7),
            ("700e-2", 7),
            ("1e3", 1000),
            ("-0", 0),
            ("0.0", 0),
            ("0e99999", 0),
            ("-0.0e-5", 0),
            ("18446744073709551615.0", u64::MAX),
            ("1844674407370955161.5e1", u64::MAX),
        ] {
            let id = RequestId::from_json(spelling.as_bytes()).unwrap();
            assert_eq!((id.as_u64(), &id), (Some(value), &RequestId::from(value)), "{spelling}");
        }
        assert_eq!(RequestId::from_json(b"-1.0"), RequestId::from_json(b"-1"));
    }

    #[test]
    fn equality_compares_type_and_value_id_04() {
        let id = |text: &str| RequestId::from_json(text.as_bytes()).unwrap();
        assert_ne!(id("1"), id("\"1\""));
        assert_eq!(id("\"A\""), id(r#""\u0041""#));
        assert!(id("-1") < id("0") && id("18446744073709551615") < id("\"\""));
    }
}
