//! Redirects: resolves a `Location` header and decides whether to follow it.
//!
//! A request carries credentials, and its body may be private, so it stays within the origin of the
//! server's URL: scheme, host and port.

use http::Uri;
use http::response::Parts;

use super::remote::Remote;

/// The maximum number of redirects that one request follows.
pub(super) const REDIRECTS_MAX: usize = 5;

/// Returns the path and query to repeat a request at; `None` if `response` to a request at `from`
/// is no redirect, or one that is not followed.
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
    let location = location.split('#').next().filter(|location| !location.is_empty())?;
    let scheme = if remote.is_secure { "https" } else { "http" };
    if location.starts_with("//") {
        return within_origin(remote, &format!("{scheme}:{location}"));
    }
    let first_segment = location.split(['/', '?']).next().unwrap_or_default();
    if first_segment.contains(':') {
        return within_origin(remote, location);
    }
    let base = from.path();
    let merged = if location.starts_with('/') {
        location.to_owned()
    } else if location.starts_with('?') {
        format!("{base}{location}")
    } else {
        let folder = base.rfind('/').map_or("/", |slash| base.get(..=slash).unwrap_or("/"));
        format!("{folder}{location}")
    };
    normalized(&merged)
}

/// Returns the path and query of an absolute URL; `None` if it has another origin.
fn within_origin(remote: &Remote, url: &str) -> Option<Uri> {
    let other = Remote::new(url).ok()?;
    let is_same = other.is_secure == remote.is_secure
        && other.host.eq_ignore_ascii_case(&remote.host)
        && other.port == remote.port;
    is_same.then(|| normalized(&other.target.to_string())).flatten()
}

/// Removes the segments `.` and `..` from a path.
fn normalized(target: &str) -> Option<Uri> {
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
    query.map_or_else(|| path.clone(), |query| format!("{path}?{query}")).parse().ok()
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
