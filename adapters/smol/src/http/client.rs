//! Connecting over Streamable HTTP on smol.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

#[cfg(unix)]
use async_io::Async;
use async_io::Timer;
use mcp_adapter::http::{ByteStream, Dial, KEEP_ALIVE_INTERVAL, KEEP_ALIVE_TIME, Remote};
use mcp_adapter::{BoxFuture, Client, Connection, Error, Spawn};
use smol::net::TcpStream;
use socket2::{SockRef, TcpKeepalive};

use crate::runtime::Smol;

impl Dial for Smol {
    fn resolve(&self, host: &str, port: u16) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> {
        resolve(host, port)
    }

    fn dial(&self, address: SocketAddr) -> BoxFuture<'static, io::Result<Box<dyn ByteStream>>> {
        dial(address)
    }

    #[cfg(unix)]
    fn dial_unix(
        &self,
        path: &std::path::Path,
    ) -> BoxFuture<'static, io::Result<Box<dyn ByteStream>>> {
        dial_unix(path)
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            let _now = Timer::after(duration).await;
        })
    }

    fn as_spawn(self: Arc<Self>) -> Arc<dyn Spawn> {
        self
    }
}

/// Returns the addresses of `host`, which is a host name or an IP address, with `port`.
#[doc(hidden)]
pub fn resolve(host: &str, port: u16) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> {
    let host = host.to_owned();
    Box::pin(async move { smol::net::resolve((&*host, port)).await })
}

/// Opens a TCP connection.
#[doc(hidden)]
pub fn dial(address: SocketAddr) -> BoxFuture<'static, io::Result<Box<dyn ByteStream>>> {
    Box::pin(async move {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        SockRef::from(&stream).set_tcp_keepalive(&keep_alive())?;
        Ok(Box::new(stream) as Box<dyn ByteStream>)
    })
}

/// Connects to a Unix domain socket.
#[cfg(unix)]
#[doc(hidden)]
pub fn dial_unix(path: &std::path::Path) -> BoxFuture<'static, io::Result<Box<dyn ByteStream>>> {
    let path = path.to_owned();
    Box::pin(async move {
        let stream = Async::<std::os::unix::net::UnixStream>::connect(path).await?;
        Ok(Box::new(stream) as Box<dyn ByteStream>)
    })
}

/// Returns how a dead server is detected: event streams may be silent for any time otherwise.
fn keep_alive() -> TcpKeepalive {
    TcpKeepalive::new().with_time(KEEP_ALIVE_TIME).with_interval(KEEP_ALIVE_INTERVAL)
}

/// Extends [`Client`] with a method that uses smol to connect over HTTP.
///
/// The trait is sealed: [`Client`] is its only implementation.
pub trait ConnectHttp: mcp_adapter::ExtensionSeal {
    /// Connects to a server and waits until it has identified itself.
    ///
    /// By default, the client first sends `server/discover` to detect whether the server supports a
    /// modern revision (2026-07-28 or later). If the server does not, the client then sends
    /// `initialize`. To skip `server/discover`, expect the legacy era with
    /// [`Client::expect_era`].
    ///
    /// Dropping the last clone of the connection ends the session in the background.
    /// [`Connection::close`] ends the session and waits until it has ended.
    ///
    /// # Errors
    /// Fails with
    /// - [`Error::Start`] if the connection cannot be opened;
    /// - [`Error::Io`] if credentials would be sent unencrypted (see
    ///   [`Remote::allow_plain_credentials`]), if TLS or the [proxy](Remote::proxy) cannot be used
    ///   for the host, or if the operating system returns no random bytes.
    // LIF-30: a legacy server rejects the probe.
    fn connect_http(self, remote: Remote)
    -> impl Future<Output = Result<Connection, Error>> + Send;
}

impl ConnectHttp for Client {
    async fn connect_http(self, remote: Remote) -> Result<Connection, Error> {
        self.open_http(Arc::new(Smol), remote).await
    }
}
