//! A bounded thread pool that grows while work waits and is fair to its lanes.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::hash::Hash;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

pub(crate) type Job = Box<dyn FnOnce() + Send>;

/// A pool of threads for jobs, each identified by a key `K` and queued in a lane `L`.
///
/// - **Growth**: one thread works while jobs are short, however many are queued. A watcher thread
///   looks at the queue every millisecond while jobs wait: it adds a thread for each processor, and
///   doubles the threads whenever no job began since its last look. Idle threads end.
/// - **Fairness**: the next job is the oldest of the lane with the fewest running jobs. An eighth
///   of the threads is kept for lanes that have none running.
/// - **Cancellation**: a job that was cancelled no longer counts, so that jobs which ignore it
///   cannot fill the pool. They may occupy as many threads again as the maximum.
///
/// The queue is unbounded: the caller bounds the jobs it submits and withdraws those it no longer
/// needs.
pub(crate) struct ThreadPool<L, K> {
    shared: Arc<PoolShared<L, K>>,
}

struct PoolShared<L, K> {
    state: Mutex<PoolState<L, K>>,
    /// Notified when an idle thread should take a job.
    work: Condvar,
    /// Notified when jobs wait and no thread is free.
    watch: Condvar,
    threads_max: usize,
    /// Runs jobs in parallel from the beginning, up to this number.
    processors: usize,
}

/// How often the watcher looks at jobs that wait.
const WATCH_INTERVAL: Duration = Duration::from_millis(1);

/// The number of looks after which a thread is added although jobs begin all the time: work that
/// has waited for 10 ms is worth a thread.
const PATIENT_LOOKS: u32 = 10;

/// How long a thread waits for a job before it ends: the last one, and all others with the watcher.
const IDLE_LAST: Duration = Duration::from_secs(2);
const IDLE: Duration = Duration::from_millis(200);

impl<L, K> ThreadPool<L, K>
where
    L: Copy + Default + Hash + Ord + Send + 'static,
    K: Copy + Default + Eq + Hash + Send + 'static,
{
    pub(crate) fn new(threads_max: usize) -> Self {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        Self::with_processors(threads_max, processors)
    }

    fn with_processors(threads_max: usize, processors: usize) -> Self {
        let shared = PoolShared {
            state: Mutex::new(PoolState::default()),
            work: Condvar::new(),
            watch: Condvar::new(),
            threads_max: threads_max.max(1),
            processors,
        };
        Self { shared: Arc::new(shared) }
    }

    /// Runs `job` on a thread of the pool.
    #[cfg(test)]
    fn run(&self, lane: L, key: K, job: Job) {
        self.queue(lane, key, job);
        self.start();
    }

    /// Returns how many more jobs may run.
    #[cfg(test)]
    pub(crate) fn free(&self) -> usize {
        self.shared.threads_max.saturating_sub(self.shared.lock().running.len())
    }

    /// Returns how many jobs wait.
    pub(crate) fn waiting(&self) -> usize {
        self.shared.lock().waiting.len()
    }

    /// Returns whether jobs run one at a time.
    pub(crate) fn is_serial(&self) -> bool {
        self.shared.threads_max == 1
    }

    /// Queues `job`. The caller must then call [`start`](Self::start).
    pub(crate) fn queue(&self, lane: L, key: K, job: Job) {
        self.shared.lock().push(lane, key, job);
    }

    /// Wakes or starts threads for queued jobs.
    pub(crate) fn start(&self) {
        let mut state = self.shared.lock();
        if state.next(self.shared.threads_max).is_none() || state.called > 0 {
            // No job can begin, or a thread is on its way and will take all there is.
            return;
        }
        if state.idle > 0 {
            state.called += 1;
            self.shared.work.notify_one();
        } else if state.threads == 0 {
            self.shared.add_threads(state, 1);
        } else {
            drop(self.shared.watched(state));
        }
    }

    /// Counts a job that already runs on the calling thread, and that thread, as those of the pool,
    /// until [`finish`](Self::finish). The maximum does not apply to it.
    pub(crate) fn adopt(&self, lane: L, key: K) {
        self.shared.lock().adopt(lane, key);
    }

    /// Records the end of a job that was adopted.
    pub(crate) fn finish(&self, key: &K) {
        let mut state = self.shared.lock();
        state.finish(key);
        state.threads -= 1;
        drop(state);
        self.start();
    }

    /// Removes a job that has not started, or stops counting one that is running.
    pub(crate) fn cancel(&self, key: &K) {
        let mut state = self.shared.lock();
        let removed = state.remove(key);
        if removed.is_none() && state.abandon(key, self.shared.threads_max) {
            drop(state);
            self.start();
        }
        drop(removed);
    }
}

impl<L, K> Drop for ThreadPool<L, K> {
    fn drop(&mut self) {
        self.shared.lock().is_closed = true;
        self.shared.work.notify_all();
        self.shared.watch.notify_all();
    }
}

opaque_debug!(ThreadPool<L, K> [L, K], it => threads_max: it.shared.threads_max);

impl<L, K> PoolShared<L, K> {
    fn lock(&self) -> MutexGuard<'_, PoolState<L, K>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The queue of one lane.
struct Lane<K> {
    /// Waiting jobs by their tickets, oldest first.
    waiting: VecDeque<(u64, K, Job)>,
    running: usize,
}

#[derive(Clone, Copy, Default, Eq, PartialEq)]
enum Watcher {
    #[default]
    None,
    /// It waits until it is notified of jobs that wait.
    Quiet,
    /// It looks at the jobs that wait in every interval.
    Active,
}

#[derive(Default)]
struct PoolState<L, K> {
    /// Lanes with waiting or running jobs.
    lanes: HashMap<L, Lane<K>>,
    /// Lanes with waiting jobs: the number of running ones, and the ticket of the oldest.
    ready: BTreeSet<(usize, u64, L)>,
    /// The lane of each waiting job.
    waiting: HashMap<K, L>,
    /// The lane of each running job that was not cancelled.
    running: HashMap<K, L>,
    next_ticket: u64,
    threads: usize,
    idle: usize,
    /// Threads that were started or woken for a job and have not looked for one yet.
    called: usize,
    /// Threads whose jobs were cancelled and still run.
    abandoned: usize,
    /// Jobs that have begun, for the watcher.
    begun: u64,
    watcher: Watcher,
    /// The pool was dropped: no more jobs will be submitted.
    is_closed: bool,
}

impl<L: Copy + Hash + Ord, K: Copy + Eq + Hash> PoolState<L, K> {
    fn push(&mut self, lane: L, key: K, job: Job) {
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        self.waiting.insert(key, lane);
        self.change(lane, |queue| queue.waiting.push_back((ticket, key, job)));
    }

    /// Returns the lane of the next job, if there is room for it among at most `threads_max`
    /// running ones.
    fn next(&self, threads_max: usize) -> Option<L> {
        let (in_lane, _, lane) = *self.ready.first()?;
        let reserved = if in_lane == 0 { 0 } else { threads_max / 8 };
        (self.running.len() + reserved < threads_max).then_some(lane)
    }

    /// Begins the next job.
    fn pop(&mut self, threads_max: usize) -> Option<(K, Job)> {
        let lane = self.next(threads_max)?;
        let (_, key, job) = self.change(lane, |queue| {
            let first = queue.waiting.pop_front();
            queue.running += usize::from(first.is_some());
            first
        })?;
        self.waiting.remove(&key);
        self.running.insert(key, lane);
        self.begun += 1;
        Some((key, job))
    }

    fn remove(&mut self, key: &K) -> Option<Job> {
        let lane = self.waiting.remove(key)?;
        self.change(lane, |queue| {
            let index = queue.waiting.iter().position(|(_, waiting, _)| waiting == key);
            index.and_then(|index| queue.waiting.remove(index)).map(|(_, _, job)| job)
        })
    }

    fn adopt(&mut self, lane: L, key: K) {
        self.threads += 1;
        self.running.insert(key, lane);
        self.change(lane, |queue| queue.running += 1);
    }

    /// Stops counting a running job; returns whether it did.
    fn abandon(&mut self, key: &K, abandoned_max: usize) -> bool {
        let is_abandoned = self.abandoned < abandoned_max && self.end(key);
        self.abandoned += usize::from(is_abandoned);
        is_abandoned
    }

    /// Records that the thread of a job is free again.
    fn finish(&mut self, key: &K) {
        if !self.end(key) {
            self.abandoned -= 1;
        }
    }

    /// Records the end of a job, unless it was abandoned.
    fn end(&mut self, key: &K) -> bool {
        let Some(lane) = self.running.remove(key) else { return false };
        self.change(lane, |queue| queue.running -= 1);
        true
    }

    /// Changes a lane and keeps `ready` in step with it.
    fn change<T>(&mut self, lane: L, change: impl FnOnce(&mut Lane<K>) -> T) -> T {
        let entry = |queue: &Lane<K>| {
            queue.waiting.front().map(|(ticket, ..)| (queue.running, *ticket, lane))
        };
        let queue =
            self.lanes.entry(lane).or_insert_with(|| Lane { waiting: VecDeque::new(), running: 0 });
        let before = entry(queue);
        let outcome = change(queue);
        let after = entry(queue);
        let is_empty = queue.running == 0 && queue.waiting.is_empty();
        if before != after {
            before.map(|entry| self.ready.remove(&entry));
            after.map(|entry| self.ready.insert(entry));
        }
        if is_empty {
            self.lanes.remove(&lane);
        }
        outcome
    }

    /// Returns how many threads to add, after a look at jobs that wait. `looks` counts the looks
    /// since jobs began to wait.
    fn growth(&self, begun_before: u64, looks: u32, processors: usize) -> usize {
        let busy = self.threads - self.idle - self.abandoned.min(self.threads);
        if self.begun == begun_before {
            busy.max(1)
        } else {
            usize::from(busy < processors || looks.is_multiple_of(PATIENT_LOOKS))
        }
    }
}

impl<L, K> PoolShared<L, K>
where
    L: Copy + Hash + Ord + Send + 'static,
    K: Copy + Eq + Hash + Send + 'static,
{
    /// Wakes idle threads for jobs that wait, and starts the rest of `count`.
    fn add_threads(self: &Arc<Self>, mut state: MutexGuard<'_, PoolState<L, K>>, count: usize) {
        let woken = count.min(state.idle);
        let room = (self.threads_max + state.abandoned).saturating_sub(state.threads);
        let started = (count - woken).min(room);
        state.called += woken + started;
        state.threads += started;
        (0..woken).for_each(|_| self.work.notify_one());
        drop(state);
        for _ in 0..started {
            let shared = Arc::clone(self);
            if spawn("mcp-handler", move || shared.work()).is_err() {
                self.lost_thread();
            }
        }
    }

    /// Records that a thread could not be started.
    fn lost_thread(&self) {
        let mut state = self.lock();
        state.threads -= 1;
        state.called = state.called.saturating_sub(1);
        // Without a single thread the jobs would never run, so one runs on this thread.
        let stranded = if state.threads == 0 { state.pop(self.threads_max) } else { None };
        drop(state);
        if let Some((key, job)) = stranded {
            job();
            self.lock().finish(&key);
        }
    }

    /// Wakes or starts the watcher.
    fn watched<'a>(
        self: &'a Arc<Self>,
        mut state: MutexGuard<'a, PoolState<L, K>>,
    ) -> MutexGuard<'a, PoolState<L, K>> {
        match std::mem::replace(&mut state.watcher, Watcher::Active) {
            Watcher::Active => state,
            Watcher::Quiet => {
                self.watch.notify_one();
                state
            }
            Watcher::None => {
                drop(state);
                let shared = Arc::clone(self);
                let started = spawn("mcp-handlers", move || shared.watch());
                let mut state = self.lock();
                if started.is_err() {
                    // The threads that exist take the jobs as they become free.
                    state.watcher = Watcher::None;
                }
                state
            }
        }
    }

    /// Adds threads while jobs wait, and ends when none have waited for some time.
    fn watch(self: Arc<Self>) {
        let mut looks = 0;
        let mut state = self.lock();
        while !state.is_closed || !state.ready.is_empty() {
            if state.next(self.threads_max).is_none() {
                looks = 0;
                state.watcher = Watcher::Quiet;
                let (after, timeout) =
                    self.watch.wait_timeout(state, IDLE).unwrap_or_else(PoisonError::into_inner);
                state = after;
                if timeout.timed_out() && state.watcher == Watcher::Quiet {
                    break;
                }
            }
            let begun = state.begun;
            let (after, _) = self
                .watch
                .wait_timeout(state, WATCH_INTERVAL)
                .unwrap_or_else(PoisonError::into_inner);
            state = after;
            if state.next(self.threads_max).is_some() && state.called == 0 {
                looks += 1;
                let count = state.growth(begun, looks, self.processors);
                self.add_threads(state, count);
                state = self.lock();
            }
        }
        state.watcher = Watcher::None;
    }

    fn work(self: Arc<Self>) {
        let mut state = self.lock();
        // A spurious wake-up may have counted for this thread.
        state.called = state.called.saturating_sub(1);
        loop {
            if let Some((key, job)) = state.pop(self.threads_max) {
                if !state.ready.is_empty() {
                    state = self.watched(state);
                }
                drop(state);
                // A panic must not end the thread: it would stay counted.
                let _panicked = catch_unwind(AssertUnwindSafe(job));
                state = self.lock();
                state.finish(&key);
                continue;
            }
            if state.is_closed && state.ready.is_empty() {
                break;
            }
            let patience = if state.threads > 1 { IDLE } else { IDLE_LAST };
            state.idle += 1;
            let (after, timeout) =
                self.work.wait_timeout(state, patience).unwrap_or_else(PoisonError::into_inner);
            state = after;
            state.idle -= 1;
            if !timeout.timed_out() {
                // Spurious wake-ups and the end of the pool are not calls.
                state.called = state.called.saturating_sub(1);
            } else if state.called > state.idle {
                // It was called while it gave up waiting.
                state.called -= 1;
            } else if state.ready.is_empty() {
                break;
            }
        }
        state.threads -= 1;
    }
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    thread::Builder::new().name(name.into()).spawn(run).map(drop)
}

#[cfg(test)]
mod tests;
