//! The cancellation flag of a request, with blocking and asynchronous waits.

use std::future::{Future, poll_fn};
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

use event_listener::{Event, Listener as _};
use futures_lite::future::or;

/// A flag that is set when a request is cancelled, and never reset.
#[derive(Debug, Default)]
pub(crate) struct Cancellation {
    set: AtomicBool,
    changed: Event,
}

impl Cancellation {
    pub(crate) fn set(&self) {
        self.set.store(true, Ordering::Release);
        self.changed.notify(usize::MAX);
    }

    pub(crate) fn is_set(&self) -> bool {
        self.set.load(Ordering::Acquire)
    }

    /// Runs `future` to completion; returns `None` if the flag is set first.
    ///
    /// Every poll checks the flag before it polls `future`, which may be ready without ever
    /// completing.
    pub(crate) fn run_until_set<T>(
        &self,
        future: impl Future<Output = T>,
    ) -> impl Future<Output = Option<T>> {
        let is_set = poll_fn(|_| if self.is_set() { Poll::Ready(None) } else { Poll::Pending });
        let completed = async move { Some(future.await) };
        let set = async {
            self.wait().await;
            None
        };
        or(is_set, or(completed, set))
    }

    /// Waits until the flag is set.
    pub(crate) async fn wait(&self) {
        loop {
            let changed = self.changed.listen();
            if self.is_set() {
                return;
            }
            changed.await;
        }
    }

    /// Blocks until the flag is set, for at most `timeout`; returns whether it is set.
    pub(crate) fn wait_blocking(&self, timeout: Duration) -> bool {
        let Some(deadline) = Instant::now().checked_add(timeout) else {
            futures_lite::future::block_on(self.wait());
            return true;
        };
        loop {
            let changed = self.changed.listen();
            if self.is_set() {
                return true;
            }
            if changed.wait_deadline(deadline).is_none() {
                return self.is_set();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::task::Poll;

    use futures_lite::future::{block_on, poll_once};

    use super::Cancellation;

    #[test]
    fn a_cancelled_request_does_not_poll_its_handler_again() {
        let cancelled = Cancellation::default();
        let mut polls = 0;
        let mut run = Box::pin(cancelled.run_until_set(poll_fn(|_| {
            polls += 1;
            if polls == 1 { Poll::Pending } else { Poll::Ready("done") }
        })));
        assert_eq!(block_on(poll_once(&mut run)), None);
        cancelled.set();
        assert_eq!(block_on(run), None);
        assert_eq!(polls, 1);
    }
}
