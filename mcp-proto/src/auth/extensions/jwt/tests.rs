//! Tests of assertions and proofs, with the examples of their specifications.

use alloc::format;

use super::*;
use crate::auth::limits::AuthLimits;

/// Returns the decoded header and claims.
fn parts(jwt: &UnsignedJwt) -> (String, String) {
    let (header, claims) = jwt.input().expose().split_once('.').unwrap();
    let decode =
        |part: &str| String::from_utf8(Base64UrlUnpadded::decode_vec(part).unwrap()).unwrap();
    (decode(header), decode(claims))
}

// AUT-78.
#[test]
fn an_assertion_names_the_client_and_the_issuer_aut_78() {
    let jwt = UnsignedJwt::client_assertion("app", "https://as.example/", "i1", 1000, Some("k1"));
    let (header, claims) = parts(&jwt);
    assert_eq!(header, r#"{"alg":"ES256","typ":"JWT","kid":"k1"}"#);
    let wanted = concat!(
        r#"{"iss":"app","sub":"app","aud":"https://as.example/","jti":"i1","#,
        r#""iat":1000,"exp":1120}"#,
    );
    assert_eq!(claims, wanted);
    let (header, claims) = parts(&UnsignedJwt::client_assertion("", "", "", u64::MAX, None));
    assert_eq!(header, r#"{"alg":"ES256","typ":"JWT"}"#);
    assert!(claims.ends_with(r#""exp":18446744073709551615}"#));
}

// AUT-82; the example of RFC 9449, figures 2 and 12.
#[test]
fn a_proof_names_the_request_and_the_token_aut_82() {
    let coordinate = |text: &str| Base64UrlUnpadded::decode_vec(text).unwrap().try_into().unwrap();
    let key = PublicKey {
        x: coordinate("l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs"),
        y: coordinate("9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA"),
    };
    let nonce = Secret::new("n\"1");
    let token = Secret::new("Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU");
    for (uri, htu) in [
        ("https://h/mcp?a=1", "https://h/mcp"),
        ("https://h", "https://h/"),
        ("HTTPS://H:443/a%2F/", "HTTPS://H:443/a%2F/"),
    ] {
        let uri = Uri::parse(uri, &AuthLimits::default()).unwrap();
        let proof = DpopProof {
            key: &key,
            method: "POST",
            uri: &uri,
            jti: "i1",
            issued_at: 1_562_262_616,
            access_token: Some(&token),
            nonce: Some(&nonce),
        };
        let (header, claims) = parts(&proof.to_jwt());
        let wanted = concat!(
            r#"{"typ":"dpop+jwt","alg":"ES256","jwk":{"crv":"P-256","kty":"EC","#,
            r#""x":"l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs","#,
            r#""y":"9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA"}}"#,
        );
        assert_eq!(header, wanted);
        let wanted = format!(
            r#"{{"jti":"i1","htm":"POST","htu":"{htu}","iat":1562262616,{},"nonce":"n\"1"}}"#,
            r#""ath":"fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo""#,
        );
        assert_eq!(claims, wanted);
        let bare = DpopProof { access_token: None, nonce: None, ..proof };
        assert!(!parts(&bare.to_jwt()).1.contains("ath"));
    }
    // RFC 9449, section 6.1.
    assert_eq!(key.thumbprint(), "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I");
}

#[test]
fn a_signature_is_appended() {
    let jwt = UnsignedJwt::client_assertion("app", "https://as.example", "i1", 0, None);
    let signed = jwt.signed(&[0xFF; 64]).unwrap();
    let signature = "_".repeat(85) + "w";
    assert_eq!(signed.expose(), format!("{}.{signature}", jwt.input().expose()));
    for length in [0, 63, 65, 70, 72] {
        assert_eq!(jwt.signed(&alloc::vec![0; length]), None, "{length}");
    }
    assert!(!format!("{jwt:?} {signed:?}").contains("ey"));
}
