//! Tests of the URL of an authorization request.

use alloc::string::String;

use super::*;

const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

fn url(
    endpoint: &str,
    scopes: &str,
    resource: Option<&str>,
    extra: &[(&str, &str)],
) -> Result<String, InvalidRequest> {
    let limits = AuthLimits::default();
    let request = AuthorizationRequest {
        endpoint: &Uri::parse(endpoint, &limits).unwrap(),
        client_id: "a b",
        redirect_uri: "http://127.0.0.1:1/callback",
        code_challenge: CHALLENGE,
        state: &Secret::new("s1"),
        scopes: Some(&Scopes::parse(scopes, &limits).unwrap()),
        resource,
        extra,
    };
    request.to_uri(&limits).map(|url| url.expose().into())
}

// AUT-14, AUT-15, AUT-16, AUT-49.
#[test]
fn the_request_has_pkce_state_and_resource_aut_14_aut_15() {
    let fixed = "response_type=code&client_id=a+b\
                 &redirect_uri=http%3A%2F%2F127.0.0.1%3A1%2Fcallback\
                 &code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM\
                 &code_challenge_method=S256&state=s1";
    let (plain, query) = ("https://as.example/a", "https://as.example/a?x=%20y");
    for (endpoint, scopes, resource, extra, prefix, suffix) in [
        (plain, "", None, &[][..], "https://as.example/a?", ""),
        ("https://as.example", "", None, &[], "https://as.example?", ""),
        ("https://as.example?", "", None, &[], "https://as.example?", ""),
        (query, "", None, &[], "https://as.example/a?x=%20y&", ""),
        (plain, "a b:c", None, &[], "https://as.example/a?", "&scope=a+b%3Ac"),
        // The resource is sent without a final slash that it does not have.
        (
            plain,
            "",
            Some("https://MCP.example"),
            &[("prompt", "consent")],
            "https://as.example/a?",
            "&resource=https%3A%2F%2FMCP.example&prompt=consent",
        ),
    ] {
        let found = url(endpoint, scopes, resource, extra).unwrap();
        assert_eq!(found, [prefix, fixed, suffix].concat());
    }
}

#[test]
fn extra_parameters_cannot_change_the_request() {
    for name in RESERVED {
        let found = url("https://as.example/a", "", None, &[(name, "x")]);
        assert_eq!(found, Err(InvalidRequest::Reserved), "{name}");
    }
}

#[test]
fn the_url_is_bounded() {
    let limits = AuthLimits::default();
    let long = "x".repeat(limits.authorization_uri_bytes_max);
    let found = url("https://as.example/a", "", None, &[("x", &long)]);
    assert_eq!(found, Err(InvalidRequest::Length));
}
