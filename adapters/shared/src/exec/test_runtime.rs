//! A runtime for tests that need none.

use std::future::pending;
use std::io;
use std::time::Duration;

use crate::box_future::BoxFuture;
use crate::exec::workers::Spawn;

/// Drops all tasks, and never wakes.
pub(crate) struct NullRuntime;

impl Spawn for NullRuntime {
    fn spawn(&self, _: BoxFuture<'static, ()>) -> io::Result<()> {
        Ok(())
    }

    fn sleep(&self, _: Duration) -> BoxFuture<'static, ()> {
        Box::pin(pending())
    }
}
