//! Tests with keys that are made here, and with tokens that are not what they should be.

use std::sync::atomic::{AtomicUsize, Ordering};

use base64ct::{Base64UrlUnpadded, Encoding};
use futures_lite::future::block_on;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair,
    KeyPair as _,
};

use super::*;
use crate::http::test_runtime::TestRuntime;

const CLAIMS: &str = r#"{"iss":"https://i","sub":"ada","aud":"https://h/mcp","exp":1}"#;

fn encode(bytes: impl AsRef<[u8]>) -> String {
    Base64UrlUnpadded::encode_string(bytes.as_ref())
}

/// An RSA key whose private part is lost, and its signatures of tokens with [`CLAIMS`].
const RSA_MODULUS: &str = concat!(
    "q8uJ4PY8SnbzWZy-aPNYH0mXMXpe9oQHx8ODYkH4P6xgJhhYJPCOaGP8U9UXND7cAlkbJXiV8Qina8owlBqTe1Ho",
    "snI0KeB0QwdlI8NO1MAXTtRxwRZG4OWa9WWVPVGzXxXH9DrLLuezKBL2pE6gkAtidqIJ2uR7u38un5DjvNqTUL2_",
    "PLFIW3nsE0A6fwyi0QJarVuxBQjDDI_H-mJedvtz5elW-VQ_WAVz7ihtt9RlX46mH0x5x9XAsS8y8v_Kmtne5mpX",
    "GnGRTt4E3ViMq4HOuiAnu7ZT4bqzgkOJvGOGhO1tfXF8bsn0ulPLsNyo3uf6FckPp3ukFF4x0No2ow",
);

const RS256_SIGNATURE: &str = concat!(
    "GZLrbMV30wBh-gLxDc58MrpxJum4FMGcWvMJm0zfyIcIzL2Y04uYOQP4dXiVa_c0WTuOZGTHknfUq1MN2a26bKFA",
    "DcWWf5y7qRNMD4JzVWW07Acn2UzdVGTiIvep5T-gDmJMueKhksWo-gGnAqtl6KYFZ0AWMx6_Nrh3W2igrei3-",
    "sAtdEBjMtOZhO92WCuWavF7WFSDPVwGpaF5T87XOBAst0XOv1cwSTSRmxJNTlSlrxNQwZuP9PrU4oM7XYFL6KWYf",
    "vNGQkwORYs4unJmLa71BSSw_uZJHYQiHedOkvPQp_IRIlLDH0wYZT2sAU5o4JDXkCv75u8XzOA-QzjzVw",
);

const PS256_SIGNATURE: &str = concat!(
    "XzbRZEzIqqtpe5yEssau2wXAmRszLYHH8uPtU9cJbUAp4Rc-awvE9vLkztf3W0f1KsfivcLr7EKvHnZ3J3pPS7G3",
    "aSaMDAdV3uijlSnUjryMcUYDyVYUIfh1iX4wCcXqnwhIURtRnSz4AkdtJUf8c_CI9U0tUECYg0mFeZgZCcB7Y2KA",
    "Ga0XCeMxRgShhpkMO2gBgIts3xGk3zLO3V_L9mvJJFVUFFDPjyAl4CKGlUSPlfrletJIxi-",
    "etLID_9a9veqqanyV40NFV1GgsgwduY9K3MWtdE6RvI2oWTgBqTtk77wG8GM7Ecu-",
    "LAQpTlKDTVOmxyHhEd4DO5FSeL4y8g",
);

struct Signer {
    p256: EcdsaKeyPair,
    ed25519: Ed25519KeyPair,
}

impl Signer {
    fn new() -> Self {
        let (random, kind) = (SystemRandom::new(), &ECDSA_P256_SHA256_FIXED_SIGNING);
        let p256 = EcdsaKeyPair::generate_pkcs8(kind, &random).unwrap();
        let p256 = EcdsaKeyPair::from_pkcs8(kind, p256.as_ref(), &random).unwrap();
        let ed25519 = Ed25519KeyPair::generate_pkcs8(&random).unwrap();
        let ed25519 = Ed25519KeyPair::from_pkcs8(ed25519.as_ref()).unwrap();
        Self { p256, ed25519 }
    }

    /// Returns the key set: an EC key `e`, an OKP key `o`, and keys that must be left out.
    fn keys(&self) -> String {
        let point = self.p256.public_key().as_ref();
        let (x, y) = (encode(&point[1..33]), encode(&point[33..]));
        let o = encode(self.ed25519.public_key());
        format!(
            r#"{{"keys":[{{"kty":"oct","kid":"s","k":"c2VjcmV0"}},
                {{"kty":"EC","crv":"P-256","kid":"enc","use":"enc","x":"{x}","y":"{y}"}},
                {{"kty":"EC","crv":"P-256","kid":"e","use":"sig","x":"{x}","y":"{y}"}},
                {{"kty":"EC","crv":"P-256","kid":"bad","x":"AA","y":"{y}"}},
                {{"kty":"OKP","crv":"Ed25519","kid":"o","alg":"EdDSA","x":"{o}"}}]}}"#
        )
    }

    fn sign(&self, header: &str, claims: &str) -> String {
        let message = format!("{}.{}", encode(header), encode(claims));
        let signature = if header.contains("ES256") {
            self.p256.sign(&SystemRandom::new(), message.as_bytes()).unwrap().as_ref().to_vec()
        } else {
            self.ed25519.sign(message.as_bytes()).as_ref().to_vec()
        };
        format!("{message}.{}", encode(signature))
    }
}

fn verifier(keys: String) -> JwtVerifier {
    JwtVerifier::new("https://i", move || std::future::ready(Ok(keys.clone())))
}

fn verify(verifier: &JwtVerifier, token: &str) -> Result<VerifiedToken, VerifyError> {
    block_on(verifier.verify_on(&token.into(), Some(&TestRuntime::shared())))
}

#[test]
fn tokens_with_a_valid_signature_are_verified() {
    let signer = Signer::new();
    let verifier = verifier(signer.keys());
    for header in [
        r#"{"alg":"ES256","kid":"e","typ":"at+jwt"}"#,
        r#"{"alg":"ES256","typ":"application/AT+JWT"}"#,
        r#"{"alg":"EdDSA","kid":"o","typ":"JWT"}"#,
        r#"{"alg":"Ed25519","unknown":1}"#,
    ] {
        let verified = verify(&verifier, &signer.sign(header, CLAIMS)).unwrap();
        assert_eq!(verified.subject.as_deref(), Some("ada"), "{header}");
    }
}

#[test]
fn keys_of_p_384_verify_es384() {
    let (random, kind) = (SystemRandom::new(), &ECDSA_P384_SHA384_FIXED_SIGNING);
    let pair = EcdsaKeyPair::generate_pkcs8(kind, &random).unwrap();
    let pair = EcdsaKeyPair::from_pkcs8(kind, pair.as_ref(), &random).unwrap();
    let point = pair.public_key().as_ref();
    let (x, y) = (encode(&point[1..49]), encode(&point[49..]));
    let key = format!(r#"{{"kty":"EC","crv":"P-384","x":"{x}","y":"{y}"}}"#);
    let message = format!("{}.{}", encode(r#"{"alg":"ES384"}"#), encode(CLAIMS));
    let signature = encode(pair.sign(&random, message.as_bytes()).unwrap());
    let verifier = verifier(format!(r#"{{"keys":[{key}]}}"#));
    assert!(verify(&verifier, &format!("{message}.{signature}")).is_ok());
}

#[test]
fn rsa_signatures_are_verified_with_their_own_padding() {
    let keys = |members: &str| {
        let key = format!(r#"{{"kty":"RSA","e":"AQAB","n":"{RSA_MODULUS}"{members}}}"#);
        verifier(format!(r#"{{"keys":[{key}]}}"#))
    };
    let token = |algorithm: &str, signature: &str| {
        let header = format!(r#"{{"alg":"{algorithm}"}}"#);
        format!("{}.{}.{signature}", encode(header), encode(CLAIMS))
    };
    let (rs256, ps256) = (token("RS256", RS256_SIGNATURE), token("PS256", PS256_SIGNATURE));
    for good in [&rs256, &ps256] {
        assert!(verify(&keys(""), good).is_ok(), "{good}");
    }
    let swapped = [token("RS256", PS256_SIGNATURE), token("PS256", RS256_SIGNATURE)];
    for bad in swapped.iter().chain([&rs256.replacen("eyJpc3Mi", "eyJpc3Mj", 1)]) {
        assert_eq!(verify(&keys(""), bad), Err(VerifyError::Invalid), "{bad}");
    }
    // A key for one algorithm verifies no other.
    let only = keys(r#","alg":"PS256""#);
    assert_eq!(verify(&only, &rs256), Err(VerifyError::Invalid));
    assert!(verify(&only, &ps256).is_ok());
}

#[test]
fn tokens_that_are_something_else_are_refused() {
    let signer = Signer::new();
    let verifier = verifier(signer.keys());
    let good = signer.sign(r#"{"alg":"ES256"}"#, CLAIMS);
    let (message, signature) = good.rsplit_once('.').unwrap();
    let (header, claims) = message.split_once('.').unwrap();
    let mut forged = encode(CLAIMS.replace("ada", "eve"));
    forged = format!("{header}.{forged}.{signature}");
    let none = format!("{}.{claims}.", encode(r#"{"alg":"none"}"#));
    let refused = [
        forged,
        none,
        message.to_owned(),
        format!("{good}.x"),
        format!("{good}="),
        format!("{header}.{claims}.{}", &signature[..signature.len() - 4]),
        Signer::new().sign(r#"{"alg":"ES256","kid":"e"}"#, CLAIMS),
        signer.sign(r#"{"alg":"ES256","kid":"o"}"#, CLAIMS),
        signer.sign(r#"{"alg":"ES256","kid":"enc"}"#, CLAIMS),
        signer.sign(r#"{"alg":"ES256","kid":"bad"}"#, CLAIMS),
        signer.sign(r#"{"alg":"HS256","kid":"s"}"#, CLAIMS),
        signer.sign(r#"{"alg":"ES256","crit":["exp"]}"#, CLAIMS),
        signer.sign(r#"{"alg":"ES256","typ":"dpop+jwt"}"#, CLAIMS),
        signer.sign(r#"{"alg":"ES256","typ":1}"#, CLAIMS),
        signer.sign(r#"{"alg":"ES256","kid":1}"#, CLAIMS),
        signer.sign(r#"{"alg":"ES256"}"#, &CLAIMS.replace("https://i", "https://j")),
        signer.sign(r#"{"alg":"ES256"}"#, r#"{"iss":"https://i","exp":"1"}"#),
        signer.sign(r#"{"alg":"ES256"}"#, "[]"),
    ];
    for token in refused {
        assert_eq!(verify(&verifier, &token), Err(VerifyError::Invalid), "{token}");
    }
}

#[test]
fn keys_are_fetched_once_and_bad_ones_leave_tokens_unverified() {
    let signer = Signer::new();
    let fetches = Arc::new(AtomicUsize::new(0));
    let (counter, keys) = (Arc::clone(&fetches), signer.keys());
    let counting = JwtVerifier::new("https://i", move || {
        counter.fetch_add(1, Ordering::SeqCst);
        std::future::ready(Ok(keys.clone()))
    });
    let token = signer.sign(r#"{"alg":"ES256","kid":"e"}"#, CLAIMS);
    for _ in 0..3 {
        assert!(verify(&counting, &token).is_ok());
        let unknown = signer.sign(r#"{"alg":"ES256","kid":"unknown"}"#, CLAIMS);
        assert_eq!(verify(&counting, &unknown), Err(VerifyError::Invalid));
    }
    assert_eq!(fetches.load(Ordering::SeqCst), 1);
    for keys in ["", "[]", "{}", r#"{"keys":{}}"#] {
        let verifier = verifier(keys.to_owned());
        assert_eq!(verify(&verifier, &token), Err(VerifyError::Unavailable), "{keys}");
    }
    let fails = JwtVerifier::new("https://i", || {
        std::future::ready(Err::<String, _>(io::ErrorKind::TimedOut.into()))
    });
    assert_eq!(verify(&fails, &token), Err(VerifyError::Unavailable));
    assert!(!format!("{fails:?}").contains("ada"));
}

// A client must not be able to keep others from having keys.
#[test]
fn a_fetch_continues_without_the_request_that_caused_it() {
    let signer = Signer::new();
    let (released, keys) = (Arc::new(Event::new()), signer.keys());
    let (release, started) = (Arc::clone(&released), Arc::new(Event::new()));
    let starting = Arc::clone(&started);
    let slow = JwtVerifier::new("https://i", move || {
        let (released, keys) = (released.listen(), keys.clone());
        starting.notify(usize::MAX);
        async move {
            released.await;
            Ok(keys)
        }
    });
    let token: Secret = signer.sign(r#"{"alg":"ES256","kid":"e"}"#, CLAIMS).into();
    let forged: Secret = Signer::new().sign(r#"{"alg":"ES256","kid":"x"}"#, CLAIMS).into();
    let runtime = TestRuntime::shared();
    let is_started = started.listen();
    let mut given_up = Box::pin(slow.verify_on(&forged, Some(&runtime)));
    assert!(block_on(futures_lite::future::poll_once(&mut given_up)).is_none());
    drop(given_up);
    block_on(is_started);
    let mut waiting = Box::pin(slow.verify_on(&token, Some(&runtime)));
    assert!(block_on(futures_lite::future::poll_once(&mut waiting)).is_none());
    release.notify(usize::MAX);
    assert_eq!(block_on(waiting).unwrap().subject.as_deref(), Some("ada"));
}

#[test]
fn a_fetch_that_panics_or_cannot_start_leaves_tokens_unverified() {
    let token: Secret = Signer::new().sign(r#"{"alg":"ES256"}"#, CLAIMS).into();
    async fn panics() -> io::Result<String> {
        panic!("on purpose")
    }
    let runtime = TestRuntime::shared();
    for runtime in [Some(&runtime), None] {
        let verifier = JwtVerifier::new("https://i", panics);
        let verified = block_on(verifier.verify_on(&token, runtime));
        assert_eq!(verified, Err(VerifyError::Unavailable));
    }
}

// RFC 9068: ID tokens are no access tokens.
#[test]
fn only_access_tokens_by_type_are_verified_on_demand() {
    let signer = Signer::new();
    let strict = verifier(signer.keys()).at_jwt_only();
    for (header, is_accepted) in [
        (r#"{"alg":"ES256","kid":"e","typ":"at+jwt"}"#, true),
        (r#"{"alg":"ES256","kid":"e","typ":"application/at+jwt"}"#, true),
        (r#"{"alg":"ES256","kid":"e","typ":"JWT"}"#, false),
        (r#"{"alg":"ES256","kid":"e"}"#, false),
    ] {
        let verified = verify(&strict, &signer.sign(header, CLAIMS));
        assert_eq!(verified.is_ok(), is_accepted, "{header}");
    }
}

#[test]
fn keys_for_something_else_are_left_out() {
    let signer = Signer::new();
    let token = signer.sign(r#"{"alg":"ES256","kid":"e"}"#, CLAIMS);
    for (members, is_used) in [
        (r#""use":"sig","key_ops":["verify"]"#, true),
        (r#""use":1"#, false),
        (r#""alg":1"#, false),
        (r#""alg":"ECDH-ES""#, false),
        (r#""key_ops":["deriveBits"]"#, false),
        (r#""key_ops":"verify""#, false),
    ] {
        let keys =
            signer.keys().replace(r#""kid":"e","use":"sig""#, &format!(r#""kid":"e",{members}"#));
        assert_eq!(verify(&verifier(keys), &token).is_ok(), is_used, "{members}");
    }
    // Keys of other kinds do not displace those that are kept.
    let others = r#"{"kty":"oct","k":"AA"},"#.repeat(40);
    let keys = signer.keys().replacen('[', &format!("[{others}"), 1);
    assert!(verify(&verifier(keys), &token).is_ok());
}
