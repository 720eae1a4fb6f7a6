//! The fields of a head, as whatever parsed it holds them; knows neither which fields there are nor
//! what they say.

use alloc::vec::Vec;
use core::fmt;

/// The fields of one head.
///
/// Lists of pairs implement it, and `http::HeaderMap` does behind the feature `http-types`. For any
/// other HTTP stack it is one lookup:
///
/// ```
/// use mcp_proto::http::Fields;
///
/// struct Head(Vec<(String, Vec<u8>)>);
///
/// impl Fields for Head {
///     fn value(&self, name: &str, nth: usize) -> Option<&[u8]> {
///         let mut values = self.0.iter().filter(|(key, _)| key.eq_ignore_ascii_case(name));
///         values.nth(nth).map(|(_, value)| &value[..])
///     }
/// }
///
/// let head = Head(vec![("Accept".into(), b"text/html".into()), ("accept".into(), b"*/*".into())]);
/// assert_eq!(head.value("accept", 1), Some(&b"*/*"[..]));
/// assert!(head.one("accept").is_err());
/// ```
pub trait Fields {
    /// The `nth` value, from 0, of the field `name`, which is given in lower case; names compare
    /// without case. (HTTP-46)
    fn value(&self, name: &str, nth: usize) -> Option<&[u8]>;

    /// The value of a field that has one at most.
    ///
    /// # Errors
    /// [`Repeated`] if it comes twice, even with equal values: whoever stands in between may have
    /// looked at another one than we, or have joined them, and what it let pass is then not
    /// what we read.
    fn one(&self, name: &str) -> Result<Option<&[u8]>, Repeated> {
        match self.value(name, 1) {
            None => Ok(self.value(name, 0)),
            Some(_) => Err(Repeated),
        }
    }
}

/// A field came twice that has one value at most.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Repeated;

impl fmt::Display for Repeated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a header field is repeated")
    }
}

impl core::error::Error for Repeated {}

/// All values of a field.
pub(super) fn all<'a>(fields: &'a dyn Fields, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
    (0..).map_while(move |nth| fields.value(name, nth))
}

impl<N: AsRef<str>, V: AsRef<[u8]>> Fields for [(N, V)] {
    fn value(&self, name: &str, nth: usize) -> Option<&[u8]> {
        let mut values = self.iter().filter(|(key, _)| key.as_ref().eq_ignore_ascii_case(name));
        values.nth(nth).map(|(_, value)| value.as_ref())
    }
}

impl<N: AsRef<str>, V: AsRef<[u8]>, const LEN: usize> Fields for [(N, V); LEN] {
    fn value(&self, name: &str, nth: usize) -> Option<&[u8]> {
        self.as_slice().value(name, nth)
    }
}

impl<N: AsRef<str>, V: AsRef<[u8]>> Fields for Vec<(N, V)> {
    fn value(&self, name: &str, nth: usize) -> Option<&[u8]> {
        self.as_slice().value(name, nth)
    }
}

impl<T: Fields + ?Sized> Fields for &T {
    fn value(&self, name: &str, nth: usize) -> Option<&[u8]> {
        (**self).value(name, nth)
    }
}

#[cfg(feature = "http-types")]
impl Fields for ::http::HeaderMap {
    fn value(&self, name: &str, nth: usize) -> Option<&[u8]> {
        named(self, name).nth(nth)
    }

    fn one(&self, name: &str) -> Result<Option<&[u8]>, Repeated> {
        let mut values = named(self, name);
        match (values.next(), values.next()) {
            (value, None) => Ok(value),
            (_, Some(_)) => Err(Repeated),
        }
    }
}

/// All values of a field. A head has few fields: to look at each is less than to have the name made
/// into one that the map looks for, and whoever parses heads bounds how many there may be.
#[cfg(feature = "http-types")]
fn named<'a>(map: &'a ::http::HeaderMap, name: &str) -> impl Iterator<Item = &'a [u8]> {
    map.iter().filter(move |(key, _)| key.as_str() == name).map(|(_, value)| value.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_compare_without_case_and_values_come_in_order_http_46() {
        let fields = [("Accept", "a"), ("X", "b"), ("ACCEPT", "c")];
        let dynamic: &dyn Fields = &fields;
        assert_eq!(all(dynamic, "accept").collect::<Vec<_>>(), [b"a", b"c"]);
        assert_eq!((dynamic.value("x", 0), dynamic.value("x", 1)), (Some(&b"b"[..]), None));
        assert_eq!((dynamic.one("x"), dynamic.one("y")), (Ok(Some(&b"b"[..])), Ok(None)));
    }

    #[test]
    fn a_field_that_comes_twice_is_not_one_even_if_equal() {
        assert_eq!([("host", "a"), ("Host", "a")].one("host"), Err(Repeated));
    }

    #[cfg(feature = "http-types")]
    #[test]
    fn header_maps_are_fields() {
        let mut map = ::http::HeaderMap::new();
        map.append("Mcp-Method", ::http::HeaderValue::from_static("tools/call"));
        map.append("accept", ::http::HeaderValue::from_static("a"));
        map.append("accept", ::http::HeaderValue::from_static("b"));
        let fields: &dyn Fields = &map;
        assert_eq!(fields.one("mcp-method"), Ok(Some(&b"tools/call"[..])));
        assert_eq!(all(fields, "accept").collect::<Vec<_>>(), [b"a", b"b"]);
        assert_eq!((fields.one("accept"), fields.one("host")), (Err(Repeated), Ok(None)));
    }
}
