//! A watchdog that replaces the leader threads of connections when they are stuck.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The progress of the leader thread of a connection, which the watchdog checks.
///
/// A counter, which is odd while the leader is busy and even while it waits for input. The watchdog
/// advances it to replace the leader, which the leader notices at its next step.
#[derive(Default)]
pub(crate) struct LeaderProgress {
    count: AtomicU64,
    is_watched: AtomicBool,
}

/// The value of the counter that the current leader has set last.
#[derive(Clone, Copy)]
pub(crate) struct Term(u64);

impl LeaderProgress {
    /// Returns the term of the first leader.
    pub(crate) fn first(&self) -> Term {
        Term(self.count.load(Ordering::SeqCst))
    }

    /// Records that the leader became busy; returns true if it must be [`watch`]ed from now on.
    pub(crate) fn begin(&self, term: &mut Term) -> bool {
        term.0 += 1;
        self.count.store(term.0, Ordering::SeqCst);
        !self.is_watched.load(Ordering::SeqCst) && !self.is_watched.swap(true, Ordering::SeqCst)
    }

    /// Records a step of the busy leader; returns false if the leader was replaced.
    pub(crate) fn step(&self, term: &mut Term) -> bool {
        self.advance(term, 2)
    }

    /// Records that the leader waits for input again; returns false if the leader was replaced.
    pub(crate) fn rest(&self, term: &mut Term) -> bool {
        self.advance(term, 1)
    }

    /// Replaces the leader without starting another one.
    #[cfg(test)]
    pub(crate) fn depose_now(&self) {
        self.count.fetch_add(3, Ordering::SeqCst);
    }

    fn advance(&self, term: &mut Term, by: u64) -> bool {
        let (before, after) = (term.0, term.0 + by);
        term.0 = after;
        self.count.compare_exchange(before, after, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }
}

/// A connection whose leader can be replaced.
pub(crate) trait WatchedLeader: Send + Sync {
    fn progress(&self) -> &LeaderProgress;

    /// Starts a leader for this term, which first takes over what the stuck one has not started.
    ///
    /// # Errors
    /// If no thread can be started.
    fn replace(self: Arc<Self>, term: Term) -> io::Result<()>;
}

/// Watches a connection until its leader has been idle for some time.
///
/// One thread watches all connections of the process, so that many busy ones cost no more wake-ups
/// than a single one. It ends when there was nothing to watch for some time.
pub(crate) fn watch(connection: Arc<dyn WatchedLeader>) {
    static WATCHER: WatchThread = WatchThread {
        state: Mutex::new(WatchState { added: Vec::new(), has_thread: false }),
        woken: Condvar::new(),
    };
    WATCHER.watch(connection);
}

/// How often the watchdog checks.
const CHECK_INTERVAL: Duration = Duration::from_millis(1);

/// The number of checks without progress after which a busy leader is stuck.
const STUCK_CHECKS: u32 = 2;

/// How often one check yields: the leaders may merely be waiting for a processor.
const YIELDS: u32 = 4;

/// A leader that has waited for this many checks is no longer watched.
const IDLE_CHECKS_MAX: u32 = 16;

/// How long to wait before starting a leader is tried again.
const RETRY_DELAY: Duration = Duration::from_millis(10);

/// How long the watchdog thread waits for a connection to watch before it ends.
const IDLE: Duration = Duration::from_secs(2);

struct WatchThread {
    state: Mutex<WatchState>,
    /// Notified when a connection was added.
    woken: Condvar,
}

struct WatchState {
    /// Connections to watch from now on.
    added: Vec<Arc<dyn WatchedLeader>>,
    has_thread: bool,
}

impl WatchThread {
    fn watch(&'static self, connection: Arc<dyn WatchedLeader>) {
        let mut state = self.lock();
        state.added.push(connection);
        if state.has_thread {
            drop(state);
            self.woken.notify_one();
            return;
        }
        state.has_thread = true;
        drop(state);
        let started = thread::Builder::new().name("mcp-watchdog".into()).spawn(|| self.run());
        if started.is_err() {
            let mut state = self.lock();
            state.has_thread = false;
            // They ask again when they become busy.
            for connection in state.added.drain(..) {
                connection.progress().is_watched.store(false, Ordering::SeqCst);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, WatchState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        let mut watched: Vec<Watchdog> = Vec::new();
        loop {
            let mut state = self.lock();
            if watched.is_empty() && state.added.is_empty() {
                state = self
                    .woken
                    .wait_timeout_while(state, IDLE, |state| state.added.is_empty())
                    .unwrap_or_else(PoisonError::into_inner)
                    .0;
                if state.added.is_empty() {
                    state.has_thread = false;
                    return;
                }
            }
            watched.extend(state.added.drain(..).map(Watchdog::new));
            drop(state);
            thread::sleep(CHECK_INTERVAL);
            for _ in 0..YIELDS {
                if !watched.iter().any(Watchdog::is_suspicious) {
                    break;
                }
                thread::yield_now();
            }
            watched.retain_mut(Watchdog::check);
        }
    }
}

/// A watched connection, with what was seen at the last check.
struct Watchdog {
    connection: Arc<dyn WatchedLeader>,
    seen: u64,
    stuck_checks: u32,
    idle_checks: u32,
    /// A leader that could not be started, and when to try again.
    vacant: Option<(Term, Instant)>,
}

impl Watchdog {
    fn new(connection: Arc<dyn WatchedLeader>) -> Self {
        let seen = connection.progress().count.load(Ordering::SeqCst);
        Self { connection, seen, stuck_checks: 0, idle_checks: 0, vacant: None }
    }

    fn count(&self) -> u64 {
        self.connection.progress().count.load(Ordering::SeqCst)
    }

    /// Returns whether the leader is busy and has made no progress since the last check.
    fn is_suspicious(&self) -> bool {
        self.seen % 2 == 1 && self.count() == self.seen
    }

    /// Checks the leader, and replaces it if it is stuck. Returns whether to check again.
    fn check(&mut self) -> bool {
        if let Some((term, at)) = self.vacant {
            if Instant::now() >= at {
                self.replace(term);
            }
            return true;
        }
        let count = self.count();
        if count != self.seen {
            (self.seen, self.stuck_checks, self.idle_checks) = (count, 0, 0);
            return true;
        }
        if count % 2 == 1 {
            self.stuck_checks += 1;
            if self.stuck_checks == STUCK_CHECKS {
                self.stuck_checks = 0;
                self.depose(count);
            }
            return true;
        }
        self.idle_checks += 1;
        self.idle_checks < IDLE_CHECKS_MAX || !self.leave(count)
    }

    /// Replaces the leader, unless it makes progress right now.
    fn depose(&mut self, count: u64) {
        // The sum is even, because the next leader starts by waiting for input.
        let next = count + 3;
        let counter = &self.connection.progress().count;
        if counter.compare_exchange(count, next, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
            self.seen = next;
            self.replace(Term(next));
        }
    }

    fn replace(&mut self, term: Term) {
        let started = Arc::clone(&self.connection).replace(term);
        self.vacant = started.err().map(|_| (term, Instant::now() + RETRY_DELAY));
    }

    /// Stops watching an idle leader; returns false if it has become busy.
    fn leave(&mut self, count: u64) -> bool {
        self.idle_checks = 0;
        let progress = self.connection.progress();
        progress.is_watched.store(false, Ordering::SeqCst);
        // A leader that became busy just before this store has not asked to be watched. One that
        // has asked since then is watched by another entry.
        self.count() == count || progress.is_watched.swap(true, Ordering::SeqCst)
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{Arc, Mutex};

    use super::{IDLE_CHECKS_MAX, LeaderProgress, STUCK_CHECKS, Term, Watchdog, WatchedLeader};

    #[derive(Default)]
    struct Connection {
        progress: LeaderProgress,
        next: Mutex<Option<Term>>,
        has_no_threads: AtomicBool,
    }

    impl WatchedLeader for Connection {
        fn progress(&self) -> &LeaderProgress {
            &self.progress
        }

        fn replace(self: Arc<Self>, term: Term) -> io::Result<()> {
            if self.has_no_threads.load(Ordering::SeqCst) {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            *self.next.lock().unwrap() = Some(term);
            Ok(())
        }
    }

    fn watched() -> (Arc<Connection>, Watchdog) {
        let connection = Arc::<Connection>::default();
        let watchdog = Watchdog::new(Arc::clone(&connection) as _);
        (connection, watchdog)
    }

    fn checks(watchdog: &mut Watchdog, times: u32) {
        (0..times).for_each(|_| assert!(watchdog.check()));
    }

    #[test]
    fn a_stuck_leader_is_replaced_and_notices() {
        let (connection, mut watchdog) = watched();
        let progress = &connection.progress;
        let mut leader = progress.first();
        assert!(progress.begin(&mut leader));
        checks(&mut watchdog, STUCK_CHECKS);
        assert!(connection.next.lock().unwrap().is_none(), "it may just have begun");
        checks(&mut watchdog, 1);
        let mut next = connection.next.lock().unwrap().take().unwrap();
        assert!(!progress.step(&mut leader));
        assert!(!progress.rest(&mut leader), "a replaced leader stays replaced");
        assert!(!progress.begin(&mut next), "it is still watched");
        assert!(progress.rest(&mut next));
    }

    #[test]
    fn a_leader_that_cannot_be_started_is_tried_again() {
        let (connection, mut watchdog) = watched();
        let mut leader = connection.progress.first();
        connection.progress.begin(&mut leader);
        connection.has_no_threads.store(true, Ordering::SeqCst);
        checks(&mut watchdog, STUCK_CHECKS + 1);
        assert!(!connection.progress.step(&mut leader));
        connection.has_no_threads.store(false, Ordering::SeqCst);
        while connection.next.lock().unwrap().is_none() {
            assert!(watchdog.check());
        }
    }

    #[test]
    fn a_leader_with_progress_is_not_replaced_and_is_no_longer_watched_once_it_waits() {
        let (connection, mut watchdog) = watched();
        let progress = &connection.progress;
        let mut leader = progress.first();
        progress.begin(&mut leader);
        for _ in 0..100 {
            assert!(watchdog.check());
            assert!(progress.step(&mut leader));
        }
        assert!(progress.rest(&mut leader));
        let checks = (0..).take_while(|_| watchdog.check()).count();
        assert!(checks <= IDLE_CHECKS_MAX as usize + 1, "{checks}");
        assert!(connection.next.lock().unwrap().is_none());
        assert!(progress.begin(&mut leader), "it must be watched again");
    }
}
