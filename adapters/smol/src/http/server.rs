//! Serving over Streamable HTTP on smol and async-io.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::TcpListener;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use async_io::{Async, Timer};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use mcp_adapter::http::{Http, HttpRuntime, HttpService, Stop};
use mcp_adapter::{BoxFuture, Server, Spawn};
use smol::channel;
use smol::future::or;
use smol::lock::Semaphore;
use smol_hyper::rt::{FuturesIo, SmolTimer};

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
}

/// Extends [`Server`] with a method that uses smol to serve clients over HTTP.
pub trait ServeHttp {
    /// Serves HTTP clients that connect to `listener` until `stop` is set.
    ///
    /// After that, the server accepts no more connections, ends its sessions, and waits for at
    /// most [`DRAIN`] (2 s) for requests in progress.
    ///
    /// Bind the listener to `127.0.0.1` unless other machines need access; [`Http`] configures the
    /// accepted hosts and origins. At most [`CONNECTIONS_MAX`] (10,000) connections are open at a
    /// time; further ones wait to be accepted.
    ///
    /// # Errors
    /// Fails if a registered tool, resource, resource template or prompt is invalid, or if the
    /// listener fails permanently, which also sets `stop`.
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

/// Serves HTTP clients that connect to `listener` until `stop` is set.
///
/// # Errors
/// Fails if the listener fails permanently.
#[doc(hidden)]
pub async fn serve(service: HttpService, listener: TcpListener, stop: &Stop) -> io::Result<()> {
    let listener = Async::new(listener)?;
    // Carries no messages: it closes once the last connection has dropped its sender.
    let (open, all_closed) = channel::bounded::<Infallible>(1);
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let outcome = loop {
        let accepted = async {
            let place = places.acquire_arc().await;
            Some((listener.accept().await, place))
        };
        let stopped = async {
            stop.stopped().await;
            None
        };
        match or(stopped, accepted).await {
            None => break Ok(()),
            Some((Ok((stream, _)), place)) => {
                let (service, stop, open) = (service.clone(), stop.clone(), open.clone());
                // Called inside the task: a future passed in would occupy its space twice.
                smol::spawn(async move {
                    drive(stream, service, stop).await;
                    drop((place, open));
                })
                .detach();
            }
            // Too many open files, or a client that disconnected at once: the listener goes on.
            Some((Err(error), _)) if is_transient(&error) => {
                let _now = Timer::after(PAUSE).await;
            }
            Some((Err(error), _)) => break Err(error),
        }
    };
    stop.stop();
    drop((listener, open));
    service.close();
    let closed = async {
        let _closed = all_closed.recv().await;
    };
    or(closed, async {
        let _late = Timer::after(DRAIN).await;
    })
    .await;
    outcome
}

/// Runs a future in the background, on smol's global executor.
#[doc(hidden)]
pub fn spawn(future: BoxFuture<'static, ()>) {
    smol::spawn(future).detach();
}

/// Waits for `duration`.
#[doc(hidden)]
pub fn sleep(duration: Duration) -> BoxFuture<'static, ()> {
    Smol.sleep(duration)
}

/// Runs a future to completion on the calling thread.
#[doc(hidden)]
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    smol::block_on(future)
}

/// Drives one connection to its end.
async fn drive(stream: Async<std::net::TcpStream>, service: HttpService, stop: Stop) {
    // T-87: disables Nagle's algorithm, as small messages must not wait for more.
    let _slower = stream.get_ref().set_nodelay(true);
    let answer = service_fn(|request| {
        let service = service.clone();
        // Boxed: inline it would enlarge the connection for its whole life.
        Box::pin(async move { Ok::<_, Infallible>(service.respond(request).await) })
    });
    let mut builder = http1::Builder::new();
    builder.timer(SmolTimer::new()).header_read_timeout(HEAD_TIMEOUT).max_buf_size(HEAD_BYTES_MAX);
    let mut connection = pin!(builder.serve_connection(FuturesIo::new(stream), answer));
    let stopped = async {
        stop.stopped().await;
        false
    };
    let ended = async {
        let _ended = connection.as_mut().await;
        true
    };
    if !or(ended, stopped).await {
        connection.as_mut().graceful_shutdown();
        let ended = async {
            let _ended = connection.await;
        };
        or(ended, async {
            let _late = Timer::after(DRAIN).await;
        })
        .await;
    }
}

fn is_transient(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted, WouldBlock};
    // 23 and 24 are ENFILE and EMFILE, which have no `ErrorKind`.
    matches!(error.kind(), ConnectionAborted | ConnectionReset | Interrupted | WouldBlock)
        || matches!(error.raw_os_error(), Some(23 | 24))
}

/// How long a stopping server waits for requests in progress.
pub const DRAIN: Duration = Duration::from_secs(2);

/// The maximum number of connections that one server keeps open at a time.
pub const CONNECTIONS_MAX: usize = 10_000;

/// How long the head of a request may take to arrive.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);

/// The maximum size of a request head.
const HEAD_BYTES_MAX: usize = 64 * 1024;

/// How long to wait after a transient error before accepting again.
const PAUSE: Duration = Duration::from_millis(50);
