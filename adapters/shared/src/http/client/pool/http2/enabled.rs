//! Connections over HTTP/2, each shared by many exchanges.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, ready};
use std::time::{Duration, Instant};

use event_listener::Event;
use http::header::HOST;
use http::{Request, Response, Version};
use hyper::body::Incoming;
use hyper::client::conn::http2::{Builder, Connection, SendRequest};
use hyper::rt::Executor;

use crate::exec::watched::Watched;
use crate::exec::workers::Spawn;
use crate::http::client::full_body::FullBody;
use crate::http::client::http_send::SendError;
use crate::http::client::pool::permit::{Permit, Permits};
use crate::http::client::pool_options::HttpVersion;
use crate::http::client::remote::Remote;
use crate::http::dial::{ByteStream, Dial};
use crate::http::hyper_stream::HyperStream;

/// The maximum number of streams of a connection. The peer may allow fewer.
const STREAMS_MAX: usize = 100;

/// The number of bytes that the server may send before the adapter reads them: for each stream, and
/// for all of a connection. A stream that is not read thus never holds up the others.
const STREAM_WINDOW: u32 = 64 << 10;
const CONNECTION_WINDOW: u32 = STREAM_WINDOW * STREAMS_MAX as u32;

/// The maximum length of the fields of a response.
const FIELDS_BYTES_MAX: u32 = 64 << 10;

/// The maximum number of bytes of a request that are buffered for sending.
const SEND_BUFFER_BYTES_MAX: usize = 64 << 10;

type Stream = HyperStream<Box<dyn ByteStream>>;

/// The connections over HTTP/2 to one server.
#[derive(Default)]
pub(in crate::http::client::pool) struct Http2Pool {
    connections: Mutex<Vec<Arc<SharedConnection>>>,
    opening: Watched<Opening>,
}

#[derive(Default)]
struct Opening {
    /// A connection is being opened, for all exchanges that wait.
    is_running: bool,
    /// The number of such connections that could not be opened.
    failures: u64,
    /// The server has chosen HTTP/2 before.
    is_http2: bool,
}

/// A connection that exchanges share.
struct SharedConnection {
    sender: SendRequest<FullBody>,
    state: Arc<ConnectionState>,
    permits: Arc<Permits>,
}

/// The state of a connection, which its driver updates.
struct ConnectionState {
    /// The number of streams that the peer allows; 0 until it has said so.
    peer_max: AtomicUsize,
    /// The number of leases.
    streams: AtomicUsize,
    idle_since: Mutex<Instant>,
    /// The server accepts no more requests.
    is_retired: AtomicBool,
    /// Whether the connection can be used; `None` until that is known.
    is_open: Watched<Option<bool>>,
}

impl SharedConnection {
    fn is_open(&self) -> bool {
        !self.sender.is_closed() && !self.state.is_retired.load(Ordering::SeqCst)
    }

    fn has_room(&self) -> bool {
        let max = self.state.peer_max.load(Ordering::SeqCst).min(STREAMS_MAX);
        self.is_open() && self.state.streams.load(Ordering::SeqCst) < max
    }

    fn is_idle_for(&self, timeout: Duration) -> bool {
        let since = *self.state.idle_since.lock().unwrap_or_else(PoisonError::into_inner);
        self.state.streams.load(Ordering::SeqCst) == 0 && since.elapsed() >= timeout
    }
}

/// A place on a connection for one exchange. Dropping it gives the place to another exchange.
pub(in crate::http::client) struct Http2Lease(Arc<SharedConnection>);

impl Http2Lease {
    fn new(connection: &Arc<SharedConnection>) -> Self {
        connection.state.streams.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(connection))
    }

    pub(in crate::http::client::pool) fn is_open(&self) -> bool {
        self.0.is_open()
    }

    /// Sends a request. A request that the server has not processed is part of the error.
    pub(in crate::http::client::pool) async fn send(
        self,
        request: Request<FullBody>,
        remote: &Remote,
    ) -> Result<(Self, Response<Incoming>), (SendError, Option<Request<FullBody>>)> {
        let copy = request.clone();
        let request = match absolute(request, remote) {
            Ok(request) => request,
            Err(error) => return Err((SendError::unsent(error), None)),
        };
        match self.0.sender.clone().try_send_request(request).await {
            Ok(response) => Ok((self, response)),
            Err(error) => {
                let is_unsent = error.message().is_some();
                let cause = error.into_error();
                if !is_unsent && !self.is_refused(&cause) {
                    return Err((SendError::lost(cause), None));
                }
                Err((SendError::unsent(cause), Some(copy)))
            }
        }
    }

    /// Returns whether the server states that it has not processed the request.
    fn is_refused(&self, error: &hyper::Error) -> bool {
        let error = std::error::Error::source(error).and_then(|cause| cause.downcast_ref());
        let Some(error): Option<&h2::Error> = error else { return false };
        // Requests that the server had begun when it sent GOAWAY are finished; an error for one
        // that it had not is this one. With another reason, both have that error.
        let is_going_away = error.is_go_away() && error.reason() == Some(h2::Reason::NO_ERROR);
        if is_going_away {
            self.0.state.is_retired.store(true, Ordering::SeqCst);
        }
        let is_reset = error.is_reset() && error.reason() == Some(h2::Reason::REFUSED_STREAM);
        error.is_remote() && (is_going_away || is_reset)
    }
}

impl Drop for Http2Lease {
    fn drop(&mut self) {
        let state = &self.0.state;
        *state.idle_since.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        state.streams.fetch_sub(1, Ordering::SeqCst);
        self.0.permits.notify();
    }
}

/// Returns a request with its whole URL, from which HTTP/2 takes scheme and authority.
fn absolute(
    mut request: Request<FullBody>,
    remote: &Remote,
) -> Result<Request<FullBody>, http::uri::InvalidUri> {
    *request.uri_mut() = remote.url_of(request.uri()).parse()?;
    *request.version_mut() = Version::HTTP_2;
    request.headers_mut().remove(HOST);
    Ok(request)
}

impl Http2Pool {
    fn connections(&self) -> MutexGuard<'_, Vec<Arc<SharedConnection>>> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a place on a connection, if one has room.
    pub(in crate::http::client::pool) fn lease(&self) -> Option<Http2Lease> {
        // Under the lock, so that no two leases take one place.
        let mut connections = self.connections();
        connections.retain(|connection| connection.is_open());
        connections.iter().find(|connection| connection.has_room()).map(Http2Lease::new)
    }

    pub(in crate::http::client::pool) fn is_empty(&self) -> bool {
        self.connections().is_empty()
    }

    /// Closes all connections, each after its last exchange.
    pub(in crate::http::client::pool) fn close(&self) {
        self.connections().clear();
    }

    pub(in crate::http::client::pool) fn close_idle(&self, timeout: Duration) {
        self.connections().retain(|it| it.is_open() && !it.is_idle_for(timeout));
    }

    /// Waits until no other exchange opens a connection that this one could share.
    ///
    /// After the first of these connections that cannot be opened, the exchange waits no longer:
    /// one after the other, each might wait for the whole timeout.
    pub(in crate::http::client::pool) async fn connecting(
        &self,
        version: HttpVersion,
        patience: &mut Patience,
    ) -> OpeningGuard<'_> {
        let may_share = |opening: &mut Opening| {
            if version != HttpVersion::Http2 && !opening.is_http2 {
                return Some(false);
            }
            if *patience.0.get_or_insert(opening.failures) != opening.failures {
                return Some(false);
            }
            (!std::mem::replace(&mut opening.is_running, true)).then_some(true)
        };
        let is_for_all = self.opening.when(may_share).await;
        OpeningGuard(is_for_all.then_some(self))
    }

    /// Begins HTTP/2 on a stream, and waits for the settings of the server.
    pub(in crate::http::client::pool) async fn open(
        &self,
        stream: Box<dyn ByteStream>,
        runtime: &Arc<dyn Dial>,
        permit: Permit,
    ) -> io::Result<Http2Lease> {
        let spawn = Arc::clone(runtime) as Arc<dyn Spawn>;
        let polled = Arc::new(Event::new());
        let executor = NotifyingExecutor { spawn: Arc::clone(&spawn), polled: Arc::clone(&polled) };
        let mut builder = Builder::new(executor);
        builder
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .max_header_list_size(FIELDS_BYTES_MAX)
            .max_send_buf_size(SEND_BUFFER_BYTES_MAX)
            // None until the server has said how many.
            .initial_max_send_streams(0);
        let (sender, connection) =
            builder.handshake(HyperStream(stream)).await.map_err(io::Error::other)?;
        let state = Arc::new(ConnectionState {
            peer_max: AtomicUsize::new(0),
            streams: AtomicUsize::new(0),
            idle_since: Mutex::new(Instant::now()),
            is_retired: AtomicBool::new(false),
            is_open: Watched::new(None),
        });
        let permits = permit.permits();
        spawn.spawn(Box::pin(drive(connection, Arc::clone(&state), polled, permit)))?;
        if !state.is_open.when(|is_open| *is_open).await {
            let why = "the server ended the connection instead of beginning HTTP/2";
            return Err(io::Error::new(io::ErrorKind::ConnectionAborted, why));
        }
        let connection = Arc::new(SharedConnection { sender, state, permits });
        let lease = Http2Lease::new(&connection);
        self.connections().push(connection);
        self.opening.lock().is_http2 = true;
        Ok(lease)
    }
}

/// Drives a connection to its end.
async fn drive(
    mut connection: Connection<Stream, FullBody, NotifyingExecutor>,
    state: Arc<ConnectionState>,
    polled: Arc<Event>,
    permit: Permit,
) {
    let mut waiting = None;
    poll_fn(|context| {
        // The exchanges report how the connection ends.
        if Pin::new(&mut connection).poll(context).is_ready() {
            return Poll::Ready(());
        }
        loop {
            let max = connection.current_max_send_streams();
            state.peer_max.store(max, Ordering::SeqCst);
            if max > 0 {
                if state.is_open.lock().is_none() {
                    state.is_open.change(|is_open| *is_open = Some(true));
                }
                return Poll::Pending;
            }
            if waiting.is_none() {
                waiting = Some(polled.listen());
                // The settings may have arrived before.
                continue;
            }
            if let Some(listener) = &mut waiting {
                ready!(Pin::new(listener).poll(context));
            }
            waiting = None;
        }
    })
    .await;
    state.is_open.change(|is_open| *is_open = Some(false));
    drop(permit);
}

/// Allows another exchange to open a connection for all when dropped, if this one did.
pub(in crate::http::client::pool) struct OpeningGuard<'p>(Option<&'p Http2Pool>);

impl OpeningGuard<'_> {
    /// Reports whether the connection was opened.
    pub(in crate::http::client::pool) fn finish(self, is_open: bool) {
        if let Some(pool) = self.0.filter(|_| !is_open) {
            pool.opening.lock().failures += 1;
        }
    }
}

impl Drop for OpeningGuard<'_> {
    fn drop(&mut self) {
        if let Some(pool) = self.0 {
            pool.opening.change(|opening| opening.is_running = false);
        }
    }
}

/// The failures that an exchange has seen before it first waited.
#[derive(Default)]
pub(in crate::http::client::pool) struct Patience(Option<u64>);

/// Runs the tasks of a connection, one of which reads its frames.
#[derive(Clone)]
struct NotifyingExecutor {
    spawn: Arc<dyn Spawn>,
    /// Notified after each poll of a task.
    polled: Arc<Event>,
}

impl<F: Future<Output = ()> + Send + 'static> Executor<F> for NotifyingExecutor {
    fn execute(&self, future: F) {
        let polled = Arc::clone(&self.polled);
        let mut future = Box::pin(future);
        let task = poll_fn(move |context| {
            let result = future.as_mut().poll(context);
            polled.notify(usize::MAX);
            result
        });
        // A runtime that rejects futures is shutting down, and the connection with it.
        let _shutting_down = self.spawn.spawn(Box::pin(task));
    }
}
