//! Clients on plain threads.

use std::io::{Read, Write};
use std::process::Command;
use std::sync::Arc;

use futures_lite::future::block_on;
use mcp_adapter::{Client, Error, Spawn};

use crate::connection::Connection;
use crate::drive;
use crate::runtime::Threads;

/// How a [`Client`] connects on plain threads: three for each connection.
pub trait Connect {
    /// Starts a server and connects to its stdin and stdout; waits until it has said who it is.
    ///
    /// The server runs in a process group of its own. It is ended with the connection: its stdin is
    /// closed, then it is told to terminate, then it is killed, along with whatever it started.
    ///
    /// The first message asks which era the server is of. One that ends instead of answering is
    /// started a second time, and gets `initialize` at once. (T-36)
    ///
    /// # Errors
    /// [`Error::Io`] when it cannot be started; [`Error::Start`], with its last words, when no
    /// session opens.
    fn spawn(self, command: Command) -> Result<Connection, Error>;

    /// Connects over a pair of byte streams; waits until the server has said who it is.
    ///
    /// The writer is dropped at the end, which must tell the server. A bare `TcpStream` or
    /// `UnixStream` is shut down besides, so the reader may be a clone of it.
    ///
    /// # Errors
    /// [`Error::Start`] when no session opens. A server that hung up when it was asked which era it
    /// is of may be an old one: the error says so, and [`Client::expect`] leaves the question
    /// out.
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
