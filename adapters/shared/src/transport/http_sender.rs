//! The seam by which a server learns from HTTP who has sent a request.

use mcp_proto::{Caller, ErrorObject, Raw};

/// Finds the sender of a request in its caller.
pub(crate) trait FindSender {
    /// Returns the sender of a request that has arrived over HTTP.
    fn sender(caller: &Caller) -> Option<&dyn HttpSender>;
}

#[cfg(not(feature = "http"))]
impl FindSender for mcp_proto::server::Server {
    fn sender(_: &Caller) -> Option<&dyn HttpSender> {
        None
    }
}

/// The sender of an HTTP request: its access token, if requests are authorized, and its address.
pub(crate) trait HttpSender {
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
    /// the tool says. A schema with invalid annotations is ignored.
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
