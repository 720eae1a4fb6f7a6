//! A watchdog that detects when the leader thread of a connection is stuck.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use parking::Unparker;

/// The progress of the leader thread, which the watchdog checks.
///
/// A counter, which is odd while the leader is busy and even while it waits for input. The watchdog
/// advances it to replace the leader, which the leader notices at its next step. The watchdog
/// sleeps while nothing happens, so that an idle connection costs nothing.
pub(crate) struct Progress {
    count: AtomicU64,
    is_watched: AtomicBool,
    watchdog: Unparker,
}

/// The value of the counter that the current leader has set last.
#[derive(Clone, Copy)]
pub(crate) struct Term(u64);

/// How often the watchdog checks.
const CHECK_INTERVAL: Duration = Duration::from_millis(1);

/// The number of checks without progress after which a busy leader is stuck.
const STUCK_CHECKS: u32 = 2;

/// How often one check yields: the leader may merely be waiting for a processor.
const YIELDS: u32 = 4;

/// The number of checks of a waiting leader after which the watchdog sleeps.
const IDLE_CHECKS_MAX: u32 = 16;

impl Progress {
    pub(crate) fn new(watchdog: Unparker) -> Self {
        Self { count: AtomicU64::new(0), is_watched: AtomicBool::new(false), watchdog }
    }

    /// Returns the term of the first leader.
    pub(crate) fn first(&self) -> Term {
        Term(self.count.load(Ordering::SeqCst))
    }

    /// Records that the leader became busy, and wakes the watchdog.
    pub(crate) fn begin(&self, term: &mut Term) {
        term.0 += 1;
        self.count.store(term.0, Ordering::SeqCst);
        if !self.is_watched.load(Ordering::SeqCst) {
            self.is_watched.store(true, Ordering::SeqCst);
            self.watchdog.unpark();
        }
    }

    /// Records a step of the busy leader; returns false if the leader was replaced.
    pub(crate) fn step(&self, term: &mut Term) -> bool {
        self.advance(term, 2)
    }

    /// Records that the leader waits for input again; returns false if the leader was replaced.
    pub(crate) fn rest(&self, term: &mut Term) -> bool {
        self.advance(term, 1)
    }

    fn advance(&self, term: &mut Term, by: u64) -> bool {
        let (before, after) = (term.0, term.0 + by);
        term.0 = after;
        self.count.compare_exchange(before, after, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }
}

/// The watchdog, with what it saw at its last check.
#[derive(Default)]
pub(crate) struct Watchdog {
    seen: u64,
    stuck_checks: u32,
    idle_checks: u32,
}

/// The result of a check.
pub(crate) enum Check {
    /// The leader is idle: the watchdog sleeps until it is woken.
    Sleep,
    /// The leader makes progress: check again after this time.
    Again(Duration),
    /// The leader was stuck and is replaced: a new leader must start with this term. Check again
    /// after this time.
    Stuck(Term, Duration),
}

impl Watchdog {
    pub(crate) fn check(&mut self, progress: &Progress) -> Check {
        if !progress.is_watched.load(Ordering::SeqCst) {
            return Check::Sleep;
        }
        let count = self.current(progress);
        if count != self.seen {
            *self = Self { seen: count, ..Self::default() };
            return Check::Again(CHECK_INTERVAL);
        }
        if count % 2 == 1 {
            self.stuck_checks += 1;
            if self.stuck_checks < STUCK_CHECKS {
                return Check::Again(CHECK_INTERVAL);
            }
            // The sum is even, because the next leader starts by waiting for input.
            let next = count + 3;
            let replaced =
                progress.count.compare_exchange(count, next, Ordering::SeqCst, Ordering::SeqCst);
            if replaced.is_ok() {
                *self = Self { seen: next, ..Self::default() };
                return Check::Stuck(Term(next), CHECK_INTERVAL);
            }
            return Check::Again(CHECK_INTERVAL);
        }
        self.idle_checks += 1;
        if self.idle_checks < IDLE_CHECKS_MAX {
            return Check::Again(CHECK_INTERVAL);
        }
        self.idle_checks = 0;
        progress.is_watched.store(false, Ordering::SeqCst);
        // A leader that became busy just before this store has not woken the watchdog.
        if progress.count.load(Ordering::SeqCst) == count {
            return Check::Sleep;
        }
        progress.is_watched.store(true, Ordering::SeqCst);
        Check::Again(CHECK_INTERVAL)
    }

    /// Returns the counter after a leader that only waits for a processor had a chance to run.
    fn current(&self, progress: &Progress) -> u64 {
        let count = || progress.count.load(Ordering::SeqCst);
        for _ in 0..YIELDS {
            let count = count();
            if count != self.seen || count % 2 == 0 {
                return count;
            }
            thread::yield_now();
        }
        count()
    }
}

#[cfg(test)]
mod tests {
    use super::{Check, IDLE_CHECKS_MAX, Progress, STUCK_CHECKS, Watchdog};

    #[test]
    fn a_stuck_leader_is_replaced_and_notices() {
        let (_parker, unparker) = parking::pair();
        let (progress, mut watchdog) = (Progress::new(unparker), Watchdog::default());
        let mut leader = progress.first();
        progress.begin(&mut leader);
        for _ in 0..STUCK_CHECKS {
            assert!(matches!(watchdog.check(&progress), Check::Again(_)), "it may just have begun");
        }
        let Check::Stuck(mut next, _) = watchdog.check(&progress) else { panic!("not replaced") };
        assert!(!progress.step(&mut leader));
        assert!(!progress.rest(&mut leader), "a replaced leader stays replaced");
        progress.begin(&mut next);
        assert!(progress.rest(&mut next));
    }

    #[test]
    fn a_leader_with_progress_is_not_replaced_and_the_watchdog_sleeps_while_it_waits() {
        let (parker, unparker) = parking::pair();
        let (progress, mut watchdog) = (Progress::new(unparker), Watchdog::default());
        assert!(matches!(watchdog.check(&progress), Check::Sleep), "nothing has begun");
        let mut leader = progress.first();
        progress.begin(&mut leader);
        assert!(parker.park_timeout(std::time::Duration::ZERO), "the watchdog is woken");
        for _ in 0..100 {
            assert!(matches!(watchdog.check(&progress), Check::Again(_)));
            assert!(progress.step(&mut leader));
        }
        assert!(progress.rest(&mut leader));
        let checks = (0..).take_while(|_| !matches!(watchdog.check(&progress), Check::Sleep));
        let checks = checks.count();
        assert!(checks <= IDLE_CHECKS_MAX as usize + 1, "{checks}");
        progress.begin(&mut leader);
        assert!(parker.park_timeout(std::time::Duration::ZERO), "the watchdog is woken again");
    }
}
