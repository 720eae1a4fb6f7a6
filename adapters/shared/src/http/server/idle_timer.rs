//! Closes connections that are idle, or whose clients take too long for the head of a request.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use hyper::rt::{Sleep, Timer};

/// The event that a connection waits for.
///
/// ```text
/// Opening --begin--> Busy --end--> Idle --begin--> Busy
///                                  Idle --bytes--> Head --begin--> Busy
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Activity {
    /// For its first request.
    Opening,
    /// For the rest of the head of a later request.
    Head,
    /// For the response to a request.
    Busy,
    /// For the next request. The number differs from one idle time to the next.
    Idle(u64),
}

/// Limits how long one connection is idle, and how long the head of a request takes from its first
/// byte. The first head counts from the start of the connection.
///
/// hyper has such a timer, but starts it for each request, and timers of a runtime can wake another
/// thread when they start. This one keeps a timer of the runtime over many requests, until it ends
/// or a time begins that ends earlier.
pub(super) struct IdleTimer<T> {
    timer: T,
    head_timeout: Duration,
    idle_max: Duration,
    activity: Activity,
    /// When the present activity has taken too long; `None` if others limit it.
    deadline: Option<Instant>,
    /// A timer of the runtime, and when it ends.
    running: Option<(Instant, Pin<Box<dyn Sleep>>)>,
}

impl<T: Timer> IdleTimer<T> {
    /// Creates the timer of a connection that opens now.
    pub(super) fn new(timer: T, head_timeout: Duration, idle_max: Duration) -> Self {
        let deadline = Some(timer.now() + head_timeout);
        let activity = Activity::Opening;
        Self { timer, head_timeout, idle_max, activity, deadline, running: None }
    }

    /// Ready once the connection must be closed. Must be polled after each poll of the connection.
    pub(super) fn poll(&mut self, activity: Activity, context: &mut Context<'_>) -> Poll<()> {
        if activity != self.activity {
            self.activity = activity;
            self.deadline = match activity {
                Activity::Opening | Activity::Head => Some(self.timer.now() + self.head_timeout),
                Activity::Idle(_) => Some(self.timer.now() + self.idle_max),
                Activity::Busy => None,
            };
        }
        let Some(deadline) = self.deadline else { return Poll::Pending };
        // A timer that ends earlier, of an earlier request, is kept until then.
        self.running.take_if(|(ends, _)| *ends > deadline);
        loop {
            let start = || (deadline, self.timer.sleep_until(deadline));
            let (_, sleep) = self.running.get_or_insert_with(start);
            if sleep.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
            self.running = None;
            if self.timer.now() >= deadline {
                return Poll::Ready(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
    use std::task::Waker;

    use super::*;

    /// A clock that the test moves, and the number of its timers.
    #[derive(Clone)]
    struct ManualTimer {
        epoch: Instant,
        seconds: Arc<AtomicU64>,
        started: Arc<AtomicU64>,
    }

    struct ManualSleep(ManualTimer, Instant);

    impl ManualTimer {
        fn new() -> Self {
            Self { epoch: Instant::now(), seconds: Arc::default(), started: Arc::default() }
        }
    }

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

    /// Returns a function that polls the timer of a connection at a time, in seconds: with 30 s for
    /// a head and 75 s between requests.
    fn connection(manual: ManualTimer) -> impl FnMut(u64, Activity) -> bool {
        let seconds = Duration::from_secs;
        let mut timer = IdleTimer::new(manual.clone(), seconds(30), seconds(75));
        move |at, activity| {
            manual.seconds.store(at, SeqCst);
            timer.poll(activity, &mut Context::from_waker(Waker::noop())).is_ready()
        }
    }

    #[test]
    fn requests_in_quick_succession_share_one_timer_and_each_has_its_full_time() {
        let manual = ManualTimer::new();
        let mut is_over = connection(manual.clone());
        assert!(!is_over(0, Activity::Opening));
        for second in 0..20 {
            assert!(!is_over(second, Activity::Busy));
            assert!(!is_over(second, Activity::Idle(second)));
        }
        assert_eq!(manual.started.load(SeqCst), 1);
        assert!(!is_over(30, Activity::Idle(19)), "the first timer has ended, this time has not");
        assert_eq!(manual.started.load(SeqCst), 2);
        assert!(!is_over(93, Activity::Idle(19)));
        assert!(is_over(94, Activity::Idle(19)));
    }

    #[test]
    fn the_first_head_counts_from_the_start() {
        let mut is_over = connection(ManualTimer::new());
        assert!(!is_over(29, Activity::Opening));
        assert!(is_over(30, Activity::Opening));
    }

    #[test]
    fn an_idle_connection_may_wait_longer_than_a_head_that_has_begun() {
        let mut is_over = connection(ManualTimer::new());
        assert!(!is_over(0, Activity::Busy));
        assert!(!is_over(0, Activity::Idle(1)));
        assert!(!is_over(74, Activity::Idle(1)));
        assert!(!is_over(74, Activity::Head));
        assert!(!is_over(103, Activity::Head), "a head has its own time, however late it begins");
        assert!(is_over(104, Activity::Head));
    }

    #[test]
    fn the_time_of_a_head_ends_an_idle_time_that_would_be_longer() {
        let mut is_over = connection(ManualTimer::new());
        assert!(!is_over(0, Activity::Idle(1)));
        assert!(!is_over(1, Activity::Head));
        assert!(!is_over(30, Activity::Head));
        assert!(is_over(31, Activity::Head), "30 s from the first byte");
    }

    #[test]
    fn a_request_may_take_any_time() {
        let mut is_over = connection(ManualTimer::new());
        assert!(!is_over(0, Activity::Opening));
        assert!(!is_over(1, Activity::Busy));
        assert!(!is_over(1_000_000, Activity::Busy));
        assert!(!is_over(1_000_000, Activity::Idle(1)));
        assert!(is_over(1_000_075, Activity::Idle(1)));
    }
}
