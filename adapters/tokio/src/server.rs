//! Serving on tokio.

use std::future::Future;
use std::io;

use mcp_adapter::Server;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::drive::drive;
use crate::runtime::Tokio;
use crate::streams::{FLUSH_TIMEOUT, standard};

/// Extends [`Server`] with methods that use tokio to serve clients.
///
/// The methods work in both runtime flavors; the runtime must have IO and time enabled. Dropping
/// the future that a method returns ends the connection immediately.
pub trait Serve {
    /// Serves on stdin and stdout until the client disconnects, or until SIGINT or SIGTERM.
    ///
    /// Requests still in progress at that point can be answered within `Limits::drain_timeout`,
    /// which is 50 ms by default. After that, remaining output is sent for at most 2 s, as long as
    /// the client reads it.
    ///
    /// The server owns both streams: any other output to stdout corrupts the protocol. No runtime
    /// thread blocks on stdin, so an open stdin does not delay the runtime's shutdown.
    ///
    /// # Errors
    /// Fails if
    /// - a registered tool, resource, resource template or prompt is invalid;
    /// - stdin or stdout is unavailable;
    /// - the method is used outside of a tokio runtime;
    /// - the connection ends because of a protocol fault.
    fn serve_stdio(&self) -> impl Future<Output = io::Result<()>> + Send;

    /// Serves one client over a pair of byte streams until the client disconnects.
    ///
    /// The streams can be, for example, the halves of a socket.
    ///
    /// When the connection ends, the server shuts down and drops `writer`, which must close the
    /// underlying stream.
    ///
    /// # Errors
    /// Fails if
    /// - a registered tool, resource, resource template or prompt is invalid;
    /// - the method is used outside of a tokio runtime;
    /// - the connection ends because of a protocol fault.
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
