//! The seam by which a server learns from HTTP who has sent a request.

use mcp_proto::{ErrorObject, Raw};

/// The sender of an HTTP request: its access token, if requests are authorized, and its address.
#[expect(unnameable_types, reason = "the transport of a connection is internal")]
pub trait HttpSender {
    /// Returns whether the access token of the request was accepted.
    fn is_authorized(&self) -> bool;

    /// Returns the scopes of the access token; none without a token.
    fn scopes(&self) -> Vec<String>;

    /// Checks that the access token has these scopes.
    ///
    /// # Errors
    /// Fails with the error for the client, and the challenge if the client can get the scopes.
    fn check_scopes(
        &self,
        scopes: &mut dyn Iterator<Item = &str>,
    ) -> Result<(), (ErrorObject, Option<String>)>;

    /// Checks that the `Mcp-Param-*` headers repeat the arguments of a tool call, as the schema of
    /// the tool says. A schema with invalid annotations says nothing.
    ///
    /// # Errors
    /// Fails with the error for the client.
    fn check_params(
        &self,
        schema: &Raw,
        arguments: &dyn Fn() -> Option<Raw>,
    ) -> Result<(), ErrorObject>;

    /// Makes the response of the request a challenge, unless it has begun.
    fn challenge(&self, challenge: &str);

    /// Returns a number that distinguishes most senders by their network; `None` if it is unknown.
    fn lane(&self) -> Option<usize>;
}
