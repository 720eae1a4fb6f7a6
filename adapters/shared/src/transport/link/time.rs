//! Timers of a connection: its protocol deadline and the sleeps of its tasks.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use event_listener::EventListener;
use futures_lite::future::or;
use mcp_proto::Instant;
use parking::Parker;

use super::{Link, LinkRole};
use crate::exec::timer_queue::TimerKey;

impl<R: LinkRole> Link<R> {
    /// Waits until `at` or until the driver is gone; returns to the executor at least once.
    pub(crate) async fn sleep_until(&self, at: Instant) {
        Sleep { link: self, at, key: None, yielded: false }.await;
    }

    pub(super) async fn wait_for(&self, event: EventListener, give_up: Instant) {
        or(event, self.sleep_until(give_up)).await;
    }

    /// Runs the timers of the connection and of its tasks until the driver has finished.
    ///
    /// `sleep` is the runtime's timer.
    pub async fn keep_time<S: Future>(self: &Arc<Self>, sleep: impl Fn(Duration) -> S) {
        while let Some((moved, delay)) = self.handle_time() {
            match delay {
                Some(delay) => or(moved, async { drop(sleep(delay).await) }).await,
                None => moved.await,
            }
        }
    }

    /// Runs `future` to completion on this thread, running the connection's timers until then.
    pub fn keep_time_during<T>(self: &Arc<Self>, future: impl Future<Output = T>) -> T {
        let parker = Parker::new();
        let waker = parker.unparker().into();
        let mut context = Context::from_waker(&waker);
        let mut future = pin!(future);
        loop {
            if let Poll::Ready(done) = future.as_mut().poll(&mut context) {
                return done;
            }
            let Some((mut moved, delay)) = self.handle_time() else {
                parker.park();
                continue;
            };
            if Pin::new(&mut moved).poll(&mut context).is_ready() {
                continue;
            }
            match delay {
                Some(delay) => drop(parker.park_timeout(delay)),
                None => parker.park(),
            }
        }
    }

    /// Fires all timers that are due. Returns a listener for changes of the deadline and the time
    /// left until it; `None` when the driver is gone.
    pub(super) fn handle_time(self: &Arc<Self>) -> Option<(EventListener, Option<Duration>)> {
        loop {
            let mut state = self.lock();
            if state.is_over() {
                return None;
            }
            let now = self.clock.now();
            if let Some(waker) = state.timers.take_due(now) {
                drop(state);
                waker.wake();
                continue;
            }
            let due = state.connection.poll_timeout();
            if due.is_some_and(|due| due <= now) && !state.connection.is_closed() {
                state.connection.handle_timeout(now);
                self.settle(state);
                continue;
            }
            // Requests come and go, each with a deadline. Waiting for a cancelled one for a while
            // saves waking the timer task again for the next.
            let before =
                state.woken_for.take().filter(|at| *at > now).map(|at| at.min(now + LINGER));
            let deadline = state.next_deadline().into_iter().chain(before).min();
            state.sleeping_until = deadline;
            let moved = state.deadline_moved.get_or_insert_default().listen();
            return Some((moved, deadline.map(|deadline| deadline.duration_since(now))));
        }
    }
}

/// How long the timer task waits at most for a deadline that was cancelled.
const LINGER: Duration = Duration::from_millis(100);

/// A timer that fires at `at`, or once the driver is gone.
///
/// The first poll always returns `Pending`: otherwise a task that sleeps in a loop would spin in a
/// single poll once every sleep is ready immediately.
struct Sleep<'l, R: LinkRole> {
    link: &'l Link<R>,
    at: Instant,
    key: Option<TimerKey>,
    /// A poll has returned `Pending`.
    yielded: bool,
}

impl<R: LinkRole> Future for Sleep<'_, R> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.link.lock();
        if state.is_over() || self.link.clock.now() >= self.at {
            drop(state);
            if std::mem::replace(&mut self.yielded, true) {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let (key, replaced) = state.timers.set(self.key, self.at, context.waker());
        let is_first = state.sleeping_until.is_none_or(|until| self.at < until);
        let deadline_moved = if is_first { state.deadline_moved.clone() } else { None };
        drop(state);
        // Wakers are code of others: none is woken or dropped under the lock.
        drop(replaced);
        if let Some(moved) = deadline_moved {
            moved.notify(usize::MAX);
        }
        if is_first {
            self.link.timer_task.ensure_running();
        }
        self.key = Some(key);
        self.yielded = true;
        Poll::Pending
    }
}

impl<R: LinkRole> Drop for Sleep<'_, R> {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            let removed = self.link.lock().timers.remove(key);
            drop(removed);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::pin;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::task::{Context, Poll, Wake, Waker};
    use std::time::Duration;

    use futures_lite::future::{block_on, poll_once};
    use mcp_proto::Misuse;
    use mcp_proto::server::Server as Machine;

    use super::Link;
    use crate::exec::clock::Clock;
    use crate::exec::test_runtime::NullRuntime;
    use crate::server::settings::ServerSettings;

    /// Returns a connection whose driver is gone.
    fn abandoned() -> Arc<Link<Machine>> {
        let server = ServerSettings::new("s", "1");
        let (_serving, driving) =
            server.open_at(Clock::new(), Arc::new(NullRuntime), None).unwrap();
        Arc::clone(driving.link())
    }

    #[derive(Default)]
    struct Woken(AtomicBool);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.store(true, Ordering::SeqCst);
        }
    }

    /// Polls once a task that awaits 100 such futures in a row; returns whether the task yielded.
    fn yields<F: Future>(mut next: impl FnMut() -> F) -> bool {
        let many = async {
            for _ in 0..100 {
                next().await;
            }
        };
        block_on(poll_once(many)).is_none()
    }

    #[test]
    fn a_sleep_yields_once_and_fires_when_due_or_when_the_driver_is_gone() {
        let link = abandoned();
        let now = link.clock.now();
        for at in [now, now + Duration::from_secs(3600)] {
            let woken = Arc::new(Woken::default());
            let waker = Waker::from(Arc::clone(&woken));
            let mut context = Context::from_waker(&waker);
            let mut sleep = pin!(link.sleep_until(at));
            assert!(sleep.as_mut().poll(&mut context).is_pending());
            assert!(woken.0.load(Ordering::SeqCst));
            assert_eq!(sleep.as_mut().poll(&mut context), Poll::Ready(()));
        }
    }

    /// A task that awaits such futures in a loop must still return to the executor.
    #[test]
    fn futures_of_an_abandoned_connection_are_not_ready_immediately() {
        let link = abandoned();
        let hour = Duration::from_secs(3600);
        assert!(yields(|| link.sleep_until(link.clock.now())));
        assert!(yields(|| link.sleep_until(link.clock.now() + hour)));
        for misuse in [Misuse::Blocked, Misuse::Stale] {
            assert!(
                yields(|| link.with_room(hour, move |_, _| Err::<(), _>(misuse))),
                "{misuse:?}"
            );
        }
    }

    /// None of these waits for its timeout.
    #[test]
    fn waits_on_an_abandoned_connection_end_immediately() {
        let link = abandoned();
        let second = Duration::from_secs(1);
        assert_eq!(block_on(poll_once(link.wait_until(second, |_| false))), Some(false));
        assert_eq!(block_on(poll_once(link.drained())), Some(()));
        let blocked = link.with_room(second, |_, _| Err::<(), _>(Misuse::Blocked));
        let began = link.clock.now();
        assert_eq!(block_on(blocked), Err(Misuse::Blocked));
        assert!(link.clock.now() < began + second);
    }
}
