//! Connecting on tokio.

use std::future::Future;
use std::process::Command;
use std::sync::Arc;

use mcp_adapter::{Client, Connection, Error, Spawn};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::drive::drive;
use crate::runtime::Tokio;

/// Extends [`Client`] with methods that use tokio to connect it to a server.
///
/// The methods work in both runtime flavors; the runtime must have IO and time enabled.
///
/// The trait is sealed: [`Client`] is its only implementation.
pub trait Connect: mcp_adapter::ExtensionSeal {
    /// Starts a server, connects to its stdin and stdout, and waits until it has identified itself.
    ///
    /// The server runs in its own process group and is shut down in the background when the
    /// connection closes: its stdin is closed, and if it does not exit, the group receives SIGTERM
    /// and finally SIGKILL. If the runtime shuts down, the server is killed immediately.
    ///
    /// Processes that the server has started are killed once it has exited, unless they have left
    /// its process group, for example with `setsid`. On Windows, a job object ends the server and
    /// all of them, also when this process is killed. As Windows has no SIGTERM, a server that
    /// does not exit there after its stdin was closed is killed at once. If this process is killed
    /// on Unix, a server that ignores the end of its stdin stays; see
    /// [`spawn_on`](Client::spawn_on).
    ///
    /// The server receives few variables of this process's environment; see
    /// [`Client::inherit_environment`]. It has 2 min to start, because a command such as `npx` may
    /// first download the server; `Limits::handshake_timeout` sets another limit.
    ///
    /// By default, the client first sends `server/discover` to detect whether the server supports a
    /// modern revision (2026-07-28 or later). If the server exits before it has answered, the
    /// client restarts the server and starts with `initialize`. To skip `server/discover`, expect
    /// the legacy era with [`Client::expect_era`].
    ///
    /// # Errors
    /// Fails with
    /// - [`Error::Io`] if the server cannot be started, or outside of a tokio runtime;
    /// - [`Error::Start`] if the connection cannot be opened. This error contains the last lines
    ///   that the server wrote to stderr.
    // T-36: restarts a server that exits on the probe.
    fn spawn(self, command: Command) -> impl Future<Output = Result<Connection, Error>> + Send;

    /// Connects over a pair of byte streams, such as the halves of a socket.
    ///
    /// Waits until the server has identified itself.
    ///
    /// When the connection ends, the client shuts down and drops `writer`. These two steps must
    /// close the underlying stream.
    ///
    /// # Errors
    /// Fails with [`Error::Start`] if the connection cannot be opened, and with [`Error::Io`]
    /// outside of a tokio runtime.
    ///
    /// A legacy server (up to revision 2025-11-25) may close the connection in response to the
    /// client's first request, `server/discover`. To skip that request, expect the legacy era with
    /// [`Client::expect_era`].
    fn connect(
        self,
        reader: impl AsyncRead + Send + 'static,
        writer: impl AsyncWrite + Send + 'static,
    ) -> impl Future<Output = Result<Connection, Error>> + Send;
}

impl Connect for Client {
    async fn spawn(self, command: Command) -> Result<Connection, Error> {
        self.spawn_on(Tokio::current()?, command).await
    }

    async fn connect(
        self,
        reader: impl AsyncRead + Send + 'static,
        writer: impl AsyncWrite + Send + 'static,
    ) -> Result<Connection, Error> {
        let runtime: Arc<dyn Spawn> = Tokio::current()?;
        let (opening, driving) = self.open_on(&runtime)?;
        runtime.spawn(Box::pin(drive(driving, reader, writer)))?;
        opening.wait().await
    }
}
