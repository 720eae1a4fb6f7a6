//! The URIs of resources and issuers, which are kept and compared byte for byte.

use crate::http::header::Authority;

/// The maximum length of a URI in bytes.
const URI_BYTES_MAX: usize = 2048;

/// The parts of a valid identifier.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Identifier<'a> {
    /// The scheme and the authority, such as `https://mcp.example.com`.
    pub(super) origin: &'a str,
    /// The path, which is empty or begins with `/`.
    pub(super) path: &'a str,
}

impl<'a> Identifier<'a> {
    /// Parses an `https` URI, or an `http` URI on a loopback host, without query and fragment.
    ///
    /// # Errors
    /// Returns what the URI must be.
    // AUT-29: `http` serves development on the own machine only.
    pub(super) fn parse(uri: &'a str) -> Result<Self, &'static str> {
        if uri.len() > URI_BYTES_MAX {
            return Err("must have at most 2048 bytes");
        }
        if !uri.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte)) {
            return Err("must be a URI in ASCII");
        }
        if uri.contains(['?', '#']) {
            return Err("must have no query and no fragment");
        }
        let (scheme, rest) = uri.split_once("://").ok_or("must be an absolute URI")?;
        let (authority, path) =
            rest.split_at_checked(rest.find('/').unwrap_or(rest.len())).unwrap_or((rest, ""));
        let parsed = Authority::parse(authority.as_bytes()).ok_or("must have a valid host")?;
        if scheme != "https" && !(scheme == "http" && parsed.is_loopback()) {
            return Err("must begin with `https://`, or with `http://` and a loopback host");
        }
        if path.split('/').any(|segment| matches!(segment, "." | "..")) {
            return Err("must have no dot segments");
        }
        let origin = uri.strip_suffix(path).unwrap_or(uri);
        Ok(Self { origin, path })
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;

    #[test]
    fn valid_identifiers_are_split_and_keep_their_bytes() {
        for (uri, origin, path) in [
            ("https://h", "https://h", ""),
            ("https://h/", "https://h", "/"),
            ("https://H.example:8443/a/b", "https://H.example:8443", "/a/b"),
            ("https://h/a%2Fb/", "https://h", "/a%2Fb/"),
            ("http://127.0.0.1:8080/mcp", "http://127.0.0.1:8080", "/mcp"),
            ("http://[::1]:1/mcp", "http://[::1]:1", "/mcp"),
            ("http://localhost", "http://localhost", ""),
        ] {
            assert_eq!(Identifier::parse(uri), Ok(Identifier { origin, path }), "{uri}");
        }
    }

    #[test]
    fn other_identifiers_are_refused() {
        let long = format!("https://h/{}", "a".repeat(URI_BYTES_MAX));
        for uri in [
            "",
            "h",
            "/mcp",
            "https:",
            "https://",
            "https:///mcp",
            "https://u@h/",
            "http://h/",
            "HTTPS://h",
            "ftp://h",
            "https://h?a",
            "https://h/#",
            "https://h/ a",
            "https://h/\n",
            "https://h/\"",
            "https://h\\a",
            "https://h/..",
            "https://h/./a",
            "https://h:x",
            "https://bücher.example",
            "http://localhost.evil.example",
            &long,
        ] {
            assert!(Identifier::parse(uri).is_err(), "{uri}");
        }
    }
}
