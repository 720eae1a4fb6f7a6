//! Tests of token responses, their errors and expiry times.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;

const NOW: u64 = 1_790_000_000;

fn parse_with(status: u16, body: &str) -> Result<TokenResponse, TokenError> {
    TokenResponse::parse(status, body.as_bytes(), NOW, &AuthLimits::default())
}

/// Parses a response with a bearer token and further members.
fn parse(members: &str) -> Result<TokenResponse, TokenError> {
    parse_with(200, &format!(r#"{{"access_token":"a1","token_type":"Bearer"{members}}}"#))
}

fn refused(status: u16, code: &str) -> TokenError {
    TokenError::Refused { status, error: OAuthError::new(code) }
}

// AUT-55.
#[test]
fn a_token_and_its_type_are_required_aut_55() {
    let long = |len| format!(r#"{{"token_type":"Bearer","access_token":"{}"}}"#, "x".repeat(len));
    for (body, result) in [
        (r#"{"access_token":"a1","token_type":"Bearer"}"#, Ok(TokenType::Bearer)),
        (r#"{"access_token":"a1","token_type":"bEARER"}"#, Ok(TokenType::Bearer)),
        (r#"{"access_token":"1|a","token_type":"dpop","x":{}}"#, Ok(TokenType::Dpop)),
        (&long(32 << 10), Ok(TokenType::Bearer)),
        (&long((32 << 10) + 1), Err(TokenError::Invalid("access_token"))),
        (r#"{"access_token":"a1"}"#, Err(TokenError::Invalid("token_type"))),
        (r#"{"access_token":"a1","token_type":"mac"}"#, Err(TokenError::Invalid("token_type"))),
        (r#"{"access_token":"a1","token_type":"N_A"}"#, Err(TokenError::Invalid("token_type"))),
        (r#"{"access_token":"a1","token_type":1}"#, Err(TokenError::Invalid("token_type"))),
        (r#"{"token_type":"Bearer"}"#, Err(TokenError::Invalid("access_token"))),
        (r#"{"access_token":"","token_type":"Bearer"}"#, Err(TokenError::Invalid("access_token"))),
        (
            r#"{"access_token":"a b","token_type":"Bearer"}"#,
            Err(TokenError::Invalid("access_token")),
        ),
        (
            r#"{"access_token":"a\r\nb","token_type":"Bearer"}"#,
            Err(TokenError::Invalid("access_token")),
        ),
        (
            r#"{"access_token":"a","access_token":"b","token_type":"Bearer"}"#,
            Err(TokenError::Invalid("access_token")),
        ),
        ("access_token=a1&token_type=bearer", Err(TokenError::Json)),
        ("", Err(TokenError::Json)),
    ] {
        assert_eq!(parse_with(200, body).map(|tokens| tokens.token_type), result, "{body:.60}");
    }
    let limits = AuthLimits { token_response_bytes_max: 10, ..AuthLimits::default() };
    let parsed = TokenResponse::parse(200, b"{\"a\":\"1234\"}", NOW, &limits);
    assert_eq!(parsed, Err(TokenError::Length));
}

// AUT-62: the expiry is absolute, and unknown if the server's value makes no sense.
#[test]
fn the_expiry_is_absolute_aut_62() {
    for (value, lifetime) in [
        ("3600", Some(3600)),
        ("0", Some(0)),
        ("-5", Some(0)),
        ("59.9", Some(59)),
        ("3.6e3", Some(3600)),
        ("\"3600\"", Some(3600)),
        ("\" 3600 \"", Some(3600)),
        ("315360000", Some(315_360_000)),
        ("315360001", None),
        ("1e999", None),
        ("\"soon\"", None),
        ("\"NaN\"", None),
        ("\"inf\"", None),
        ("\"\"", None),
        ("null", None),
        ("true", None),
        ("[3600]", None),
    ] {
        let tokens = parse(&format!(r#","expires_in":{value}"#)).unwrap();
        assert_eq!(tokens.expires_at, lifetime.map(|seconds| NOW + seconds), "{value}");
    }
    assert_eq!(parse("").unwrap().expires_at, None);
}

// AUT-58, AUT-59.
#[test]
fn refresh_token_and_scopes_are_optional_aut_59() {
    let tokens = parse("").unwrap();
    assert_eq!((tokens.refresh_token, tokens.scopes), (None, None));
    let tokens = parse(r#","refresh_token":"r 1","scope":"b a""#).unwrap();
    assert_eq!(tokens.refresh_token, Some(Secret::new("r 1")));
    assert_eq!(tokens.scopes.unwrap().to_string(), "b a");
    let tokens = parse(r#","refresh_token":"""#).unwrap();
    assert_eq!(tokens.refresh_token, None);
    for scope in ["\"\"", "\"a\\tb\"", "[\"a\"]", "null"] {
        assert_eq!(parse(&format!(r#","scope":{scope}"#)).unwrap().scopes, None, "{scope}");
    }
    assert_eq!(parse(r#","refresh_token":1"#), Err(TokenError::Invalid("refresh_token")));
}

// AUT-41, AUT-61.
#[test]
fn errors_are_recognized_whatever_the_status_aut_61() {
    for (status, body, error, temporary) in [
        (400, r#"{"error":"invalid_grant"}"#, refused(400, "invalid_grant"), false),
        (200, r#"{"error":"invalid_grant"}"#, refused(200, "invalid_grant"), false),
        (
            200,
            r#"{"error":"bad_code","access_token":"a1","token_type":"Bearer"}"#,
            refused(200, "bad_code"),
            false,
        ),
        (401, r#"{"error":"invalid_client"}"#, refused(401, "invalid_client"), false),
        (400, r#"{"error":{"code":1}}"#, refused(400, "unspecified"), false),
        (400, r#"{"error":"a","error":"b"}"#, refused(400, "unspecified"), false),
        (400, r#"{"error":"the token s3cret is bad"}"#, refused(400, "unspecified"), false),
        (503, r#"{"error":"invalid_grant"}"#, refused(503, "invalid_grant"), true),
        (
            400,
            r#"{"error":"temporarily_unavailable"}"#,
            refused(400, "temporarily_unavailable"),
            true,
        ),
        (400, r#"{"error":null}"#, TokenError::Status(400), false),
        (404, "Not Found", TokenError::Status(404), false),
        (302, "", TokenError::Status(302), false),
        (408, "", TokenError::Status(408), true),
        (425, "", TokenError::Status(425), true),
        (429, "", TokenError::Status(429), true),
        (500, "{}", TokenError::Status(500), true),
        (502, "<html>", TokenError::Status(502), true),
    ] {
        let found = parse_with(status, body).unwrap_err();
        assert_eq!(found, error, "{status} {body}");
        assert_eq!(found.is_temporary(), temporary, "{status} {body}");
        assert!(!found.to_string().contains("s3cret"));
    }
    assert!(refused(400, "invalid_grant").is("invalid_grant"));
    assert!(!refused(400, "invalid_grant").is("invalid_client"));
}

// AUT-80.
#[test]
fn an_exchanged_assertion_is_no_access_token_aut_80() {
    let body = |issued: &str, token_type: &str| {
        format!(
            r#"{{"access_token":"j1","issued_token_type":"{issued}","token_type":"{token_type}"}}"#
        )
    };
    let jwt = "urn:ietf:params:oauth:token-type:jwt";
    for (body, result) in [
        (body(ID_JAG, "N_A"), Ok(Secret::new("j1"))),
        (body(ID_JAG, "n_a"), Ok(Secret::new("j1"))),
        (body(ID_JAG, "Bearer"), Err(TokenError::Invalid("token_type"))),
        (body(jwt, "N_A"), Err(TokenError::Invalid("issued_token_type"))),
        (r#"{"access_token":"j1"}"#.into(), Err(TokenError::Invalid("issued_token_type"))),
        (r#"{"error":"invalid_request"}"#.into(), Err(refused(200, "invalid_request"))),
    ] {
        let found = TokenResponse::parse_id_jag(200, body.as_bytes(), &AuthLimits::default());
        assert_eq!(found, result, "{body}");
        assert!(parse_with(200, &body).is_err() || body.contains("Bearer"), "{body}");
    }
}

// AUT-34.
#[test]
fn tokens_are_not_shown() {
    let tokens = parse(r#","refresh_token":"hidden""#).unwrap();
    let shown: String = format!("{tokens:?}");
    assert!(!shown.contains("hidden") && !shown.contains("a1"), "{shown}");
}

proptest! {
    #[test]
    fn a_renewal_is_between_half_of_the_lifetime_and_the_expiry(
        issued_at: u64,
        lifetime in prop_oneof![0_u64..100_000, any::<u64>()],
        jitter: u32,
    ) {
        let expires_at = issued_at.saturating_add(lifetime);
        let time = renewal_time(issued_at, expires_at, jitter);
        prop_assert!(time >= issued_at + (expires_at - issued_at) / 2);
        prop_assert!(time <= expires_at);
        prop_assert!(time <= renewal_time(issued_at, expires_at, 0));
    }

    #[test]
    fn no_response_panics(status: u16, body: Vec<u8>) {
        let _parsed = TokenResponse::parse(status, &body, u64::MAX, &AuthLimits::default());
    }
}
