//! [`ServerUrl`]: the URL of a server, and references to other paths of its origin.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::http::header::Origin;

/// The maximum length of a URL or reference in bytes.
const URL_BYTES_MAX: usize = 8 * 1024;

/// The URL of a server, to which the message endpoint that it names is relative.
///
/// `Debug` shows the origin only: paths and queries can be secrets.
///
/// ```
/// use mcp_proto::http::legacy_sse::ServerUrl;
///
/// let url = ServerUrl::parse("https://example.com/mcp/sse").unwrap();
/// assert_eq!(url.resolve("/messages?id=7").as_deref(), Some("/messages?id=7"));
/// assert_eq!(url.resolve("messages").as_deref(), Some("/mcp/messages"));
/// assert_eq!(url.resolve("https://evil.example/messages"), None);
/// ```
#[derive(Clone, Eq, PartialEq)]
pub struct ServerUrl {
    /// The scheme, host and port.
    origin: Box<str>,
    path: Box<str>,
}

/// The error for a URL that is not `http:` or `https:`, or that is malformed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct InvalidServerUrl;

impl fmt::Display for InvalidServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("server URL must have the scheme http or https, a host, and no user name")
    }
}

impl core::error::Error for InvalidServerUrl {}

impl fmt::Debug for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerUrl").field("origin", &self.origin).finish_non_exhaustive()
    }
}

/// The parts of an absolute URL.
struct Parts<'a> {
    origin: &'a str,
    /// The path and the query.
    target: &'a str,
}

impl ServerUrl {
    /// Parses an absolute URL with the scheme `http` or `https`. Its query and fragment are
    /// ignored.
    ///
    /// # Errors
    /// Returns [`InvalidServerUrl`] for any other text.
    pub fn parse(url: &str) -> Result<Self, InvalidServerUrl> {
        let Parts { origin, target } =
            Some(url).filter(|url| is_url_text(url)).and_then(split).ok_or(InvalidServerUrl)?;
        let path = target.split('?').next().filter(|path| !path.is_empty()).unwrap_or("/");
        Ok(Self { origin: origin.into(), path: path.into() })
    }

    /// Resolves a reference (RFC 3986) that a server has sent, and returns its path and query.
    ///
    /// Returns `None` if the reference leaves the origin of this URL (scheme, host and port), if it
    /// is malformed, or if it is longer than 8 KiB. A fragment is dropped.
    // HTTP-58: messages, which carry credentials, go to no other server.
    #[must_use]
    pub fn resolve(&self, reference: &str) -> Option<String> {
        let reference = reference.trim_matches([' ', '\t']);
        let reference = reference.split('#').next().filter(|it| is_url_text(it))?;
        if let Some(network_path) = reference.strip_prefix("//") {
            let scheme = self.origin.split(':').next().unwrap_or_default();
            return self.target_within_origin(&format!("{scheme}://{network_path}"));
        }
        let first_segment = reference.split(['/', '?']).next().unwrap_or_default();
        if first_segment.contains(':') {
            return self.target_within_origin(reference);
        }
        let merged = if reference.starts_with('/') {
            reference.into()
        } else if reference.starts_with('?') {
            format!("{}{reference}", self.path)
        } else {
            let folder = self.path.rfind('/').and_then(|slash| self.path.get(..=slash));
            format!("{}{reference}", folder.unwrap_or("/"))
        };
        Some(without_dot_segments(&merged))
    }

    /// Returns the path and query of an absolute URL; `None` for one of another origin.
    fn target_within_origin(&self, url: &str) -> Option<String> {
        let Parts { origin, target } = split(url)?;
        let (ours, theirs) =
            (Origin::parse(self.origin.as_bytes())?, Origin::parse(origin.as_bytes())?);
        ours.is(&theirs).then(|| without_dot_segments(&absolute_path(target)))
    }
}

/// Splits an absolute `http:` or `https:` URL without a user name.
fn split(url: &str) -> Option<Parts<'_>> {
    let url = url.split('#').next()?;
    let (scheme, rest) = url.split_once("://")?;
    if !["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
        return None;
    }
    let authority = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, target) = rest.split_at_checked(authority)?;
    // RFC 3986 allows an empty port.
    let authority = authority.strip_suffix(':').unwrap_or(authority);
    let origin = url.get(..scheme.len() + "://".len() + authority.len())?;
    Origin::parse(origin.as_bytes())?;
    Some(Parts { origin, target })
}

/// Returns whether `text` has only characters that a URL may contain, is not empty, and not too
/// long. A backslash is refused: some parsers take it for a slash.
pub(super) fn is_url_text(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte);
    (1..=URL_BYTES_MAX).contains(&text.len()) && text.bytes().all(is_allowed)
}

/// Returns a path and query that starts with a slash.
fn absolute_path(target: &str) -> String {
    if target.starts_with('/') { target.into() } else { format!("/{target}") }
}

/// Removes the segments `.` and `..` from a path that starts with a slash.
fn without_dot_segments(target: &str) -> String {
    let (path, query) = match target.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (target, None),
    };
    let mut kept = Vec::new();
    let mut segments = path.split('/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        match segment {
            "." | ".." => {
                if segment == ".." {
                    kept.pop();
                }
                if is_last {
                    kept.push("");
                }
            }
            _ => kept.push(segment),
        }
    }
    let path = format!("/{}", kept.join("/"));
    match query {
        Some(query) => format!("{path}?{query}"),
        None => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(reference: &str) -> Option<String> {
        ServerUrl::parse("http://Example.com:8080/a/sse?key=1").unwrap().resolve(reference)
    }

    #[test]
    fn references_within_the_origin_are_resolved_http_58() {
        for (reference, target) in [
            ("/messages?session_id=7", "/messages?session_id=7"),
            ("http://example.com:8080/messages/?key=1", "/messages/?key=1"),
            ("HTTP://EXAMPLE.COM:8080/x#part", "/x"),
            ("//example.com:8080/x", "/x"),
            ("http://example.com:8080", "/"),
            ("http://example.com:8080?id=7", "/?id=7"),
            ("messages", "/a/messages"),
            (" messages\t", "/a/messages"),
            ("?id=2", "/a/sse?id=2"),
            ("../b/./c", "/b/c"),
            ("../../../b/..", "/"),
            ("b?c=../d", "/a/b?c=../d"),
            ("./x:y", "/a/x:y"),
            // The path is not the start of an authority.
            ("/.//evil.com/x", "//evil.com/x"),
        ] {
            assert_eq!(resolved(reference).as_deref(), Some(target), "{reference}");
        }
    }

    #[test]
    fn references_to_other_origins_are_refused_http_58() {
        for reference in [
            "",
            " ",
            "#part",
            "https://example.com:8080/messages",
            "http://example.com/messages",
            "http://example.com:8081/messages",
            "http://www.example.com:8080/",
            "http://example.com.evil.com:8080/",
            "http://user:pass@example.com:8080/",
            "http://example.com:8080@evil.com/",
            "http:/example.com:8080/x",
            "//evil.com/x",
            "/\\evil.com/x",
            "\\\\evil.com/x",
            "ftp://example.com:8080/",
            "javascript:alert(1)",
            "/a b",
            "/a\u{e9}",
            "/a\nb",
        ] {
            assert_eq!(resolved(reference), None, "{reference}");
        }
        assert_eq!(resolved(&format!("/{}", "x".repeat(URL_BYTES_MAX))), None);
        assert!(resolved(&format!("/{}", "x".repeat(URL_BYTES_MAX - 1))).is_some());
    }

    #[test]
    fn the_default_port_belongs_to_the_origin() {
        for (url, reference) in [
            ("http://example.com/sse", "http://example.com:80/x"),
            ("https://example.com:443/sse", "https://example.com/x"),
            ("http://example.com:/sse", "http://example.com/x"),
            ("http://[::1]:80", "http://[0:0::1]/x"),
        ] {
            let url = ServerUrl::parse(url).unwrap();
            assert_eq!(url.resolve(reference).as_deref(), Some("/x"), "{url:?}");
        }
    }

    #[test]
    fn other_texts_are_no_server_urls() {
        for url in ["", "/sse", "ftp://example.com/", "http://", "http://user@example.com/", "x:y"]
        {
            assert_eq!(ServerUrl::parse(url), Err(InvalidServerUrl), "{url}");
        }
        let url = ServerUrl::parse("https://example.com/secret?secret").unwrap();
        assert!(!format!("{url:?}").contains("secret"));
    }
}
