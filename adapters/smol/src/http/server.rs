//! Serving over Streamable HTTP on smol and async-io.

use std::future::Future;
use std::io;
use std::net::{IpAddr, TcpListener, TcpStream};
#[cfg(unix)]
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::time::Duration;

use async_io::{Async, IoSafe, Timer};
use futures_lite::future::or;
use mcp_adapter::http::{Dial, Http, HttpRuntime, HttpService, HyperStream, Listening, Stop};
use mcp_adapter::{BoxFuture, Server, Spawn};
use smol_hyper::rt::SmolTimer;

use super::socket::{HalfClose, Socket};
use crate::executor;
use crate::runtime::Smol;

impl HttpRuntime for Smol {
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            let _now = Timer::after(duration).await;
        })
    }

    fn as_spawn(self: Arc<Self>) -> Arc<dyn Spawn> {
        self
    }

    fn as_dial(self: Arc<Self>) -> Arc<dyn Dial> {
        self
    }
}

/// Extends [`Server`] with a method that uses smol to serve clients over HTTP.
///
/// The trait is sealed: [`Server`] is its only implementation.
pub trait ServeHttp: mcp_adapter::ExtensionSeal {
    /// Serves HTTP clients that connect to `listener`, until [`Stop::stop`] is called.
    ///
    /// After that call, the server accepts no more connections, ends its sessions, and waits at
    /// most [`drain_timeout`](super::HttpLimits::drain_timeout) (2 s) for requests in progress.
    /// Dropping the future closes all connections and ends the sessions at once.
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
    fn serve_http(
        &self,
        listener: TcpListener,
        options: Http,
        stop: &Stop,
    ) -> impl Future<Output = io::Result<()>> + Send;

    /// Serves HTTP clients that connect to a Unix socket, until [`Stop::stop`] is called.
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
    fn serve_http_unix(
        &self,
        listener: UnixListener,
        options: Http,
        stop: &Stop,
    ) -> impl Future<Output = io::Result<()>> + Send;
}

impl ServeHttp for Server {
    async fn serve_http(
        &self,
        listener: TcpListener,
        options: Http,
        stop: &Stop,
    ) -> io::Result<()> {
        let service = HttpService::new(self, options, Arc::new(Smol))?;
        serve(service, listener, stop).await
    }

    #[cfg(unix)]
    async fn serve_http_unix(
        &self,
        listener: UnixListener,
        options: Http,
        stop: &Stop,
    ) -> io::Result<()> {
        let service = HttpService::new(self, options, Arc::new(Smol))?;
        serve_unix(service, listener, stop).await
    }
}

/// A listener of byte streams.
trait Accept: Send + Sync {
    type Stream: IoSafe + io::Read + io::Write + HalfClose + Send + Sync + 'static;

    /// Waits for a client; returns its address, if clients have addresses.
    fn accept_client(
        &self,
    ) -> impl Future<Output = io::Result<(Async<Self::Stream>, Option<IpAddr>)>> + Send;
}

impl Accept for Async<TcpListener> {
    type Stream = TcpStream;

    async fn accept_client(&self) -> io::Result<(Async<TcpStream>, Option<IpAddr>)> {
        let (stream, peer) = self.accept().await?;
        // T-87: disables Nagle's algorithm, as small messages must not wait for more.
        let _slower = stream.get_ref().set_nodelay(true);
        Ok((stream, Some(peer.ip())))
    }
}

#[cfg(unix)]
impl Accept for Async<UnixListener> {
    type Stream = UnixStream;

    async fn accept_client(&self) -> io::Result<(Async<UnixStream>, Option<IpAddr>)> {
        Ok((self.accept().await?.0, None))
    }
}

/// Serves HTTP clients that connect to `listener`, until [`Stop::stop`] is called.
///
/// # Errors
/// Fails if the listener fails permanently.
#[doc(hidden)]
pub async fn serve(service: HttpService, listener: TcpListener, stop: &Stop) -> io::Result<()> {
    let address = listener.local_addr()?;
    serve_all(Listening::new(service, address, stop)?, Async::new(listener)?, stop).await
}

/// Like [`serve`], on a Unix socket.
///
/// # Errors
/// Fails if the listener fails permanently.
#[cfg(unix)]
#[doc(hidden)]
pub async fn serve_unix(
    service: HttpService,
    listener: UnixListener,
    stop: &Stop,
) -> io::Result<()> {
    serve_all(Listening::local(service, stop), Async::new(listener)?, stop).await
}

/// Serves the clients of a listener until `stop` is set. Dropping the future closes them.
async fn serve_all(listening: Listening, listener: impl Accept, stop: &Stop) -> io::Result<()> {
    let outcome = loop {
        let stopped = async {
            stop.stopped().await;
            None
        };
        match or(stopped, async { Some(listener.accept_client().await) }).await {
            None => break Ok(()),
            Some(Ok((stream, address))) => {
                let Some(connection) = listening.accept(address) else { continue };
                // Called inside the task: a future passed in would occupy its space twice.
                let driven = executor::spawn(async move {
                    connection.drive(HyperStream(Socket::new(stream)), SmolTimer::new()).await;
                });
                // Without a thread that runs it, the connection was closed.
                if let Err(error) = driven {
                    break Err(error);
                }
            }
            // Too many open files, or a client that disconnected at once: the listener goes on.
            Some(Err(error)) if is_transient(&error) => {
                let _now = Timer::after(PAUSE).await;
            }
            Some(Err(error)) => break Err(error),
        }
    };
    drop(listener);
    listening.finish().await;
    outcome
}

/// Runs a future in the background, on the executor of this crate.
#[doc(hidden)]
pub fn spawn(future: BoxFuture<'static, ()>) -> io::Result<()> {
    executor::spawn(future)
}

/// Waits for `duration`.
#[doc(hidden)]
pub fn sleep(duration: Duration) -> BoxFuture<'static, ()> {
    HttpRuntime::sleep(&Smol, duration)
}

fn is_transient(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted, WouldBlock};
    // 23 and 24 are ENFILE and EMFILE, which have no `ErrorKind`.
    matches!(error.kind(), ConnectionAborted | ConnectionReset | Interrupted | WouldBlock)
        || matches!(error.raw_os_error(), Some(23 | 24))
}

/// How long to wait after a transient error before accepting again.
const PAUSE: Duration = Duration::from_millis(50);
