//! Servers over Streamable HTTP on tokio: one that listens by itself, or a service for routers;
//! knows nothing of what is said.

use std::convert::Infallible;
use std::error::Error as StdError;
use std::future::Future;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::{Request, Response};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use mcp_adapter::http::{Body, Http, HttpRuntime, HttpService, Stop};
use mcp_adapter::{BoxFuture, Server, Spawn};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};

use crate::runtime::Tokio;

impl HttpRuntime for Tokio {
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(duration))
    }

    fn as_spawn(self: Arc<Self>) -> Arc<dyn Spawn> {
        self
    }
}

/// How a [`Server`] serves over HTTP on tokio. To be called on a runtime with IO and time enabled,
/// of either flavour.
pub trait ServeHttp {
    /// Serves on a listener until it is told to stop; then nobody new is let in, sessions end, and
    /// what is being answered may take [`DRAIN`] more.
    ///
    /// Bind the listener to `127.0.0.1` unless others are to reach it; which hosts and origins may
    /// is said by [`Http`]. At most [`CONNECTIONS_MAX`] connections are open at a time; further
    /// ones wait.
    ///
    /// # Errors
    /// When something was registered that cannot be offered, there is no runtime, or the listener
    /// fails for good.
    fn serve_http(
        &self,
        listener: TcpListener,
        options: Http,
        stop: &Stop,
    ) -> impl Future<Output = io::Result<()>> + Send;

    /// A service that answers requests: for `hyper`, or for a router such as `axum` to route a path
    /// to.
    ///
    /// # Errors
    /// When something was registered that cannot be offered, or there is no runtime.
    fn http_service(&self, options: Http) -> io::Result<Service>;
}

impl ServeHttp for Server {
    async fn serve_http(
        &self,
        listener: TcpListener,
        options: Http,
        stop: &Stop,
    ) -> io::Result<()> {
        let service = self.http_service(options)?;
        let (open, all_open) = watch::channel(());
        let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        let outcome = loop {
            let place = Arc::clone(&places).acquire_owned();
            let accepted = async {
                let place = place.await;
                (listener.accept().await, place)
            };
            let (accepted, place) = tokio::select! {
                biased;
                () = stop.stopped() => break Ok(()),
                accepted = accepted => accepted,
            };
            match accepted {
                Ok((stream, _)) => {
                    let (service, stop, open) = (service.clone(), stop.clone(), all_open.clone());
                    // Begun in there: what is handed over as a future has room in there twice.
                    drop(tokio::spawn(async move {
                        drive(stream, service, stop).await;
                        drop((place, open));
                    }));
                }
                // Too many files are open, or a client hung up at once: neither is the end.
                Err(error) if is_passing(&error) => tokio::time::sleep(PAUSE).await,
                Err(error) => break Err(error),
            }
        };
        stop.stop();
        drop((listener, all_open));
        service.close();
        let _late = tokio::time::timeout(DRAIN, open.closed()).await;
        outcome
    }

    fn http_service(&self, options: Http) -> io::Result<Service> {
        Ok(Service(HttpService::new(self, options, Tokio::current()?)?))
    }
}

/// Drives one connection to its end.
async fn drive(stream: TcpStream, service: Service, stop: Stop) {
    // Small messages go back and forth: none waits for more. (T-87)
    let _slower = stream.set_nodelay(true);
    let answer = service_fn(|request| {
        let service = service.clone();
        // The connection has room for it for as long as it lasts.
        Box::pin(async move { Ok::<_, Infallible>(service.respond(request).await) })
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT).max_buf_size(HEAD_BYTES_MAX);
    let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), answer));
    tokio::select! {
        _ended = connection.as_mut() => {}
        () = stop.stopped() => {
            connection.as_mut().graceful_shutdown();
            let _ended = tokio::time::timeout(DRAIN, connection).await;
        }
    }
}

fn is_passing(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted, WouldBlock};
    // The last two are EMFILE and ENFILE, which have no kind of their own.
    matches!(error.kind(), ConnectionAborted | ConnectionReset | Interrupted | WouldBlock)
        || matches!(error.raw_os_error(), Some(23 | 24))
}

/// A server as a service: of `tower`, and of `hyper` 1.
///
/// ```
/// # async fn example() -> std::io::Result<()> {
/// use mcp_tokio::Server;
/// use mcp_tokio::http::{Http, ServeHttp};
///
/// // A router has looked at the path already; with axum: `Router::new().route_service("/mcp", service)`.
/// let service = Server::new("weather", "1.0.0").http_service(Http::new().any_path())?;
/// # drop(service);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Service(HttpService);

impl Service {
    /// Answers a request.
    pub async fn respond<B>(&self, request: Request<B>) -> Response<Body>
    where
        B: http_body::Body,
        B::Error: Into<Box<dyn StdError + Send + Sync>>,
    {
        self.0.respond(request).await
    }

    /// Sessions that there are.
    #[must_use]
    pub fn sessions(&self) -> usize {
        self.0.sessions()
    }

    /// Ends all sessions, and lets in no more.
    pub fn close(&self) {
        self.0.close();
    }
}

impl<B> tower_service::Service<Request<B>> for Service
where
    B: http_body::Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn StdError + Send + Sync>>,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let service = self.clone();
        Box::pin(async move { Ok(service.respond(request).await) })
    }
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
