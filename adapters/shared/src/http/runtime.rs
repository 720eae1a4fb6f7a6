//! The interface between HTTP servers and an async runtime.

use std::sync::Arc;
use std::time::Duration;

use super::client::Dial;
use crate::box_future::BoxFuture;
use crate::exec::workers::Spawn;

/// The runtime operations that HTTP servers need.
pub trait HttpRuntime: Spawn {
    /// Waits for `duration`.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;

    /// Upcasts to [`Spawn`].
    fn as_spawn(self: Arc<Self>) -> Arc<dyn Spawn>;

    /// Returns what opens connections on this runtime: a server may ask other servers.
    fn as_dial(self: Arc<Self>) -> Arc<dyn Dial>;
}
