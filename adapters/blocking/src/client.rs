//! Connecting on plain threads.

use std::io::{Read, Write};
use std::process::Command;
use std::sync::Arc;

use futures_lite::future::block_on;
use mcp_adapter::{Client, Connection, Error, Spawn};

use crate::drive;
use crate::runtime::Threads;

/// Extends [`Client`] with methods that connect it to a server.
///
/// Each connection uses three threads, or five if [`spawn`](Connect::spawn) opened it.
///
/// The trait is sealed: [`Client`] is its only implementation.
pub trait Connect: mcp_adapter::ExtensionSeal {
    /// Starts a server, connects to its stdin and stdout, and waits until it has identified itself.
    ///
    /// The server runs in its own process group and is shut down when the connection closes: its
    /// stdin is closed, and if it does not exit, the group receives SIGTERM and finally SIGKILL.
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
    /// - [`Error::Io`] if the server or a thread cannot be started;
    /// - [`Error::Start`] if the connection cannot be opened. This error contains the last lines
    ///   that the server wrote to stderr.
    // T-36: restarts a server that exits on the probe.
    fn spawn(self, command: Command) -> Result<Connection, Error>;

    /// Connects over a pair of byte streams and waits until the server has identified itself.
    ///
    /// When the connection ends, `writer` is dropped. This drop must close the underlying stream,
    /// so that the server detects the end. Exception: if `writer` is a `TcpStream` or `UnixStream`,
    /// `reader` may be a clone of it, because the write half is shut down before the drop.
    ///
    /// # Errors
    /// Fails with [`Error::Start`] if the connection cannot be opened, and with [`Error::Io`] if a
    /// thread cannot be started.
    ///
    /// A legacy server (up to revision 2025-11-25) may close the connection in response to the
    /// client's first request, `server/discover`. To skip that request, expect the legacy era with
    /// [`Client::expect_era`].
    fn connect(
        self,
        reader: impl Read + Send + 'static,
        writer: impl Write + Send + 'static,
    ) -> Result<Connection, Error>;
}

impl Connect for Client {
    fn spawn(self, command: Command) -> Result<Connection, Error> {
        block_on(self.spawn_on(Arc::new(Threads), command))
    }

    fn connect(
        self,
        reader: impl Read + Send + 'static,
        writer: impl Write + Send + 'static,
    ) -> Result<Connection, Error> {
        let runtime: Arc<dyn Spawn> = Arc::new(Threads);
        let (opening, driving) = self.open_on(&runtime)?;
        let timer = drive::start(driving, reader, writer)?;
        drive::spawn("mcp-client", move || timer.run())?;
        block_on(opening.wait())
    }
}
