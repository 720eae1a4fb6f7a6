//! Clients over Streamable HTTP for programs without a runtime; knows nothing of what is said.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures_lite::future::block_on;
use mcp_adapter::http::{Dial, Duplex, Remote};
use mcp_adapter::{BoxFuture, Client, Error, Spawn};

use super::EventLoop;
use crate::Connection;

impl Dial for EventLoop {
    fn dial(&self, host: &str, port: u16) -> BoxFuture<'static, io::Result<Box<dyn Duplex>>> {
        mcp_smol::http::dial(host, port)
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        mcp_smol::http::sleep(duration)
    }

    fn as_spawn(self: Arc<Self>) -> Arc<dyn Spawn> {
        self
    }
}

/// How a [`Client`] connects over HTTP without a runtime.
pub trait ConnectHttp {
    /// Connects to a server; waits until it has said who it is.
    ///
    /// The first message asks which era the server is of; one that does not know the question gets
    /// `initialize`. (LIF-30) Dropping the connection ends the session, and waits for that.
    ///
    /// # Errors
    /// [`Error::Start`] when no session opens.
    fn connect_http(self, remote: Remote) -> Result<Connection, Error>;
}

impl ConnectHttp for Client {
    fn connect_http(self, remote: Remote) -> Result<Connection, Error> {
        block_on(self.open_http(Arc::new(EventLoop), remote)).map(Connection::new)
    }
}
