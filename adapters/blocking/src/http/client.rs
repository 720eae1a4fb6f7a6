//! Connecting over Streamable HTTP without an async runtime.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use futures_lite::future::block_on;
use mcp_adapter::http::{ByteStream, Dial, Remote};
use mcp_adapter::{BoxFuture, Client, Error, Spawn};

use super::EventLoop;
use crate::Connection;

impl Dial for EventLoop {
    fn resolve(&self, host: &str, port: u16) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> {
        mcp_smol::http::resolve(host, port)
    }

    fn dial(&self, address: SocketAddr) -> BoxFuture<'static, io::Result<Box<dyn ByteStream>>> {
        mcp_smol::http::dial(address)
    }

    #[cfg(unix)]
    fn dial_unix(
        &self,
        path: &std::path::Path,
    ) -> BoxFuture<'static, io::Result<Box<dyn ByteStream>>> {
        mcp_smol::http::dial_unix(path)
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        mcp_smol::http::sleep(duration)
    }

    fn as_spawn(self: Arc<Self>) -> Arc<dyn Spawn> {
        self
    }
}

/// Extends [`Client`] with a method that connects it over HTTP without an async runtime.
///
/// The trait is sealed: [`Client`] is its only implementation.
pub trait ConnectHttp: mcp_adapter::ExtensionSeal {
    /// Connects to a server and waits until it has identified itself.
    ///
    /// Unless [`Client::expect_era`] selects the legacy era, the client first sends
    /// `server/discover` to detect whether the server supports a modern revision (2026-07-28 or
    /// later). If the server does not, the client then sends `initialize`.
    ///
    /// Dropping the last clone of the connection ends the session and blocks until that is done.
    ///
    /// # Errors
    /// Fails with
    /// - [`Error::Start`] if the connection cannot be opened;
    /// - [`Error::Io`] if credentials would be sent unencrypted (see
    ///   [`Remote::allow_plain_credentials`]), if TLS or the [proxy](Remote::proxy) cannot be used
    ///   for the host, or if the operating system returns no random bytes.
    // LIF-30: a legacy server rejects the probe.
    fn connect_http(self, remote: Remote) -> Result<Connection, Error>;
}

impl ConnectHttp for Client {
    fn connect_http(self, remote: Remote) -> Result<Connection, Error> {
        block_on(self.open_http(Arc::new(EventLoop), remote))
    }
}
