//! Serving on tokio.

use std::future::Future;
use std::io;

use mcp_adapter::Server;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::drive::drive;
use crate::runtime::Tokio;
use crate::streams::{FLUSH_TIMEOUT, standard};

/// Serves a [`Server`] on tokio. The runtime, of either flavor, must have IO and time enabled.
/// Dropping the future ends the connection immediately.
pub trait Serve {
    /// Serves on stdin and stdout until the client disconnects, or until SIGINT or SIGTERM.
    ///
    /// Requests in progress may then still be answered for `Limits::drain_timeout`, and the rest of
    /// the output is sent for at most 2 s while the client reads.
    ///
    /// The server owns both streams: any other output to stdout corrupts the protocol. No thread of
    /// the runtime blocks on stdin, so stdin does not delay the runtime's shutdown.
    ///
    /// # Errors
    /// If an entry cannot be offered, the streams are unavailable, there is no runtime, or the
    /// client causes a protocol fault.
    fn serve_stdio(&self) -> impl Future<Output = io::Result<()>> + Send;

    /// Serves on a pair of byte streams, such as the halves of a socket, until the client
    /// disconnects.
    ///
    /// The writer is shut down and dropped at the end, which must close the stream.
    ///
    /// # Errors
    /// Like [`serve_stdio`](Self::serve_stdio).
    fn serve(
        &self,
        reader: impl AsyncRead + Send,
        writer: impl AsyncWrite + Send,
    ) -> impl Future<Output = io::Result<()>> + Send;
}

impl Serve for Server {
    async fn serve_stdio(&self) -> io::Result<()> {
        let (serving, driving) = self.open_on(Tokio::current()?)?;
        let (reader, writer, arrived) = standard()?;
        serving.close_with_process()?;
        drive(driving.over_standard_streams(), reader, writer).await;
        arrived.wait(tokio::time::sleep(FLUSH_TIMEOUT)).await;
        serving.outcome()
    }

    async fn serve(
        &self,
        reader: impl AsyncRead + Send,
        writer: impl AsyncWrite + Send,
    ) -> io::Result<()> {
        let (serving, driving) = self.open_on(Tokio::current()?)?;
        drive(driving, reader, writer).await;
        serving.outcome()
    }
}
