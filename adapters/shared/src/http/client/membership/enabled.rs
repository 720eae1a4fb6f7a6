//! Connects sessions with the authorization of their client.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Weak};

use http::HeaderValue;
use mcp_proto::auth::Reach;
use mcp_proto::client::Client as Machine;
use mcp_proto::http::client::{Credentials, ExchangeId, Generation, HttpRequest};

use crate::auth::{DpopSigner, Member, Membership};
use crate::http::client::remote::Remote;
use crate::http::client::transport::AuthReport;
use crate::http::dial::Dial;
use crate::transport::link::Link;

/// The part of a connection in an authorization, if its `Remote` is authorized.
pub(in crate::http::client) struct AuthMember(Option<Membership>);

impl AuthMember {
    pub(in crate::http::client) async fn join(
        remote: &Remote,
        runtime: &Arc<dyn Dial>,
    ) -> io::Result<Self> {
        Ok(Self(match remote.auth() {
            Some(auth) => Some(Membership::join(auth, remote, runtime).await?),
            None => None,
        }))
    }

    /// Returns whether rejected requests wait for credentials.
    pub(in crate::http::client) const fn parks(&self) -> bool {
        self.0.is_some()
    }

    pub(in crate::http::client) fn addresses(&self) -> AllowedAddresses {
        AllowedAddresses(self.0.as_ref().and_then(Membership::reach))
    }

    pub(in crate::http::client) fn proofs(&self) -> RequestProofs {
        RequestProofs(self.0.as_ref().and_then(Membership::dpop))
    }

    /// Connects a session, before it sends anything.
    pub(in crate::http::client) fn attach(&self, link: &Arc<Link<Machine>>) {
        let Some(membership) = &self.0 else { return };
        let member = Session(Arc::downgrade(link));
        if let Some(credentials) = membership.attach(Arc::new(Session(Arc::downgrade(link)))) {
            member.authorize(&credentials);
        }
    }

    /// Passes on what the session of this connection reports.
    pub(in crate::http::client) fn on_report(
        &self,
        link: &Arc<Link<Machine>>,
        redirected_to: Option<&str>,
        report: &AuthReport,
    ) {
        let Some(membership) = &self.0 else { return };
        match report {
            AuthReport::Accepted(generation) => membership.accepted(*generation),
            AuthReport::Parked(parked) => {
                membership.on_parked(&Session(Arc::downgrade(link)), parked, redirected_to);
            }
        }
    }

    /// Leaves the authorization; waits until a refresh in flight is saved.
    pub(in crate::http::client) async fn leave(self) {
        if let Some(membership) = self.0 {
            membership.leave().await;
        }
    }
}

/// A session, as its authorization sees it.
struct Session(Weak<Link<Machine>>);

impl Member for Session {
    fn authorize(&self, credentials: &Credentials) {
        let Some(link) = self.0.upgrade() else { return };
        link.with(|state, now| {
            if let Some(transport) = state.connection.http() {
                transport.http().authorize(now, credentials.clone());
            }
        });
    }

    fn forget(&self, generation: Option<Generation>) {
        let Some(link) = self.0.upgrade() else { return };
        link.with(|state, now| {
            if let Some(transport) = state.connection.http() {
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
            if let Some(transport) = state.connection.http() {
                transport.http().deny_request(now, exchange, reason);
            }
        });
    }
}

/// The addresses of a server that its client may connect to.
///
/// The URLs that the server names may lead to addresses as private as its own, so it must not
/// resolve to less private ones later.
// AUT-67: a name that resolves to a private address once could otherwise name such URLs.
pub(in crate::http::client) struct AllowedAddresses(Option<Reach>);

impl AllowedAddresses {
    /// Returns the allowed ones of the resolved addresses.
    ///
    /// # Errors
    /// Fails if all of them are less private than those that the name resolved to at first.
    pub(in crate::http::client) fn of(
        &self,
        mut resolved: Vec<SocketAddr>,
    ) -> io::Result<Vec<SocketAddr>> {
        let Some(least) = self.0.filter(|reach| *reach > Reach::Public) else {
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
}

/// The proofs of requests whose token is bound to a key.
pub(in crate::http::client) struct RequestProofs(Option<Arc<DpopSigner>>);

impl RequestProofs {
    /// Returns the header `DPoP` of a request, if it needs one. Each attempt needs a new one.
    // AUT-82.
    pub(in crate::http::client) fn header(
        &self,
        request: &HttpRequest,
        url: impl FnOnce() -> String,
    ) -> io::Result<Option<HeaderValue>> {
        self.0.as_ref().map_or(Ok(None), |signer| signer.header(request, url))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_get_no_less_private() {
        let all = ["93.184.216.34:443", "10.0.0.1:443", "127.0.0.1:443"];
        let all = || all.iter().map(|address| address.parse().unwrap()).collect::<Vec<_>>();
        for (reach, allowed) in [(None, 3), (Some(Reach::Public), 3), (Some(Reach::Private), 2)] {
            assert_eq!(AllowedAddresses(reach).of(all()).unwrap().len(), allowed, "{reach:?}");
        }
        let error = AllowedAddresses(Some(Reach::Loopback)).of(all()[..2].to_vec()).unwrap_err();
        assert!(error.to_string().contains("less private"), "{error}");
        assert!(AllowedAddresses(Some(Reach::Loopback)).of(Vec::new()).unwrap().is_empty());
    }
}
