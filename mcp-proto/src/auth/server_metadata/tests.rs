//! Tests of the locations and checks of an authorization server's metadata.

use alloc::string::{String, ToString};
use alloc::vec;

use super::*;
use crate::auth::reach::Reach;

const ISSUER: &str = "https://as.example/t";

fn uri(text: &str) -> Uri {
    Uri::parse(text, &AuthLimits::default()).unwrap()
}

fn parse_as(
    body: &str,
    expected: ExpectedIssuer<'_>,
    reach: Reach,
) -> Result<AuthorizationServerMetadata, MetadataError> {
    let policy = UriPolicy::of_server(reach);
    let limits = AuthLimits::default();
    AuthorizationServerMetadata::parse(body.as_bytes(), expected, &policy, &limits)
}

/// Parses a document with the expected issuer and further members.
fn parse(members: &str) -> Result<AuthorizationServerMetadata, MetadataError> {
    let body = format!(r#"{{"issuer":"{ISSUER}"{members}}}"#);
    parse_as(&body, ExpectedIssuer::Exact(&uri(ISSUER)), Reach::Public)
}

// AUT-12, AUT-40.
#[test]
fn an_issuer_has_two_or_three_locations_aut_12() {
    const A: &str = "/.well-known/oauth-authorization-server";
    const O: &str = "/.well-known/openid-configuration";
    for (issuer, origin, path) in [
        ("https://h", "https://h", ""),
        ("https://h/", "https://h", ""),
        ("https://h:443", "https://h:443", ""),
        ("https://h:8443/", "https://h:8443", ""),
        ("https://H.Example", "https://H.Example", ""),
        ("HTTPS://h", "HTTPS://h", ""),
        ("http://localhost:9000", "http://localhost:9000", ""),
        ("https://[2606:4700::1111]", "https://[2606:4700::1111]", ""),
        ("https://8.8.8.8/", "https://8.8.8.8", ""),
        ("https://h/tenant", "https://h", "/tenant"),
        ("https://h/tenant/", "https://h", "/tenant"),
        ("https://h/tenant//", "https://h", "/tenant/"),
        ("https://h//", "https://h", "/"),
        ("https://h/a/b/c", "https://h", "/a/b/c"),
        ("https://h/a%2Fb", "https://h", "/a%2Fb"),
        ("https://h/A;v=1/", "https://h", "/A;v=1"),
        ("https://h:8443/realms/x", "https://h:8443", "/realms/x"),
        ("http://[::1]:9/t", "http://[::1]:9", "/t"),
        ("https://h/.well-known/x", "https://h", "/.well-known/x"),
        ("https://login.example/0f-9e/v2.0", "https://login.example", "/0f-9e/v2.0"),
    ] {
        let found = AuthorizationServerMetadata::locations(&uri(issuer), &AuthLimits::default());
        let mut wanted = vec![format!("{origin}{A}{path}"), format!("{origin}{O}{path}")];
        if !path.is_empty() {
            wanted.push(format!("{origin}{path}{O}"));
        }
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(found, wanted, "{issuer}");
    }
}

// AUT-07.
#[test]
fn the_legacy_issuer_is_the_origin_of_the_server_aut_07() {
    let (url, limits) = (uri("http://localhost:80/v1/mcp?a=b"), AuthLimits::default());
    let issuer = AuthorizationServerMetadata::legacy_issuer(&url, &limits).unwrap();
    assert_eq!(issuer.as_str(), "http://localhost:80");
    let policy = UriPolicy::of_server(Reach::Loopback);
    let default = AuthorizationServerMetadata::legacy_default(&url, &policy, &limits).unwrap();
    let endpoints =
        [default.authorization_endpoint, default.token_endpoint, default.registration_endpoint];
    let paths = ["/authorize", "/token", "/register"];
    for (endpoint, path) in endpoints.into_iter().zip(paths) {
        assert_eq!(endpoint.unwrap().to_string(), format!("http://localhost:80{path}"));
    }
    assert_eq!(default.pkce, PkceSupport::S256);
    let public = UriPolicy::of_server(Reach::Public);
    let default = AuthorizationServerMetadata::legacy_default(&url, &public, &limits).unwrap();
    let refused = EndpointError::Refused(UriRefusal::PlainHttp);
    assert_eq!(default.token_endpoint, Err(refused));
}

// AUT-13.
#[test]
fn the_issuer_is_compared_byte_for_byte_aut_13() {
    for (expected, found, exact, tolerant) in [
        ("https://h", "https://h", true, true),
        ("https://h", "https://h/", false, true),
        ("https://h/", "https://h", false, true),
        ("https://h/t", "https://h/t/", false, true),
        ("https://h/t", "https://h/t//", false, false),
        ("https://h/t", "https://h/T", false, false),
        ("https://h/t", "https://H/t", false, false),
        ("https://h", "https://h:443", false, false),
        ("https://h/t", "https://h", false, false),
        ("https://h/%7Et", "https://h/~t", false, false),
        ("https://h", "https://attacker.example.com", false, false),
    ] {
        let body = format!(r#"{{"issuer":"{found}"}}"#);
        let expected = uri(expected);
        for (check, accepted) in [
            (ExpectedIssuer::Exact(&expected), exact),
            (ExpectedIssuer::AnyFinalSlash(&expected), tolerant),
        ] {
            let parsed = parse_as(&body, check, Reach::Public);
            if accepted {
                assert_eq!(parsed.unwrap().issuer.as_str(), found, "the document's own text");
            } else {
                let (expected, found) = (expected.as_str().into(), found.into());
                assert_eq!(parsed, Err(MetadataError::Issuer { expected, found }));
            }
        }
    }
    for issuer in ["", r#""issuer":null"#, r#""issuer":1"#, r#""issuer":"as""#] {
        let body = format!("{{{issuer}}}");
        let parsed = parse_as(&body, ExpectedIssuer::Exact(&uri(ISSUER)), Reach::Public);
        assert_eq!(parsed, Err(MetadataError::Member("issuer")), "{issuer}");
    }
}

// AUT-15, AUT-50.
#[test]
fn s256_must_be_listed_aut_50() {
    for (methods, pkce) in [
        ("", PkceSupport::Unadvertised),
        ("null", PkceSupport::Unadvertised),
        ("[]", PkceSupport::Unsupported),
        (r#"["plain"]"#, PkceSupport::Unsupported),
        (r#"["s256"]"#, PkceSupport::Unsupported),
        (r#"["plain","S256"]"#, PkceSupport::S256),
    ] {
        let key = r#","code_challenge_methods_supported":"#;
        let member = if methods.is_empty() { String::new() } else { format!("{key}{methods}") };
        assert_eq!(parse(&member).unwrap().pkce, pkce, "{methods}");
    }
    let wrong = parse(r#","code_challenge_methods_supported":"S256""#);
    assert_eq!(wrong, Err(MetadataError::Member("code_challenge_methods_supported")));
}

// AUT-29.
#[test]
fn a_bad_endpoint_matters_only_where_it_is_used_aut_29() {
    let endpoint = |value: &str| parse(&format!(r#","token_endpoint":{value}"#));
    let token = |value| endpoint(value).map(|metadata| metadata.token_endpoint);
    let refused = |refusal| Ok(Err(EndpointError::Refused(refusal)));
    for (value, wanted) in [
        ("\"https://x/t?a=b\"", Ok(Ok(uri("https://x/t?a=b")))),
        ("null", Ok(Err(EndpointError::Missing))),
        ("\"\"", Ok(Err(EndpointError::Invalid(InvalidUri::Scheme)))),
        ("\"/token\"", Ok(Err(EndpointError::Invalid(InvalidUri::Scheme)))),
        ("\"https://x/#f\"", Ok(Err(EndpointError::Invalid(InvalidUri::Fragment)))),
        ("\"http://x/t\"", refused(UriRefusal::PlainHttp)),
        ("\"https://192.168.0.1/t\"", refused(UriRefusal::TooPrivate)),
        ("\"https://169.254.169.254/\"", refused(UriRefusal::Reserved)),
        ("1", Err(MetadataError::Member("token_endpoint"))),
    ] {
        assert_eq!(token(value), wanted, "{value}");
    }
    let local = r#"{"issuer":"http://localhost:1","token_endpoint":"http://[::1]:1/t"}"#;
    let expected = uri("http://localhost:1");
    let metadata = parse_as(local, ExpectedIssuer::Exact(&expected), Reach::Loopback).unwrap();
    assert!(metadata.token_endpoint.is_ok());
    assert_eq!(metadata.registration_endpoint, Err(EndpointError::Missing));
}

#[test]
fn abilities_are_read_and_unknown_values_left_out() {
    let none = parse("").unwrap();
    assert_eq!((none.auth_methods, none.grant_types.clone()), (None, None));
    assert!(!none.sends_issuer && !none.client_id_documents && !none.offline_access && !none.dpop);
    assert!(none.es256_assertions && none.supports(GrantType::AuthorizationCode));
    assert!(!none.supports(GrantType::ClientCredentials));

    let all = parse(
        r#","token_endpoint_auth_methods_supported":["none","tls_client_auth","private_key_jwt"],
        "token_endpoint_auth_signing_alg_values_supported":["RS256"],
        "grant_types_supported":["client_credentials","password"],
        "authorization_response_iss_parameter_supported":true,
        "client_id_metadata_document_supported":true,
        "scopes_supported":["a","offline_access"],
        "dpop_signing_alg_values_supported":["ES384","ES256"]"#,
    )
    .unwrap();
    let methods = [ClientAuthMethod::None, ClientAuthMethod::PrivateKeyJwt];
    assert_eq!(all.auth_methods, Some(ClientAuthMethods::of(methods)));
    assert_eq!(all.grant_types, Some(vec![GrantType::ClientCredentials]));
    assert!(all.sends_issuer && all.client_id_documents && all.offline_access && all.dpop);
    assert!(!all.es256_assertions && !all.supports(GrantType::AuthorizationCode));
}

#[test]
fn what_is_written_is_read_back() {
    for members in [
        "",
        r#","token_endpoint":"https://x/t","code_challenge_methods_supported":["S256"]"#,
        r#","code_challenge_methods_supported":[],"grant_types_supported":["refresh_token"],
        "token_endpoint_auth_methods_supported":[],"scopes_supported":["offline_access"]"#,
        r#","authorization_response_iss_parameter_supported":true,
        "token_endpoint_auth_methods_supported":["client_secret_post","none"],
        "token_endpoint_auth_signing_alg_values_supported":[],
        "client_id_metadata_document_supported":true,
        "dpop_signing_alg_values_supported":["ES256"]"#,
    ] {
        let metadata = parse(members).unwrap();
        let mut out = Vec::new();
        metadata.write(&mut out);
        let text = String::from_utf8(out).unwrap();
        let expected = uri(ISSUER);
        let read = parse_as(&text, ExpectedIssuer::Exact(&expected), Reach::Public);
        assert_eq!(read, Ok(metadata), "{text}");
    }
}
