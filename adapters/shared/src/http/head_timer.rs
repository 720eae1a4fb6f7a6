//! The timer of idle connections and request heads, which starts few timers of the runtime.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use hyper::rt::{Sleep, Timer};

/// The timer of one connection: limits how long it is idle, and how long the head of a request
/// takes from its first byte. The first head counts from the start of the connection.
///
/// hyper starts a timer for each request and drops it when the head of the request has arrived.
/// Timers of a runtime can wake another thread when they start, so this one keeps the timer of an
/// earlier request until that has ended, and only then starts one for what is left of the time.
pub(super) struct HeadTimer<T>(Arc<SharedTimer<T>>);

struct SharedTimer<T> {
    timer: T,
    head_timeout: Duration,
    /// When the connection started.
    started: Instant,
    state: Mutex<HeadState>,
}

#[derive(Default)]
struct HeadState {
    /// A timer of the runtime, and when it ends.
    running: Option<(Instant, Pin<Box<dyn Sleep>>)>,
    /// When the first byte of the awaited head arrived.
    began: Option<Instant>,
    /// A head was awaited before.
    is_reused: bool,
}

/// Waits until a time, with the timer of its connection.
struct HeadSleep<T> {
    shared: Arc<SharedTimer<T>>,
    /// When the connection has been idle for too long.
    deadline: Instant,
}

impl<T: Timer> HeadTimer<T> {
    /// Creates the timer of a connection that starts now.
    pub(super) fn new(timer: T, head_timeout: Duration) -> Self {
        let started = timer.now();
        Self(Arc::new(SharedTimer { timer, head_timeout, started, state: Mutex::default() }))
    }

    /// Returns a function to call whenever bytes have arrived.
    pub(super) fn on_bytes(&self) -> impl Fn() + use<T> {
        let shared = Arc::clone(&self.0);
        move || {
            let mut state = shared.lock();
            if state.began.is_none() {
                state.began = Some(shared.timer.now());
            }
        }
    }
}

impl<T> SharedTimer<T> {
    fn lock(&self) -> MutexGuard<'_, HeadState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Timer + Send + Sync + 'static> Timer for HeadTimer<T> {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
        self.sleep_until(self.now() + duration)
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Sleep>> {
        let mut state = self.0.lock();
        let is_reused = std::mem::replace(&mut state.is_reused, true);
        state.began = if is_reused { None } else { Some(self.0.started) };
        drop(state);
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
        let mut state = self.shared.lock();
        // The time between two requests ends with the first byte of a head.
        let deadline = match state.began {
            Some(began) => began + self.shared.head_timeout,
            None => self.deadline,
        };
        // A timer that ends earlier, of an earlier request, is kept until then.
        state.running.take_if(|(ends, _)| *ends > deadline);
        loop {
            let (_, sleep) =
                state.running.get_or_insert_with(|| (deadline, timer.sleep_until(deadline)));
            if sleep.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
            state.running = None;
            if timer.now() >= deadline {
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
        let timer = HeadTimer::new(manual.clone(), Duration::from_secs(30));
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

    #[test]
    fn an_idle_connection_may_wait_longer_than_a_head_that_has_begun() {
        let manual =
            ManualTimer { epoch: Instant::now(), seconds: Arc::default(), started: Arc::default() };
        let timer = HeadTimer::new(manual.clone(), Duration::from_secs(30));
        let on_bytes = timer.on_bytes();
        let idle = Duration::from_secs(75);
        let mut first = timer.sleep(idle);
        manual.seconds.store(29, SeqCst);
        assert!(poll(&mut first).is_pending());
        manual.seconds.store(30, SeqCst);
        assert!(poll(&mut first).is_ready(), "the first head counts from the start");
        let mut second = timer.sleep(idle);
        manual.seconds.store(104, SeqCst);
        assert!(poll(&mut second).is_pending(), "idle for 74 s");
        on_bytes();
        assert!(poll(&mut second).is_pending());
        manual.seconds.store(133, SeqCst);
        assert!(poll(&mut second).is_pending(), "a head has its own time, however late it begins");
        manual.seconds.store(134, SeqCst);
        assert!(poll(&mut second).is_ready());
        let mut third = timer.sleep(idle);
        assert!(poll(&mut third).is_pending());
        on_bytes();
        assert!(poll(&mut third).is_pending());
        manual.seconds.store(163, SeqCst);
        on_bytes();
        assert!(poll(&mut third).is_pending());
        manual.seconds.store(164, SeqCst);
        assert!(poll(&mut third).is_ready(), "the head took 30 s from its first byte");
    }
}
