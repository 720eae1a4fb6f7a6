//! Connecting on plain threads.

use std::io::{Read, Write};
use std::process::Command;
use std::sync::Arc;

use futures_lite::future::block_on;
use mcp_adapter::{Client, Error, Spawn};

use crate::connection::Connection;
use crate::drive;
use crate::runtime::Threads;

/// Connects a [`Client`] on plain threads: three for each connection.
pub trait Connect {
    /// Starts a server, connects to its stdin and stdout, and waits until it has identified itself.
    ///
    /// The server runs in a process group of its own. It is shut down with the connection: its
    /// stdin is closed, then the group gets SIGTERM, then SIGKILL.
    ///
    /// The first message probes the era of the server. A server that exits instead of answering is
    /// restarted and receives `initialize` right away.
    ///
    /// # Errors
    /// [`Error::Io`] if the server cannot be started; [`Error::Start`], with its latest stderr
    /// lines, if the connection cannot be opened.
    // T-36: restarts a server that exits on the probe.
    fn spawn(self, command: Command) -> Result<Connection, Error>;

    /// Connects over a pair of byte streams and waits until the server has identified itself.
    ///
    /// The writer is dropped at the end, which must close the stream. A bare `TcpStream` or
    /// `UnixStream` is also shut down, so the reader may be a clone of it.
    ///
    /// # Errors
    /// [`Error::Start`] if the connection cannot be opened. If the server closes the connection
    /// when its era is probed, it may be a legacy server: [`Client::expect_era`] skips the probe.
    fn connect(
        self,
        reader: impl Read + Send + 'static,
        writer: impl Write + Send + 'static,
    ) -> Result<Connection, Error>;
}

impl Connect for Client {
    fn spawn(self, command: Command) -> Result<Connection, Error> {
        block_on(self.spawn_on(Arc::new(Threads), command)).map(Connection::new)
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
        block_on(opening.wait()).map(Connection::new)
    }
}
