//! The seam to the credentials that decide whose cached results a call may use.

use std::sync::Arc;

use mcp_proto::Instant;
use mcp_proto::client::Client as Machine;

use crate::box_future::BoxFuture;
use crate::transport::link::{Link, State};

/// The credentials of a connection that caches results of their owner.
pub(crate) trait CacheOwner: Send + Sync {
    /// Determines the credentials of a call, if its result may come from the cache.
    ///
    /// Returns what must be done right before the call is looked up: it drops the cached results of
    /// another owner. Returns `None` at the deadline. If the connection closes first, cached
    /// results are not used.
    fn before_call<'c>(
        &'c self,
        link: &'c Arc<Link<Machine>>,
        method: &'c str,
        deadline: Instant,
    ) -> BoxFuture<'c, Option<NoteOwner>>;
}

/// Notes the owner of the cached results.
pub(crate) type NoteOwner = Box<dyn Fn(&mut State<Machine>) + Send + Sync>;
