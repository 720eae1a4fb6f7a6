//! A future beside another one that is polled much more often; knows nothing of either.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// Polls `future` when it was woken, and not whenever the task is that both are in.
pub(crate) async fn beside<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let bell = Arc::new(Bell { rang: AtomicBool::new(true), task: Mutex::default() });
    let waker = Waker::from(Arc::clone(&bell));
    poll_fn(|context| {
        bell.wakes(context.waker());
        if !bell.rang.swap(false, Ordering::AcqRel) {
            return Poll::Pending;
        }
        future.as_mut().poll(&mut Context::from_waker(&waker))
    })
    .await
}

struct Bell {
    /// It was woken and not polled since.
    rang: AtomicBool,
    task: Mutex<Option<Waker>>,
}

impl Bell {
    /// Whom it wakes. Whoever rings before this is heard afterwards.
    fn wakes(&self, task: &Waker) {
        let mut wakes = self.task.lock().unwrap_or_else(PoisonError::into_inner);
        if !wakes.as_ref().is_some_and(|wakes| wakes.will_wake(task)) {
            *wakes = Some(task.clone());
        }
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.rang.swap(true, Ordering::AcqRel) {
            return;
        }
        let task = self.task.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(task) = task {
            task.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::future::poll_fn;
    use std::pin::pin;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Context, Poll, Wake, Waker};

    use super::beside;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn it_is_polled_at_first_and_whenever_it_was_woken_by_whoever_polls_it_then() {
        let (polls, kept) = (Cell::new(0), Cell::new(None::<Waker>));
        let mut future = pin!(beside(poll_fn(|context| {
            polls.set(polls.get() + 1);
            kept.set(Some(context.waker().clone()));
            if polls.get() < 3 { Poll::Pending } else { Poll::Ready("done") }
        })));
        let (one, other) = (Arc::new(Count::default()), Arc::new(Count::default()));
        let mut poll = |task: &Arc<Count>| {
            future.as_mut().poll(&mut Context::from_waker(&Waker::from(Arc::clone(task))))
        };
        assert!(poll(&one).is_pending() && poll(&one).is_pending());
        assert_eq!(polls.get(), 1, "nothing woke it");
        let waker = kept.take().unwrap();
        waker.wake_by_ref();
        waker.wake_by_ref();
        assert_eq!(one.0.load(Ordering::SeqCst), 1, "once until it is polled");
        assert!(poll(&other).is_pending());
        assert_eq!(polls.get(), 2);
        waker.wake_by_ref();
        assert_eq!((one.0.load(Ordering::SeqCst), other.0.load(Ordering::SeqCst)), (1, 1));
        assert_eq!(poll(&other), Poll::Ready("done"));
    }
}
