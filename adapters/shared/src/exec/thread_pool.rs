//! A bounded thread pool for blocking handlers.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

pub(crate) type Job = Box<dyn FnOnce() + Send>;

/// A pool that starts threads on demand, up to a bound.
///
/// Further jobs wait in the order of their submission. The queue itself is unbounded: the caller
/// bounds the jobs it submits and withdraws the ones it no longer needs.
pub(crate) struct ThreadPool<K> {
    shared: Arc<PoolShared<K>>,
}

struct PoolShared<K> {
    state: Mutex<PoolState<K>>,
    job_queued: Condvar,
    threads_max: usize,
}

struct PoolState<K> {
    /// Waiting jobs by ticket number, oldest first.
    waiting: BTreeMap<u64, (K, Job)>,
    /// The ticket number of each waiting job.
    tickets: BTreeMap<K, u64>,
    last_ticket: u64,
    threads: usize,
    /// Threads that were started but have not looked for a job yet.
    starting: usize,
    idle: usize,
    /// Running jobs, on threads of the pool or on threads that entered it.
    running: usize,
    /// The pool was dropped, so no more jobs will be submitted.
    is_closed: bool,
}

/// How long an idle thread waits for a job before it ends.
const IDLE_TIMEOUT: Duration = Duration::from_secs(10);

impl<K: Copy + Ord + Send + 'static> ThreadPool<K> {
    pub(crate) fn new(threads_max: usize) -> Self {
        let state = Mutex::new(PoolState {
            waiting: BTreeMap::new(),
            tickets: BTreeMap::new(),
            last_ticket: 0,
            threads: 0,
            starting: 0,
            idle: 0,
            running: 0,
            is_closed: false,
        });
        let threads_max = threads_max.max(1);
        Self { shared: Arc::new(PoolShared { state, job_queued: Condvar::new(), threads_max }) }
    }

    /// Runs `job` on a thread of the pool.
    pub(crate) fn run(&self, key: K, job: Job) {
        self.queue(key, job);
        self.start_threads();
    }

    /// Queues `job`. The caller must then call [`start_threads`](Self::start_threads).
    pub(crate) fn queue(&self, key: K, job: Job) {
        self.shared.lock().push(key, job);
    }

    /// Wakes or starts threads for the waiting jobs.
    pub(crate) fn start_threads(&self) {
        loop {
            let mut state = self.shared.lock();
            for _ in 0..state.idle.min(state.waiting.len()) {
                self.shared.job_queued.notify_one();
            }
            let coming = state.idle + state.starting;
            if coming >= state.waiting.len() || state.threads >= self.shared.threads_max {
                return;
            }
            state.threads += 1;
            state.starting += 1;
            drop(state);
            let shared = Arc::clone(&self.shared);
            let started =
                thread::Builder::new().name("mcp-handler".into()).spawn(move || shared.work());
            if started.is_err() {
                let mut state = self.shared.lock();
                state.threads -= 1;
                state.starting -= 1;
                // Without a single thread the job would never run, so it runs on this one.
                let stranded = if state.threads == 0 { state.pop() } else { None };
                drop(state);
                match stranded {
                    Some(job) => job(),
                    None => return,
                }
            }
        }
    }

    /// Lets the calling thread run one job itself while it holds the returned guard.
    ///
    /// Returns `None` while other jobs wait or the maximum is running.
    pub(crate) fn enter(&self) -> Option<Entered<'_, K>> {
        let mut state = self.shared.lock();
        if !state.waiting.is_empty() || state.running >= self.shared.threads_max {
            return None;
        }
        state.running += 1;
        Some(Entered(&self.shared))
    }

    /// Removes a job that has not started.
    pub(crate) fn withdraw(&self, key: &K) {
        let removed = self.shared.lock().remove(key);
        drop(removed);
    }
}

/// A guard for one job that runs on a thread outside the pool.
pub(crate) struct Entered<'p, K>(&'p PoolShared<K>);

impl<K> Drop for Entered<'_, K> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.running -= 1;
        if !state.waiting.is_empty() {
            self.0.job_queued.notify_one();
        }
    }
}

impl<K> Drop for ThreadPool<K> {
    fn drop(&mut self) {
        self.shared.lock().is_closed = true;
        self.shared.job_queued.notify_all();
    }
}

impl<K> std::fmt::Debug for ThreadPool<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ThreadPool")
            .field("threads_max", &self.shared.threads_max)
            .finish_non_exhaustive()
    }
}

impl<K> PoolShared<K> {
    fn lock(&self) -> MutexGuard<'_, PoolState<K>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Copy + Ord> PoolState<K> {
    fn push(&mut self, key: K, job: Job) {
        self.last_ticket += 1;
        self.waiting.insert(self.last_ticket, (key, job));
        self.tickets.insert(key, self.last_ticket);
    }

    fn pop(&mut self) -> Option<Job> {
        let (_, (key, job)) = self.waiting.pop_first()?;
        self.tickets.remove(&key);
        Some(job)
    }

    fn remove(&mut self, key: &K) -> Option<Job> {
        let ticket = self.tickets.remove(key)?;
        self.waiting.remove(&ticket).map(|(_, job)| job)
    }
}

impl<K: Copy + Ord> PoolShared<K> {
    fn work(&self) {
        let mut state = self.lock();
        state.starting -= 1;
        loop {
            let job = if state.running < self.threads_max { state.pop() } else { None };
            if let Some(job) = job {
                state.running += 1;
                drop(state);
                // A panic must not end the thread: it would stay counted.
                let _panicked = catch_unwind(AssertUnwindSafe(job));
                state = self.lock();
                state.running -= 1;
                continue;
            }
            if state.is_closed && state.waiting.is_empty() {
                break;
            }
            state.idle += 1;
            let (after, timeout) = self
                .job_queued
                .wait_timeout(state, IDLE_TIMEOUT)
                .unwrap_or_else(PoisonError::into_inner);
            state = after;
            state.idle -= 1;
            if timeout.timed_out() && state.waiting.is_empty() {
                break;
            }
        }
        state.threads -= 1;
    }
}
