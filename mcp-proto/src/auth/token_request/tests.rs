//! Tests of the fields of each kind of token request.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::*;
use crate::auth::form;
use crate::auth::limits::AuthLimits;

const RESOURCE: &str = "https://mcp.example";

// AUT-14, AUT-15, AUT-56, AUT-77, AUT-78, AUT-79, AUT-81.
#[test]
fn each_grant_has_its_fields_with_resource_and_scopes_aut_14_aut_77_aut_79() {
    let secret = Secret::new("x/1");
    let verifier = Secret::new("v1");
    let scopes = Scopes::parse("a b", &AuthLimits::default()).unwrap();
    let redirect_uri = "http://127.0.0.1:1/callback";
    for (grant, fields) in [
        (
            TokenGrant::AuthorizationCode { code: &secret, redirect_uri, verifier: &verifier },
            vec![
                ("grant_type", "authorization_code"),
                ("code", "x/1"),
                ("redirect_uri", redirect_uri),
                ("code_verifier", "v1"),
            ],
        ),
        (
            TokenGrant::Refresh { token: &secret },
            vec![("grant_type", "refresh_token"), ("refresh_token", "x/1")],
        ),
        (TokenGrant::ClientCredentials, vec![("grant_type", "client_credentials")]),
        (
            TokenGrant::IdJag { id_token: &secret, audience: "https://as.example" },
            vec![
                ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
                ("requested_token_type", "urn:ietf:params:oauth:token-type:id-jag"),
                ("audience", "https://as.example"),
                ("subject_token", "x/1"),
                ("subject_token_type", "urn:ietf:params:oauth:token-type:id_token"),
            ],
        ),
        (
            TokenGrant::JwtBearer { assertion: &secret },
            vec![
                ("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"),
                ("assertion", "x/1"),
            ],
        ),
    ] {
        let request = TokenRequest { grant, resource: Some(RESOURCE), scopes: Some(&scopes) };
        let encoded = request.encode(&ClientAuthentication::None { client_id: "app" });
        let mut wanted = fields;
        wanted.extend([("resource", RESOURCE), ("scope", "a b"), ("client_id", "app")]);
        assert_eq!(encoded.authorization, None);
        assert_eq!(read(&encoded), owned(&wanted));
    }
}

fn read(encoded: &EncodedTokenRequest) -> Vec<(String, String)> {
    let pairs = form::parse(encoded.body.expose()).unwrap();
    pairs.into_iter().map(|(name, value)| (name.into_owned(), value.into_owned())).collect()
}

fn owned(fields: &[(&str, &str)]) -> Vec<(String, String)> {
    fields.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()
}

// AUT-56: exactly one method.
#[test]
fn each_method_adds_its_own_fields_aut_56() {
    let secret = Secret::new("pw");
    let client_id = "app";
    let assertion = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
    for (client, header, fields) in [
        (ClientAuthentication::None { client_id }, None, vec![("client_id", "app")]),
        (
            ClientAuthentication::Basic { client_id, secret: &secret },
            Some("Basic YXBwOnB3"),
            vec![],
        ),
        (
            ClientAuthentication::Post { client_id, secret: &secret },
            None,
            vec![("client_id", "app"), ("client_secret", "pw")],
        ),
        (
            ClientAuthentication::PrivateKeyJwt { assertion: &secret },
            None,
            vec![("client_assertion_type", assertion), ("client_assertion", "pw")],
        ),
    ] {
        let encoded = TokenRequest::new(TokenGrant::ClientCredentials).encode(&client);
        assert_eq!(encoded.authorization.as_ref().map(Secret::expose), header);
        assert_eq!(read(&encoded)[1..], owned(&fields));
        assert!(!alloc::format!("{encoded:?} {client:?}").contains("pw"));
    }
}

#[test]
fn an_empty_set_of_scopes_is_not_sent() {
    let scopes = Scopes::new();
    let grant = TokenGrant::ClientCredentials;
    let request = TokenRequest { grant, resource: None, scopes: Some(&scopes) };
    let encoded = request.encode(&ClientAuthentication::None { client_id: "a" });
    assert_eq!(encoded.body.expose(), "grant_type=client_credentials&client_id=a");
}
