//! Tests of what a client takes from `WWW-Authenticate`.

use alloc::string::ToString;

use super::*;

fn parse(values: &[&str]) -> Option<TokenChallenge> {
    TokenChallenge::parse(values.iter().map(|value| value.as_bytes()), &AuthLimits::default())
}

// AUT-11, AUT-25.
#[test]
fn bearer_and_dpop_challenges_are_joined_aut_11() {
    for values in [&[][..], &["Basic realm=\"x\", Negotiate abc="], &["\"", "Bearer ="]] {
        assert_eq!(parse(values), None, "{values:?}");
    }
    assert_eq!(parse(&["bearer"]), Some(TokenChallenge::default()));

    let found = parse(&[
        "Negotiate",
        "\u{0}",
        "BEARER realm=\"scope=x\", scope = \"a b\"",
        "DPoP algs=\"ES256\", scope=\"c\", error=\"invalid_token\", \
         resource_metadata=\"https://h/.well-known/x\"",
    ])
    .unwrap();
    assert_eq!(found.scopes.unwrap().to_string(), "a b");
    assert_eq!(found.resource_metadata.unwrap().unwrap().as_str(), "https://h/.well-known/x");
    assert_eq!(found.error, Some(OAuthError::new("invalid_token")));
    assert!(found.accepts_dpop);
}

#[test]
fn what_is_invalid_in_a_parameter_stays_with_it() {
    let found = parse(&["Bearer resource_metadata=\"/x\", scope=\"a\\tb\\\\\""]).unwrap();
    assert_eq!(found.resource_metadata, Some(Err(InvalidUri::Scheme)));
    assert_eq!(found.scopes, None);
}

// AUT-64.
#[test]
fn only_one_error_is_about_scopes_aut_64() {
    for (value, is_about_scopes) in [
        ("Bearer error=\"insufficient_scope\"", true),
        ("Bearer error=insufficient_scope, scope=\"a\"", true),
        ("DPoP error=\"insufficient_scope\"", true),
        ("Bearer", false),
        ("Bearer error=\"invalid_token\"", false),
        ("Bearer scope=\"insufficient_scope\"", false),
    ] {
        assert_eq!(parse(&[value]).unwrap().is_insufficient_scope(), is_about_scopes, "{value}");
    }
}
