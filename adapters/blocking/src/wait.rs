//! Blocking on a future with a timeout.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

/// Runs `future` on this thread; returns `None` if it takes longer than `timeout`.
pub(crate) fn block_on_within<T>(timeout: Duration, future: impl Future<Output = T>) -> Option<T> {
    let deadline = Instant::now().checked_add(timeout);
    let (parker, unparker) = parking::pair();
    let waker = unparker.into();
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(done) = future.as_mut().poll(&mut context) {
            return Some(done);
        }
        match deadline {
            None => parker.park(),
            Some(deadline) if Instant::now() < deadline => drop(parker.park_deadline(deadline)),
            Some(_) => return None,
        }
    }
}
