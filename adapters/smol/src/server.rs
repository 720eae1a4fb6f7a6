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

/// Methods to serve a [`Server`] on smol.
///
/// Asynchronous handlers run on smol's global executor, regardless of the executor that polls the
/// returned future. Dropping that future ends the connection immediately.
pub trait Serve {
    /// Serves on stdin and stdout until the client disconnects, or until SIGINT or SIGTERM.
    ///
    /// After that, requests in progress may still be answered for `Limits::drain_timeout` (50 ms by
    /// default), and the remaining output is sent for at most 2 s while the client reads.
    ///
    /// The server owns both streams: any other output to stdout corrupts the protocol. No thread
    /// blocks on stdin, so stdin does not delay the end of the process.
    ///
    /// # Errors
    /// Fails if a registered entry is invalid, the streams are unavailable, or the connection ends
    /// because of a protocol fault.
    fn serve_stdio(&self) -> impl Future<Output = io::Result<()>> + Send;

    /// Serves on a pair of byte streams until the client disconnects.
    ///
    /// The streams can be, for example, the halves of a socket.
    ///
    /// When the connection ends, the writer is closed and dropped. This must close the stream.
    ///
    /// # Errors
    /// Fails if a registered entry is invalid, or the connection ends because of a protocol fault.
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
