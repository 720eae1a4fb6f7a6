//! Connecting on smol.

use std::future::Future;
use std::process::Command;
use std::sync::Arc;

use mcp_adapter::{Client, Connection, Error, Spawn};
use smol::io::{AsyncRead, AsyncWrite};

use crate::drive::drive;
use crate::runtime::Smol;

/// Extends [`Client`] with methods that connect it to a server on smol.
///
/// The background tasks of a connection run on smol's global executor, regardless of the executor
/// that polls the calls.
pub trait Connect {
    /// Starts a server, connects to its stdin and stdout, and waits until it has identified itself.
    ///
    /// The server runs in its own process group and is shut down in the background when the
    /// connection closes: its stdin is closed, then the group receives SIGTERM, then SIGKILL.
    ///
    /// The executor stops when the program exits, so await [`Connection::close`] before that.
    /// Otherwise a server that does not exit at the end of its stdin may be left running.
    ///
    /// The client first sends `server/discover` to detect whether the server supports a modern
    /// revision (2026-07-28 or later). If the server exits instead of answering, it is restarted
    /// and receives `initialize` right away.
    ///
    /// # Errors
    /// Fails with [`Error::Io`] if the server cannot be started. Fails with [`Error::Start`], which
    /// contains the last lines of the server's stderr, if the connection cannot be opened.
    // T-36: restarts a server that exits on the probe.
    fn spawn(self, command: Command) -> impl Future<Output = Result<Connection, Error>> + Send;

    /// Connects over a pair of byte streams, such as the halves of a socket.
    ///
    /// Waits until the server has identified itself.
    ///
    /// When the connection ends, the writer is closed and dropped, and this must close the stream.
    ///
    /// # Errors
    /// Fails with [`Error::Start`] if the connection cannot be opened. A legacy server (up to
    /// revision 2025-11-25) may close the connection in response to the first request,
    /// `server/discover`; to skip that request, pass the legacy era to [`Client::expect_era`].
    fn connect(
        self,
        reader: impl AsyncRead + Send + 'static,
        writer: impl AsyncWrite + Send + 'static,
    ) -> impl Future<Output = Result<Connection, Error>> + Send;
}

impl Connect for Client {
    async fn spawn(self, command: Command) -> Result<Connection, Error> {
        self.spawn_on(Arc::new(Smol), command).await
    }

    async fn connect(
        self,
        reader: impl AsyncRead + Send + 'static,
        writer: impl AsyncWrite + Send + 'static,
    ) -> Result<Connection, Error> {
        let runtime: Arc<dyn Spawn> = Arc::new(Smol);
        let (opening, driving) = self.open_on(&runtime)?;
        runtime.spawn(Box::pin(drive(driving, reader, writer)))?;
        opening.wait().await
    }
}
