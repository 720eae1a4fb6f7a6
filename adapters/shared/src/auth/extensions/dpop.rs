//! DPoP (RFC 9449): access tokens that are bound to a key, and proofs of that key.

use std::io;
use std::sync::{Mutex, PoisonError};

use http::HeaderValue;
use mcp_proto::auth::{AuthConfig, AuthLimits, DpopProver, PublicKey, Uri};
use mcp_proto::http::client::HttpRequest;

use super::signing_key::SigningKey;
use crate::auth::system::{random_bytes, unix_time};

/// The key that tokens are bound to.
#[derive(Clone, Debug)]
pub(super) struct DpopKey {
    pub(super) key: SigningKey,
    /// Whether tokens that are not bound are refused.
    pub(super) is_required: bool,
}

impl DpopKey {
    /// Adds the public key to a configuration.
    ///
    /// # Errors
    /// Fails if the public key is unknown.
    pub(super) fn apply(&self, config: AuthConfig) -> io::Result<AuthConfig> {
        let key = self.public()?;
        Ok(if self.is_required { config.require_dpop(key) } else { config.dpop(key) })
    }

    fn public(&self) -> io::Result<PublicKey> {
        self.key.coordinates().ok_or_else(|| {
            let why = "`Auth::dpop` needs a key with a known public key: use \
                       `SigningKey::from_pem` or `SigningKey::generate`";
            io::Error::new(io::ErrorKind::InvalidInput, why)
        })
    }
}

/// Signs the proofs of the requests of one connection.
pub(crate) struct DpopSigner {
    key: SigningKey,
    prover: Mutex<DpopProver>,
    limits: AuthLimits,
}

impl DpopSigner {
    /// # Errors
    /// Fails if the public key is unknown, or if the operating system returns no random bytes.
    pub(super) fn new(key: &DpopKey, limits: AuthLimits) -> io::Result<Self> {
        let prover = Mutex::new(DpopProver::new(key.public()?, random_bytes()?));
        Ok(Self { key: key.key.clone(), prover, limits })
    }

    /// Returns the header `DPoP` of a request that is sent to `url`; `None` if it needs none.
    ///
    /// Signs on the calling thread, which takes about 50 µs.
    ///
    /// # Errors
    /// Fails if `url` is no URL that [`Uri`] takes, or if the key cannot sign.
    pub(crate) fn header(
        &self,
        request: &HttpRequest,
        url: impl FnOnce() -> String,
    ) -> io::Result<Option<HeaderValue>> {
        if !request.needs_proof() {
            return Ok(None);
        }
        let invalid = |error| io::Error::new(io::ErrorKind::InvalidInput, error);
        let url = Uri::parse(&url(), &self.limits).map_err(invalid)?;
        let mut prover = self.prover.lock().unwrap_or_else(PoisonError::into_inner);
        let proof = prover.prove(request, &url, unix_time());
        drop(prover);
        let Some(proof) = proof else { return Ok(None) };
        let signature = self.key.sign(proof.input().expose().as_bytes())?;
        let signed = proof.signed(&signature).map(|proof| HeaderValue::from_str(proof.expose()));
        let mut value = signed
            .and_then(Result::ok)
            .ok_or_else(|| io::Error::other("the DPoP proof is not a valid header"))?;
        value.set_sensitive(true);
        Ok(Some(value))
    }
}

#[cfg(test)]
mod tests {
    use base64ct::{Base64UrlUnpadded, Encoding as _};
    use mcp_proto::Instant;
    use mcp_proto::client::{Client, Config};
    use mcp_proto::http::client::{Action, Credentials, Generation, HttpClient, HttpConfig};
    use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};

    use super::*;

    fn request(authorization: &str) -> HttpRequest {
        let client = Client::new(Instant::ZERO, Config::new("demo", "1.0.0"));
        let mut http = HttpClient::new(client, HttpConfig::new(0));
        let credentials = Credentials::new(Generation::new(1), authorization.into());
        http.authorize(Instant::ZERO, credentials);
        let Some(Action::Send(request)) = http.poll_action() else { panic!() };
        request
    }

    fn signer(key: &SigningKey) -> io::Result<DpopSigner> {
        let key = DpopKey { key: key.clone(), is_required: false };
        DpopSigner::new(&key, AuthLimits::default())
    }

    // AUT-82
    #[test]
    fn proofs_verify_with_the_key_and_differ() {
        let key = SigningKey::generate().unwrap();
        let signer = signer(&key).unwrap();
        let url = || "http://127.0.0.1:8080/mcp".to_owned();
        let proof = || signer.header(&request("DPoP abc"), url).unwrap().unwrap();
        let (one, two) = (proof(), proof());
        assert!(one != two && one.is_sensitive());
        let (input, signature) = one.to_str().unwrap().rsplit_once('.').unwrap();
        let signature = Base64UrlUnpadded::decode_vec(signature).unwrap();
        let public = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, key.public_key().unwrap());
        public.verify(input.as_bytes(), &signature).unwrap();
        assert!(signer.header(&request("Bearer abc"), || unreachable!()).unwrap().is_none());
    }

    #[test]
    fn a_key_without_public_part_is_refused() {
        let key = SigningKey::external(|_| Ok(Vec::new()));
        let error = signer(&key).err().unwrap().to_string();
        assert!(error.contains("SigningKey::from_pem"), "{error}");
    }
}
