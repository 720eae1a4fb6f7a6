//! Access to the headers of any HTTP stack, by name.

use alloc::vec::Vec;
use core::fmt;

/// The headers of one request or response.
///
/// Implemented for slices, arrays and vectors of name-value pairs and, with the feature
/// `http-types`, for `http::HeaderMap`. For any other HTTP stack, implement [`value`](Self::value):
///
/// ```
/// use mcp_proto::http::Headers;
///
/// struct Head(Vec<(String, Vec<u8>)>);
///
/// impl Headers for Head {
///     fn value(&self, name: &str, nth: usize) -> Option<&[u8]> {
///         let mut values = self.0.iter().filter(|(key, _)| key.eq_ignore_ascii_case(name));
///         values.nth(nth).map(|(_, value)| &value[..])
///     }
/// }
///
/// let head = Head(vec![("Accept".into(), b"text/html".into()), ("accept".into(), b"*/*".into())]);
/// assert_eq!(head.value("accept", 1), Some(&b"*/*"[..]));
/// assert!(head.single("accept").is_err());
/// ```
pub trait Headers {
    /// Returns the `nth` value of the header `name`, counting from 0.
    ///
    /// Callers pass `name` in lower case. Implementations must ignore the case of header names.
    // HTTP-46: header names are case-insensitive.
    fn value(&self, name: &str, nth: usize) -> Option<&[u8]>;

    /// Returns the value of a header that may appear at most once, or `None` if it is absent.
    ///
    /// # Errors
    /// Returns [`RepeatedHeader`] if the header appears more than once, even with equal values. If
    /// repeated headers were accepted, an intermediary could check one value while this side uses
    /// another.
    fn single(&self, name: &str) -> Result<Option<&[u8]>, RepeatedHeader> {
        match self.value(name, 1) {
            None => Ok(self.value(name, 0)),
            Some(_) => Err(RepeatedHeader),
        }
    }
}

/// The error for a header that is repeated although it may appear only once.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RepeatedHeader;

impl fmt::Display for RepeatedHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("header is repeated")
    }
}

impl core::error::Error for RepeatedHeader {}

/// Returns all values of a header.
pub(super) fn all_values<'a>(
    fields: &'a dyn Headers,
    name: &'a str,
) -> impl Iterator<Item = &'a [u8]> {
    (0..).map_while(move |nth| fields.value(name, nth))
}

impl<N: AsRef<str>, V: AsRef<[u8]>> Headers for [(N, V)] {
    fn value(&self, name: &str, nth: usize) -> Option<&[u8]> {
        let mut values = self.iter().filter(|(key, _)| key.as_ref().eq_ignore_ascii_case(name));
        values.nth(nth).map(|(_, value)| value.as_ref())
    }
}

impl<N: AsRef<str>, V: AsRef<[u8]>, const LEN: usize> Headers for [(N, V); LEN] {
    fn value(&self, name: &str, nth: usize) -> Option<&[u8]> {
        self.as_slice().value(name, nth)
    }
}

impl<N: AsRef<str>, V: AsRef<[u8]>> Headers for Vec<(N, V)> {
    fn value(&self, name: &str, nth: usize) -> Option<&[u8]> {
        self.as_slice().value(name, nth)
    }
}

impl<T: Headers + ?Sized> Headers for &T {
    fn value(&self, name: &str, nth: usize) -> Option<&[u8]> {
        (**self).value(name, nth)
    }
}

#[cfg(feature = "http-types")]
impl Headers for ::http::HeaderMap {
    fn value(&self, name: &str, nth: usize) -> Option<&[u8]> {
        values_of(self, name).nth(nth)
    }

    fn single(&self, name: &str) -> Result<Option<&[u8]>, RepeatedHeader> {
        let mut values = values_of(self, name);
        match (values.next(), values.next()) {
            (value, None) => Ok(value),
            (_, Some(_)) => Err(RepeatedHeader),
        }
    }
}

/// Returns all values of a header by a linear scan: heads are short and bounded by the HTTP stack,
/// so this is cheaper than parsing `name` for a map lookup.
#[cfg(feature = "http-types")]
fn values_of<'a>(map: &'a ::http::HeaderMap, name: &str) -> impl Iterator<Item = &'a [u8]> {
    map.iter().filter(move |(key, _)| key.as_str() == name).map(|(_, value)| value.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_case_insensitive_and_values_are_ordered_http_46() {
        let fields = [("Accept", "a"), ("X", "b"), ("ACCEPT", "c")];
        let dynamic: &dyn Headers = &fields;
        assert_eq!(all_values(dynamic, "accept").collect::<Vec<_>>(), [b"a", b"c"]);
        assert_eq!((dynamic.value("x", 0), dynamic.value("x", 1)), (Some(&b"b"[..]), None));
        assert_eq!((dynamic.single("x"), dynamic.single("y")), (Ok(Some(&b"b"[..])), Ok(None)));
    }

    #[test]
    fn a_repeated_header_is_an_error_even_with_equal_values() {
        assert_eq!([("host", "a"), ("Host", "a")].single("host"), Err(RepeatedHeader));
    }

    #[cfg(feature = "http-types")]
    #[test]
    fn header_map_implements_fields() {
        let mut map = ::http::HeaderMap::new();
        map.append("Mcp-Method", ::http::HeaderValue::from_static("tools/call"));
        map.append("accept", ::http::HeaderValue::from_static("a"));
        map.append("accept", ::http::HeaderValue::from_static("b"));
        let fields: &dyn Headers = &map;
        assert_eq!(fields.single("mcp-method"), Ok(Some(&b"tools/call"[..])));
        assert_eq!(all_values(fields, "accept").collect::<Vec<_>>(), [b"a", b"b"]);
        assert_eq!(
            (fields.single("accept"), fields.single("host")),
            (Err(RepeatedHeader), Ok(None))
        );
    }
}
