//! [`BlockingClient`]: HTTP clients whose functions block, on their own threads.

use std::io::{self, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use event_listener::EventListener;
use futures_lite::future::block_on;
use http::{Request, Response};
use http_body::Frame;

use super::http_send::{HttpSend, ReceivedBody, SendError};
use crate::box_future::BoxFuture;
use crate::exec::thread_pool::ThreadPool;
use crate::exec::watched::Watched;

/// The default of [`BlockingClient::threads_max`].
const THREADS_MAX: usize = 256;

/// The maximum length of a piece of a body.
const CHUNK_BYTES: usize = 16 << 10;

type BoxRead = Box<dyn Read + Send>;
type Exchange = dyn Fn(Request<Bytes>) -> Result<Response<BoxRead>, SendError> + Send + Sync;

/// An [`HttpSend`] that runs a blocking function on a bounded pool of threads.
///
/// The function returns the head of the response and a reader of its body. Each exchange occupies
/// a thread until its body has been read. A body is read in pieces of up to 16 KiB, at most two of
/// which are buffered: the thread waits while the adapter has no room.
///
/// A blocking read cannot be interrupted. If an exchange is aborted, its thread drops the reader,
/// which should close the connection, when the read in progress returns: at the next piece of the
/// body, such as the keep-alive comment that servers send, or at the end of the stream. Until then
/// the thread counts twice: pools of aborted exchanges may have up to twice as many threads as the
/// [maximum](Self::threads_max).
///
/// The concerns that [`HttpSend`] lists apply to the function.
///
/// Cost: a thread for each exchange in flight, for an event stream as long as it lasts, and 32 KiB
/// of buffers. Idle threads end after at most two seconds.
///
/// ```
/// # use mcp_adapter as mcp_blocking;
/// use std::io::{self, Read};
///
/// use bytes::Bytes;
/// use http::{Request, Response};
/// use mcp_blocking::http::{BlockingClient, Remote, SendError};
///
/// fn exchange(request: Request<Bytes>) -> io::Result<Response<impl Read + Send + 'static>> {
///     // Calls the HTTP client of the program.
/// #   let _ = request;
///     Ok(Response::new(io::empty()))
/// }
///
/// let client = BlockingClient::new(|request| exchange(request).map_err(SendError::lost));
/// let remote = Remote::with_client("https://example.com/mcp", client.threads_max(200));
/// # drop(remote);
/// ```
#[must_use]
pub struct BlockingClient {
    exchange: Arc<Exchange>,
    threads: Arc<ThreadPool<u64, u64>>,
}

impl BlockingClient {
    /// Creates a client that calls `exchange` for each request.
    ///
    /// `exchange` runs on a thread of the pool, and may block. If it panics, the request fails as
    /// with [`SendError::lost`].
    pub fn new<B: Read + Send + 'static>(
        exchange: impl Fn(Request<Bytes>) -> Result<Response<B>, SendError> + Send + Sync + 'static,
    ) -> Self {
        let boxed =
            move |request| exchange(request).map(|response| response.map(|it| Box::new(it) as _));
        Self { exchange: Arc::new(boxed), threads: Arc::new(ThreadPool::new(THREADS_MAX)) }
    }

    /// Sets the maximum number of threads, at least 1. Default: 256.
    ///
    /// Further exchanges wait, in order. The maximum must exceed the sum of [calls in
    /// flight](super::remote::Remote::concurrent_calls_max) (128 by default), streams and
    /// subscriptions. Otherwise, a call can deadlock: it may need a response of this client to the
    /// server, for which no thread is left.
    pub fn threads_max(mut self, max: usize) -> Self {
        self.threads = Arc::new(ThreadPool::new(max));
        self
    }
}

opaque_debug!(BlockingClient);

impl HttpSend for BlockingClient {
    fn send(
        &self,
        request: Request<Bytes>,
    ) -> BoxFuture<'_, Result<Response<ReceivedBody>, SendError>> {
        static KEYS: AtomicU64 = AtomicU64::new(0);
        let key = KEYS.fetch_add(1, Ordering::Relaxed);
        let flow = Arc::new(Watched::new(Flow::default()));
        let (exchange, out) = (Arc::clone(&self.exchange), Arc::clone(&flow));
        let job = move || {
            let out = EndOnDrop(out);
            let Ok(sent) = catch_unwind(AssertUnwindSafe(|| exchange(request))) else { return };
            let body = match sent {
                Ok(response) => {
                    let (parts, body) = response.into_parts();
                    let head = Ok(Response::from_parts(parts, ()));
                    out.0.change(|flow| flow.head = Some(head));
                    body
                }
                Err(error) => return out.0.change(|flow| flow.head = Some(Err(error))),
            };
            // A reader that panics cuts its body off.
            let _cut = catch_unwind(AssertUnwindSafe(|| pump(body, &out.0)));
        };
        // A lane for each: all are equal, and begin in order.
        self.threads.queue(key, key, Box::new(job));
        self.threads.start();
        // Created before the first poll: a future that is dropped unpolled aborts, too.
        let mut body = ChunkedBody { flow, key, threads: Arc::clone(&self.threads), waiting: None };
        Box::pin(async move {
            let head = std::future::poll_fn(|context| body.poll_head(context)).await?;
            Ok(head.map(|()| ReceivedBody::new(body)))
        })
    }
}

/// An exchange between the thread that runs it and the adapter.
#[derive(Default)]
struct Flow {
    head: Option<Result<Response<()>, SendError>>,
    /// The next piece of the body, until the adapter takes it; empty at its end.
    chunk: Option<io::Result<Bytes>>,
    /// The thread has ended.
    is_over: bool,
    /// The adapter has dropped the body.
    is_aborted: bool,
}

/// Reads a body to its end, or until the exchange is aborted.
fn pump(mut body: BoxRead, flow: &Watched<Flow>) {
    let mut buffer = vec![0; CHUNK_BYTES];
    loop {
        let chunk = match body.read(&mut buffer) {
            Ok(length) => Ok(Bytes::copy_from_slice(buffer.get(..length).unwrap_or_default())),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
        let is_last = chunk.as_ref().map_or(true, Bytes::is_empty);
        let may_write =
            flow.when(|flow| (flow.is_aborted || flow.chunk.is_none()).then_some(!flow.is_aborted));
        if !block_on(may_write) {
            return;
        }
        flow.change(|flow| flow.chunk = Some(chunk));
        if is_last {
            return;
        }
    }
}

/// Marks an exchange as over when dropped, however its thread ends.
struct EndOnDrop(Arc<Watched<Flow>>);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        self.0.change(|flow| flow.is_over = true);
    }
}

/// The body that a thread reads. Dropping it aborts the exchange.
struct ChunkedBody {
    flow: Arc<Watched<Flow>>,
    key: u64,
    threads: Arc<ThreadPool<u64, u64>>,
    waiting: Option<EventListener>,
}

impl ChunkedBody {
    fn poll_head(&mut self, context: &mut Context<'_>) -> Poll<Result<Response<()>, SendError>> {
        self.flow.poll_when(context, &mut self.waiting, |flow| {
            let panicked = || Err(SendError::lost("the blocking client panicked"));
            flow.head.take().or_else(|| flow.is_over.then(panicked))
        })
    }
}

impl http_body::Body for ChunkedBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let this = self.get_mut();
        let polled = this.flow.poll_when(context, &mut this.waiting, |flow| {
            let cut = || Err(io::Error::from(io::ErrorKind::UnexpectedEof));
            // Left in place, so that the end can be polled repeatedly.
            if matches!(&flow.chunk, Some(Ok(last)) if last.is_empty()) {
                return Some(Ok(Bytes::new()));
            }
            flow.chunk.take().or_else(|| flow.is_over.then(cut))
        });
        polled.map(|chunk| match chunk {
            Ok(last) if last.is_empty() => None,
            chunk => {
                // Lets the thread write the next piece.
                this.flow.change(|_| {});
                Some(chunk.map(Frame::data))
            }
        })
    }
}

impl Drop for ChunkedBody {
    fn drop(&mut self) {
        self.flow.change(|flow| flow.is_aborted = true);
        self.threads.cancel(&self.key);
    }
}

#[cfg(test)]
mod tests;
