//! The timer of request heads, which starts few timers of the runtime.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use hyper::rt::{Sleep, Timer};

/// The timer of one connection.
///
/// hyper starts a timer for each request and drops it when the head of the request has arrived.
/// Timers of a runtime can wake another thread when they start, so this one keeps the timer of an
/// earlier request until that has ended, and only then starts one for what is left of the time.
pub(super) struct HeadTimer<T>(Arc<SharedTimer<T>>);

struct SharedTimer<T> {
    timer: T,
    /// Ends no later than any [`HeadSleep`], because all of them have one duration.
    running: Mutex<Option<Pin<Box<dyn Sleep>>>>,
}

/// Waits until a time, with the timer of its connection.
struct HeadSleep<T> {
    shared: Arc<SharedTimer<T>>,
    deadline: Instant,
}

impl<T> HeadTimer<T> {
    /// Creates the timer of a connection, all of whose sleeps must have one duration.
    pub(super) fn new(timer: T) -> Self {
        Self(Arc::new(SharedTimer { timer, running: Mutex::default() }))
    }
}

impl<T> SharedTimer<T> {
    fn lock(&self) -> MutexGuard<'_, Option<Pin<Box<dyn Sleep>>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Timer + Send + Sync + 'static> Timer for HeadTimer<T> {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
        self.sleep_until(self.now() + duration)
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Sleep>> {
        Box::pin(HeadSleep { shared: Arc::clone(&self.0), deadline })
    }

    fn now(&self) -> Instant {
        self.0.timer.now()
    }
}

impl<T: Timer + Send + Sync> Sleep for HeadSleep<T> {}

impl<T: Timer> Future for HeadSleep<T> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let timer = &self.shared.timer;
        let mut running = self.shared.lock();
        loop {
            let sleep = running.get_or_insert_with(|| timer.sleep_until(self.deadline));
            if sleep.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
            *running = None;
            if timer.now() >= self.deadline {
                return Poll::Ready(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
    use std::task::Waker;

    use super::{Arc, Context, Duration, Future, HeadTimer, Instant, Pin, Poll, Sleep, Timer};

    /// A clock that the test moves, and the number of its timers.
    #[derive(Clone)]
    struct ManualTimer {
        epoch: Instant,
        seconds: Arc<AtomicU64>,
        started: Arc<AtomicU64>,
    }

    struct ManualSleep(ManualTimer, Instant);

    impl Timer for ManualTimer {
        fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
            self.sleep_until(self.now() + duration)
        }

        fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Sleep>> {
            self.started.fetch_add(1, SeqCst);
            Box::pin(ManualSleep(self.clone(), deadline))
        }

        fn now(&self) -> Instant {
            self.epoch + Duration::from_secs(self.seconds.load(SeqCst))
        }
    }

    impl Sleep for ManualSleep {}

    impl Future for ManualSleep {
        type Output = ();

        fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
            if self.0.now() >= self.1 { Poll::Ready(()) } else { Poll::Pending }
        }
    }

    fn poll(sleep: &mut Pin<Box<dyn Sleep>>) -> Poll<()> {
        sleep.as_mut().poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn requests_in_quick_succession_share_one_timer_and_each_has_its_full_time() {
        let manual =
            ManualTimer { epoch: Instant::now(), seconds: Arc::default(), started: Arc::default() };
        let timer = HeadTimer::new(manual.clone());
        for _ in 0..20 {
            let mut head = timer.sleep(Duration::from_secs(30));
            assert!(poll(&mut head).is_pending());
            manual.seconds.fetch_add(1, SeqCst);
        }
        assert_eq!(manual.started.load(SeqCst), 1);
        let mut head = timer.sleep(Duration::from_secs(30));
        assert!(poll(&mut head).is_pending());
        manual.seconds.store(30, SeqCst);
        assert!(
            poll(&mut head).is_pending(),
            "the first timer has ended, this head may take longer"
        );
        assert_eq!(manual.started.load(SeqCst), 2);
        manual.seconds.store(49, SeqCst);
        assert!(poll(&mut head).is_pending());
        manual.seconds.store(50, SeqCst);
        assert!(poll(&mut head).is_ready());
    }
}
