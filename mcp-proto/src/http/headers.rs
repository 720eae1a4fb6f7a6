//! Access to the headers of any HTTP stack, by name.

use alloc::vec::Vec;
use core::fmt;

/// The headers of one request or response.
///
/// Implemented for slices, arrays and vectors of name-value pairs and, with the feature
/// `http-types`, for `http::HeaderMap`. For any other HTTP stack, implement [`each`](Self::each):
///
/// ```
/// use mcp_proto::http::Headers;
///
/// struct Head(Vec<(String, Vec<u8>)>);
///
/// impl Headers for Head {
///     fn each<'a>(&'a self, visit: &mut dyn FnMut(&'a str, &'a [u8])) {
///         self.0.iter().for_each(|(name, value)| visit(name, value));
///     }
/// }
///
/// let head = Head(vec![("Accept".into(), b"text/html".into()), ("accept".into(), b"*/*".into())]);
/// assert_eq!(head.value("accept", 1), Some(&b"*/*"[..]));
/// assert!(head.single("accept").is_err());
/// ```
pub trait Headers {
    /// Calls `visit` with the name and value of each header, in order.
    ///
    /// A repeated header is visited once for each value. Names may be in any case.
    fn each<'a>(&'a self, visit: &mut dyn FnMut(&'a str, &'a [u8]));

    /// Returns the `nth` value of the header `name`, counting from 0.
    ///
    /// Ignores the case of `name`.
    // HTTP-46: header names are case-insensitive.
    fn value(&self, name: &str, nth: usize) -> Option<&[u8]> {
        let (mut left, mut found) = (nth, None);
        self.each(&mut |key, value| {
            if found.is_none() && key.eq_ignore_ascii_case(name) {
                match left.checked_sub(1) {
                    Some(less) => left = less,
                    None => found = Some(value),
                }
            }
        });
        found
    }

    /// Returns the value of a header that may appear at most once, or `None` if it is absent.
    ///
    /// # Errors
    /// Returns [`RepeatedHeader`] if the header appears more than once, even with equal values. If
    /// repeated headers were accepted, an intermediary could check one value while this side uses
    /// another.
    fn single(&self, name: &str) -> Result<Option<&[u8]>, RepeatedHeader> {
        let mut found = Ok(None);
        self.each(&mut |key, value| {
            if key.eq_ignore_ascii_case(name) {
                found = if found == Ok(None) { Ok(Some(value)) } else { Err(RepeatedHeader) };
            }
        });
        found
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
    fn each<'a>(&'a self, visit: &mut dyn FnMut(&'a str, &'a [u8])) {
        self.iter().for_each(|(name, value)| visit(name.as_ref(), value.as_ref()));
    }
}

impl<N: AsRef<str>, V: AsRef<[u8]>, const LEN: usize> Headers for [(N, V); LEN] {
    fn each<'a>(&'a self, visit: &mut dyn FnMut(&'a str, &'a [u8])) {
        self.as_slice().each(visit);
    }
}

impl<N: AsRef<str>, V: AsRef<[u8]>> Headers for Vec<(N, V)> {
    fn each<'a>(&'a self, visit: &mut dyn FnMut(&'a str, &'a [u8])) {
        self.as_slice().each(visit);
    }
}

impl<T: Headers + ?Sized> Headers for &T {
    fn each<'a>(&'a self, visit: &mut dyn FnMut(&'a str, &'a [u8])) {
        (**self).each(visit);
    }
}

#[cfg(feature = "http-types")]
impl Headers for ::http::HeaderMap {
    fn each<'a>(&'a self, visit: &mut dyn FnMut(&'a str, &'a [u8])) {
        self.iter().for_each(|(name, value)| visit(name.as_str(), value.as_bytes()));
    }
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
