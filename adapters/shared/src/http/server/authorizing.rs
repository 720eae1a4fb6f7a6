//! The option that makes a server require access tokens.

use mcp_proto::http::Guard;

use super::authentication::Authenticator;
use super::authorizer::Authorizer;
use super::options::Http;
use super::verifier::TokenVerifier;

impl Http {
    /// Accepts only requests with an access token for this server.
    ///
    /// This is the resource server side of [authorization]: clients find out from the server where
    /// to get tokens, and present one with each request, also to listen and to end a session.
    /// `verifier` tells whether a token is genuine, and `guard` whether it is accepted.
    ///
    /// - Requests for the metadata of the protected resource need no token. Pages of any origin may
    ///   read it, but the host is validated.
    /// - A request without a valid token receives status 401. If the token lacks a scope, the
    ///   request receives status 403, and if the token is malformed, 400. Each refusal has a
    ///   challenge, which tells the client what to do.
    /// - While tokens cannot be verified, requests receive status 503. If the verifier panics, they
    ///   receive status 500.
    ///
    /// The token takes the place of [`authenticating`](Self::authenticating): the principal is the
    /// subject of the token at its issuer, or else the client. Handlers read the token without its
    /// text with [`Cx::access_token`](crate::Cx::access_token). The `Authorization` header is
    /// removed from the head, so that nothing passes the token on to other services. Of these
    /// methods, the one called last applies.
    ///
    /// Behind a router, route the [paths of the metadata](Guard::metadata_paths) to the service,
    /// too.
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::http::{FixedTokens, Guard, Http};
    ///
    /// let guard = Guard::builder("https://mcp.example.com/mcp")
    ///     .authorization_server("https://id.example.com")
    ///     .scopes_supported(["notes:read"])
    ///     .build()?;
    /// // For tests. A public server verifies the tokens of its authorization server.
    /// let tokens = FixedTokens::new(&guard).token("long-random-text", "ada", ["notes:read"]);
    /// let options = Http::new().host("mcp.example.com").authorizing(guard, tokens);
    /// # drop(options);
    /// # Ok::<(), mcp_tokio::proto::http::InvalidGuard>(())
    /// ```
    ///
    /// [authorization]:
    ///     https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
    // AUT-04: the token is validated before anything else is processed.
    pub fn authorizing(mut self, guard: Guard, verifier: impl TokenVerifier) -> Self {
        self.authenticator = Some(Authenticator::Token(Authorizer::new(guard, verifier)));
        self
    }
}
