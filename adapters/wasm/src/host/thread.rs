//! A host with one thread, which sleeps while no task can continue.

use std::fmt;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use mcp_adapter::{BoxFuture, ManualTasks, Spawn as _};

/// The tasks and timers of one thread.
#[derive(Clone, Default)]
pub(crate) struct Host(Arc<Parts>);

#[derive(Default)]
struct Parts {
    tasks: ManualTasks,
    timers: Mutex<Timers>,
}

/// A deadline, and the number of the timer, which distinguishes equal deadlines.
type TimerKey = (Instant, u64);

#[derive(Default)]
struct Timers {
    /// Sorted by key.
    wakers: Vec<(TimerKey, Waker)>,
    /// The number of the latest timer.
    latest: u64,
}

impl Timers {
    /// Returns the index of a timer, or else where to insert it.
    fn find(&self, key: TimerKey) -> Result<usize, usize> {
        self.wakers.binary_search_by_key(&key, |(key, _)| *key)
    }

    /// Sets the waker of a timer; returns the one that it had.
    #[must_use]
    fn set(&mut self, key: TimerKey, waker: Waker) -> Option<Waker> {
        let removed = self.remove(key);
        if let Err(place) = self.find(key) {
            self.wakers.insert(place, (key, waker));
        }
        removed
    }

    #[must_use]
    fn remove(&mut self, key: TimerKey) -> Option<Waker> {
        self.find(key).ok().map(|place| self.wakers.remove(place).1)
    }
}

impl Host {
    /// Returns the host of the current thread.
    pub(crate) fn current() -> Self {
        thread_local! {
            static HOST: Host = Host::default();
        }
        HOST.with(Self::clone)
    }

    pub(crate) fn spawn(&self, task: BoxFuture<'static, ()>) -> io::Result<()> {
        self.0.tasks.spawn(task)
    }

    pub(crate) fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        let Some(deadline) = Instant::now().checked_add(duration) else {
            return Box::pin(std::future::pending());
        };
        let mut timers = self.timers();
        timers.latest += 1;
        let timer = Timer { host: self.clone(), key: (deadline, timers.latest) };
        Box::pin(poll_fn(move |cx| {
            if Instant::now() >= deadline {
                return Poll::Ready(());
            }
            let replaced = timer.host.timers().set(timer.key, cx.waker().clone());
            drop(replaced);
            Poll::Pending
        }))
    }

    /// Runs tasks until none can continue.
    pub(crate) fn run_tasks(&self) {
        while self.0.tasks.run_next() {}
    }

    /// Returns the time left until the next timer, if any.
    pub(crate) fn until_next_timer(&self) -> Option<Duration> {
        let timers = self.timers();
        let ((deadline, _), _) = timers.wakers.first()?;
        Some(deadline.saturating_duration_since(Instant::now()))
    }

    /// Wakes the tasks whose timers have expired.
    pub(crate) fn fire_timers(&self) {
        let now = Instant::now();
        loop {
            let mut timers = self.timers();
            let due = timers.wakers.first().map(|(key, _)| *key).filter(|key| key.0 <= now);
            let Some(waker) = due.and_then(|key| timers.remove(key)) else { return };
            // Released first: wakers are code of the application.
            drop(timers);
            waker.wake();
        }
    }

    fn timers(&self) -> MutexGuard<'_, Timers> {
        self.0.timers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host").finish_non_exhaustive()
    }
}

/// A timer, whose waker is removed when the future is dropped.
struct Timer {
    host: Host,
    key: TimerKey,
}

impl Drop for Timer {
    fn drop(&mut self) {
        let waker = self.host.timers().remove(self.key);
        drop(waker);
    }
}

/// How many tasks run before the future of [`block_on`] is polled again.
const TURN: usize = 64;

/// Runs `future` to completion, together with the connections and handlers of this thread.
///
/// Not available on `wasm32-unknown-unknown`, whose host runs the tasks. While nothing can
/// continue, the thread sleeps until the next timer. It sleeps forever if the future waits for
/// something that no task, timer or other thread wakes.
///
/// ```
/// use mcp_wasm::{Client, Server, block_on, testing};
///
/// # fn main() -> Result<(), mcp_wasm::Error> {
/// let server = Server::new("quiet", "1.0.0");
/// let connection = block_on(testing::connect(&server, Client::new("demo", "1.0.0")))?;
/// assert_eq!(&*connection.peer().info.name, "quiet");
/// # Ok(())
/// # }
/// ```
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    let host = Host::current();
    let unpark = Arc::new(Unpark { thread: thread::current(), is_woken: AtomicBool::new(false) });
    let waker = Waker::from(Arc::clone(&unpark));
    host.0.tasks.set_waker(&waker);
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return value;
        }
        let mut left = TURN;
        while left > 0 && host.0.tasks.run_next() {
            left -= 1;
        }
        let is_woken = unpark.is_woken.swap(false, Ordering::AcqRel);
        if !is_woken && !host.0.tasks.has_ready() {
            wait(host.until_next_timer());
        }
        host.fire_timers();
    }
}

/// Blocks the thread until it is continued, or for this time.
///
/// Under WASI, the standard library parks no thread, and no other thread could continue this one.
fn wait(time: Option<Duration>) {
    const LONG: Duration = Duration::from_secs(60 * 60);
    match time {
        _ if cfg!(target_family = "wasm") => thread::sleep(time.unwrap_or(LONG)),
        Some(time) => thread::park_timeout(time),
        None => thread::park(),
    }
}

/// Continues a blocked thread.
struct Unpark {
    thread: Thread,
    is_woken: AtomicBool,
}

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.is_woken.store(true, Ordering::Release);
        self.thread.unpark();
    }
}
