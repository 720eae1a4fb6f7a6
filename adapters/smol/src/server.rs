//! Servers on smol.

use std::future::Future;
use std::io;
use std::sync::Arc;

use async_io::Timer;
use mcp_adapter::Server;
use smol::io::{AsyncRead, AsyncWrite};

use crate::drive::drive;
use crate::runtime::Smol;
use crate::streams::{ARRIVAL, standard};

/// How a [`Server`] serves on smol. Handlers that wait run on the global executor of smol, whoever
/// awaits the future. Dropping the future ends the connection at once.
pub trait Serve {
    /// Serves on stdin and stdout until the client hangs up, or SIGINT or SIGTERM comes.
    ///
    /// Requests that are open then may still be answered for `Limits::drain_timeout`, and what is
    /// left to send is sent for as long as the client goes on reading, 2 s at most. Both
    /// streams are this server's from now on: what else is printed to stdout corrupts the
    /// protocol. No thread waits for stdin, so nothing keeps the process from ending.
    /// On Linux, pipes that 64 KiB have gone through at once are made to hold 512 KiB, where the
    /// system allows it.
    ///
    /// # Errors
    /// When something was registered that cannot be offered, the streams cannot be had, or the
    /// client broke a rule that the connection cannot survive.
    fn serve_stdio(&self) -> impl Future<Output = io::Result<()>> + Send;

    /// Serves on a pair of byte streams, such as the halves of a socket, until the client hangs up.
    ///
    /// The writer is closed and dropped at the end, which must tell the client.
    ///
    /// # Errors
    /// As [`serve_stdio`](Self::serve_stdio).
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
        arrived.wait(Timer::after(ARRIVAL)).await;
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
