//! The output of `Debug` for session ids and headers, without secrets.
// HTTP-29: a session id is a credential. Its length helps to debug, its text does not.

use core::fmt;

/// A secret, of which `Debug` shows the length only.
#[derive(Clone, Eq, PartialEq)]
pub(super) struct Redacted<T>(pub(super) T);

impl<T: AsRef<str>> fmt::Debug for Redacted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{} bytes>", self.0.as_ref().len())
    }
}

/// Headers, of which `Debug` shows the values that are known to be no secrets.
pub(crate) struct RedactedHeaders<'a, N, V>(pub(crate) &'a [(N, V)]);

/// The headers with values to show. All others are redacted, since drivers and tools add their own.
const SHOWN: &[&str] = &[
    "accept",
    "allow",
    "cache-control",
    "content-type",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "retry-after",
    "x-accel-buffering",
];

impl<N: AsRef<str>, V: AsRef<str>> fmt::Debug for RedactedHeaders<'_, N, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut map = f.debug_map();
        for (name, value) in self.0 {
            let (name, value) = (name.as_ref(), value.as_ref());
            if SHOWN.iter().any(|shown| shown.eq_ignore_ascii_case(name)) {
                map.entry(&name, &value);
            } else {
                map.entry(&name, &Redacted(value));
            }
        }
        map.finish()
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn only_headers_known_to_be_no_secrets_show_their_values() {
        let headers = [("Accept", "a"), ("Mcp-Session-Id", "s-1"), ("Authorization", "Bearer x")];
        let headers = headers.map(|(name, value)| (name, value.to_string()));
        assert_eq!(
            format!("{:?}", RedactedHeaders(&headers)),
            r#"{"Accept": "a", "Mcp-Session-Id": <3 bytes>, "Authorization": <8 bytes>}"#
        );
    }
}
