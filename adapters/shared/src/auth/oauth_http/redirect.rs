//! Decides whether a response is a redirect to follow.

use http::HeaderMap;
use mcp_proto::auth::{AuthLimits, Scheme, Uri, UriPolicy};
use mcp_proto::http::client::HttpMethod;

use super::message::{OAuthRequest, OAuthResponse};

/// Returns the URL that a response to a request at `from` redirects to; `None` if it is no
/// redirect, or one that must not be followed.
// AUT-68: no POST is redirected, and each hop is checked.
pub(super) fn next(
    request: &OAuthRequest,
    from: &Uri,
    response: &OAuthResponse,
    limits: &AuthLimits,
) -> Option<Uri> {
    let is_redirect = matches!(response.status, 301 | 302 | 303 | 307 | 308);
    if !is_redirect || request.method != HttpMethod::Get {
        return None;
    }
    let next = Uri::parse(&resolve(from, location(&response.headers)?)?, limits).ok()?;
    if next.is_same_origin(from) {
        return Some(next);
    }
    let is_allowed = UriPolicy::of_server(request.reach).check(&next).is_ok();
    (request.cross_origin && is_allowed).then_some(next)
}

/// Returns the only `Location` of a response.
fn location(headers: &HeaderMap) -> Option<&str> {
    let mut locations = headers.get_all("location").iter();
    let location = locations.next()?.to_str().ok()?;
    locations.next().is_none().then_some(location)
}

/// Resolves a reference (RFC 3986) against `from`. Segments such as `..` are kept, and refused by
/// the parser.
fn resolve(from: &Uri, reference: &str) -> Option<String> {
    let reference = reference.split('#').next().filter(|reference| !reference.is_empty())?;
    let scheme = if from.scheme() == Scheme::Https { "https" } else { "http" };
    if reference.starts_with("//") {
        return Some(format!("{scheme}:{reference}"));
    }
    if reference.split(['/', '?']).next()?.contains(':') {
        return Some(reference.to_owned());
    }
    let (origin, path) = (from.origin(), from.path());
    Some(if reference.starts_with('/') {
        format!("{origin}{reference}")
    } else if reference.starts_with('?') {
        format!("{origin}{path}{reference}")
    } else {
        let folder = path.rfind('/').and_then(|slash| path.get(..=slash)).unwrap_or("/");
        format!("{origin}{folder}{reference}")
    })
}

#[cfg(test)]
mod tests {
    use mcp_proto::auth::Reach;

    use super::*;

    fn uri(text: &str) -> Uri {
        Uri::parse(text, &AuthLimits::default()).unwrap()
    }

    fn redirected(request: &OAuthRequest, status: u16, locations: &[&str]) -> Option<String> {
        let mut headers = HeaderMap::new();
        for location in locations {
            headers.append("location", location.parse().unwrap());
        }
        let response = OAuthResponse { status, headers, body: None };
        let next = next(request, &request.uri, &response, &AuthLimits::default());
        next.map(|next| next.as_str().to_owned())
    }

    fn request(reach: Reach) -> OAuthRequest {
        OAuthRequest::get(uri("https://As.example/a/meta?key=1"), reach)
    }

    #[test]
    fn redirects_within_the_origin_are_followed() {
        for (location, next) in [
            ("/b", "https://As.example/b"),
            ("https://as.example:443/b?c=d#e", "https://as.example:443/b?c=d"),
            ("//as.example/b", "https://as.example/b"),
            ("b", "https://As.example/a/b"),
            ("?key=2", "https://As.example/a/meta?key=2"),
            ("x/y:z", "https://As.example/a/x/y:z"),
        ] {
            for status in [301, 302, 303, 307, 308] {
                let found = redirected(&request(Reach::Public), status, &[location]);
                assert_eq!(found.as_deref(), Some(next), "{location}");
            }
        }
        assert_eq!(redirected(&request(Reach::Public), 200, &["/b"]), None);
        assert_eq!(redirected(&request(Reach::Public), 304, &["/b"]), None);
        assert_eq!(redirected(&request(Reach::Public), 302, &["/b", "/c"]), None);
        let post = OAuthRequest { method: HttpMethod::Post, ..request(Reach::Public) };
        assert_eq!(redirected(&post, 307, &["/b"]), None);
    }

    #[test]
    fn redirects_elsewhere_are_not_followed() {
        for location in [
            "",
            "#e",
            "../b",
            "/a/./b",
            "http://as.example/b",
            "https://as.example:8443/b",
            "https://other.example/b",
            "//other.example/b",
            "https://as.example@other.example/",
            "javascript:alert(1)",
            "file:///etc/passwd",
            "/a b",
        ] {
            assert_eq!(redirected(&request(Reach::Loopback), 302, &[location]), None, "{location}");
        }
    }

    #[test]
    fn another_origin_must_be_allowed_and_in_reach() {
        let public = OAuthRequest { cross_origin: true, ..request(Reach::Public) };
        let loopback = OAuthRequest { cross_origin: true, ..request(Reach::Loopback) };
        for (location, from_public, from_loopback) in [
            ("https://other.example/b", true, true),
            ("http://other.example/b", false, false),
            ("https://127.0.0.1/b", false, true),
            ("http://localhost:81/b", false, true),
            ("https://169.254.169.254/b", false, false),
        ] {
            for (request, is_followed) in [(&public, from_public), (&loopback, from_loopback)] {
                let found = redirected(request, 302, &[location]);
                assert_eq!(found.is_some(), is_followed, "{location}");
            }
        }
    }
}
