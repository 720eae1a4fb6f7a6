//! Tests of the guard: tables of requests and tokens, and what is written to clients.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;

use serde_json::{Value, json};

use super::decisions::{SCOPES_MAX, TOKEN_BYTES_MAX};
use super::*;
use crate::http::header::challenges;
use crate::http::refusal::Refusal;
use crate::http::reply::Body;
use crate::http::testing::checked;
use crate::json::Raw;
use crate::revision::Revision;
use crate::rpc::RequestId;

const RESOURCE: &str = "https://mcp.example.com/mcp";
const ISSUER: &str = "https://id.example.com";
const METADATA: &str = "https://mcp.example.com/.well-known/oauth-protected-resource/mcp";
const NOW: u64 = 1_800_000_000;

fn builder() -> GuardBuilder {
    Guard::builder(RESOURCE)
        .authorization_server(ISSUER)
        .scopes_supported(["notes:read"])
        .implies("notes:write", ["notes:read"])
}

fn guard() -> Guard {
    builder().build().unwrap()
}

fn token() -> VerifiedToken {
    VerifiedToken {
        subject: Some("ada".into()),
        audience: [RESOURCE.into()].into(),
        scopes: ["notes:read".into()].into(),
        expiry: TokenExpiry::At(NOW + 60),
        ..VerifiedToken::new(ISSUER)
    }
}

fn scopes(count: usize) -> Vec<alloc::boxed::Box<str>> {
    (0..count).map(|number| alloc::format!("s{number}").into()).collect()
}

/// Checks a refusal and its only challenge; returns the parameter `error`.
fn error_of(refusal: &Refusal, scope: Option<&str>) -> Option<String> {
    let body = checked(refusal).unwrap();
    let (name, value) = &refusal.headers[0];
    assert_eq!(*name, "www-authenticate");
    let challenges = challenges(value.as_bytes()).unwrap();
    assert_eq!((challenges.len(), challenges[0].scheme), (1, "Bearer"));
    assert_eq!(challenges[0].param("resource_metadata"), Some(METADATA));
    assert_eq!(challenges[0].param("scope"), scope);
    if let Some(why) = challenges[0].param("error_description") {
        assert_eq!(body["error"]["message"], why);
    }
    challenges[0].param("error").map(ToString::to_string)
}

// AUT-03, AUT-72, AUT-73, AUT-10
#[test]
fn only_one_bearer_token_in_the_header_is_found_aut_73() {
    let long = "a".repeat(TOKEN_BYTES_MAX + 1);
    let too_long = alloc::format!("Bearer {long}");
    let longest = too_long[..too_long.len() - 1].to_string();
    let found = |fields: &[(&str, &str)], query| guard().bearer(&fields, query);
    for (value, expected) in
        [("Bearer abc", "abc"), ("bEARER   a-._~+/Z9==  ", "a-._~+/Z9=="), (&longest, &long[1..])]
    {
        let token = found(&[("AUTHORIZATION", value), ("Host", "h")], Some("a=access_token&b"));
        assert_eq!(token.unwrap().expose(), expected);
    }
    for absent in [&[][..], &[("Authorization", "Basic YTpi")], &[("Authorization", "DPoP abc")]] {
        let refusal = found(absent, None).unwrap_err();
        assert_eq!((refusal.status, error_of(&refusal, None)), (401, None));
    }
    let bad =
        ["Bearer", "Bearer ", "Bearer =", "Bearer a b", "Bearer a,b", "Bearer a=b", "Bearer ä"];
    for value in bad.into_iter().chain([&*too_long]) {
        let refusal = found(&[("Authorization", value)], None).unwrap_err();
        let error = error_of(&refusal, None);
        assert_eq!((refusal.status, error.as_deref()), (400, Some("invalid_request")), "{value}");
    }
    let one = ("Authorization", "Bearer abc");
    for (fields, query) in [
        (&[one, one][..], None),
        (&[one], Some("access_token=abc")),
        (&[], Some("x=1&ACCESS_TOKEN=abc&y")),
        (&[one], Some("access_token")),
    ] {
        let refusal = found(fields, query).unwrap_err();
        let error = error_of(&refusal, None);
        assert_eq!(
            (refusal.status, error.as_deref()),
            (400, Some("invalid_request")),
            "{fields:?}"
        );
    }
}

// AUT-04, AUT-76, AUT-82
#[test]
fn a_token_that_is_not_for_here_and_now_is_refused_aut_76() {
    type Change = fn(&mut VerifiedToken);
    let refused: &[(&str, Change)] = &[
        ("issuer", |token| token.issuer = Some("https://id.example.com/".into())),
        ("issuer", |token| token.issuer = None),
        ("issued for", |token| token.audience.clear()),
        ("issued for", |token| token.audience = ["https://mcp.example.com/mcp/".into()].into()),
        ("issued for", |token| token.audience = ["https://mcp.example.com".into()].into()),
        ("issued for", |token| token.audience = ["https://MCP.example.com/mcp".into()].into()),
        ("when it expires", |token| token.expiry = TokenExpiry::Unknown),
        ("expired", |token| token.expiry = TokenExpiry::At(NOW - 30)),
        ("expired", |token| token.expiry = TokenExpiry::At(0)),
        ("valid yet", |token| token.not_before = Some(NOW + 31)),
        ("valid yet", |token| token.not_before = Some(u64::MAX)),
        ("subject", |token| token.subject = None),
        ("subject", |token| token.subject = Some("".into())),
        ("issuer", |token| *token = VerifiedToken::default()),
        ("bound to a key", |token| token.confirmation = Raw::from_text(r#"{"jkt":"k"}"#).ok()),
        ("1024 scopes", |token| token.scopes = scopes(SCOPES_MAX + 1)),
    ];
    for (why, change) in refused {
        let mut token = token();
        change(&mut token);
        let refusal = guard().judge(token, NOW).unwrap_err();
        let error = error_of(&refusal, None);
        assert_eq!((refusal.status, error.as_deref()), (401, Some("invalid_token")), "{why}");
        assert!(refusal.to_string().contains(why), "{refusal}");
    }
    let accepted: &[Change] = &[
        |_| {},
        |token| token.expiry = TokenExpiry::At(NOW - 29),
        |token| token.expiry = TokenExpiry::At(u64::MAX),
        |token| token.expiry = TokenExpiry::Never,
        |token| token.not_before = Some(NOW + 30),
        |token| token.audience.insert(0, "https://other.example.com".into()),
        |token| (token.subject, token.client_id) = (None, Some("c".into())),
        |token| token.scopes = scopes(SCOPES_MAX),
    ];
    for (number, change) in accepted.iter().enumerate() {
        let mut token = token();
        change(&mut token);
        assert!(guard().judge(token, NOW).is_ok(), "{number}");
    }
}

#[test]
fn an_accepted_token_says_who_asks() {
    let mut ada = token();
    ada.client_id = Some("editor".into());
    ada.claims = Some(Raw::from_text(r#"{"email":"ada@example.com"}"#).unwrap());
    let accepted = guard().judge(ada, NOW).unwrap();
    assert_eq!(accepted.principal().id(), r#"["https://id.example.com","ada"]"#);
    assert_eq!((accepted.issuer(), accepted.subject()), (ISSUER, Some("ada")));
    assert_eq!(accepted.client_id(), Some("editor"));
    assert_eq!(accepted.expiry(), TokenExpiry::At(NOW + 60));
    assert!(accepted.claims().unwrap().member("email").is_some());
    assert!(!alloc::format!("{accepted:?}").contains("ada@example.com"));
}

// D-A20
#[test]
fn other_audiences_replace_the_resource() {
    let guard = builder().audience("api://mcp").audience("mcp").build().unwrap();
    for (audience, is_accepted) in [("api://mcp", true), ("mcp", true), (RESOURCE, false)] {
        let token = VerifiedToken { audience: [audience.into()].into(), ..token() };
        assert_eq!(guard.judge(token, NOW).is_ok(), is_accepted, "{audience}");
    }
}

// AUT-24, AUT-25: a client asks for all scopes that a challenge names, so it names no others.
#[test]
fn a_challenge_names_only_scopes_that_the_request_needs_aut_24() {
    let guard = builder().required_scopes(["mcp", "use"]).build().unwrap();
    let none = guard.bearer(&[("Host", "h")], None).unwrap_err();
    assert_eq!((none.status, error_of(&none, Some("mcp use"))), (401, None));
    let malformed = guard.bearer(&[("Authorization", "Bearer")], None).unwrap_err();
    assert!(error_of(&malformed, Some("mcp use")).is_some());
    assert!(error_of(&guard.invalid_token("revoked"), Some("mcp use")).is_some());
    // Without required scopes, clients take those of the metadata.
    let metadata: Value = serde_json::from_slice(self::guard().metadata()).unwrap();
    assert_eq!(metadata["scopes_supported"], json!(["notes:read"]));
    let none = self::guard().bearer(&[("Host", "h")], None).unwrap_err();
    assert_eq!(error_of(&none, None), None);
}

// AUT-24, AUT-30, AUT-65
#[test]
fn a_challenge_names_all_scopes_of_the_operation_aut_65() {
    let guard = builder().required_scopes(["mcp"]).build().unwrap();
    let with = |scopes: &[&str]| {
        let scopes = scopes.iter().map(|scope| (*scope).into()).collect();
        guard.judge(VerifiedToken { scopes, ..token() }, NOW).unwrap()
    };
    for (held, needed, challenged) in [
        (&["mcp"][..], &[][..], None),
        (&["mcp", "notes:write"], &["notes:read"], None),
        (&["mcp", "a", "b"], &["a", "b"], None),
        (&[], &[], Some("mcp")),
        (&["mcp", "notes:read"], &["notes:write"], Some("mcp notes:write")),
        (&["mcp", "a"], &["a", "b", "a"], Some("mcp a b")),
        (&["a", "b"], &["b", "a"], Some("mcp b a")),
    ] {
        let allowed = guard.allows(&with(held), needed.iter().copied());
        assert_eq!(allowed.is_err(), challenged.is_some(), "{held:?} {needed:?}");
        let Err(insufficient) = allowed else { continue };
        assert_eq!(insufficient.scopes().collect::<Vec<_>>().join(" "), challenged.unwrap());
        let id = RequestId::from_json(b"7").unwrap();
        let refusal = insufficient.refusal(Some(Revision::V2025_11_25), Some(&id));
        let error = error_of(&refusal, challenged);
        assert_eq!((refusal.status, error.as_deref()), (403, Some("insufficient_scope")));
        assert_eq!(checked(&refusal).unwrap()["id"], 7);
    }
}

// AUT-09, AUT-71
#[test]
fn the_metadata_is_served_after_the_well_known_path_and_at_the_root_aut_71() {
    const ROOT: &str = "/.well-known/oauth-protected-resource";
    for (resource, url, paths) in [
        (RESOURCE, METADATA, &["/mcp", ""][..]),
        ("https://h", "https://h/.well-known/oauth-protected-resource", &[""]),
        ("https://h/", "https://h/.well-known/oauth-protected-resource", &[""]),
        (
            "http://[::1]:1/a/",
            "http://[::1]:1/.well-known/oauth-protected-resource/a/",
            &["/a/", "/a", ""],
        ),
    ] {
        let guard = Guard::builder(resource).authorization_server(ISSUER).build().unwrap();
        let expected: Vec<String> =
            paths.iter().map(|path| alloc::format!("{ROOT}{path}")).collect();
        assert_eq!(guard.metadata_paths().collect::<Vec<_>>(), expected);
        let refusal = guard.bearer(&[("Host", "evil.example")], None).unwrap_err();
        assert!(refusal.headers[0].1.contains(&alloc::format!("resource_metadata=\"{url}\"")));
        for path in &expected {
            let reply = guard.metadata_reply("GET", path).unwrap();
            let Body::Whole(body) = reply.body else { panic!() };
            let body: Value = serde_json::from_slice(&body).unwrap();
            assert_eq!((reply.status, &body["resource"]), (200, &json!(resource)));
        }
        for path in ["/mcp", "/.well-known/oauth-protected-resource/other", ""] {
            assert!(guard.metadata_reply("GET", path).is_none() || paths.contains(&path));
        }
    }
}

#[test]
fn the_metadata_can_be_read_by_any_page() {
    let guard =
        builder().required_scopes(["mcp"]).resource_name("Ada's \"notes\"").build().unwrap();
    let document: Value = serde_json::from_slice(guard.metadata()).unwrap();
    assert_eq!(
        document,
        json!({
            "resource": RESOURCE,
            "resource_name": "Ada's \"notes\"",
            "authorization_servers": [ISSUER],
            "scopes_supported": ["mcp", "notes:read"],
            "bearer_methods_supported": ["header"],
        })
    );
    for (method, status) in [("GET", 200), ("HEAD", 200), ("OPTIONS", 204), ("POST", 405)] {
        let path = guard.metadata_paths().next().unwrap();
        let reply = guard.metadata_reply(method, path).unwrap();
        assert_eq!(reply.status, status);
        assert!(reply.headers.contains(&("access-control-allow-origin", "*".into())));
        assert_eq!(reply.headers.iter().any(|(name, _)| *name == "allow"), status == 405);
    }
}

// AUT-09, AUT-28
#[test]
fn a_configuration_that_cannot_work_is_refused() {
    let builder = |resource| Guard::builder(resource).authorization_server(ISSUER);
    let many = |builder: GuardBuilder| {
        let pairs =
            (0..40).map(|number| (alloc::format!("a{number}"), alloc::format!("b{number}")));
        pairs.fold(builder, |builder, (broad, narrow)| builder.implies(&broad, [&*narrow]))
    };
    for (why, builder) in [
        ("`https://`", builder("http://mcp.example.com/mcp")),
        ("no query", builder("https://mcp.example.com/mcp?a=b")),
        ("no fragment", builder("https://mcp.example.com/mcp#a")),
        (
            "https://id.example.com#",
            builder(RESOURCE).authorization_server("https://id.example.com#"),
        ),
        ("`GuardBuilder::authorization_server`", Guard::builder(RESOURCE)),
        ("audience", builder(RESOURCE).audience("")),
        ("\"a b\"", builder(RESOURCE).scopes_supported(["a b"])),
        ("\"\"", builder(RESOURCE).required_scopes([""])),
        ("offline_access", builder(RESOURCE).scopes_supported(["offline_access"])),
        ("offline_access", builder(RESOURCE).implies("a", ["offline_access"])),
        ("64", many(builder(RESOURCE))),
        ("10 min", builder(RESOURCE).clock_skew(Duration::from_secs(601))),
    ] {
        let error = builder.build().unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}
