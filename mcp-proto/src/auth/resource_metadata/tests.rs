//! Tests of the locations and checks of a resource's metadata.

use alloc::string::ToString;
use alloc::vec;

use super::*;
use crate::auth::reach::{Reach, UriRefusal};

fn uri(text: &str) -> Uri {
    Uri::parse(text, &AuthLimits::default()).unwrap()
}

fn parse(body: &str, url: &str) -> Result<ProtectedResourceMetadata, MetadataError> {
    let policy = UriPolicy::of_server(Reach::Public);
    let limits = AuthLimits::default();
    ProtectedResourceMetadata::parse(body.as_bytes(), &uri(url), &policy, &limits)
}

// AUT-11, AUT-71.
#[test]
fn the_path_is_inserted_then_the_root_is_tried_aut_11() {
    const ROOT: &str = "/.well-known/oauth-protected-resource";
    for (url, origin, tails) in [
        ("https://h", "https://h", vec![""]),
        ("https://h/", "https://h", vec![""]),
        ("https://h/mcp", "https://h", vec!["/mcp", ""]),
        ("https://h/mcp/", "https://h", vec!["/mcp", ""]),
        ("https://h/a//", "https://h", vec!["/a/", ""]),
        ("https://h/a/b%2Fc", "https://h", vec!["/a/b%2Fc", ""]),
        ("https://h/mcp?v=1", "https://h", vec!["/mcp?v=1", ""]),
        ("https://h?v=1", "https://h", vec!["?v=1", ""]),
        ("http://H:80/mcp", "http://H:80", vec!["/mcp", ""]),
        ("http://[::1]:9/mcp", "http://[::1]:9", vec!["/mcp", ""]),
    ] {
        let found = ProtectedResourceMetadata::locations(&uri(url), &AuthLimits::default());
        let wanted = tails.iter().map(|tail| format!("{origin}{ROOT}{tail}"));
        assert!(found.iter().map(ToString::to_string).eq(wanted), "{url}: {found:?}");
    }
    // A location that would be too long is left out.
    let limits = AuthLimits { uri_bytes_max: 50, ..AuthLimits::default() };
    let url = Uri::parse("https://h/0123456789", &limits).unwrap();
    assert_eq!(ProtectedResourceMetadata::locations(&url, &limits).len(), 1);
}

#[test]
fn the_resource_must_cover_the_server_aut_38() {
    let body =
        |resource: &str| format!(r#"{{{resource}"authorization_servers":["https://as.example"]}}"#);
    let url = "https://h/mcp";
    for resource in ["https://h", "https://h/mcp", "HTTPS://H:443"] {
        let body = body(&format!(r#""resource":"{resource}","#));
        assert_eq!(parse(&body, url).unwrap().resource.as_str(), resource);
    }
    let mismatch = parse(&body(r#""resource":"https://evil.example/mcp","#), url).unwrap_err();
    let (expected, found) = (url.into(), "https://evil.example/mcp".into());
    assert_eq!(mismatch, MetadataError::Resource { expected, found });
    assert!(mismatch.to_string().contains("evil.example"));
    let other = parse(&body(r#""resource":"https://evil.example/mcp","#), "https://h/mcp?key=s");
    assert_eq!(other, Err(mismatch), "the query may be a secret");
    for resource in [
        "",
        r#""resource":null,"#,
        r#""resource":1,"#,
        r#""resource":"/mcp","#,
        r#""resource":"https://h/#f","#,
    ] {
        assert_eq!(
            parse(&body(resource), url),
            Err(MetadataError::Member("resource")),
            "{resource}"
        );
    }
}

// AUT-09, AUT-39, AUT-67.
#[test]
fn servers_are_bounded_and_checked_aut_09() {
    let servers = |list: &str| {
        let body = format!(r#"{{"resource":"https://h","authorization_servers":{list}}}"#);
        parse(&body, "https://h").map(|metadata| {
            metadata.authorization_servers.iter().map(ToString::to_string).collect::<Vec<_>>()
        })
    };
    let member = Err(MetadataError::Member("authorization_servers"));
    for (list, wanted) in [
        (r#"["https://a/t/"]"#, Ok(vec!["https://a/t/"])),
        (r#"["https://b","https://a"]"#, Ok(vec!["https://b", "https://a"])),
        (r#"["https://a","https://a"]"#, Ok(vec!["https://a"])),
        (r#"["a","https://a?q","https://b"]"#, Ok(vec!["https://b"])),
        (r#"["https://10.0.0.1","https://b"]"#, Ok(vec!["https://b"])),
        (
            r#"["https://1a","https://2a","https://3a","https://4a","https://5a"]"#,
            Ok(vec!["https://1a", "https://2a", "https://3a", "https://4a"]),
        ),
        ("[]", member.clone()),
        ("null", member.clone()),
        ("\"https://a\"", member.clone()),
        ("[1]", member.clone()),
        (r#"["a"]"#, member),
        (r#"["https://10.0.0.1"]"#, Err(MetadataError::Refused(UriRefusal::TooPrivate))),
        (r#"["http://a"]"#, Err(MetadataError::Refused(UriRefusal::PlainHttp))),
    ] {
        let wanted = wanted.map(|wanted| wanted.iter().map(ToString::to_string).collect());
        assert_eq!(servers(list), wanted, "{list}");
    }
}

#[test]
fn scopes_are_kept_in_order_without_invalid_ones_aut_25() {
    let scopes = |list: &str| {
        let body =
            format!(r#"{{"resource":"https://h","authorization_servers":["https://a"]{list}}}"#);
        parse(&body, "https://h").map(|metadata| metadata.scopes_supported.map(|s| s.to_string()))
    };
    assert_eq!(scopes(""), Ok(None));
    assert_eq!(scopes(r#","scopes_supported":[]"#), Ok(Some("".into())));
    assert_eq!(scopes(r#","scopes_supported":["b","a b","a","b"]"#), Ok(Some("b a".into())));
    let wrong = scopes(r#","scopes_supported":"a""#);
    assert_eq!(wrong, Err(MetadataError::Member("scopes_supported")));
    let many: Vec<String> = (0..129).map(|n| format!("\"s{n}\"")).collect();
    let many = scopes(&format!(r#","scopes_supported":[{}]"#, many.join(",")));
    assert_eq!(many, Err(MetadataError::Scopes(InvalidScopes::TooMany)));
}

#[test]
fn documents_are_bounded() {
    let limits = AuthLimits { metadata_bytes_max: 8, ..AuthLimits::default() };
    let policy = UriPolicy::of_server(Reach::Public);
    let parse = |body| ProtectedResourceMetadata::parse(body, &uri("https://h"), &policy, &limits);
    assert_eq!(parse(b"{      }"), Err(MetadataError::Member("resource")));
    assert_eq!(parse(b"{       }"), Err(MetadataError::Length));
    assert_eq!(parse(b"[]"), Err(MetadataError::Json));
}
