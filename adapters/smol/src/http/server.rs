//! Serving over Streamable HTTP on smol and async-io.

use std::future::Future;
use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use async_io::{Async, Timer};
use futures_lite::future::or;
use mcp_adapter::http::{Dial, Http, HttpRuntime, HttpService, HyperStream, Listening, Stop};
use mcp_adapter::{BoxFuture, Server, Spawn};
use smol_hyper::rt::SmolTimer;

use super::socket::Socket;
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
    /// most [`Http::drain_timeout`] (2 s) for requests in progress. Dropping the future closes all
    /// connections and ends the sessions at once.
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
}

/// Serves HTTP clients that connect to `listener`, until [`Stop::stop`] is called.
///
/// # Errors
/// Fails if the listener fails permanently.
#[doc(hidden)]
pub async fn serve(service: HttpService, listener: TcpListener, stop: &Stop) -> io::Result<()> {
    let address = listener.local_addr()?;
    let listener = Async::new(listener)?;
    // Dropped with this future, it closes the connections.
    let listening = Listening::new(service, address, stop)?;
    let outcome = loop {
        let stopped = async {
            stop.stopped().await;
            None
        };
        match or(stopped, async { Some(listener.accept().await) }).await {
            None => break Ok(()),
            Some(Ok((stream, peer))) => {
                let Some(connection) = listening.accept(peer.ip()) else { continue };
                // Called inside the task: a future passed in would occupy its space twice.
                let driven = executor::spawn(async move {
                    // T-87: disables Nagle's algorithm, as small messages must not wait for more.
                    let _slower = stream.get_ref().set_nodelay(true);
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
