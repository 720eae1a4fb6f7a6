//! Serving on smol.

use std::future::Future;
use std::io;
use std::sync::Arc;

use async_io::Timer;
use mcp_adapter::Server;
use smol::io::{AsyncRead, AsyncWrite};

use crate::drive::drive;
use crate::runtime::Smol;
use crate::streams::{FLUSH_TIMEOUT, standard};

/// Serves a [`Server`] on smol. Handlers that wait run on smol's global executor, regardless of the
/// executor that awaits the future. Dropping the future ends the connection immediately.
pub trait Serve {
    /// Serves on stdin and stdout until the client disconnects, or until SIGINT or SIGTERM.
    ///
    /// Requests in progress may then still be answered for `Limits::drain_timeout`, and the rest of
    /// the output is sent for at most 2 s while the client reads.
    ///
    /// The server owns both streams: any other output to stdout corrupts the protocol. No thread
    /// blocks on stdin, so stdin does not delay the end of the process.
    ///
    /// # Errors
    /// If an entry cannot be offered, the streams are unavailable, or the client causes a protocol
    /// fault.
    fn serve_stdio(&self) -> impl Future<Output = io::Result<()>> + Send;

    /// Serves on a pair of byte streams, such as the halves of a socket, until the client
    /// disconnects.
    ///
    /// The writer is closed and dropped at the end, which must close the stream.
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
        let (serving, driving) = self.open_on(Arc::new(Smol))?;
        let (reader, writer, arrived) = standard()?;
        serving.close_with_process()?;
        drive(driving.over_standard_streams(), reader, writer).await;
        arrived.wait(Timer::after(FLUSH_TIMEOUT)).await;
        serving.outcome()
    }

    async fn serve(
        &self,
        reader: impl AsyncRead + Send,
        writer: impl AsyncWrite + Send,
    ) -> io::Result<()> {
        let (serving, driving) = self.open_on(Arc::new(Smol))?;
        drive(driving, reader, writer).await;
        serving.outcome()
    }
}
