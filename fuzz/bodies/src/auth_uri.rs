//! URLs and scopes of authorization, against the parser of another crate.

use mcp_proto::auth::{AuthLimits, Reach, Scheme, Scopes, Uri, UriPolicy};
use mcp_proto::http::header::Host;

/// A URL keeps its bytes, has the host and port that another parser finds, and covers only URLs of
/// its own origin.
///
/// Each line is a URL; each is also read as a list of scopes.
pub fn auth_uri(data: &[u8]) {
    let limits = AuthLimits::default();
    let text = String::from_utf8_lossy(data);
    let lines = || text.split('\n').take(3);
    let uris: Vec<Uri> = lines().filter_map(|line| Uri::parse(line, &limits).ok()).collect();
    for uri in &uris {
        as_another_parser(uri);
        policies(uri);
        assert!(uri.covers(uri) && uri.is_same_origin(uri));
        for other in &uris {
            let is_parent = or_root(other.path()).starts_with(uri.path());
            assert!(!uri.covers(other) || uri.is_same_origin(other) && is_parent, "{uri} {other}");
            assert_eq!(uri.is_same_origin(other), other.is_same_origin(uri), "{uri} {other}");
        }
    }
    let mut union = Scopes::new();
    for scopes in lines().filter_map(|line| Scopes::parse(line, &limits).ok()) {
        let Ok(joined) = union.union(&scopes, &limits) else { continue };
        assert!(joined.covers(&union) && joined.covers(&scopes));
        assert_eq!(joined.len(), union.len() + scopes.without(&union).len());
        union = joined;
    }
    assert_eq!(Scopes::parse(&union.to_string(), &limits), Ok(union));
}

fn as_another_parser(uri: &Uri) {
    let query = uri.query().map_or_else(String::new, |query| format!("?{query}"));
    assert_eq!(format!("{}{}{query}", uri.origin(), uri.path()), uri.as_str());
    let Ok(other) = uri.as_str().parse::<http::Uri>() else { panic!("{uri} is refused") };
    assert_eq!(other.authority().map(http::uri::Authority::as_str), Some(uri.authority()));
    let host = other.host().unwrap_or_default();
    match uri.host() {
        Host::Name(name) => assert_eq!(name, host, "{uri}"),
        Host::V4(address) => assert_eq!(address.to_string(), host, "{uri}"),
        Host::V6(address) => assert_eq!(format!("[{address}]").parse::<Bracketed>(), host.parse()),
    }
    let default = uri.scheme().default_port();
    assert_eq!(other.port_u16().unwrap_or(default), uri.port(), "{uri}");
    assert_eq!(other.path(), or_root(uri.path()), "{uri}");
    assert_eq!(other.query().unwrap_or_default(), uri.query().unwrap_or_default(), "{uri}");
}

/// An IPv6 address in brackets, in any notation.
#[derive(Debug, PartialEq)]
struct Bracketed(std::net::Ipv6Addr);

impl std::str::FromStr for Bracketed {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).ok_or(())?;
        inner.parse().map(Self).map_err(|_| ())
    }
}

fn policies(uri: &Uri) {
    let reaches = [Reach::Public, Reach::Private, Reach::Loopback];
    let accepted = reaches.map(|reach| UriPolicy::of_server(reach).check(uri).is_ok());
    assert!(accepted.is_sorted(), "{uri}: a more private server may name more");
    if uri.scheme() == Scheme::Http {
        assert!(!accepted[0] && !accepted[1], "{uri}");
    }
    if uri.is_loopback() {
        assert_eq!(accepted, [false, false, true], "{uri}");
    }
    for reach in reaches {
        let address = match uri.host() {
            Host::Name(_) => continue,
            Host::V4(address) => address.into(),
            Host::V6(address) => address.into(),
        };
        let is_accepted = UriPolicy::of_server(reach).check(uri).is_ok();
        assert!(!is_accepted || reach.allows(address), "{uri}");
    }
}

fn or_root(path: &str) -> &str {
    if path.is_empty() { "/" } else { path }
}
