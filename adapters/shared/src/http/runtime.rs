//! The interface between HTTP servers and an async runtime.

use std::sync::Arc;
use std::time::Duration;

use crate::BoxFuture;
use crate::exec::workers::Spawn;

/// The runtime operations that HTTP servers need.
pub trait HttpRuntime: Spawn {
    /// Waits for `duration`.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;

    /// Upcasts to [`Spawn`].
    fn as_spawn(self: Arc<Self>) -> Arc<dyn Spawn>;
}
