//! Connecting over Streamable HTTP on tokio.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use mcp_adapter::http::{ByteStream, Dial, KEEP_ALIVE_INTERVAL, KEEP_ALIVE_TIME};
use mcp_adapter::{BoxFuture, HttpRuntime};
use socket2::{SockRef, TcpKeepalive};
use tokio::net::{TcpStream, lookup_host};
use tokio_util::compat::TokioAsyncReadCompatExt;

use super::socket::Socket;
use crate::runtime::Tokio;

impl HttpRuntime for Tokio {
    fn dialer(self: Arc<Self>) -> io::Result<Arc<dyn Dial>> {
        Ok(self)
    }
}

impl Dial for Tokio {
    fn resolve(&self, host: &str, port: u16) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> {
        let host = host.to_owned();
        Box::pin(async move { Ok(lookup_host((&*host, port)).await?.collect()) })
    }

    fn dial(&self, address: SocketAddr) -> BoxFuture<'static, io::Result<Box<dyn ByteStream>>> {
        Box::pin(async move {
            let stream = TcpStream::connect(address).await?;
            stream.set_nodelay(true)?;
            SockRef::from(&stream).set_tcp_keepalive(&keep_alive())?;
            Ok(Box::new(Socket::new(stream).compat()) as Box<dyn ByteStream>)
        })
    }

    #[cfg(unix)]
    fn dial_unix(
        &self,
        path: &std::path::Path,
    ) -> BoxFuture<'static, io::Result<Box<dyn ByteStream>>> {
        let path = path.to_owned();
        Box::pin(async move {
            let stream = tokio::net::UnixStream::connect(path).await?;
            Ok(Box::new(Socket::new(stream).compat()) as Box<dyn ByteStream>)
        })
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// Returns how a dead server is detected: event streams may be silent for any time otherwise.
fn keep_alive() -> TcpKeepalive {
    TcpKeepalive::new().with_time(KEEP_ALIVE_TIME).with_interval(KEEP_ALIVE_INTERVAL)
}
