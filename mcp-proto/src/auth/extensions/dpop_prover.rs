//! [`DpopProver`]: the DPoP proofs of the requests to an MCP server.

use super::jwt::{DpopProof, PublicKey, UnsignedJwt};
use crate::auth::flow_secrets::FlowSecrets;
use crate::auth::token_response::TokenType;
use crate::auth::uri::Uri;
use crate::http::client::HttpRequest;
use crate::secret::Secret;

/// Writes the DPoP proofs of the requests to an MCP server (RFC 9449, section 7).
///
/// An access token that is bound to a key is of use only to the holder of that key: each request
/// carries a proof, a short token signed with the key. The private key stays with the driver. To
/// send a request of an [`HttpClient`](crate::http::client::HttpClient), a driver
///
/// 1. calls [`prove`](Self::prove) with the request and the URL that it is sent to;
/// 2. if there is a proof to sign, signs its [`input`](UnsignedJwt::input) with ES256 (about 50 µs
///    in software), and sets the header `DPoP` to the [`signed`](UnsignedJwt::signed) proof; and
/// 3. sets `Authorization` to [`HttpRequest::authorization`], as always.
///
/// A proof is for one request: one that is sent again, such as after a redirect, needs a new proof.
/// Nonces and rejections for them are handled by the `HttpClient`.
///
/// Requests without a bound token cost nothing but a comparison of five bytes.
///
/// ```
/// use mcp_proto::Instant;
/// use mcp_proto::auth::{AuthLimits, DpopProver, PublicKey, Uri};
/// use mcp_proto::client::{Client, Config};
/// use mcp_proto::http::client::{Action, Credentials, Generation, HttpClient, HttpConfig};
///
/// let url = Uri::parse("https://mcp.example/mcp", &AuthLimits::default()).unwrap();
/// let key = PublicKey { x: [1; 32], y: [2; 32] }; // of the driver's private key
/// let mut prover = DpopProver::new(key, [7; 32]); // from the operating system's generator
///
/// let client = Client::new(Instant::ZERO, Config::new("demo", "1.0.0"));
/// let mut http = HttpClient::new(client, HttpConfig::new(0)); // 0: the seed
/// http.authorize(Instant::ZERO, Credentials::new(Generation::new(1), "DPoP abc".into()));
///
/// let Some(Action::Send(request)) = http.poll_action() else { panic!() };
/// let unix_time = 1_790_000_000;
/// let proof = prover.prove(&request, &url, unix_time).unwrap();
/// let signature = [0; 64]; // the driver signs `proof.input()`
/// let header = proof.signed(&signature).unwrap(); // the value of the header `DPoP`
/// # assert!(header.expose().starts_with("ey"));
/// ```
#[derive(Debug)]
pub struct DpopProver {
    key: PublicKey,
    ids: FlowSecrets,
    proofs: u64,
}

impl DpopProver {
    /// Creates a prover for a key, from random bytes that must not be used again.
    #[must_use]
    pub fn new(key: PublicKey, random: [u8; 32]) -> Self {
        Self { key, ids: FlowSecrets::new(random), proofs: 0 }
    }

    /// Returns the proof for a request that is sent to `url` at `unix_time`, in seconds since the
    /// Unix epoch; `None` if the request [needs none](HttpRequest::needs_proof).
    // AUT-82: each proof has its own id.
    pub fn prove(
        &mut self,
        request: &HttpRequest,
        url: &Uri,
        unix_time: u64,
    ) -> Option<UnsignedJwt> {
        let authorization = request.authorization.as_ref().filter(|_| request.needs_proof())?;
        let token = authorization.expose().get(TokenType::Dpop.scheme().len()..)?;
        let token = Secret::new(token.trim_start());
        let jti = self.ids.jti(self.proofs);
        self.proofs += 1;
        let proof = DpopProof {
            key: &self.key,
            method: request.method.name(),
            uri: url,
            jti: &jti,
            issued_at: unix_time,
            access_token: Some(&token),
            nonce: request.dpop_nonce.as_ref(),
        };
        Some(proof.to_jwt())
    }
}

#[cfg(test)]
mod tests;
