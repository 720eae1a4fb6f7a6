//! The seam between HTTP servers and an async runtime: sleeping and spawning.

use std::sync::Arc;
use std::time::Duration;

use crate::BoxFuture;
use crate::exec::workers::Spawn;

/// What a runtime does for HTTP.
pub trait HttpRuntime: Spawn {
    /// Sleeps.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;

    /// The same as what futures are run by.
    fn as_spawn(self: Arc<Self>) -> Arc<dyn Spawn>;
}
