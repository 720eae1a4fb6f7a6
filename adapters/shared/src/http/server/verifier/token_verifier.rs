//! The seam between the HTTP service and verifiers of access tokens.

use std::fmt;
use std::future::Future;

use mcp_proto::Secret;
use mcp_proto::http::VerifiedToken;

use crate::box_future::BoxFuture;
use crate::http::server::request_head::RequestHead;

/// Verifies that access tokens are genuine, and returns their claims.
///
/// A verifier checks who issued the token, for example by its signature or by asking the
/// authorization server. Whether a genuine token is accepted is decided by the
/// [`Guard`](mcp_proto::http::Guard), which checks the issuer, the audience, the times and the
/// scopes. A guard refuses a token if the verifier leaves one of these out of the
/// [`VerifiedToken`].
///
/// Implemented for functions that return futures. Futures run on the adapter's runtime and must not
/// block.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::http::{Guard, Http, VerifyError};
/// use mcp_tokio::proto::http::{TokenExpiry, VerifiedToken};
///
/// let guard = Guard::builder("https://mcp.example.com/mcp")
///     .authorization_server("https://id.example.com")
///     .build()?;
/// let options = Http::new().host("mcp.example.com").authorizing(guard, |token, _head| async move {
///     // Look up the token, for example in a database.
///     let _key = token;
///     let mut found = VerifiedToken::new("https://id.example.com");
///     found.subject = Some("ada".into());
///     found.audience = vec!["https://mcp.example.com/mcp".into()];
///     found.expiry = TokenExpiry::Never;
///     if found.subject.is_some() { Ok(found) } else { Err(VerifyError::Invalid) }
/// });
/// # drop(options);
/// # Ok::<(), mcp_tokio::proto::http::InvalidGuard>(())
/// ```
pub trait TokenVerifier: Send + Sync + 'static {
    /// Verifies the token of the request with this head, which does not contain the token.
    fn verify(
        &self,
        token: Secret,
        head: RequestHead,
    ) -> BoxFuture<'static, Result<VerifiedToken, VerifyError>>;
}

impl<F, V> TokenVerifier for V
where
    V: Fn(Secret, RequestHead) -> F + Send + Sync + 'static,
    F: Future<Output = Result<VerifiedToken, VerifyError>> + Send + 'static,
{
    fn verify(
        &self,
        token: Secret,
        head: RequestHead,
    ) -> BoxFuture<'static, Result<VerifiedToken, VerifyError>> {
        Box::pin(self(token, head))
    }
}

/// The error of a [`TokenVerifier`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum VerifyError {
    /// The token is unknown, forged or revoked. The client receives status 401.
    Invalid,
    /// The token could not be verified now, for example because the authorization server does not
    /// respond. The client receives status 503 and may try again.
    Unavailable,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Invalid => "the access token is not valid",
            Self::Unavailable => "access tokens cannot be verified at the moment",
        })
    }
}

impl std::error::Error for VerifyError {}
