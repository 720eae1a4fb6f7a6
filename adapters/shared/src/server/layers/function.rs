//! Runs a function that handles a request, until it returns or until its deadline.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use mcp_proto::Request;

use super::incoming::{Deadline, Incoming, name_of};
use crate::server::handler::context::Cx;
use crate::server::handler::handler_error::HandlerError;
use crate::server::handler::replies::give_up;
use crate::server::handler::reply::BoxedResult;

/// Runs a function that handles a request; returns `None` if it panics.
pub(super) fn run_function(
    request: Incoming,
    job: impl FnOnce(Cx) -> Result<BoxedResult, HandlerError>,
) -> Option<Result<BoxedResult, HandlerError>> {
    let deadline = request.extension::<Deadline>();
    let cx = request.into_cx();
    match deadline {
        Some(deadline) => run_until(*deadline, &cx, job),
        None => catch_unwind(AssertUnwindSafe(|| job(cx))).ok(),
    }
}

/// Runs a function. If it has not returned at the deadline, the thread that keeps the time of the
/// connection gives the request up, and the function's result is discarded.
fn run_until(
    deadline: Deadline,
    cx: &Cx,
    job: impl FnOnce(Cx) -> Result<BoxedResult, HandlerError>,
) -> Option<Result<BoxedResult, HandlerError>> {
    let request = &cx.request;
    let expiry = Arc::new(Expiry { cx: cx.clone(), deadline, has_expired: AtomicBool::new(false) });
    let outcome = {
        // Polled once, which sets the timer: its waker does the rest.
        let mut timer = pin!(request.sleep_until(deadline.at));
        let waker = Waker::from(Arc::clone(&expiry));
        let _pending = timer.as_mut().poll(&mut Context::from_waker(&waker));
        let has_expired = expiry.has_expired.load(Ordering::Acquire);
        (!has_expired).then(|| catch_unwind(AssertUnwindSafe(|| job(cx.clone()))))
    };
    if expiry.has_expired.load(Ordering::Acquire) {
        return Some(Err(timed_out(&request.request, deadline.timeout)));
    }
    outcome?.ok()
}

/// Gives a request up when its timer wakes it.
struct Expiry {
    cx: Cx,
    deadline: Deadline,
    has_expired: AtomicBool,
}

impl Wake for Expiry {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let request = &self.cx.request;
        // The end of the connection also wakes its timers.
        let is_due = request.task_timer().is_some() || request.link.clock.now() >= self.deadline.at;
        if is_due && !self.has_expired.swap(true, Ordering::AcqRel) {
            give_up(&self.cx, timed_out(&request.request, self.deadline.timeout));
        }
    }
}

/// Returns the error of a request that took longer than `timeout`.
pub(super) fn timed_out(request: &Request, timeout: Duration) -> HandlerError {
    let name = name_of(request);
    let what = name.as_deref().unwrap_or(&request.method);
    // The client chose the name.
    let what: String = what.chars().filter(|c| !c.is_control()).take(NAME_CHARS_MAX).collect();
    HandlerError::failed(format!("`{what}` did not finish within {timeout:?}"))
}

/// The longest name in an error, in characters.
const NAME_CHARS_MAX: usize = 128;
