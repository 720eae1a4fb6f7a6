//! [`CallCredentials`]: whose results a call may take from the cache, if a function of the
//! application returns the credentials.

use std::sync::{Arc, Weak};

use mcp_proto::MessageEndpoint as _;
use mcp_proto::client::Client as Machine;

use super::authorization::{Authorize, Field};
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
    pub(crate) async fn of(link: &Arc<Link<Machine>>, method: &str) -> Self {
        let connections = link.inspect(|state| {
            let cached_for = state.role.cached_for.as_ref()?;
            Machine::is_cacheable(method).then(|| cached_for.connections.upgrade())?
        });
        Self(match connections {
            Some(connections) => ask(link, &connections).await,
            None => None,
        })
    }

    /// Drops the cached results of another user, before the call is looked up.
    pub(crate) fn apply(&self, state: &mut State<Machine>) {
        if let Some(field) = &self.0 {
            note(state, field);
        }
    }
}
