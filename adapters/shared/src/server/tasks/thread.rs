//! The thread of a server's tasks: their time, their store, and the timers of their handlers.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::future::{Future, poll_fn};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use mcp_proto::tasks::TaskId;

/// A step for the thread of the store.
pub(super) enum StoreStep {
    /// Saves the record of a task as it is then, and passes on whether that failed.
    Create(TaskId, Box<dyn FnOnce(io::Result<()>) + Send>),
    /// Saves the record of the task as it is then.
    Save(TaskId),
    Remove(TaskId),
    /// Runs code that must wait until the steps before it are saved, such as a notification.
    Call(Box<dyn FnOnce() + Send>),
}

/// The tasks that the thread works for.
pub(super) trait TaskWork: Send + Sync {
    /// Does a step of the store. Returns a task that could not be saved.
    fn run_step(&self, step: StoreStep) -> Option<TaskId>;

    /// Deletes the tasks whose time is over. Returns the time until the next one.
    fn expire(&self) -> Option<Duration>;
}

/// What the thread waits for. The handlers of tasks may outlive their connections, whose timers
/// they cannot use.
#[derive(Default)]
pub(super) struct TaskThread {
    state: Mutex<ThreadState>,
    changed: Condvar,
}

#[derive(Default)]
struct ThreadState {
    is_running: bool,
    is_closed: bool,
    /// The time of the first task has changed.
    is_late: bool,
    /// At most one `Save` for each task, one `Create` for each new task, one `Remove` for each
    /// deleted one, and one `Call` for each request in flight.
    steps: VecDeque<StoreStep>,
    /// The tasks of the `Save` steps.
    saves: BTreeSet<TaskId>,
    /// The tasks that could not be saved, and when that is tried again.
    unsaved: BTreeSet<TaskId>,
    retry_at: Option<Instant>,
    is_in_step: bool,
    /// Keeps the tasks until the steps are done.
    tasks: Option<Arc<dyn TaskWork>>,
    timers: BTreeMap<(Instant, u64), Waker>,
    last_timer: u64,
}

impl TaskThread {
    fn lock(&self) -> MutexGuard<'_, ThreadState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the thread, unless it runs.
    ///
    /// # Errors
    /// Fails if the system has no more threads.
    pub(super) fn start(self: &Arc<Self>, tasks: Weak<dyn TaskWork>) -> io::Result<()> {
        let mut state = self.lock();
        if !state.is_running {
            let waits = Arc::clone(self);
            thread::Builder::new().name("mcp-tasks".into()).spawn(move || waits.run(&tasks))?;
            state.is_running = true;
        }
        Ok(())
    }

    /// Looks at the time of tasks again.
    pub(super) fn wake(&self) {
        self.lock().is_late = true;
        self.changed.notify_one();
    }

    /// Does a step of the store for `tasks`, which live on until it is done.
    pub(super) fn store(&self, tasks: Option<Arc<dyn TaskWork>>, step: StoreStep) {
        let mut state = self.lock();
        if let StoreStep::Save(task) = &step
            && !state.saves.insert(*task)
        {
            return;
        }
        state.steps.push_back(step);
        if state.tasks.is_none() {
            state.tasks = tasks;
        }
        drop(state);
        self.changed.notify_one();
    }

    /// Calls `call` after the steps so far: immediately if there are none.
    pub(super) fn call_after(&self, call: impl FnOnce() + Send + 'static) {
        let mut state = self.lock();
        if state.steps.is_empty() && !state.is_in_step {
            drop(state);
            return call();
        }
        state.steps.push_back(StoreStep::Call(Box::new(call)));
        drop(state);
        self.changed.notify_one();
    }

    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_one();
    }

    /// Waits for `duration`.
    pub(super) fn sleep(self: Arc<Self>, duration: Duration) -> impl Future<Output = ()> + Send {
        let deadline = Instant::now().checked_add(duration);
        let mut timer = Timer { thread: self, key: None };
        poll_fn(move |context| {
            let Some(deadline) = deadline else { return Poll::Pending };
            if Instant::now() >= deadline {
                return Poll::Ready(());
            }
            timer.set(deadline, context.waker());
            Poll::Pending
        })
    }

    fn run(&self, tasks: &Weak<dyn TaskWork>) {
        let mut state = self.lock();
        while !state.is_closed {
            state.is_late = false;
            let now = Instant::now();
            state.retry_saves(now);
            // Before the next step: however slow the store is, time passes.
            let later = state.timers.split_off(&(now, u64::MAX));
            let due = std::mem::replace(&mut state.timers, later);
            drop(state);
            due.into_values().for_each(|waker| {
                let _panicked = quietly(|| waker.wake());
            });
            let left = tasks.upgrade().and_then(|tasks| quietly(|| tasks.expire()).flatten());
            if self.run_next_step(tasks) {
                state = self.lock();
                continue;
            }
            // Dropped without the lock: the last reference closes this thread.
            let idle = self.lock().take_idle();
            drop(idle);
            state = self.lock();
            if state.is_late || state.is_closed || !state.steps.is_empty() {
                continue;
            }
            let timer = state.timers.keys().next().map(|(at, _)| *at);
            let timer = timer.into_iter().chain(state.retry_at).min();
            let timer = timer.map(|at| at.saturating_duration_since(now));
            state = match [left, timer].into_iter().flatten().min() {
                Some(left) => self
                    .changed
                    .wait_timeout(state, left)
                    .map_or_else(|poisoned| poisoned.into_inner().0, |(state, _)| state),
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// Does the next step. Returns false if there is none.
    fn run_next_step(&self, tasks: &Weak<dyn TaskWork>) -> bool {
        let mut state = self.lock();
        let Some(step) = state.steps.pop_front() else { return false };
        if let StoreStep::Save(task) = &step {
            state.saves.remove(task);
        }
        state.is_in_step = true;
        drop(state);
        let unsaved = quietly(|| tasks.upgrade().and_then(|tasks| tasks.run_step(step)));
        let mut state = self.lock();
        state.is_in_step = false;
        if let Some(task) = unsaved.flatten() {
            state.unsaved.insert(task);
            state.retry_at.get_or_insert_with(|| Instant::now() + RETRY);
        }
        true
    }
}

impl ThreadState {
    /// Saves the tasks again whose time has come.
    fn retry_saves(&mut self, now: Instant) {
        if self.retry_at.take_if(|at| *at <= now).is_some() {
            for task in std::mem::take(&mut self.unsaved) {
                if self.saves.insert(task) {
                    self.steps.push_back(StoreStep::Save(task));
                }
            }
        }
    }

    /// Returns the tasks if there is nothing to do for them.
    fn take_idle(&mut self) -> Option<Arc<dyn TaskWork>> {
        if self.steps.is_empty() { self.tasks.take() } else { None }
    }
}

/// How long the thread waits before it saves a task again that could not be saved.
const RETRY: Duration = Duration::from_secs(1);

/// Runs code of the application, such as wakers and stores, whose panics must not end the thread.
fn quietly<T>(run: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(run)).ok()
}

/// A timer of one future.
struct Timer {
    thread: Arc<TaskThread>,
    key: Option<(Instant, u64)>,
}

impl Timer {
    fn set(&mut self, deadline: Instant, waker: &Waker) {
        let waker = waker.clone();
        let mut state = self.thread.lock();
        let key = *self.key.get_or_insert_with(|| {
            state.last_timer += 1;
            (deadline, state.last_timer)
        });
        let replaced = state.timers.insert(key, waker);
        drop(state);
        // Without the lock: the drop of a waker may drop a task, and with it other timers.
        drop(replaced);
        self.thread.changed.notify_one();
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            let removed = self.thread.lock().timers.remove(&key);
            drop(removed);
        }
    }
}
