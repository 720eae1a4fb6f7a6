//! Servers over Streamable HTTP on smol and async-io; knows nothing of what is said.

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

/// How a [`Server`] serves over HTTP on smol.
pub trait ServeHttp {
    /// Serves on a listener until it is told to stop; then nobody new is let in, sessions end, and
    /// what is being answered may take [`DRAIN`] more.
    ///
    /// Bind the listener to `127.0.0.1` unless others are to reach it; which hosts and origins may
    /// is said by [`Http`]. At most [`CONNECTIONS_MAX`] connections are open at a time; further
    /// ones wait.
    ///
    /// # Errors
    /// When something was registered that cannot be offered, or the listener fails for good.
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

/// Serves a service on a listener.
///
/// # Errors
/// When the listener fails for good.
#[doc(hidden)]
pub async fn serve(service: HttpService, listener: TcpListener, stop: &Stop) -> io::Result<()> {
    let listener = Async::new(listener)?;
    // Nothing is sent: it closes when the last connection has dropped its end.
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
                // Begun in there: what is handed over as a future has room in there twice.
                smol::spawn(async move {
                    drive(stream, service, stop).await;
                    drop((place, open));
                })
                .detach();
            }
            // Too many files are open, or a client hung up at once: neither is the end.
            Some((Err(error), _)) if is_passing(&error) => {
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

/// Runs a future in the background.
#[doc(hidden)]
pub fn spawn(future: BoxFuture<'static, ()>) {
    smol::spawn(future).detach();
}

/// Sleeps.
#[doc(hidden)]
pub fn sleep(duration: Duration) -> BoxFuture<'static, ()> {
    Smol.sleep(duration)
}

/// Runs a future to its end on this thread.
#[doc(hidden)]
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    smol::block_on(future)
}

/// Drives one connection to its end.
async fn drive(stream: Async<std::net::TcpStream>, service: HttpService, stop: Stop) {
    // Small messages go back and forth: none waits for more. (T-87)
    let _slower = stream.get_ref().set_nodelay(true);
    let answer = service_fn(|request| {
        let service = service.clone();
        // The connection has room for it for as long as it lasts.
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

fn is_passing(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted, WouldBlock};
    // The last two are EMFILE and ENFILE, which have no kind of their own.
    matches!(error.kind(), ConnectionAborted | ConnectionReset | Interrupted | WouldBlock)
        || matches!(error.raw_os_error(), Some(23 | 24))
}

/// How long what is being answered may take once a server ends.
pub const DRAIN: Duration = Duration::from_secs(2);

/// Connections of one server at a time.
pub const CONNECTIONS_MAX: usize = 10_000;

/// How long a head may take to arrive.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);

/// The longest head.
const HEAD_BYTES_MAX: usize = 64 * 1024;

/// How long to wait for room before accepting again.
const PAUSE: Duration = Duration::from_millis(50);
