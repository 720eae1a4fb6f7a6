//! [`RunningTask`]: the task that a request has become, as its handler sees it.

use std::sync::Arc;
use std::time::Duration;

use mcp_proto::Progress;

use crate::box_future::BoxFuture;
use crate::server::handler::reply::HandlerReply;

/// The task of a handler that runs.
pub(crate) trait RunningTask: Send + Sync {
    /// Waits for `duration`, also after the connection has ended.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;

    /// Reports progress, whose message becomes that of the status.
    fn progress(&self, progress: &Progress);

    /// Returns how often the handler was started again after a restart of the server.
    fn restarts(&self) -> u32;

    /// Keeps the state of the handler for a run after a restart of the server, if there can be one.
    fn keep(&self, rounds: Option<String>);

    /// Takes the reply of a run of the handler.
    fn deliver(self: Arc<Self>, reply: HandlerReply);
}
