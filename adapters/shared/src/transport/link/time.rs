//! Time in a connection: the session's deadline, and whoever else waits; knows no clock but the
//! connection's.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use event_listener::EventListener;
use futures_lite::future::or;
use mcp_proto::Instant;
use parking::Parker;

use super::{Link, Role};
use crate::exec::timer_queue::AlarmKey;

impl<R: Role> Link<R> {
    /// Waits until `at`, or until the connection is over; returns to the executor at least once.
    pub(crate) async fn sleep_until(&self, at: Instant) {
        Alarm { link: self, at, key: None, yielded: false }.await;
    }

    pub(super) async fn wait_for(&self, event: EventListener, give_up: Instant) {
        or(event, self.sleep_until(give_up)).await;
    }

    /// As [`keep_time`](Self::keep_time), for as long as there is time to keep: false when there is
    /// none for now, and the keeper is told once there is.
    #[cfg(feature = "http")]
    pub(crate) async fn keep_time_for_now<S: Future>(
        self: &Arc<Self>,
        sleep: impl Fn(Duration) -> S,
    ) -> bool {
        while let Some((moved, patience)) = self.handle_time() {
            match patience {
                Some(patience) => or(moved, async { drop(sleep(patience).await) }).await,
                None if self.leave() => return false,
                None => moved.await,
            }
        }
        true
    }

    /// The keeper is at it no longer, unless there is something to be done.
    #[cfg(feature = "http")]
    fn leave(&self) -> bool {
        let mut state = self.lock();
        let is_idle = state.next_deadline().is_none() && !state.session.is_closed();
        if is_idle {
            // Whatever comes about from here on is told to the keeper.
            state.is_kept = false;
            state.session.rest();
        }
        is_idle
    }

    /// Lets the session, and all that waits, know of the time, until nobody drives the connection
    /// any more. `sleep` is the runtime's.
    pub async fn keep_time<S: Future>(self: &Arc<Self>, sleep: impl Fn(Duration) -> S) {
        while let Some((moved, patience)) = self.handle_time() {
            match patience {
                Some(patience) => or(moved, async { drop(sleep(patience).await) }).await,
                None => moved.await,
            }
        }
    }

    /// Runs `future` to its end on this thread, and keeps the time meanwhile.
    pub fn keep_time_during<T>(self: &Arc<Self>, future: impl Future<Output = T>) -> T {
        self.keep_time_watching(&Parker::new(), future, || None)
    }

    /// As [`keep_time_during`](Self::keep_time_during), on the thread that waits with `parker`.
    /// `watch` looks at something each time, and says how soon it wants to look again.
    pub fn keep_time_watching<T>(
        self: &Arc<Self>,
        parker: &Parker,
        future: impl Future<Output = T>,
        mut watch: impl FnMut() -> Option<Duration>,
    ) -> T {
        let waker = parker.unparker().into();
        let mut context = Context::from_waker(&waker);
        let mut future = pin!(future);
        loop {
            if let Poll::Ready(done) = future.as_mut().poll(&mut context) {
                return done;
            }
            let Some((mut moved, patience)) = self.handle_time() else {
                parker.park();
                continue;
            };
            if Pin::new(&mut moved).poll(&mut context).is_ready() {
                continue;
            }
            self.park(parker, patience, &mut watch);
        }
    }

    /// Parks until it is woken, or for as long as `patience`, and looks meanwhile.
    fn park(
        &self,
        parker: &Parker,
        patience: Option<Duration>,
        watch: &mut impl FnMut() -> Option<Duration>,
    ) {
        let give_up = patience.map(|patience| self.clock.now() + patience);
        loop {
            let left = give_up.map(|give_up| self.clock.until(give_up));
            let Some(patience) = watch().into_iter().chain(left).min() else {
                return parker.park();
            };
            if parker.park_timeout(patience) || left.is_some_and(|left| left <= patience) {
                return;
            }
        }
    }

    /// Handles what is due; then what moves the deadline, and how long to wait for it. `None` when
    /// it is over.
    fn handle_time(self: &Arc<Self>) -> Option<(EventListener, Option<Duration>)> {
        loop {
            let mut state = self.lock();
            if state.over {
                return None;
            }
            let now = self.clock.now();
            if let Some(waker) = state.alarms.take_due(now) {
                drop(state);
                waker.wake();
                continue;
            }
            let due = state.session.poll_timeout();
            if due.is_some_and(|due| due <= now) && !state.session.is_closed() {
                state.session.handle_timeout(now);
                self.settle(state);
                continue;
            }
            // Requests come and go, each with a deadline: whoever is woken for one is not woken for
            // the next as well.
            let before =
                state.woken_for.take().filter(|at| *at > now).map(|at| at.min(now + LINGER));
            let deadline = state.next_deadline().into_iter().chain(before).min();
            state.sleeping_until = deadline;
            let moved = self.deadline.listen();
            return Some((moved, deadline.map(|deadline| deadline.duration_since(now))));
        }
    }
}

/// For how long the keeper of time waits at most for what it was woken for and is not to be any
/// more.
const LINGER: Duration = Duration::from_millis(100);

/// A timer that fires at `at`, or once the connection is over. The first poll is always `Pending`:
/// a task that sleeps in a loop would otherwise spin in a single poll once every sleep is ready at
/// once.
struct Alarm<'l, R: Role> {
    link: &'l Link<R>,
    at: Instant,
    key: Option<AlarmKey>,
    /// A poll has returned `Pending`.
    yielded: bool,
}

impl<R: Role> Future for Alarm<'_, R> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.link.lock();
        if state.over || self.link.clock.now() >= self.at {
            drop(state);
            if std::mem::replace(&mut self.yielded, true) {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let key = state.alarms.set(self.key, self.at, context.waker());
        if state.sleeping_until.is_none_or(|until| self.at < until) {
            self.link.deadline.notify(usize::MAX);
            self.link.have_kept(&mut state);
        }
        drop(state);
        self.key = Some(key);
        self.yielded = true;
        Poll::Pending
    }
}

impl<R: Role> Drop for Alarm<'_, R> {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            self.link.lock().alarms.remove(key);
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
    use crate::exec::workers::Spawn;
    use crate::{BoxFuture, Server};

    struct Nowhere;

    impl Spawn for Nowhere {
        fn spawn(&self, _: BoxFuture<'static, ()>) -> std::io::Result<()> {
            Ok(())
        }
    }

    /// A connection that is over: its driver is gone.
    fn over() -> Arc<Link<Machine>> {
        let (_serving, driving) = Server::new("s", "1").open_on(Arc::new(Nowhere)).unwrap();
        Arc::clone(driving.link())
    }

    #[derive(Default)]
    struct Woken(AtomicBool);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.store(true, Ordering::SeqCst);
        }
    }

    /// Polls once a task that awaits one such future after the other; returns whether the task gave
    /// up its turn.
    fn yields<F: Future>(mut next: impl FnMut() -> F) -> bool {
        let many = async {
            for _ in 0..100 {
                next().await;
            }
        };
        block_on(poll_once(many)).is_none()
    }

    #[test]
    fn a_sleep_yields_once_and_wakes_its_task_when_it_is_due_or_its_connection_is_over() {
        let link = over();
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

    /// What a task can await again and again must return to the executor once the connection is
    /// over. (F-71)
    #[test]
    fn no_future_of_a_connection_that_is_over_is_ready_at_once_twice() {
        let link = over();
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

    /// Neither waits for its patience to run out. (F-72)
    #[test]
    fn what_a_connection_that_is_over_cannot_bring_about_is_not_waited_for() {
        let link = over();
        let second = Duration::from_secs(1);
        assert_eq!(block_on(poll_once(link.wait_until(second, |_| false))), Some(false));
        assert_eq!(block_on(poll_once(link.drained())), Some(()));
        let blocked = link.with_room(second, |_, _| Err::<(), _>(Misuse::Blocked));
        let began = link.clock.now();
        assert_eq!(block_on(blocked), Err(Misuse::Blocked));
        assert!(link.clock.now() < began + second);
    }
}
