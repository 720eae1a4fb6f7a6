//! Clients over Streamable HTTP on tokio: it opens connections; knows nothing of what is said over
//! them.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use mcp_adapter::http::{Dial, Duplex, Remote};
use mcp_adapter::{BoxFuture, Client, Connection, Error, Spawn};
use tokio::net::TcpStream;
use tokio_util::compat::TokioAsyncReadCompatExt;

use super::socket::Socket;
use crate::runtime::Tokio;

impl Dial for Tokio {
    fn dial(&self, host: &str, port: u16) -> BoxFuture<'static, io::Result<Box<dyn Duplex>>> {
        let host = host.to_owned();
        Box::pin(async move {
            let stream = TcpStream::connect((&*host, port)).await?;
            stream.set_nodelay(true)?;
            Ok(Box::new(Socket::new(stream).compat()) as Box<dyn Duplex>)
        })
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(duration))
    }

    fn as_spawn(self: Arc<Self>) -> Arc<dyn Spawn> {
        self
    }
}

/// How a [`Client`] connects over HTTP on tokio. To be called on a runtime with IO and time
/// enabled, of either flavour.
pub trait ConnectHttp {
    /// Connects to a server; waits until it has said who it is.
    ///
    /// The first message asks which era the server is of; one that does not know the question gets
    /// `initialize`. (LIF-30) When the last handle is dropped, the session is ended in the
    /// background; `close` waits for that.
    ///
    /// # Errors
    /// [`Error::Start`] when no session opens; [`Error::Io`] when there is no runtime.
    fn connect_http(self, remote: Remote)
    -> impl Future<Output = Result<Connection, Error>> + Send;
}

impl ConnectHttp for Client {
    async fn connect_http(self, remote: Remote) -> Result<Connection, Error> {
        self.open_http(Tokio::current()?, remote).await
    }
}
