//! [`UnsignedJwt`]: client assertions and DPoP proofs, before and after their signature.

use alloc::string::String;
use alloc::vec::Vec;

use base64ct::{Base64UrlUnpadded, Encoding};

use crate::auth::flow_secrets::hash_text;
use crate::auth::uri::{Uri, or_root};
use crate::json::{Object, write_u64};
use crate::secret::Secret;

/// A JSON Web Token that waits for its ES256 signature.
///
/// The private key stays with the driver, which signs [`input`](Self::input).
///
/// ```
/// use mcp_proto::auth::UnsignedJwt;
///
/// let issued_at = 1_790_000_000; // in seconds since the Unix epoch
/// let jwt = UnsignedJwt::client_assertion("app", "https://as.example", "id1", issued_at, None);
/// // … the driver signs `jwt.input()` with ECDSA, P-256 and SHA-256.
/// let signature = [0; 64];
/// let assertion = jwt.signed(&signature).unwrap();
/// assert_eq!(assertion.expose().split('.').count(), 3);
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct UnsignedJwt(Secret);

/// The length of an ES256 signature: two numbers of 32 bytes.
const SIGNATURE_BYTES: usize = 64;

/// How long an assertion is valid, in seconds.
// AUT-78: at most 5 min.
const ASSERTION_LIFETIME: u64 = 120;

/// A public key on the curve P-256: the coordinates of its point, big-endian.
///
/// ```
/// use mcp_proto::auth::PublicKey;
///
/// let key = PublicKey { x: [1; 32], y: [2; 32] };
/// assert_eq!(key.thumbprint().len(), 43);
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PublicKey {
    /// The x coordinate.
    pub x: [u8; 32],
    /// The y coordinate.
    pub y: [u8; 32],
}

impl PublicKey {
    /// Writes the key as a JSON Web Key with its required members, in alphabetical order.
    fn write(&self, out: &mut Vec<u8>) {
        let mut object = Object::begin(out);
        object.str("crv", "P-256");
        object.str("kty", "EC");
        object.str("x", &Base64UrlUnpadded::encode_string(&self.x));
        object.str("y", &Base64UrlUnpadded::encode_string(&self.y));
        object.end();
    }

    /// Returns the SHA-256 thumbprint of the key (RFC 7638), to which tokens are bound.
    #[must_use]
    pub fn thumbprint(&self) -> String {
        let mut jwk = Vec::new();
        self.write(&mut jwk);
        hash_text(core::str::from_utf8(&jwk).unwrap_or_default())
    }
}

/// A DPoP proof of possession for one HTTP request (RFC 9449).
///
/// ```
/// use mcp_proto::auth::{AuthLimits, DpopProof, PublicKey, Uri};
///
/// let uri = Uri::parse("https://mcp.example/mcp?v=2", &AuthLimits::default()).unwrap();
/// let proof = DpopProof {
///     key: &PublicKey { x: [1; 32], y: [2; 32] },
///     method: "POST",
///     uri: &uri,
///     jti: "id1",
///     issued_at: 1_790_000_000,
///     access_token: None,
///     nonce: None,
/// };
/// let unsigned = proof.to_jwt();
/// assert!(unsigned.signed(&[0; 64]).is_some());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct DpopProof<'a> {
    /// The public key that belongs to the signature.
    pub key: &'a PublicKey,
    /// The HTTP method.
    pub method: &'a str,
    /// The URL of the request. Its query is left out of the proof.
    pub uri: &'a Uri,
    /// The unique id of the proof.
    pub jti: &'a str,
    /// The current time, in seconds since the Unix epoch.
    pub issued_at: u64,
    /// The access token that the request carries, if any.
    pub access_token: Option<&'a Secret>,
    /// The nonce that the server asked for, if any.
    pub nonce: Option<&'a Secret>,
}

impl DpopProof<'_> {
    /// Writes the proof.
    // AUT-82.
    #[must_use]
    pub fn to_jwt(&self) -> UnsignedJwt {
        let mut header = Vec::new();
        let mut object = Object::begin(&mut header);
        object.str("typ", "dpop+jwt");
        object.str("alg", "ES256");
        self.key.write(object.key("jwk"));
        object.end();

        let mut uri = String::from(self.uri.origin());
        uri.push_str(or_root(self.uri.path()));
        let mut claims = Vec::new();
        let mut object = Object::begin(&mut claims);
        object.str("jti", self.jti);
        object.str("htm", self.method);
        object.str("htu", &uri);
        write_u64(object.key("iat"), self.issued_at);
        let hash = self.access_token.map(|token| hash_text(token.expose()));
        object.opt_str("ath", hash.as_deref());
        object.opt_str("nonce", self.nonce.map(Secret::expose));
        object.end();
        UnsignedJwt::of(&header, &claims)
    }
}

impl UnsignedJwt {
    /// Writes an assertion with which a client authenticates (`private_key_jwt`, RFC 7523).
    ///
    /// `audience` is the issuer of the authorization server, `jti` a unique id, and `issued_at` the
    /// current time in seconds since the Unix epoch. `key_id` names the key (`kid`), if the client
    /// has several. The assertion is valid for 2 minutes.
    // AUT-78: the audience is the issuer, as one string.
    #[must_use]
    pub fn client_assertion(
        client_id: &str,
        audience: &str,
        jti: &str,
        issued_at: u64,
        key_id: Option<&str>,
    ) -> Self {
        let mut header = Vec::new();
        let mut object = Object::begin(&mut header);
        object.str("alg", "ES256");
        object.str("typ", "JWT");
        object.opt_str("kid", key_id);
        object.end();

        let mut claims = Vec::new();
        let mut object = Object::begin(&mut claims);
        object.str("iss", client_id);
        object.str("sub", client_id);
        object.str("aud", audience);
        object.str("jti", jti);
        write_u64(object.key("iat"), issued_at);
        write_u64(object.key("exp"), issued_at.saturating_add(ASSERTION_LIFETIME));
        object.end();
        Self::of(&header, &claims)
    }

    fn of(header: &[u8], claims: &[u8]) -> Self {
        let mut input = Base64UrlUnpadded::encode_string(header);
        input.push('.');
        input.push_str(&Base64UrlUnpadded::encode_string(claims));
        Self(Secret::new(input))
    }

    /// Returns the text to sign.
    #[must_use]
    pub const fn input(&self) -> &Secret {
        &self.0
    }

    /// Returns the signed token, or `None` unless the signature is 64 bytes: `r`, then `s`.
    #[must_use]
    pub fn signed(&self, signature: &[u8]) -> Option<Secret> {
        if signature.len() != SIGNATURE_BYTES {
            return None;
        }
        let signature = Base64UrlUnpadded::encode_string(signature);
        let mut token = String::with_capacity(self.0.len() + 1 + signature.len());
        token.push_str(self.0.expose());
        token.push('.');
        token.push_str(&signature);
        Some(Secret::new(token))
    }
}

#[cfg(test)]
mod tests;
