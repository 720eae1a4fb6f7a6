//! Polls a rarely woken future only when its own waker fired.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// Runs `future`, polling it only when its own waker fired.
///
/// For a future that shares its task with another one that is woken much more often.
pub async fn poll_on_wake<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let flag = Arc::new(WakeFlag { is_woken: AtomicBool::new(true), task: Mutex::default() });
    let waker = Waker::from(Arc::clone(&flag));
    poll_fn(|context| {
        flag.set_task(context.waker());
        if !flag.is_woken.swap(false, Ordering::AcqRel) {
            return Poll::Pending;
        }
        future.as_mut().poll(&mut Context::from_waker(&waker))
    })
    .await
}

struct WakeFlag {
    /// The future was woken and not polled since.
    is_woken: AtomicBool,
    task: Mutex<Option<Waker>>,
}

impl WakeFlag {
    /// Sets the waker of the surrounding task. A wake-up before this call is seen by the poll that
    /// follows it.
    fn set_task(&self, task: &Waker) {
        let mut current = self.task.lock().unwrap_or_else(PoisonError::into_inner);
        if !current.as_ref().is_some_and(|current| current.will_wake(task)) {
            *current = Some(task.clone());
        }
    }
}

impl Wake for WakeFlag {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.is_woken.swap(true, Ordering::AcqRel) {
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

    use super::poll_on_wake;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn it_is_polled_first_and_then_only_when_woken_and_wakes_the_latest_task() {
        let (polls, kept) = (Cell::new(0), Cell::new(None::<Waker>));
        let mut future = pin!(poll_on_wake(poll_fn(|context| {
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
        assert_eq!(one.0.load(Ordering::SeqCst), 1, "one wake-up per poll");
        assert!(poll(&other).is_pending());
        assert_eq!(polls.get(), 2);
        waker.wake_by_ref();
        assert_eq!((one.0.load(Ordering::SeqCst), other.0.load(Ordering::SeqCst)), (1, 1));
        assert_eq!(poll(&other), Poll::Ready("done"));
    }
}
