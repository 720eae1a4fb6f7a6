//! A layer that reports how each request ended, for metrics.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use mcp_proto::schema::Str;
use mcp_proto::{Instant, Principal};

use super::incoming::{Incoming, name_of};
use super::layer::{Layer, Next};
use super::response::Response;
use crate::box_future::BoxFuture;
use crate::outcome::Outcome;
use crate::server::handler::context::Cx;

/// Creates a layer that calls `callback` when a request has ended.
///
/// `callback` also runs for requests that were cancelled or whose inner layers panicked. It does
/// not run for a request that was cancelled before it reached the layers, while it waited for a
/// thread: see [`Server::threads_max`](crate::Server::threads_max). It runs before the response is
/// sent and must not block. If it panics, the request fails with an internal error.
///
/// The text of [`Observation::name`] comes from the client: use it as the label of a metric only
/// for requests that did not fail, or if it is in a list of known names.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::Server;
/// use mcp_tokio::layers::observe;
///
/// let server = Server::new("weather", "1.0.0").layer(observe(|request| {
///     let (method, outcome) = (request.method(), request.outcome().as_str());
///     eprintln!("{method} {outcome} {:?}", request.duration());
/// }));
/// # drop(server);
/// ```
pub fn observe(callback: impl Fn(&Observation<'_>) + Send + Sync + 'static) -> Observe {
    Observe(Arc::new(callback))
}

/// A layer that reports how each request ended; see [`observe`].
#[derive(Clone)]
pub struct Observe(Arc<dyn Fn(&Observation<'_>) + Send + Sync>);

/// A request that has ended, for [`observe`].
pub struct Observation<'a> {
    cx: &'a Cx,
    outcome: Outcome,
    error_code: Option<i64>,
    duration: Duration,
}

impl Observation<'_> {
    /// Returns the method, such as `tools/call`.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.cx.request.request.method
    }

    /// Returns the name or URI in the request; see [`Incoming::name`].
    #[must_use]
    pub fn name(&self) -> Option<Str> {
        name_of(&self.cx.request.request)
    }

    /// Returns the authenticated sender of the request; `None` if it is not authenticated.
    #[must_use]
    pub fn principal(&self) -> Option<&Principal> {
        self.cx.principal()
    }

    /// Returns how the request ended.
    #[must_use]
    pub const fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// Returns the code of the JSON-RPC error, if the request failed with one.
    #[must_use]
    pub const fn error_code(&self) -> Option<i64> {
        self.error_code
    }

    /// Returns the time from when the layer received the request to when it ended.
    #[must_use]
    pub const fn duration(&self) -> Duration {
        self.duration
    }
}

impl Layer for Observe {
    fn call(&self, request: Incoming, next: Next) -> BoxFuture<'static, Response> {
        let callback = Arc::clone(&self.0);
        Box::pin(run(request, next, move |observation| callback(observation)))
    }
}

/// Runs the rest of a request, and `report` when it has ended in any way.
pub(super) async fn run(
    request: Incoming,
    next: Next,
    report: impl FnOnce(&Observation<'_>) + Send,
) -> Response {
    let cx = request.cx().clone();
    let began = cx.request.link.clock.now();
    let mut end = End { cx, began, report: Some(report) };
    let response = next.run(request).await;
    end.report(response.outcome(), response.error().map(|error| error.code));
    response
}

/// Reports the end of a request, also when it is dropped first.
struct End<F: FnOnce(&Observation<'_>)> {
    cx: Cx,
    began: Instant,
    report: Option<F>,
}

impl<F: FnOnce(&Observation<'_>)> End<F> {
    fn report(&mut self, outcome: Outcome, error_code: Option<i64>) {
        let Some(report) = self.report.take() else { return };
        let duration = self.cx.request.link.clock.now().duration_since(self.began);
        report(&Observation { cx: &self.cx, outcome, error_code, duration });
    }
}

impl<F: FnOnce(&Observation<'_>)> Drop for End<F> {
    fn drop(&mut self) {
        let is_panic = thread::panicking();
        let outcome = if is_panic { Outcome::Error } else { Outcome::Cancelled };
        // A second panic, during the first one, would abort the process.
        let _panicked = catch_unwind(AssertUnwindSafe(|| self.report(outcome, None)));
    }
}

opaque_debug!(Observe);

opaque_debug!(Observation<'_>, it =>
    method: it.method(),
    outcome: it.outcome,
    error_code: it.error_code,
    duration: it.duration
);
