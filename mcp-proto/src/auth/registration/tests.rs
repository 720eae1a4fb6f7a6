//! Tests of registration requests and responses.

use alloc::format;
use alloc::string::{String, ToString};

use super::ClientAuthMethod::{Basic, None as Public, Post};
use super::*;

fn request(redirect_uris: &[&str], auth_method: ClientAuthMethod, scopes: &str) -> String {
    let scopes = Scopes::parse(scopes, &AuthLimits::default()).unwrap();
    let request = RegistrationRequest {
        client_name: "My \"app\"",
        redirect_uris,
        auth_method,
        wants_refresh_tokens: scopes.is_empty(),
        scopes: Some(&scopes),
    };
    String::from_utf8(request.to_json()).unwrap()
}

// AUT-22, AUT-45.
#[test]
fn the_request_says_what_the_client_is_aut_22_aut_45() {
    let text = concat!(
        r#"{"client_name":"My \"app\"","redirect_uris":["http://127.0.0.1:1/callback"],"#,
        r#""grant_types":["authorization_code","refresh_token"],"response_types":["code"],"#,
        r#""token_endpoint_auth_method":"none","application_type":"native"}"#,
    );
    assert_eq!(request(&["http://127.0.0.1:1/callback"], Public, ""), text);
    let text = concat!(
        r#"{"client_name":"My \"app\"","redirect_uris":["https://app.example/cb"],"#,
        r#""grant_types":["authorization_code"],"response_types":["code"],"#,
        r#""token_endpoint_auth_method":"client_secret_basic","application_type":"web","#,
        r#""scope":"a b"}"#,
    );
    assert_eq!(request(&["https://app.example/cb"], Basic, "a b"), text);
    for redirect_uris in [
        &["com.example.app:/callback"][..],
        &["https://app.example/cb", "http://[::1]:1/callback"],
        &["https://localhost/cb"],
        &[],
    ] {
        let text = request(redirect_uris, Post, "");
        assert!(text.contains(r#""application_type":"native""#), "{text}");
    }
}

// AUT-20, AUT-44.
#[test]
fn a_metadata_document_names_its_own_url_aut_20_aut_44() {
    let request = RegistrationRequest {
        client_name: "My app",
        redirect_uris: &["http://127.0.0.1/callback"],
        auth_method: Basic,
        wants_refresh_tokens: true,
        scopes: None,
    };
    let document = |url: &str| {
        let url = Uri::parse(url, &AuthLimits::default()).unwrap();
        request.to_metadata_document(&url).map(|text| String::from_utf8(text).unwrap())
    };
    let text = concat!(
        r#"{"client_id":"https://app.example/c?v=1","client_name":"My app","#,
        r#""redirect_uris":["http://127.0.0.1/callback"],"#,
        r#""grant_types":["authorization_code","refresh_token"],"response_types":["code"],"#,
        r#""token_endpoint_auth_method":"none","application_type":"native"}"#,
    );
    assert_eq!(document("https://app.example/c?v=1").as_deref(), Some(text));
    for url in ["https://app.example", "https://app.example/", "http://app.example/c"] {
        assert_eq!(document(url), None, "{url}");
    }
}

fn parse(
    status: u16,
    body: &str,
    requested: ClientAuthMethod,
) -> Result<RegisteredClient, RegistrationError> {
    RegisteredClient::parse(status, body.as_bytes(), requested, &AuthLimits::default())
}

// AUT-46: method requested, secret, method in the response.
#[test]
fn the_method_needs_its_secret_aut_46() {
    let method = "token_endpoint_auth_method";
    for (requested, secret, returned, chosen) in [
        (Public, None, None, Some(Public)),
        (Public, None, Some("none"), Some(Public)),
        (Public, Some("s"), None, Some(Public)),
        (Public, Some("s"), Some("none"), Some(Public)),
        (Public, Some("s"), Some("client_secret_post"), Some(Post)),
        (Public, Some(""), Some("none"), Some(Public)),
        (Public, Some(""), Some("client_secret_basic"), None),
        (Basic, Some("s"), None, Some(Basic)),
        (Basic, Some("s"), Some("client_secret_basic"), Some(Basic)),
        (Basic, None, None, Some(Public)),
        (Basic, None, Some("client_secret_basic"), None),
        (Post, Some("s"), None, Some(Post)),
        (Post, None, Some("none"), Some(Public)),
        (Public, Some("s"), Some("private_key_jwt"), None),
        (Public, Some("s"), Some("tls_client_auth"), None),
    ] {
        let secret_member = secret.map(|secret| format!(r#","client_secret":"{secret}""#));
        let returned_member = returned.map(|name| format!(r#","{method}":"{name}""#));
        let members = [secret_member, returned_member].into_iter().flatten().collect::<String>();
        let found = parse(201, &format!(r#"{{"client_id":"c1"{members}}}"#), requested);
        let label = format!("{requested:?} {members}");
        match chosen {
            None => assert_eq!(found, Err(RegistrationError::Invalid(method)), "{label}"),
            Some(chosen) => {
                let found = found.unwrap();
                assert_eq!(found.auth_method, chosen, "{label}");
                let kept = secret.filter(|secret| !secret.is_empty()).map(Secret::new);
                assert_eq!(found.secret, kept, "{label}");
            }
        }
    }
}

#[test]
fn a_secret_may_expire_aut_46() {
    let expiry = |value: &str| {
        let body = format!(
            r#"{{"client_id":"c1","client_secret":"s","client_secret_expires_at":{value}}}"#
        );
        parse(200, &body, Public)
    };
    assert!(!expiry("0").unwrap().is_expired(u64::MAX));
    let client = expiry("100").unwrap();
    assert!(!client.is_expired(99) && client.is_expired(100));
    assert_eq!(client.credential_kind(), CredentialKind::Secret);
    let invalid = Err(RegistrationError::Invalid("client_secret_expires_at"));
    assert_eq!(expiry("\"tomorrow\""), invalid);
    assert_eq!(expiry("-1"), invalid);
}

#[test]
fn refusals_and_bad_answers_are_told_apart() {
    let refused =
        |status, code| Err(RegistrationError::Refused { status, error: OAuthError::new(code) });
    let long = "x".repeat(2049);
    for (status, body, result) in [
        (400, r#"{"error":"invalid_redirect_uri"}"#, refused(400, "invalid_redirect_uri")),
        (200, r#"{"error":"x","client_id":"c"}"#, refused(200, "x")),
        (403, "Forbidden", Err(RegistrationError::Status(403))),
        (302, "", Err(RegistrationError::Status(302))),
        (201, "", Err(RegistrationError::Json)),
        (201, "{}", Err(RegistrationError::Invalid("client_id"))),
        (201, r#"{"client_id":""}"#, Err(RegistrationError::Invalid("client_id"))),
        (201, r#"{"client_id":"a\u0000"}"#, Err(RegistrationError::Invalid("client_id"))),
        (
            201,
            &format!(r#"{{"client_id":"{long}"}}"#),
            Err(RegistrationError::Invalid("client_id")),
        ),
        (201, &" ".repeat(65_537), Err(RegistrationError::Length)),
    ] {
        assert_eq!(parse(status, body, Public), result, "{status} {body:.60}");
    }
    let error = parse(400, r#"{"error":"invalid_redirect_uri"}"#, Public).unwrap_err();
    assert!(error.is("invalid_redirect_uri") && !error.is("x"));
    assert!(error.to_string().contains("invalid_redirect_uri"));
}
