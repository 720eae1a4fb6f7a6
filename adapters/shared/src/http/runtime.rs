//! The interface between HTTP servers and an async runtime.

use std::sync::Arc;
use std::time::Duration;

use crate::BoxFuture;
use crate::exec::workers::Spawn;

/// The part of a runtime that HTTP servers use.
pub trait HttpRuntime: Spawn {
    /// Waits for `duration`.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;

    /// Upcasts to [`Spawn`].
    fn as_spawn(self: Arc<Self>) -> Arc<dyn Spawn>;
}
