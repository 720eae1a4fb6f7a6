//! Connecting on smol.

use std::future::Future;
use std::process::Command;
use std::sync::Arc;

use mcp_adapter::{Client, Connection, Error, Spawn};
use smol::io::{AsyncRead, AsyncWrite};

use crate::drive::drive;
use crate::runtime::Smol;

/// Connects a [`Client`] on smol. The connection's background tasks run on smol's global executor,
/// whichever executor polls the calls.
pub trait Connect {
    /// Starts a server, connects to its stdin and stdout, and waits until it has identified itself.
    ///
    /// The server runs in a process group of its own. It is shut down with the connection, in the
    /// background: its stdin is closed, then the group gets SIGTERM, then SIGKILL.
    ///
    /// The executor ends with the program: a program that exits right after it dropped its last
    /// handle leaves behind a server that ignores the end of its stdin. Await
    /// [`Connection::close`] first.
    ///
    /// The first message probes the era of the server. A server that exits instead of answering is
    /// restarted and receives `initialize` right away.
    ///
    /// # Errors
    /// [`Error::Io`] if the server cannot be started; [`Error::Start`], with its latest stderr
    /// lines, if the connection cannot be opened.
    // T-36: restarts a server that exits on the probe.
    fn spawn(self, command: Command) -> impl Future<Output = Result<Connection, Error>> + Send;

    /// Connects over a pair of byte streams, such as the halves of a socket, and waits until the
    /// server has identified itself.
    ///
    /// The writer is closed and dropped at the end, which must close the stream.
    ///
    /// # Errors
    /// [`Error::Start`] if the connection cannot be opened. If the server closes the connection
    /// when its era is probed, it may be a legacy server: [`Client::expect_era`] skips the probe.
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
