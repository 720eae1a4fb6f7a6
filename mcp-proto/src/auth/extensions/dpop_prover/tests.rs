//! Tests of the proofs for requests of an HTTP client.

use alloc::format;
use alloc::string::String;

use base64ct::{Base64UrlUnpadded, Encoding};
use serde_json::Value;

use super::*;
use crate::auth::AuthLimits;
use crate::auth::flow_secrets::hash_text;
use crate::client::{Client, Config};
use crate::http::client::{Action, Credentials, Generation, HttpClient, HttpConfig};
use crate::time::Instant;

/// Returns a client whose probe was sent with these credentials.
fn client(authorization: &str) -> (HttpClient, HttpRequest) {
    let client = Client::new(Instant::ZERO, Config::new("demo", "1.0.0"));
    let mut http = HttpClient::new(client, HttpConfig::new(0));
    let credentials = Credentials::new(Generation::new(1), authorization.into());
    http.authorize(Instant::ZERO, credentials);
    let request = sent(&mut http);
    (http, request)
}

fn sent(http: &mut HttpClient) -> HttpRequest {
    let Some(Action::Send(request)) = http.poll_action() else { panic!() };
    request
}

fn prover() -> DpopProver {
    DpopProver::new(PublicKey { x: [1; 32], y: [2; 32] }, [7; 32])
}

fn uri(text: &str) -> Uri {
    Uri::parse(text, &AuthLimits::default()).unwrap()
}

/// Decodes the header and the claims of a proof.
fn decoded(jwt: &UnsignedJwt) -> [Value; 2] {
    let decode = |part: &str| Base64UrlUnpadded::decode_vec(part).unwrap();
    let (header, claims) = jwt.input().expose().split_once('.').unwrap();
    [header, claims].map(|part| serde_json::from_slice(&decode(part)).unwrap())
}

// AUT-82
#[test]
fn a_proof_names_the_request_and_the_token_aut_82() {
    let (mut http, request) = client("DPoP to.ken");
    let url = uri("https://mcp.example:8443/mcp?v=2");
    let proof = prover().prove(&request, &url, 1_790_000_000).unwrap();
    let [header, claims] = decoded(&proof);
    assert_eq!((&header["typ"], &header["alg"]), (&"dpop+jwt".into(), &"ES256".into()));
    assert_eq!(header["jwk"]["kty"], "EC");
    assert_eq!(claims["htm"], "POST");
    assert_eq!(claims["htu"], "https://mcp.example:8443/mcp");
    assert_eq!(claims["iat"], 1_790_000_000);
    assert_eq!(claims["ath"], hash_text("to.ken"));
    assert_eq!(claims.get("nonce"), None);

    let head = [("www-authenticate", "DPoP error=\"use_dpop_nonce\""), ("dpop-nonce", "n-\\1")];
    http.handle_head(Instant::ZERO, request.exchange, 401, &head);
    let proof = prover().prove(&sent(&mut http), &url, 1_790_000_000).unwrap();
    assert_eq!(decoded(&proof)[1]["nonce"], "n-\\1");
}

#[test]
fn ids_are_never_repeated() {
    let (_, request) = client("DPoP to.ken");
    let mut prover = prover();
    let url = uri("https://mcp.example/mcp");
    let mut id = || -> String {
        let proof = prover.prove(&request, &url, 1).unwrap();
        decoded(&proof)[1]["jti"].as_str().unwrap().into()
    };
    let (one, two) = (id(), id());
    assert!(one != two && one.len() == 43);
}

#[test]
fn bearer_requests_need_no_proof() {
    let (_, request) = client("Bearer DPoP");
    assert_eq!(prover().prove(&request, &uri("https://mcp.example/mcp"), 1), None);
    let (_, request) = client("dpop x");
    assert!(prover().prove(&request, &uri("https://mcp.example/mcp"), 1).is_some());
}

// AUT-34
#[test]
fn debug_shows_neither_the_token_nor_the_ids() {
    let mut prover = prover();
    let (_, request) = client("DPoP to.ken");
    let proof = prover.prove(&request, &uri("https://mcp.example/mcp"), 1).unwrap();
    let shown = format!("{prover:?} {proof:?} {request:?}");
    assert!(!shown.contains("to.ken") && shown.contains("FlowSecrets"), "{shown}");
}
