//! [`StdPlatform`]: a host with the clock of the standard library and one blocked thread.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Poll, Waker};
use std::thread;
use std::time::{Duration, Instant as StdInstant, SystemTime, UNIX_EPOCH};

use mcp_proto::Instant;

use crate::platform::{LocalBoxFuture, Platform};
use crate::tasks::{TaskSet, poll_tasks};

/// A host with the clock of the standard library, timers and tasks on one thread.
///
/// It works under WASI and natively. While nothing can continue, [`block_on`](Self::block_on) puts
/// the thread to sleep until the next timer. A timer costs about 100 bytes. Cheap to clone; clones
/// share their tasks and timers.
///
/// ```
/// use std::time::Duration;
///
/// use mcp_wasm::{Platform, StdPlatform};
///
/// let platform = StdPlatform::new();
/// platform.block_on(platform.sleep(Duration::from_millis(1)));
/// ```
#[derive(Clone)]
pub struct StdPlatform(Rc<Parts>);

struct Parts {
    epoch: StdInstant,
    timers: RefCell<Timers>,
    tasks: RefCell<TaskSet<u64>>,
    next_task: RefCell<u64>,
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

    fn set(&mut self, key: TimerKey, waker: Waker) {
        match self.find(key) {
            Ok(place) => self.wakers[place].1 = waker,
            Err(place) => self.wakers.insert(place, (key, waker)),
        }
    }

    #[must_use]
    fn remove(&mut self, key: TimerKey) -> Option<Waker> {
        self.find(key).ok().map(|place| self.wakers.remove(place).1)
    }
}

impl StdPlatform {
    /// Creates a host without tasks, whose clock starts now.
    #[must_use]
    pub fn new() -> Self {
        Self(Rc::new(Parts {
            epoch: StdInstant::now(),
            timers: RefCell::default(),
            tasks: RefCell::new(TaskSet::new()),
            next_task: RefCell::new(0),
        }))
    }

    /// Runs `future` to completion, together with the spawned tasks.
    ///
    /// Blocks forever if the future waits for something that no timer or task of this platform
    /// wakes.
    pub fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        let mut future = Box::pin(future);
        let unpark =
            Arc::new(Unpark { thread: thread::current(), is_woken: AtomicBool::new(false) });
        let waker = Waker::from(Arc::clone(&unpark));
        let mut cx = std::task::Context::from_waker(&waker);
        loop {
            if let Poll::Ready(value) = future.as_mut().poll(&mut cx) {
                return value;
            }
            poll_tasks(&self.0.tasks, &waker);
            if !unpark.is_woken.swap(false, Ordering::AcqRel) {
                wait(self.until_next_timer());
            }
            self.fire();
        }
    }

    /// Polls the spawned tasks that can continue, and returns whether there were any.
    pub(crate) fn poll_spawned(&self, waker: &Waker) -> bool {
        poll_tasks(&self.0.tasks, waker)
    }

    /// Returns the time left until the next timer, if any.
    pub(crate) fn until_next_timer(&self) -> Option<Duration> {
        let timers = self.0.timers.borrow();
        let ((deadline, _), _) = timers.wakers.first()?;
        Some(deadline.duration_since(self.now()))
    }

    /// Wakes the tasks whose timers have expired.
    pub(crate) fn fire(&self) {
        let now = self.now();
        loop {
            let mut timers = self.0.timers.borrow_mut();
            let due = timers.wakers.first().map(|(key, _)| *key).filter(|key| key.0 <= now);
            let Some(waker) = due.and_then(|key| timers.remove(key)) else { return };
            drop(timers);
            waker.wake();
        }
    }
}

/// A timer, whose waker is removed when the future is dropped.
struct Timer {
    parts: Rc<Parts>,
    key: TimerKey,
}

impl Drop for Timer {
    fn drop(&mut self) {
        let waker = self.parts.timers.borrow_mut().remove(self.key);
        drop(waker);
    }
}

impl Platform for StdPlatform {
    fn now(&self) -> Instant {
        Instant::from_elapsed(self.0.epoch.elapsed())
    }

    fn unix_seconds(&self) -> u64 {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
    }

    fn sleep(&self, duration: Duration) -> LocalBoxFuture<'static, ()> {
        let mut timers = self.0.timers.borrow_mut();
        timers.latest += 1;
        let key = (self.now() + duration, timers.latest);
        let timer = Timer { parts: Rc::clone(&self.0), key };
        let platform = self.clone();
        Box::pin(poll_fn(move |cx| {
            if platform.now() >= timer.key.0 {
                return Poll::Ready(());
            }
            timer.parts.timers.borrow_mut().set(timer.key, cx.waker().clone());
            Poll::Pending
        }))
    }

    fn spawn(&self, task: LocalBoxFuture<'static, ()>) {
        let mut next = self.0.next_task.borrow_mut();
        *next += 1;
        self.0.tasks.borrow_mut().insert(*next, task);
    }

    #[cfg(feature = "seal")]
    fn fill_random(&self, bytes: &mut [u8]) -> io::Result<()> {
        getrandom::fill(bytes).map_err(io::Error::other)
    }

    #[cfg(not(feature = "seal"))]
    fn fill_random(&self, _: &mut [u8]) -> io::Result<()> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "random bytes need the feature `seal`"))
    }
}

impl Default for StdPlatform {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for StdPlatform {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StdPlatform").finish_non_exhaustive()
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
    thread: thread::Thread,
    is_woken: AtomicBool,
}

impl std::task::Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.is_woken.store(true, Ordering::Release);
        self.thread.unpark();
    }
}
