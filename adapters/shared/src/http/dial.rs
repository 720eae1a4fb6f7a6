//! The interface between HTTP clients and an async runtime.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use futures_lite::{AsyncRead, AsyncWrite};

use crate::box_future::BoxFuture;
use crate::exec::workers::Spawn;

/// A bidirectional byte stream.
pub trait ByteStream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> ByteStream for T {}

/// The idle time of a connection after which the system starts to send TCP keep-alive probes.
pub const KEEP_ALIVE_TIME: Duration = Duration::from_secs(60);

/// The time between two TCP keep-alive probes. The system determines the number of probes.
pub const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(10);

/// The runtime operations that HTTP clients need.
pub trait Dial: Spawn {
    /// Returns the addresses of `host`, which is a host name or an IP address, with `port`.
    fn resolve(&self, host: &str, port: u16) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>>;

    /// Opens a TCP connection.
    ///
    /// The connection must use TCP keep-alive with [`KEEP_ALIVE_TIME`] and [`KEEP_ALIVE_INTERVAL`],
    /// so that the client detects a server that has become unreachable.
    ///
    /// A read from the returned stream must query the operating system before it returns `Pending`.
    /// Otherwise, the client might not notice that the server has closed an idle connection, and
    /// might send a request over it.
    fn dial(&self, address: SocketAddr) -> BoxFuture<'static, io::Result<Box<dyn ByteStream>>>;

    /// Opens a connection to a Unix domain socket. Reads from it behave as those of
    /// [`dial`](Self::dial). The default implementation fails with [`io::ErrorKind::Unsupported`].
    #[cfg(unix)]
    fn dial_unix(
        &self,
        _path: &std::path::Path,
    ) -> BoxFuture<'static, io::Result<Box<dyn ByteStream>>> {
        Box::pin(async { Err(io::ErrorKind::Unsupported.into()) })
    }
}

/// Opens a TCP connection to the first of a host's addresses that accepts one.
pub(crate) async fn dial_any(
    runtime: &dyn Dial,
    addresses: &[SocketAddr],
) -> io::Result<(Box<dyn ByteStream>, SocketAddr)> {
    let mut failure = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
    for address in addresses {
        match runtime.dial(*address).await {
            Ok(stream) => return Ok((stream, *address)),
            Err(error) => failure = error,
        }
    }
    Err(failure)
}
