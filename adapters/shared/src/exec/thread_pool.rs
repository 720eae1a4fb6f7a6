//! Threads that run handlers: as many as are needed, up to a bound; knows nothing of what it runs.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

pub(crate) type Job = Box<dyn FnOnce() + Send>;

/// A bounded pool. Jobs beyond the bound wait in the order in which they came; how many can wait is
/// bounded by whoever submits, and withdraws what is no longer wanted.
pub(crate) struct Pool<K> {
    inner: Arc<Inner<K>>,
}

struct Inner<K> {
    state: Mutex<State<K>>,
    work: Condvar,
    threads_max: usize,
}

struct State<K> {
    waiting: BTreeMap<u64, (K, Job)>,
    /// Where each of them waits.
    places: BTreeMap<K, u64>,
    last: u64,
    threads: usize,
    /// Threads that have not looked for a job yet.
    starting: usize,
    idle: usize,
    /// Jobs that run, here or on threads of others that entered.
    running: usize,
    /// The pool is gone: nothing new will come.
    over: bool,
}

/// How long a thread without work stays.
const IDLE: Duration = Duration::from_secs(10);

impl<K: Copy + Ord + Send + 'static> Pool<K> {
    pub(crate) fn new(threads_max: usize) -> Self {
        let state = Mutex::new(State {
            waiting: BTreeMap::new(),
            places: BTreeMap::new(),
            last: 0,
            threads: 0,
            starting: 0,
            idle: 0,
            running: 0,
            over: false,
        });
        Self {
            inner: Arc::new(Inner { state, work: Condvar::new(), threads_max: threads_max.max(1) }),
        }
    }

    /// Runs `job` on a thread of the pool, soon.
    pub(crate) fn run(&self, key: K, job: Job) {
        self.queue(key, job);
        self.staff();
    }

    /// Has `job` wait for its turn. Whoever does this is to [`staff`](Self::staff) the pool next.
    pub(crate) fn queue(&self, key: K, job: Job) {
        self.inner.lock().push(key, job);
    }

    /// Sees to it that there are threads for what waits.
    pub(crate) fn staff(&self) {
        loop {
            let mut state = self.inner.lock();
            for _ in 0..state.idle.min(state.waiting.len()) {
                self.inner.work.notify_one();
            }
            let coming = state.idle + state.starting;
            if coming >= state.waiting.len() || state.threads >= self.inner.threads_max {
                return;
            }
            state.threads += 1;
            state.starting += 1;
            drop(state);
            let inner = Arc::clone(&self.inner);
            let started =
                thread::Builder::new().name("mcp-handler".into()).spawn(move || inner.work());
            if started.is_err() {
                let mut state = self.inner.lock();
                state.threads -= 1;
                state.starting -= 1;
                // Without a single thread nothing would ever run: better here than never.
                let stranded = if state.threads == 0 { state.pop() } else { None };
                drop(state);
                match stranded {
                    Some(job) => job(),
                    None => return,
                }
            }
        }
    }

    /// Has the thread that asks run one job itself, for as long as it holds what it is given; not
    /// when others wait for their turn, or as many as may run do.
    pub(crate) fn enter(&self) -> Option<Entered<'_, K>> {
        let mut state = self.inner.lock();
        if !state.waiting.is_empty() || state.running >= self.inner.threads_max {
            return None;
        }
        state.running += 1;
        Some(Entered(&self.inner))
    }

    /// Forgets a job that has not begun.
    pub(crate) fn withdraw(&self, key: &K) {
        let forgotten = self.inner.lock().remove(key);
        drop(forgotten);
    }
}

/// One job, run by a thread that is not the pool's.
pub(crate) struct Entered<'p, K>(&'p Inner<K>);

impl<K> Drop for Entered<'_, K> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.running -= 1;
        if !state.waiting.is_empty() {
            self.0.work.notify_one();
        }
    }
}

impl<K> Drop for Pool<K> {
    fn drop(&mut self) {
        self.inner.lock().over = true;
        self.inner.work.notify_all();
    }
}

impl<K> std::fmt::Debug for Pool<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool").field("threads_max", &self.inner.threads_max).finish_non_exhaustive()
    }
}

impl<K> Inner<K> {
    fn lock(&self) -> MutexGuard<'_, State<K>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Copy + Ord> State<K> {
    fn push(&mut self, key: K, job: Job) {
        self.last += 1;
        self.waiting.insert(self.last, (key, job));
        self.places.insert(key, self.last);
    }

    fn pop(&mut self) -> Option<Job> {
        let (_, (key, job)) = self.waiting.pop_first()?;
        self.places.remove(&key);
        Some(job)
    }

    fn remove(&mut self, key: &K) -> Option<Job> {
        let place = self.places.remove(key)?;
        self.waiting.remove(&place).map(|(_, job)| job)
    }
}

impl<K: Copy + Ord> Inner<K> {
    fn work(&self) {
        let mut state = self.lock();
        state.starting -= 1;
        loop {
            let job = if state.running < self.threads_max { state.pop() } else { None };
            if let Some(job) = job {
                state.running += 1;
                drop(state);
                // The thread is counted until it ends, so it must not end by a panic.
                let _panicked = catch_unwind(AssertUnwindSafe(job));
                state = self.lock();
                state.running -= 1;
                continue;
            }
            if state.over && state.waiting.is_empty() {
                break;
            }
            state.idle += 1;
            let (after, timeout) =
                self.work.wait_timeout(state, IDLE).unwrap_or_else(PoisonError::into_inner);
            state = after;
            state.idle -= 1;
            if timeout.timed_out() && state.waiting.is_empty() {
                break;
            }
        }
        state.threads -= 1;
    }
}
