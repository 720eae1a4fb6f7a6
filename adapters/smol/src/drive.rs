//! A connection driven by async-io: it reads, writes and sleeps; knows nothing of what it carries.

use async_io::Timer;
use mcp_adapter::{Driving, Role};
use smol::future::yield_now;
use smol::io::{AsyncRead, AsyncWrite};

/// Drives a connection to its end.
///
/// A stream of async-io that is always ready never lets go by itself, so reading and writing do,
/// turn by turn: a peer that floods must not stop the time.
pub(crate) async fn drive<R: Role>(
    driving: Driving<R>,
    reader: impl AsyncRead + Send,
    writer: impl AsyncWrite + Send,
) {
    mcp_adapter::drive(driving, Box::pin(reader), Box::pin(writer), Timer::after, yield_now).await;
}
