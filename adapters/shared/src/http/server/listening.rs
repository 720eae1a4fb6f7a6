//! Drives the connections of a listening server within the limits, and closes them when it stops.

use std::convert::Infallible;
use std::error::Error as StdError;
use std::future::{Future, poll_fn, ready};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use futures_lite::future::or;
#[cfg(feature = "tls")]
use futures_lite::future::poll_once;
use http::HeaderValue;
use http::header::CONNECTION;
use hyper::rt::{Read, Timer, Write};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use mcp_proto::http::Refusal;

use super::budget::{PeerAddress, Rejection};
#[cfg(feature = "tls")]
use super::http2;
use super::idle_timer::IdleTimer;
use super::request_body::RequestBody;
use super::service::HttpService;
use super::socket_guard::{LINGER_TIMEOUT, SocketGuard};
use super::sockets::{OpenSocket, SocketEnd, Sockets};
use super::stop::Stop;
use crate::box_future::BoxFuture;

/// A listener of byte streams, on the runtime `R`.
pub trait Accept<R>: Sync {
    /// A connection.
    type Stream: Read + Write + Send + Unpin + 'static;

    /// Waits for a client; returns its address, if clients have addresses.
    fn accept_client(
        &self,
    ) -> impl Future<Output = io::Result<(Self::Stream, Option<IpAddr>)>> + Send;
}

/// The connections of an HTTP server that have been accepted from its listener.
///
/// Dropping this value closes the connections and ends the server's sessions.
pub struct Listening {
    service: HttpService,
    sockets: Arc<Sockets>,
    stop: Stop,
}

/// An accepted connection. A task must run it with [`drive`](Self::drive).
struct AcceptedConnection {
    service: HttpService,
    socket: OpenSocket,
    address: Option<IpAddr>,
}

impl Listening {
    /// Creates an empty set of connections to `service`, whose listener is bound to `address`.
    ///
    /// # Errors
    /// Fails if other machines can reach the listener, but the options name no host for them.
    pub fn new(service: HttpService, address: SocketAddr, stop: &Stop) -> io::Result<Self> {
        // `Host: localhost` says nothing about where a request is from.
        if !address.ip().to_canonical().is_loopback() && !service.names_hosts() {
            let why = format!(
                "the listener is bound to {address}, where other machines can connect, but the \
                 options accept only hosts that are this machine: bind it to 127.0.0.1, or allow \
                 hosts with `Http::host` or `Http::any_host`"
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        Ok(Self::local(service, stop))
    }

    /// Like [`new`](Self::new), for a listener that only this machine can reach, such as a Unix
    /// socket.
    #[must_use]
    pub fn local(service: HttpService, stop: &Stop) -> Self {
        let sockets = service.sockets();
        Self { service, sockets, stop: stop.clone() }
    }

    /// Serves the clients of a listener until the stop signal is set. Dropping the future closes
    /// their connections.
    ///
    /// # Errors
    /// Fails if the listener does, or if a connection cannot be driven in the background.
    pub async fn serve<R>(
        self,
        listener: impl Accept<R>,
        timer: impl Timer + Clone + Send + Sync + 'static,
    ) -> io::Result<()> {
        let runtime = Arc::clone(self.service.runtime());
        let outcome = loop {
            let stopped = async {
                self.stop.stopped().await;
                None
            };
            match or(stopped, async { Some(listener.accept_client().await) }).await {
                None => break Ok(()),
                Some(Ok((stream, address))) => {
                    let Some(connection) = self.accept(address) else { continue };
                    let timer = timer.clone();
                    // Called inside the task: a future passed in would occupy its space twice.
                    let driving = async move { connection.drive(stream, timer).await };
                    // Without a thread that runs it, the connection was closed.
                    if let Err(error) = runtime.spawn(Box::pin(driving)) {
                        break Err(error);
                    }
                }
                Some(Err(error)) if is_transient(&error) => runtime.sleep(PAUSE).await,
                Some(Err(error)) => break Err(error),
            }
        };
        drop(listener);
        self.finish().await;
        outcome
    }

    /// Adds a connection from `address`.
    ///
    /// A connection without an address, over a Unix socket, is not subject to limits per address.
    ///
    /// A connection beyond a limit is also returned; its request receives status 429 or 503.
    /// Returns `None` if 64 such connections are already open. The caller must then close the
    /// socket.
    fn accept(&self, address: Option<IpAddr>) -> Option<AcceptedConnection> {
        let socket = self.sockets.admit(address)?;
        Some(AcceptedConnection { service: self.service.clone(), socket, address })
    }

    /// Sets the stop signal, ends all sessions, closes each connection after its request in
    /// progress, and waits for that up to
    /// [`HttpLimits::drain_timeout`](crate::http::HttpLimits::drain_timeout).
    async fn finish(self) {
        self.stop.stop();
        self.service.close();
        self.sockets.end_all(SocketEnd::Graceful);
        let drained = self.service.runtime().sleep(self.service.drain_timeout() + LAST_WRITES);
        or(self.sockets.all_closed(), drained).await;
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.service.close();
        self.sockets.end_all(SocketEnd::Abort);
    }
}

impl AcceptedConnection {
    /// Serves HTTP over `io` until the connection ends: HTTP/1.1, and with the feature `tls` also
    /// HTTP/2 if the client starts with it.
    async fn drive<I, T>(self, io: I, timer: T)
    where
        I: Read + Write + Unpin,
        T: Timer,
    {
        let Self { service, socket, address } = self;
        let address = address.map(PeerAddress);
        let is_refused = socket.rejection.is_some();
        let (head_timeout, idle_max, linger_timeout) = if is_refused {
            (REFUSAL_TIMEOUT, REFUSAL_TIMEOUT, REFUSAL_TIMEOUT)
        } else {
            (service.head_timeout(), service.connection_idle_max(), LINGER_TIMEOUT)
        };
        let mut idle_timer = IdleTimer::new(timer, head_timeout, idle_max);
        let runtime = Arc::clone(service.runtime());
        let sleep = move |duration| runtime.sleep(duration);
        let stall_timeout = service.stall_timeout();
        let io = SocketGuard::new(io, stall_timeout, linger_timeout, sleep, socket.meter());
        #[cfg(feature = "tls")]
        let mut io = http2::Prefixed::new(io);
        #[cfg(feature = "tls")]
        match protocol(&mut io, &service, &socket, head_timeout).await {
            Some(Protocol::Http1) => {}
            None => return,
            Some(Protocol::Http2) => {
                let drain = service.drain_timeout() + LAST_WRITES;
                let times = http2::ConnectionTimes { head: head_timeout, idle: idle_max, drain };
                // Boxed: inline it would enlarge connections of HTTP/1.1.
                let connection =
                    http2::drive(io, &service, &socket, address, times, connection_refusal);
                if Box::pin(connection).await.is_some_and(|error| has_stalled(&error)) {
                    socket.count_stall();
                }
                return;
            }
        }
        let answer = service_fn(|request: hyper::Request<hyper::body::Incoming>| {
            let in_flight = socket.begin();
            // Boxed: inline it would enlarge the connection for its whole life. Boxed before the
            // block below, which would hold it twice.
            let request = request.map(|body| RequestBody::new(body, socket.meter()));
            let response: BoxFuture<'static, _> = match socket.rejection {
                Some(rejection) => Box::pin(ready(service.refuse(connection_refusal(rejection)))),
                None => Box::pin(service.respond_to(address, request)),
            };
            let meter = socket.meter();
            async move {
                let mut response = response.await;
                // RFC 9112, section 9.6: the client must not send another request.
                if meter.has_long_rest() {
                    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
                }
                response.body_mut().keep_busy(in_flight);
                Ok::<_, Infallible>(response)
            }
        });
        let mut builder = http1::Builder::new();
        builder.keep_alive(!is_refused).header_read_timeout(None).max_buf_size(HEAD_BYTES_MAX);
        let mut connection = pin!(builder.serve_connection(io, answer));
        let ended = async { Some(serve(connection.as_mut(), &mut idle_timer, &socket).await) };
        let stopped = async {
            socket.ends(SocketEnd::Graceful).await;
            None
        };
        if let Some(outcome) = or(ended, stopped).await {
            if outcome.is_err_and(|error| has_stalled(&error)) {
                socket.count_stall();
            }
            return;
        }
        connection.as_mut().graceful_shutdown();
        let ended = async {
            let _ended = serve(connection.as_mut(), &mut idle_timer, &socket).await;
        };
        let drained = or(ended, service.runtime().sleep(service.drain_timeout() + LAST_WRITES));
        or(socket.ends(SocketEnd::Abort), drained).await;
    }
}

/// Serves a connection until it ends, or is idle for too long.
async fn serve<T: Timer>(
    mut connection: Pin<&mut impl Future<Output = hyper::Result<()>>>,
    idle_timer: &mut IdleTimer<T>,
    socket: &OpenSocket,
) -> hyper::Result<()> {
    poll_fn(|context| match connection.as_mut().poll(context) {
        Poll::Pending => idle_timer.poll(socket.activity(), context).map(Ok),
        ended @ Poll::Ready(_) => ended,
    })
    .await
}

/// The protocol of a connection.
#[cfg(feature = "tls")]
enum Protocol {
    Http1,
    Http2,
}

/// Waits for the first bytes of a connection. Returns `None` if the connection must be closed.
#[cfg(feature = "tls")]
async fn protocol<I: Read + Unpin>(
    io: &mut http2::Prefixed<I>,
    service: &HttpService,
    socket: &OpenSocket,
    head_timeout: Duration,
) -> Option<Protocol> {
    let detected = async {
        let is_http2 = http2::is_http2(io).await.ok()?;
        Some(if is_http2 { Protocol::Http2 } else { Protocol::Http1 })
    };
    let mut detected = pin!(detected);
    // Most clients send their first request when they connect, and need no timer.
    if let Some(detected) = poll_once(detected.as_mut()).await {
        return detected;
    }
    let ended = async {
        or(socket.ends(SocketEnd::Graceful), service.runtime().sleep(head_timeout)).await;
        None
    };
    or(detected, ended).await
}

fn connection_refusal(rejection: Rejection) -> Refusal {
    let why = match rejection {
        Rejection::Address => {
            "too many connections from this address (`HttpLimits::connections_per_address_max`)"
        }
        Rejection::Service => "too many connections (`HttpLimits::connections_max`)",
    };
    Refusal::new(rejection.status(), why).header("retry-after", "1")
}

/// Returns whether a connection failed because its peer has stopped reading.
fn has_stalled(error: &hyper::Error) -> bool {
    error
        .source()
        .and_then(|cause| cause.downcast_ref::<io::Error>())
        .is_some_and(|cause| cause.kind() == io::ErrorKind::TimedOut)
}

opaque_debug!(Listening, it => service: it.service);

/// Returns whether the listener may accept again after this error: too many files are open, or a
/// client has disconnected immediately.
fn is_transient(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted, WouldBlock};
    // 23 and 24 are ENFILE and EMFILE, which have no `ErrorKind`.
    matches!(error.kind(), ConnectionAborted | ConnectionReset | Interrupted | WouldBlock)
        || matches!(error.raw_os_error(), Some(23 | 24))
}

/// How long to wait after a transient error before accepting again.
const PAUSE: Duration = Duration::from_millis(50);

/// How long a stopping server continues sending responses after its requests have ended.
const LAST_WRITES: Duration = Duration::from_millis(250);

/// How long a refused connection may take to send the head of its request, and for each part of
/// the rest, or to close, after the response.
const REFUSAL_TIMEOUT: Duration = Duration::from_secs(1);

/// The maximum size of a request head.
const HEAD_BYTES_MAX: usize = 64 * 1024;
