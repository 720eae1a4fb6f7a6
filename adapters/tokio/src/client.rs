//! Clients on tokio.

use std::future::Future;
use std::process::Command;
use std::sync::Arc;

use mcp_adapter::{Client, Connection, Error, Spawn};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::drive::drive;
use crate::runtime::Tokio;

/// How a [`Client`] connects on tokio. To be called on a runtime with IO and time enabled, of
/// either flavour.
pub trait Connect {
    /// Starts a server and connects to its stdin and stdout; waits until it has said who it is.
    ///
    /// The server runs in a process group of its own. It is ended with the connection, in the
    /// background: its stdin is closed, then it is told to terminate, then it is killed, along
    /// with whatever it started. A runtime that shuts down kills it at once.
    ///
    /// The first message asks which era the server is of. One that ends instead of answering is
    /// started a second time, and gets `initialize` at once. (T-36)
    ///
    /// # Errors
    /// [`Error::Io`] when it cannot be started, or there is no runtime; [`Error::Start`], with its
    /// last words, when no session opens.
    fn spawn(self, command: Command) -> impl Future<Output = Result<Connection, Error>> + Send;

    /// Connects over a pair of byte streams, such as the halves of a socket; waits until the server
    /// has said who it is.
    ///
    /// The writer is shut down and dropped at the end, which must tell the server.
    ///
    /// # Errors
    /// [`Error::Start`] when no session opens. A server that hung up when it was asked which era it
    /// is of may be an old one: the error says so, and [`Client::expect`] leaves the question
    /// out.
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
