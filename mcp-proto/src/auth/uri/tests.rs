//! Tables of accepted and rejected URLs, and of the URLs that a resource covers.

use alloc::format;
use alloc::string::{String, ToString};

use proptest::prelude::*;

use super::*;

fn parse(text: &str) -> Result<Uri, InvalidUri> {
    Uri::parse(text, &AuthLimits::default())
}

fn uri(text: &str) -> Uri {
    parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn parts_are_slices_of_the_text() {
    for (text, origin, port, path, query) in [
        ("https://h", "https://h", 443, "", None),
        ("https://h/", "https://h", 443, "/", None),
        ("HTTP://H.example:8080/a//b/", "HTTP://H.example:8080", 8080, "/a//b/", None),
        ("http://127.0.0.1?", "http://127.0.0.1", 80, "", Some("")),
        ("https://h?a=1?b", "https://h", 443, "", Some("a=1?b")),
        ("https://[::1]:9/%2f/?x=/", "https://[::1]:9", 9, "/%2f/", Some("x=/")),
        ("https://h/...", "https://h", 443, "/...", None),
        ("https://a_b.xn--p1ai/~;=@:", "https://a_b.xn--p1ai", 443, "/~;=@:", None),
    ] {
        let uri = uri(text);
        assert_eq!(uri.to_string(), text);
        assert_eq!((uri.origin(), uri.port()), (origin, port), "{text}");
        assert_eq!((uri.path(), uri.query()), (path, query), "{text}");
        assert_eq!(format!("{}://{}", &text[..text.find(':').unwrap()], uri.authority()), origin);
    }
}

#[test]
fn ambiguous_urls_are_rejected_aut_66() {
    use InvalidUri::{Character, DotSegment, Fragment, Host, Percent, Scheme, UserInfo};
    for (text, error) in [
        ("", Scheme),
        ("h/a", Scheme),
        ("//h/a", Scheme),
        ("/a", Scheme),
        ("https:/h", Scheme),
        ("https:h", Scheme),
        (" https://h", Scheme),
        ("ftp://h", Scheme),
        ("javascript://h/%0aalert(1)", Scheme),
        ("file:///etc/passwd", Scheme),
        ("ws://h", Scheme),
        ("https://", Host),
        ("https:///a", Host),
        ("https://:443/", Host),
        ("https://h:/", Host),
        ("https://h:65536/", Host),
        ("https://h:+1/", Host),
        ("https://h:8a/", Host),
        ("https://h h/", Host),
        ("https:// h/", Host),
        ("https://h\t/", Host),
        ("https://h%2fx/", Host),
        ("https://é.example/", Host),
        ("https://[::1/", Host),
        ("https://[fe80::1%25eth0]/", Host),
        ("https://[::1]a/", Host),
        ("https://h./", Host),
        ("https://.h/", Host),
        ("https://a..b/", Host),
        ("https://2130706433/", Host),
        ("https://127.1/", Host),
        ("https://0177.0.0.1/", Host),
        ("https://0x7f.1/", Host),
        ("https://a.0x7F/", Host),
        ("https://a.0x/", Host),
        ("https://1.2.3.4.5/", Host),
        ("https://1.2.3.256/", Host),
        ("https://h\\@evil.example/", Character),
        ("https://u@h/", UserInfo),
        ("https://u:p@h/", UserInfo),
        ("https://@h/", UserInfo),
        ("https://h/#", Fragment),
        ("https://h#f", Fragment),
        ("https://h/?q#f", Fragment),
        ("https://h/a b", Character),
        ("https://h/a\\b", Character),
        ("https://h/\u{e9}", Character),
        ("https://h/a\nb", Character),
        ("https://h/?a\"", Character),
        ("https://h/[a]", Character),
        ("https://h/a|b", Character),
        ("https://h/%", Percent),
        ("https://h/%4", Percent),
        ("https://h/?a=%zz", Percent),
        ("https://h/.", DotSegment),
        ("https://h/a/../b", DotSegment),
        ("https://h/a/%2E%2e/b", DotSegment),
        ("https://h/a/.%2e", DotSegment),
        ("https://h/%2e/", DotSegment),
    ] {
        assert_eq!(parse(text).map(|uri| uri.to_string()), Err(error), "{text}");
    }
}

#[test]
fn the_length_is_limited() {
    let limits = AuthLimits { uri_bytes_max: 12, ..AuthLimits::default() };
    assert!(Uri::parse("https://h/ab", &limits).is_ok());
    assert_eq!(Uri::parse("https://h/abc", &limits), Err(InvalidUri::Length));
    let limits = AuthLimits { uri_bytes_max: usize::MAX, ..AuthLimits::default() };
    let longest = format!("https://h/{}", "a".repeat((1 << 16) - 12));
    assert_eq!(Uri::parse(&longest, &limits).unwrap().path().len(), (1 << 16) - 11);
    assert_eq!(Uri::parse(&(longest + "a"), &limits), Err(InvalidUri::Length));
    // Positions are stored in 16 bits, whatever the limit says.
    let limits = AuthLimits { uri_bytes_max: 1 << 20, ..AuthLimits::default() };
    let long = |bytes: usize| format!("https://h.example/?{}", "q".repeat(bytes - 19));
    assert!(Uri::parse(&long(65_534), &limits).is_ok());
    assert_eq!(Uri::parse(&long(65_535), &limits), Err(InvalidUri::Length));
}

#[test]
fn loopback_is_judged_by_the_host_alone() {
    for (text, loopback) in [
        ("http://localhost", true),
        ("http://LOCALHOST:80", true),
        ("http://app.localhost", true),
        ("http://127.9.9.9", true),
        ("http://[::1]", true),
        ("http://localhost.example", false),
        ("http://notlocalhost", false),
        ("http://128.0.0.1", false),
        ("http://[::2]", false),
    ] {
        assert_eq!(uri(text).is_loopback(), loopback, "{text}");
    }
}

// AUT-38.
#[test]
fn a_resource_covers_its_own_urls_only_aut_38() {
    for (resource, url, covers) in [
        // Equal, and parents.
        ("https://h/mcp", "https://h/mcp", true),
        ("https://h", "https://h", true),
        ("https://h", "https://h/", true),
        ("https://h/", "https://h", true),
        ("https://h/", "https://h/", true),
        ("https://h", "https://h/mcp", true),
        ("https://h/", "https://h/mcp", true),
        ("https://h/a", "https://h/a/b", true),
        ("https://h/a/", "https://h/a/b", true),
        ("https://h/a/", "https://h/a/", true),
        ("https://h/a/b", "https://h/a/b/c/d", true),
        // No parents.
        ("https://h/mcp", "https://h", false),
        ("https://h/mcp", "https://h/", false),
        ("https://h/a/b", "https://h/a", false),
        ("https://h/a/", "https://h/a", false),
        ("https://h/api", "https://h/apix", false),
        ("https://h/api", "https://h/api-2/x", false),
        ("https://h/a", "https://h/b/a", false),
        ("https://h//", "https://h/a", false),
        // Paths are compared byte for byte.
        ("https://h/A", "https://h/a", false),
        ("https://h/a%2Fb", "https://h/a/b", false),
        ("https://h/a/b", "https://h/a%2Fb", false),
        ("https://h/a%2fb", "https://h/a%2Fb", false),
        ("https://h/%61", "https://h/a", false),
        ("https://h/a", "https://h/a%2Fb", false),
        ("https://h/a", "https://h/a;v=1", false),
        // Origins ignore case and default ports.
        ("https://H.Example", "https://h.example/mcp", true),
        ("HTTPS://h", "https://h/mcp", true),
        ("https://h:443", "https://h/mcp", true),
        ("https://h", "https://h:443/mcp", true),
        ("http://h:80", "http://h/mcp", true),
        ("https://[::1]", "https://[0:0::1]/mcp", true),
        ("https://h:444", "https://h/mcp", false),
        ("http://h", "https://h/mcp", false),
        ("http://h:443", "https://h/mcp", false),
        ("https://h.example", "https://h.example.evil.example/mcp", false),
        ("https://evil.example", "https://h/mcp", false),
        ("https://127.0.0.1", "https://localhost/mcp", false),
        // Queries.
        ("https://h/mcp", "https://h/mcp?a=1", true),
        ("https://h/mcp?a=1", "https://h/mcp?a=1", true),
        ("https://h/?a=1", "https://h/mcp?a=1", true),
        ("https://h/mcp?a=1", "https://h/mcp", false),
        ("https://h/mcp?a=1", "https://h/mcp?a=2", false),
        ("https://h/mcp?", "https://h/mcp", false),
        ("https://h?x=/", "https://h/mcp", false),
    ] {
        assert_eq!(uri(resource).covers(&uri(url)), covers, "{resource} {url}");
    }
}

#[test]
fn errors_name_the_remedy() {
    assert!(InvalidUri::Length.to_string().contains("uri_bytes_max"));
    assert!(InvalidUri::UserInfo.to_string().contains('@'));
}

proptest! {
    #[test]
    fn what_is_parsed_keeps_its_bytes(text in "https?://[a-z0-9.:@%\\[\\]-]{0,12}[/?#a-z.%0-9 \\\\]{0,16}") {
        if let Ok(uri) = parse(&text) {
            let query = uri.query().map_or(String::new(), |query| format!("?{query}"));
            prop_assert_eq!(format!("{}{}{query}", uri.origin(), uri.path()), text.clone());
            prop_assert_eq!(uri.as_str(), &*text);
            prop_assert!(uri.covers(&uri) && uri.is_same_origin(&uri));
        }
    }
}
