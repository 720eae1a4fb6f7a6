//! Connects sessions with the authorization of their client.

use std::any::Any;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Weak};

use http::HeaderValue;
use mcp_proto::auth::Reach;
use mcp_proto::client::Client as Machine;
use mcp_proto::http::client::{Credentials, ExchangeId, Generation, HttpRequest};

use super::builder::Auth;
use super::driver::Member;
use super::membership::DriverMember;
use crate::box_future::BoxFuture;
use crate::http::{AuthReport, Authorization, Authorize, Dial, Membership, Remote};
use crate::transport::link::Link;

impl Remote {
    /// Lets the client authorize itself by OAuth 2.1, as `auth` says (feature `auth`).
    ///
    /// If the server rejects a request for missing credentials or scopes, the request waits until
    /// the client has obtained an access token, for which a user may have to log in. The request is
    /// then sent again. A call waits for at most
    /// [`Limits::human_timeout`](mcp_proto::Limits::human_timeout) and can be cancelled; connecting
    /// waits without its own limit. If there is no token in the end, the call fails with
    /// [`CallError::Unauthorized`](mcp_proto::CallError::Unauthorized), which contains the reason.
    ///
    /// Tokens are sent to this server only. Like [`authorization`](Self::authorization), this
    /// method requires `https:`, or a server on this machine; the method called last applies.
    pub fn authorized(mut self, auth: Auth) -> Self {
        self.authorize = Some(Authorize::Session(Arc::new(auth)));
        self
    }

    /// Returns how to obtain credentials, if the session does.
    pub(super) fn auth(&self) -> Option<&Auth> {
        let auth: &dyn Any = &**self.authorization_of_sessions()?;
        auth.downcast_ref()
    }
}

impl Authorization for Auth {
    fn join<'j>(
        &'j self,
        remote: &'j Remote,
        runtime: &'j Arc<dyn Dial>,
    ) -> BoxFuture<'j, io::Result<Arc<dyn Membership>>> {
        Box::pin(async move {
            let joined = DriverMember::join(self, remote, runtime).await?;
            Ok(Arc::new(joined) as Arc<dyn Membership>)
        })
    }
}

impl Membership for DriverMember {
    fn attach(&self, link: &Arc<Link<Machine>>) {
        let member = Session(Arc::downgrade(link));
        if let Some(credentials) = self.attach_member(Arc::new(Session(Arc::downgrade(link)))) {
            member.authorize(&credentials);
        }
    }

    fn on_report(
        &self,
        link: &Arc<Link<Machine>>,
        redirected_to: Option<&str>,
        report: &AuthReport,
    ) {
        match report {
            AuthReport::Accepted(generation) => self.accepted(*generation),
            AuthReport::Parked(parked) => {
                self.on_parked(&Session(Arc::downgrade(link)), parked, redirected_to);
            }
        }
    }

    fn allowed(&self, resolved: Vec<SocketAddr>) -> io::Result<Vec<SocketAddr>> {
        allowed(self.reach(), resolved)
    }

    fn proof(
        &self,
        request: &HttpRequest,
        url: &dyn Fn() -> String,
    ) -> io::Result<Option<HeaderValue>> {
        self.dpop().map_or(Ok(None), |signer| signer.header(request, url))
    }

    fn leave(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.leave_driver())
    }
}

/// A session, as its authorization sees it.
struct Session(Weak<Link<Machine>>);

impl Member for Session {
    fn authorize(&self, credentials: &Credentials) {
        let Some(link) = self.0.upgrade() else { return };
        link.with(|state, now| {
            if let Some(transport) = state.http() {
                transport.http().authorize(now, credentials.clone());
            }
        });
    }

    fn forget(&self, generation: Option<Generation>) {
        let Some(link) = self.0.upgrade() else { return };
        link.with(|state, now| {
            if let Some(transport) = state.http() {
                let http = transport.http();
                if let Some(generation) = generation {
                    http.forget_credentials(generation);
                }
                http.deny(now, "the client has logged out");
            }
        });
    }

    fn deny(&self, exchange: ExchangeId, reason: &str) {
        let Some(link) = self.0.upgrade() else { return };
        link.with(|state, now| {
            if let Some(transport) = state.http() {
                transport.http().deny_request(now, exchange, reason);
            }
        });
    }
}

/// Returns the allowed ones of the resolved addresses of a server.
///
/// The URLs that the server names may lead to addresses as private as its own, so it must not
/// resolve to less private ones later.
///
/// # Errors
/// Fails if all of them are less private than those that the name resolved to at first.
// AUT-67: a name that resolves to a private address once could otherwise name such URLs.
fn allowed(reach: Option<Reach>, mut resolved: Vec<SocketAddr>) -> io::Result<Vec<SocketAddr>> {
    let Some(least) = reach.filter(|reach| *reach > Reach::Public) else {
        return Ok(resolved);
    };
    let had_any = !resolved.is_empty();
    resolved.retain(|address| Reach::of(address.ip()).is_some_and(|reach| reach >= least));
    if had_any && resolved.is_empty() {
        let why = "the host now resolves to a less private address than when the authorization \
                   began; connect again";
        return Err(io::Error::new(io::ErrorKind::AddrNotAvailable, why));
    }
    Ok(resolved)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_get_no_less_private() {
        let all = ["93.184.216.34:443", "10.0.0.1:443", "127.0.0.1:443"];
        let all = || all.iter().map(|address| address.parse().unwrap()).collect::<Vec<_>>();
        for (reach, allowed) in [(None, 3), (Some(Reach::Public), 3), (Some(Reach::Private), 2)] {
            assert_eq!(super::allowed(reach, all()).unwrap().len(), allowed, "{reach:?}");
        }
        let error = allowed(Some(Reach::Loopback), all()[..2].to_vec()).unwrap_err();
        assert!(error.to_string().contains("less private"), "{error}");
        assert!(allowed(Some(Reach::Loopback), Vec::new()).unwrap().is_empty());
    }
}
