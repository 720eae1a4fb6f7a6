//! Ending of sessions from outside of the service that has them.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use mcp_proto::Principal;

use super::sessions::Sessions;

/// A handle on the sessions of the HTTP servers that share one [`Http`](super::Http) value.
///
/// Cheap to clone. The handle can be used from any thread, before the servers start, while they run
/// and afterwards. No method blocks.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::http::{FixedTokens, Guard, Http};
/// use mcp_tokio::proto::Principal;
///
/// let issuer = "https://id.example.com";
/// let guard =
///     Guard::builder("https://mcp.example.com/mcp").authorization_server(issuer).build()?;
/// let tokens = FixedTokens::new(&guard).token("of-ada", "ada", ["notes:read"]);
/// let options = Http::new().host("mcp.example.com").authorizing(guard, tokens);
/// let sessions = options.session_control();
/// // Start a server with `options`. Later, when a user logs out:
/// let ada = Principal::of_issuer(issuer, "ada").unwrap();
/// assert_eq!(sessions.end_principal(&ada), 0); // Ada had no session.
/// # Ok::<(), mcp_tokio::proto::http::InvalidGuard>(())
/// ```
#[derive(Clone, Default)]
pub struct SessionControl {
    services: Arc<Mutex<Vec<Weak<Sessions>>>>,
}

impl SessionControl {
    /// Adds the sessions of a service, as long as it exists.
    pub(super) fn add(&self, sessions: &Arc<Sessions>) {
        let mut services = self.services.lock().unwrap_or_else(PoisonError::into_inner);
        services.retain(|service| service.strong_count() > 0);
        services.push(Arc::downgrade(sessions));
    }

    /// Ends all sessions and subscriptions of `principal`, with their event streams, and returns
    /// the number of those sessions and subscriptions.
    ///
    /// Call this method when a user logs out or is locked out, after the authentication of the
    /// server has begun to reject the user: this method does not reject later requests, and a
    /// request that was authenticated before may still open a session afterwards.
    ///
    /// `principal` must equal the one that the authentication of the server returns. With
    /// [`Http::authorizing`](super::Http::authorizing), that is [`Principal::of_issuer`] with the
    /// issuer and the subject of the access token. With it, a token is accepted until the verifier
    /// refuses it: `JwtVerifier` accepts a token until it expires, and `IntrospectionVerifier`
    /// accepts a revoked token for at most its `cache_life`. Call this method again after that
    /// time, to end the sessions that were opened since.
    ///
    /// Requests in progress may still be answered, those of a session within
    /// [`Limits::drain_timeout`](mcp_proto::Limits::drain_timeout). A client that uses an ended
    /// session receives status 404 and then tries to open another one. Other principals, and
    /// sessions of clients that are not authenticated, are not affected.
    ///
    /// Takes time linear in the number of all sessions and subscriptions.
    pub fn end_principal(&self, principal: &Principal) -> usize {
        let services = self.services.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let services = services.iter().filter_map(Weak::upgrade);
        services.map(|sessions| sessions.end_principal(principal)).sum()
    }
}

opaque_debug!(SessionControl);
