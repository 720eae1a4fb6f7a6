//! [`CallCredentials`]: whose results a call may take from the cache, if a function of the
//! application returns the credentials.

use std::sync::{Arc, Weak};

use futures_lite::future::or;
use mcp_proto::client::{Client as Machine, ExchangeEndpoint as _};
use mcp_proto::{Instant, MessageEndpoint as _};

use super::authorization::{Authorize, Field, LATE};
use super::authorize::{ask, note};
use super::connections::HttpConnections;
use crate::transport::link::{Link, State};

/// The credentials with which the cached results were requested.
pub(crate) struct CachedFor {
    connections: Weak<HttpConnections>,
    latest: Option<Field>,
}

impl CachedFor {
    /// Returns `None` if the connection caches nothing, or knows its credentials by itself.
    pub(super) fn new(state: &State<Machine>, connections: &Arc<HttpConnections>) -> Option<Self> {
        let is_asked = match &connections.remote.authorize {
            Some(Authorize::Async(_) | Authorize::Blocking(_)) => true,
            #[cfg(feature = "auth")]
            Some(Authorize::OAuth(_)) => false,
            None => false,
        };
        let caches = state.connection.limits().cache_bytes_max > 0;
        let connections = Arc::downgrade(connections);
        (is_asked && caches).then_some(Self { connections, latest: None })
    }

    /// Sets the credentials. Returns whether others were in use.
    pub(super) fn replace(&mut self, field: &Field) -> bool {
        let is_other = self.latest.as_ref() != Some(field);
        self.latest = Some(field.clone());
        is_other
    }
}

/// The credentials of a call whose result may be cached.
pub(crate) struct CallCredentials(Option<Field>);

impl CallCredentials {
    /// Asks the application for the credentials of a call, if a cached result may depend on them.
    ///
    /// Returns `None` at the deadline. If the connection closes first, cached results are not used.
    // The function of the application may block forever, and the call has no timer yet.
    pub(crate) async fn of(
        link: &Arc<Link<Machine>>,
        method: &str,
        deadline: impl FnOnce() -> Instant,
    ) -> Option<Self> {
        let connections = link.inspect(|state| {
            let cached_for = state.role.cached_for.as_ref()?;
            Machine::is_cacheable(method).then(|| cached_for.connections.upgrade())?
        });
        let Some(connections) = connections else { return Some(Self(None)) };
        let deadline = deadline();
        let asked = async { Some(Self(ask(link, &connections).await)) };
        let ended = async {
            or(link.closed(), link.sleep_until(deadline)).await;
            // The sleep also ends with the connection.
            (!link.clock.until(deadline).is_zero()).then_some(Self(Some(Err(LATE))))
        };
        or(asked, ended).await
    }

    /// Drops the cached results of another user, before the call is looked up.
    pub(crate) fn apply(&self, state: &mut State<Machine>) {
        if let Some(field) = &self.0 {
            note(state, field);
        }
    }
}
