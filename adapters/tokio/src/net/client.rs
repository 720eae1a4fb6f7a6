//! Connecting over Streamable HTTP on tokio.

use std::io;
use std::mem::MaybeUninit;
use std::net::SocketAddr;
use std::sync::Arc;

use mcp_adapter::http::{ByteStream, Dial, KEEP_ALIVE_INTERVAL, KEEP_ALIVE_TIME};
use mcp_adapter::{BoxFuture, HttpRuntime};
use socket2::{SockRef, TcpKeepalive};
use tokio::net::{TcpStream, lookup_host};

use crate::runtime::Tokio;
use crate::streams::Stream;

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
            Ok(Box::new(Stream::with_end(stream, end)) as Box<dyn ByteStream>)
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
            Ok(Box::new(Stream::with_end(stream, end)) as Box<dyn ByteStream>)
        })
    }
}

/// Returns how a dead server is detected: event streams may be silent for any time otherwise.
fn keep_alive() -> TcpKeepalive {
    TcpKeepalive::new().with_time(KEEP_ALIVE_TIME).with_interval(KEEP_ALIVE_INTERVAL)
}

/// Queries the end of a socket before a read waits.
///
/// Tokio learns of socket events only when its driver polls. A server may have closed an idle
/// socket before that, and a request sent over it would be lost.
fn end<S>(socket: &S) -> Option<io::Result<usize>>
where
    for<'s> SockRef<'s>: From<&'s S>,
{
    use io::ErrorKind::{Interrupted, WouldBlock};
    match SockRef::from(socket).peek(&mut [MaybeUninit::uninit()]) {
        Ok(0) => Some(Ok(0)),
        Err(error) if !matches!(error.kind(), WouldBlock | Interrupted) => Some(Err(error)),
        Ok(_) | Err(_) => None,
    }
}
