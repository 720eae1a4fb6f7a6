//! The trait of layers, and the rest of a request as a layer sees it.

use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::function::run_function;
use super::incoming::Incoming;
use super::response::Response;
use crate::box_future::BoxFuture;
use crate::exec::pace::Pace;
use crate::exec::workers::catch_panic;
use crate::server::handler::Job;
use crate::server::handler::context::Cx;
use crate::server::handler::handler_error::HandlerError;
use crate::server::handler::replies::handler_failed;
use crate::server::handler::reply::BoxedResult;

/// Middleware of a server: code that runs around its requests.
///
/// Every function or closure that takes an [`Incoming`] and a [`Next`] and returns a future of a
/// [`Response`] is a layer. Name the types of the parameters of a closure.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// use mcp_tokio::layers::{Incoming, Layer, Next, Response};
/// use mcp_tokio::{BoxFuture, Server};
///
/// #[derive(Default)]
/// struct CountRequests(AtomicU64);
///
/// impl Layer for CountRequests {
///     fn call(&self, request: Incoming, next: Next) -> BoxFuture<'static, Response> {
///         self.0.fetch_add(1, Ordering::Relaxed);
///         Box::pin(next.run(request))
///     }
/// }
///
/// let server = Server::new("notes", "1.0.0").layer(CountRequests::default());
/// # drop(server);
/// ```
pub trait Layer: Send + Sync + 'static {
    /// Handles a request.
    ///
    /// `next.run(request)` passes the request to the inner layers and the handler. Without this
    /// call, the returned response answers the request.
    fn call(&self, request: Incoming, next: Next) -> BoxFuture<'static, Response>;
}

impl<L, F> Layer for L
where
    L: Fn(Incoming, Next) -> F + Send + Sync + 'static,
    F: Future<Output = Response> + Send + 'static,
{
    fn call(&self, request: Incoming, next: Next) -> BoxFuture<'static, Response> {
        Box::pin(self(request, next))
    }
}

/// Starts the layers of a request around its job.
type Start = fn(&Arc<Layers>, Cx, Job, &Arc<Pace>);

/// The layers of a server, outermost first.
#[derive(Clone)]
pub(crate) struct Layers {
    stack: Vec<Arc<dyn Layer>>,
    start: Start,
    /// The pace of requests without a handler, such as lists.
    pub(super) pace: Arc<Pace>,
}

impl Layers {
    /// Creates an empty stack.
    ///
    /// Only the first layer of a server names `start`: programs without layers do not link it.
    pub(crate) fn new(start: Start) -> Self {
        Self { stack: Vec::new(), start, pace: Arc::default() }
    }

    /// Starts the layers of a request around its job, where the job would run without layers.
    pub(crate) fn start(self: &Arc<Self>, cx: Cx, job: Job, pace: &Arc<Pace>) {
        (self.start)(self, cx, job, pace);
    }

    pub(crate) fn push(&mut self, layer: impl Layer) {
        self.stack.push(Arc::new(layer));
    }
}

/// The inner layers of a request and its handler.
#[must_use = "without `run`, the layer answers the request itself"]
// Boxed because each layer moves it several times.
pub struct Next(Box<Rest>);

struct Rest {
    layers: Arc<Layers>,
    /// The index of the next layer.
    index: usize,
    job: Job,
}

impl Next {
    pub(super) fn new(layers: Arc<Layers>, job: Job) -> Self {
        Self(Box::new(Rest { layers, index: 0, job }))
    }

    /// Passes a request to the next layer, or to the handler, and returns its response.
    ///
    /// If the handler panics, the response is an internal error. [`Layer::call`] of the next layer
    /// runs immediately, a handler when the future is polled. Dropping the future ends the
    /// request's inner layers and an asynchronous handler.
    pub fn run(mut self, request: Incoming) -> impl Future<Output = Response> + Send + 'static {
        let state = Arc::clone(&request.cx().request);
        let index = self.0.index;
        let mut rest = match self.0.layers.stack.get(index).cloned() {
            Some(layer) => {
                self.0.index = index + 1;
                layer.call(request, self)
            }
            None => Box::pin(run_job(self.0.job, request)),
        };
        poll_fn(move |cx| rest.as_mut().poll(cx).map(|response| response.resolved(&state)))
    }

    /// Returns whether a handler serves `request`; if not, its response is known already.
    #[cfg(feature = "tracing")]
    pub(super) fn has_handler(&self, request: &Incoming) -> bool {
        !Arc::ptr_eq(&request.cx().request.pace, &self.0.layers.pace)
    }

    /// Returns whether the handler is a function, which the layers cannot interrupt.
    pub(super) const fn is_function(&self) -> bool {
        matches!(self.0.job, Job::Sync(_))
    }
}

async fn run_job(job: Job, request: Incoming) -> Response {
    match job {
        Job::Async(job) => {
            let state = Arc::clone(&request.cx().request);
            let done = catch_panic(job(request.into_cx())).await;
            state.has_run.store(true, Ordering::Relaxed);
            outcome(done)
        }
        Job::Sync(job) => outcome(run_function(request, |cx| {
            cx.request.has_run.store(true, Ordering::Relaxed);
            job(cx)
        })),
    }
}

/// Returns the response for the outcome of a handler; `None` if it panicked.
fn outcome(outcome: Option<Result<BoxedResult, HandlerError>>) -> Response {
    Response(outcome.unwrap_or_else(|| Err(HandlerError::refused(handler_failed()))))
}

opaque_debug!(Next, it => index: it.0.index);
