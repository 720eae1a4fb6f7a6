//! The interface of a runtime as tests use it, and the streams they pass to it.

mod blocking;
mod smol;
mod tokio;

use std::future::Future;
use std::io;
use std::net::TcpStream;
#[cfg(unix)]
use std::os::unix::net::UnixStream;

use mcp_adapter::{Client, Connection, Error, Server, ServerProcess};

pub use self::blocking::Blocking;
pub use self::smol::Smol;
pub use self::tokio::{Tokio, TokioThreads};

/// A connected socket, not yet owned by a runtime.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names are enough")]
pub enum Stream {
    Tcp(TcpStream),
    #[cfg(unix)]
    Unix(UnixStream),
}

#[cfg(unix)]
impl From<UnixStream> for Stream {
    fn from(stream: UnixStream) -> Self {
        Self::Unix(stream)
    }
}

impl From<TcpStream> for Stream {
    fn from(stream: TcpStream) -> Self {
        Self::Tcp(stream)
    }
}

/// A runtime and its adapter.
pub trait Runtime: Send + 'static {
    /// The name in tables and on the command line.
    const NAME: &'static str;

    /// Whether serving is a future that can be dropped; other threads then run only where
    /// documented.
    const IS_ASYNC: bool = true;

    /// Runs a future to completion, and the tasks it starts.
    fn block_on<T>(future: impl Future<Output = T>) -> T;

    /// Runs a task in the background.
    fn run(task: impl Future<Output = ()> + Send + 'static);

    /// Serves on a socket.
    fn serve(server: Server, stream: Stream) -> impl Future<Output = io::Result<()>> + Send;

    /// Serves on stdin and stdout.
    fn serve_stdio(server: Server) -> impl Future<Output = io::Result<()>> + Send;

    /// Connects over a socket.
    fn connect(
        client: Client,
        stream: Stream,
    ) -> impl Future<Output = Result<Connection, Error>> + Send;

    /// Starts a server process.
    fn spawn(
        client: Client,
        server: impl Into<ServerProcess> + Send,
    ) -> impl Future<Output = Result<Connection, Error>> + Send;
}
