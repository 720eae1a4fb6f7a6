//! Serving over Streamable HTTP without an async runtime.

use std::io;
use std::net::TcpListener;
#[cfg(unix)]
use std::os::unix::net::UnixListener;
use std::sync::Arc;
use std::time::Duration;

use futures_lite::future::block_on;
use mcp_adapter::http::{Dial, Http, HttpRuntime, HttpService, Stop};
use mcp_adapter::{BoxFuture, Server, Spawn};

use super::EventLoop;

impl HttpRuntime for EventLoop {
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        mcp_smol::http::sleep(duration)
    }

    fn as_spawn(self: Arc<Self>) -> Arc<dyn Spawn> {
        self
    }

    fn as_dial(self: Arc<Self>) -> Arc<dyn Dial> {
        self
    }
}

/// Extends [`Server`] with a method that serves it over HTTP without an async runtime.
///
/// The trait is sealed: [`Server`] is its only implementation.
pub trait ServeHttp: mcp_adapter::ExtensionSeal {
    /// Serves connections from `listener` until `stop` is set.
    ///
    /// After that, the server accepts no more connections, ends its sessions, and waits for at most
    /// 2 s for requests in progress.
    ///
    /// Bind the listener to `127.0.0.1` unless other machines need access. [`Http`] configures the
    /// limits and the accepted hosts and origins. For a listener that other machines can reach, it
    /// must allow at least one host.
    ///
    /// # Errors
    /// Fails if
    /// - a registered tool, resource, resource template or prompt is invalid;
    /// - other machines can reach the listener, for example at `0.0.0.0`, and neither
    ///   [`Http::host`] nor [`Http::any_host`] is used;
    /// - the listener fails permanently; this method then also calls [`Stop::stop`] on `stop`.
    fn serve_http(&self, listener: TcpListener, options: Http, stop: &Stop) -> io::Result<()>;

    /// Serves HTTP clients that connect to a Unix socket, until `stop` is set.
    ///
    /// Like [`serve_http`](Self::serve_http), for clients on this machine and proxies in front of
    /// the server. The application creates the file of the socket, sets its permissions, which
    /// decide who can connect, and removes it: the server does not. Clients of a Unix socket send
    /// `Host: localhost`; other hosts must be allowed as they must be for TCP.
    ///
    /// Clients have no address. Limits per client address do not apply to them, and their requests
    /// have no [`PeerAddress`](super::PeerAddress); all other limits apply.
    ///
    /// # Errors
    /// Fails if
    /// - a registered tool, resource, resource template or prompt is invalid;
    /// - the listener fails permanently; this method then also calls [`Stop::stop`] on `stop`.
    #[cfg(unix)]
    fn serve_http_unix(&self, listener: UnixListener, options: Http, stop: &Stop)
    -> io::Result<()>;
}

impl ServeHttp for Server {
    fn serve_http(&self, listener: TcpListener, options: Http, stop: &Stop) -> io::Result<()> {
        let service = HttpService::new(self, options, Arc::new(EventLoop))?;
        // This thread only accepts. The thread that handles the requests also waits for IO: were it
        // this one, each batch of requests would change threads.
        block_on(mcp_smol::http::serve(service, listener, stop))
    }

    #[cfg(unix)]
    fn serve_http_unix(
        &self,
        listener: UnixListener,
        options: Http,
        stop: &Stop,
    ) -> io::Result<()> {
        let service = HttpService::new(self, options, Arc::new(EventLoop))?;
        block_on(mcp_smol::http::serve_unix(service, listener, stop))
    }
}
