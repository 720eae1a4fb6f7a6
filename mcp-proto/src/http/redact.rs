//! The output of `Debug` for session ids and headers, and texts of servers, without secrets.
// HTTP-29: a session id is a credential. Its length helps to debug, its text does not.

use alloc::borrow::ToOwned as _;
use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::fmt;

use crate::json::unescape_text;
use crate::vocabulary::uri::pop_encoded_byte;

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

/// Replaces the secrets of a request in a text of the server, which may repeat them.
///
/// A text that repeats a secret percent-encoded or with the escapes of JSON is returned decoded.
///
/// ```
/// use mcp_proto::http::remove_secrets;
///
/// let shown = |text| remove_secrets(text, &["ab+c/d"]);
/// assert_eq!(shown("100%25 of ab+c/d"), "100%25 of [removed]");
/// assert_eq!(shown("100%25 of ab%2Bc%2fd"), "100% of [removed]");
/// assert_eq!(shown(r#"{"token":"ab\u002bc\/d"}"#), r#"{"token":"[removed]"}"#);
/// ```
#[must_use]
pub fn remove_secrets(text: &str, secrets: &[&str]) -> String {
    let forms = |secret: &&str| [(*secret).to_owned(), percent_decoded(secret).trim().to_owned()];
    let mut secrets: Vec<String> = secrets.iter().flat_map(forms).collect();
    secrets.retain(|secret| !secret.is_empty());
    // One secret may be a part of another.
    secrets.sort_by_key(|secret| Reverse(secret.len()));
    let remove = |text: &str| {
        secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret, "[removed]"))
    };
    let mut shown = remove(text);
    let mut text = shown.clone();
    for decode in DECODERS {
        text = decode(&text);
        if secrets.iter().any(|secret| text.contains(secret)) {
            text = remove(&text);
            shown.clone_from(&text);
        }
    }
    shown
}

/// The steps in which a text is decoded. Texts that quote other texts are encoded twice.
pub(crate) const DECODERS: [fn(&str) -> String; 4] =
    [percent_decoded, unescaped, percent_decoded, unescaped];

fn unescaped(text: &str) -> String {
    unescape_text(text).into_owned()
}

/// Undoes percent-encoding; a `%` without two hexadecimal digits remains.
fn percent_decoded(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::with_capacity(text.len()), text);
    while let Some((before, after)) = rest.split_once('%') {
        bytes.extend_from_slice(before.as_bytes());
        rest = rest.get(before.len()..).unwrap_or_default();
        let byte = pop_encoded_byte(&mut rest);
        if byte.is_none() {
            rest = after;
        }
        bytes.push(byte.unwrap_or(b'%'));
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::ToString;

    use super::*;

    // G-19
    #[test]
    fn secrets_are_removed_in_any_encoding() {
        let secrets = ["ab+c/d=", "key=x%2By%3D", "domain\\b", "", "%20", "key"];
        for (text, shown) in [
            ("no secret %41 \\u0041", "no secret %41 \\u0041"),
            ("100% of ab+c/d=, %zz", "100% of [removed], %zz"),
            ("ab%2bc%2Fd%3D and %", "[removed] and %"),
            ("%61b%252Bc%252fd%253d", "[removed]"),
            (r#""ab+c\/d\u003d""#, r#""[removed]""#),
            (r#"\"ab\\u002bc\\/d=\""#, r#""[removed]""#),
            (r"ab%2Bc\/d\u003D", "[removed]"),
            ("ab%2Bc%2Fd%3D then ab+c/d=", "[removed] then [removed]"),
            ("?key=x%2By%3D", "?[removed]"),
            ("?key=x+y=&key", "?[removed]&[removed]"),
            (r"domain\b domain\\b domain%5Cb", "[removed] [removed] [removed]"),
            ("%", "%"),
        ] {
            assert_eq!(remove_secrets(text, &secrets), shown, "{text}");
        }
    }

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
