//! Serving over Streamable HTTP on tokio: a listening server, or a service for routers.

use std::convert::Infallible;
use std::error::Error as StdError;
use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use mcp_adapter::http::{
    Dial, Http, HttpRuntime, HttpService, HttpStats, Listening, Principal, ResponseBody, Stop,
};
use mcp_adapter::{BoxFuture, Server, Spawn};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
#[cfg(unix)]
use tokio::net::{UnixListener, UnixStream};

use crate::runtime::Tokio;

impl HttpRuntime for Tokio {
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(duration))
    }

    fn as_spawn(self: Arc<Self>) -> Arc<dyn Spawn> {
        self
    }

    fn as_dial(self: Arc<Self>) -> Arc<dyn Dial> {
        self
    }
}

/// Extends [`Server`] with methods that use tokio to serve clients over HTTP.
///
/// The methods work in both runtime flavors; the runtime must have IO and time enabled.
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
    /// - the method is used outside of a tokio runtime;
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
    /// - the method is used outside of a tokio runtime;
    /// - the listener fails permanently; this method then also calls [`Stop::stop`] on `stop`.
    #[cfg(unix)]
    fn serve_http_unix(
        &self,
        listener: UnixListener,
        options: Http,
        stop: &Stop,
    ) -> impl Future<Output = io::Result<()>> + Send;

    /// Returns the server as a service for `hyper` or for a router such as `axum`.
    ///
    /// # Errors
    /// Fails if a registered tool, resource, resource template or prompt is invalid, or if the
    /// method is called outside of a tokio runtime.
    fn http_service(&self, options: Http) -> io::Result<Service>;
}

impl ServeHttp for Server {
    async fn serve_http(
        &self,
        listener: TcpListener,
        options: Http,
        stop: &Stop,
    ) -> io::Result<()> {
        let Service(service) = self.http_service(options)?;
        let listening = Listening::new(service, listener.local_addr()?, stop)?;
        serve(listening, listener, stop).await
    }

    #[cfg(unix)]
    async fn serve_http_unix(
        &self,
        listener: UnixListener,
        options: Http,
        stop: &Stop,
    ) -> io::Result<()> {
        let Service(service) = self.http_service(options)?;
        serve(Listening::local(service, stop), listener, stop).await
    }

    fn http_service(&self, options: Http) -> io::Result<Service> {
        Ok(Service(HttpService::new(self, options, Tokio::current()?)?))
    }
}

/// A listener of byte streams.
trait Accept: Sync {
    type Stream: AsyncRead + AsyncWrite + Send + Unpin + 'static;

    /// Waits for a client; returns its address, if clients have addresses.
    fn accept_client(
        &self,
    ) -> impl Future<Output = io::Result<(Self::Stream, Option<IpAddr>)>> + Send;
}

impl Accept for TcpListener {
    type Stream = TcpStream;

    async fn accept_client(&self) -> io::Result<(TcpStream, Option<IpAddr>)> {
        let (stream, peer) = self.accept().await?;
        // T-87: disables Nagle's algorithm, as small messages must not wait for more.
        let _slower = stream.set_nodelay(true);
        Ok((stream, Some(peer.ip())))
    }
}

#[cfg(unix)]
impl Accept for UnixListener {
    type Stream = UnixStream;

    async fn accept_client(&self) -> io::Result<(UnixStream, Option<IpAddr>)> {
        Ok((self.accept().await?.0, None))
    }
}

/// Serves the clients of a listener until `stop` is set. Dropping the future closes them.
async fn serve(listening: Listening, listener: impl Accept, stop: &Stop) -> io::Result<()> {
    let outcome = loop {
        let accepted = tokio::select! {
            biased;
            () = stop.stopped() => break Ok(()),
            accepted = listener.accept_client() => accepted,
        };
        match accepted {
            Ok((stream, address)) => {
                let Some(connection) = listening.accept(address) else { continue };
                // Called inside the task: a future passed in would occupy its space twice.
                drop(tokio::spawn(async move {
                    connection.drive(TokioIo::new(stream), TokioTimer::new()).await;
                }));
            }
            // Too many open files, or a client that disconnected at once: the listener goes on.
            Err(error) if is_transient(&error) => tokio::time::sleep(PAUSE).await,
            Err(error) => break Err(error),
        }
    };
    drop(listener);
    listening.finish().await;
    outcome
}

fn is_transient(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted, WouldBlock};
    // 23 and 24 are ENFILE and EMFILE, which have no `ErrorKind`.
    matches!(error.kind(), ConnectionAborted | ConnectionReset | Interrupted | WouldBlock)
        || matches!(error.raw_os_error(), Some(23 | 24))
}

/// A server as a `tower` service. Cheap to clone; clones share sessions.
///
/// For hyper 1, wrap it in `hyper_util::service::TowerToHyperService`. The versions of HTTP are
/// those that the router or hyper speaks.
///
/// The service does not accept connections itself, so some options of [`Http`] have no effect:
/// [`connections_max`](super::HttpLimits::connections_max),
/// [`connections_per_address_max`](super::HttpLimits::connections_per_address_max) and
/// [`head_timeout`](super::HttpLimits::head_timeout). Limit connections where your program accepts
/// them.
///
/// The limits on sessions, streams and request bytes per client address apply only to requests with
/// a [`PeerAddress`] extension.
///
/// [`PeerAddress`]: super::PeerAddress
///
/// ```
/// # async fn example() -> std::io::Result<()> {
/// use mcp_tokio::Server;
/// use mcp_tokio::http::{Http, ServeHttp};
///
/// // The router matches the path. With axum: `Router::new().route_service("/mcp", service)`.
/// let service = Server::new("weather", "1.0.0").http_service(Http::new().any_path())?;
/// # drop(service);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Service(HttpService);

impl Service {
    /// Processes an HTTP request and returns the response, which may be an event stream.
    pub async fn respond<B>(&self, request: Request<B>) -> Response<ResponseBody>
    where
        B: http_body::Body,
        B::Error: Into<Box<dyn StdError + Send + Sync>>,
    {
        self.0.respond(request).await
    }

    /// Returns the number of open sessions.
    #[must_use]
    pub fn sessions(&self) -> usize {
        self.0.sessions()
    }

    /// Returns the live counters of this service.
    #[must_use]
    pub fn stats(&self) -> HttpStats {
        self.0.stats()
    }

    /// Ends all sessions and subscriptions of `principal` and returns their number; see
    /// [`SessionControl::end_principal`](super::SessionControl::end_principal).
    pub fn end_principal(&self, principal: &Principal) -> usize {
        self.0.end_principal(principal)
    }

    /// Ends all sessions and subscriptions, and rejects new ones.
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
    type Response = Response<ResponseBody>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<ResponseBody>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let service = self.clone();
        Box::pin(async move { Ok(service.respond(request).await) })
    }
}

/// How long to wait after a transient error before accepting again.
const PAUSE: Duration = Duration::from_millis(50);
