//! A thread that waits for a future, and not for ever.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

/// What `future` gives; `None` when it takes longer than `patience`.
pub(crate) fn block_on_within<T>(patience: Duration, future: impl Future<Output = T>) -> Option<T> {
    let give_up = Instant::now().checked_add(patience);
    let (parker, unparker) = parking::pair();
    let waker = unparker.into();
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(done) = future.as_mut().poll(&mut context) {
            return Some(done);
        }
        match give_up {
            None => parker.park(),
            Some(give_up) if Instant::now() < give_up => drop(parker.park_deadline(give_up)),
            Some(_) => return None,
        }
    }
}
