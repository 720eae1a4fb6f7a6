//! Operations that can wait: awaited, or waited for by blocking the thread.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_lite::future::block_on;
use mcp_proto::Misuse;

use crate::box_future::BoxFuture;
use crate::error::Error;
use crate::exec::sole_driver::is_sole_driver;

/// An operation that waits for the peer: awaited, or waited for with [`wait`](Self::wait).
///
/// It starts when it is first polled or waited for. Both forms work on every runtime, and with the
/// connections of all of them. A task of an async runtime should await the operation: a thread that
/// blocks in [`wait`](Self::wait) polls no other task, and would deadlock if it drives the
/// connection.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::{Connection, Error};
///
/// async fn count(connection: &Connection) -> Result<usize, Error> {
///     Ok(connection.list_tools().await?.items.len())
/// }
///
/// fn count_on_a_thread(connection: &Connection) -> Result<usize, Error> {
///     Ok(connection.list_tools().wait()?.items.len())
/// }
/// ```
#[must_use = "an operation does nothing unless it is awaited, or waited for with `.wait()`"]
pub struct Operation<'a, T, E = Error>(BoxFuture<'a, Result<T, E>>);

impl<'a, T, E: From<Misuse>> Operation<'a, T, E> {
    pub(crate) fn new(operation: impl Future<Output = Result<T, E>> + Send + 'a) -> Self {
        Self(Box::pin(operation))
    }

    /// Blocks until the operation has ended.
    ///
    /// # Errors
    /// Fails with the error of the operation, and with [`Misuse::Blocked`] on a driving thread (see
    /// [`Server`](crate::Server)) that no other thread can replace.
    pub fn wait(self) -> Result<T, E> {
        wait_for(self.0)
    }
}

impl<T, E> Future for Operation<'_, T, E> {
    type Output = Result<T, E>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.as_mut().poll(task)
    }
}

opaque_debug!(Operation<'_, T, E> [T, E]);

/// Blocks until `operation` has ended.
///
/// # Errors
/// Fails with the error of the operation, and with [`Misuse::Blocked`] if this thread must not
/// wait for a peer.
pub(crate) fn wait_for<T, E: From<Misuse>>(
    operation: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    if is_sole_driver() {
        return Err(Misuse::Blocked.into());
    }
    block_on(operation)
}
