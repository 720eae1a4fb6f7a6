//! The driver of a connection on async-io.

use async_io::Timer;
use futures_lite::future::yield_now;
use futures_lite::{AsyncRead, AsyncWrite};
use mcp_adapter::{DriverHandle, LinkRole};

/// Drives a connection to its end.
///
/// A stream of async-io that is always ready never yields, so the event loop yields explicitly: a
/// peer that floods must not stop the timers.
pub(crate) async fn drive<R: LinkRole>(
    driving: DriverHandle<R>,
    reader: impl AsyncRead + Send,
    writer: impl AsyncWrite + Send,
) {
    mcp_adapter::drive(driving, Box::pin(reader), Box::pin(writer), Timer::after, yield_now).await;
}
