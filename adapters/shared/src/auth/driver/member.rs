//! [`Member`]: a connection that an authorization is shared by.

use std::sync::Arc;

use mcp_proto::http::client::{Credentials, ExchangeId, Generation};

/// A connection as its authorization sees it.
pub(crate) trait Member: Send + Sync {
    /// Sends further requests with `credentials`, and waiting ones again.
    fn authorize(&self, credentials: &Credentials);

    /// Fails a waiting request.
    fn deny(&self, exchange: ExchangeId, reason: &str);

    /// Sends further requests without credentials of this generation or an older one, and fails
    /// waiting ones: what would have answered them may be among what is forgotten.
    fn forget(&self, generation: Option<Generation>);
}

/// Requests that wait, with their connections.
pub(super) type Waiting = Vec<(Arc<dyn Member>, ExchangeId)>;

/// Fails waiting requests.
pub(super) fn deny_all(waiting: &[(Arc<dyn Member>, ExchangeId)], reason: &str) {
    waiting.iter().for_each(|(member, exchange)| member.deny(*exchange, reason));
}

/// The number of a member, never reused.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct MemberId(pub(super) u64);
