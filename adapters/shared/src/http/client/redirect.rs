//! Redirects: resolves a `Location` header and decides whether to follow it.
//!
//! A request carries credentials, and its body may be private, so it stays within the origin of the
//! server's URL: scheme, host and port.

use http::Uri;
use http::response::Parts;
use mcp_proto::http::legacy_sse::ServerUrl;

use super::remote::Remote;

/// The maximum number of redirects that one request follows.
pub(super) const REDIRECTS_MAX: usize = 5;

/// Returns the path and query to repeat a request at. Returns `None` unless `response`, to a
/// request at `from`, is a redirect that is followed.
///
/// Only status 307 and 308 keep the method and the body.
pub(super) fn next_target(remote: &Remote, from: &Uri, response: &Parts) -> Option<Uri> {
    if !matches!(response.status.as_u16(), 307 | 308) {
        return None;
    }
    let location = response.headers.get("location")?.to_str().ok()?;
    resolve(remote, from, location)
}

/// Resolves a reference (RFC 3986) against the target `from`; `None` if it leaves the origin.
fn resolve(remote: &Remote, from: &Uri, location: &str) -> Option<Uri> {
    let url = ServerUrl::parse(&remote.url_of(from)).ok()?;
    url.resolve(location)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{Remote, resolve};

    fn resolved(location: &str) -> Option<String> {
        let remote = Remote::new("http://Example.com:8080/a/mcp?key=1").unwrap();
        resolve(&remote, &remote.target, location).map(|target| target.to_string())
    }

    #[test]
    fn references_within_the_origin_are_resolved() {
        for (location, target) in [
            ("/a/mcp/", "/a/mcp/"),
            ("http://example.com:8080/a/mcp/?key=1", "/a/mcp/?key=1"),
            ("HTTP://EXAMPLE.COM:8080/x#part", "/x"),
            ("//example.com:8080/x", "/x"),
            ("http://example.com:8080", "/"),
            ("mcp/", "/a/mcp/"),
            ("?key=2", "/a/mcp?key=2"),
            ("../b/./c", "/b/c"),
            ("../../../b/..", "/"),
            ("b?c=../d", "/a/b?c=../d"),
            ("./x:y", "/a/x:y"),
        ] {
            assert_eq!(resolved(location).as_deref(), Some(target), "{location}");
        }
    }

    #[test]
    fn references_to_other_origins_are_refused() {
        for location in [
            "",
            "#part",
            "https://example.com:8080/a/mcp/",
            "http://example.com/a/mcp/",
            "http://example.com:8081/a/mcp/",
            "http://www.example.com:8080/",
            "http://example.com.evil.com:8080/",
            "http://user:pass@example.com:8080/",
            "http://example.com:8080@evil.com/",
            "//evil.com/x",
            "ftp://example.com:8080/",
            "mailto:someone",
            "/a b",
        ] {
            assert_eq!(resolved(location), None, "{location}");
        }
    }

    #[test]
    fn the_default_port_belongs_to_the_origin() {
        let remote = Remote::new("http://example.com/mcp").unwrap();
        let target = resolve(&remote, &remote.target, "http://example.com:80/mcp/");
        assert_eq!(target.unwrap().to_string(), "/mcp/");
    }
}
