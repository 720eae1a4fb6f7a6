//! Whether the thread that leads is held up in one thing that it does; knows nothing of what that
//! is.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use parking::Unparker;

/// What the leader of a connection shows, and who looks at it.
///
/// It counts up: odd while the leader does something, even while it waits for input. Whoever takes
/// its place counts up, too: the leader notices at its next beat. Nobody looks while nothing has
/// happened for a while, so that a connection that is idle costs nothing.
pub(crate) struct Pulse {
    count: AtomicU64,
    is_watched: AtomicBool,
    watcher: Unparker,
}

/// A leader's own count.
#[derive(Clone, Copy)]
pub(crate) struct Term(u64);

/// How often the watcher looks.
const LOOK: Duration = Duration::from_millis(1);

/// What is not done after so many looks more holds the leader up.
const LOOKS_HELD_UP: u32 = 2;

/// How often a look gives way to others: the leader may merely be waiting for a processor.
const TURNS: u32 = 4;

/// After so many looks without a beat it stops.
const LOOKS_IDLE_MAX: u32 = 16;

impl Pulse {
    pub(crate) fn new(watcher: Unparker) -> Self {
        Self { count: AtomicU64::new(0), is_watched: AtomicBool::new(false), watcher }
    }

    /// Who leads first.
    pub(crate) fn first(&self) -> Term {
        Term(self.count.load(Ordering::SeqCst))
    }

    /// The leader begins something.
    pub(crate) fn begin(&self, term: &mut Term) {
        term.0 += 1;
        self.count.store(term.0, Ordering::SeqCst);
        if !self.is_watched.load(Ordering::SeqCst) {
            self.is_watched.store(true, Ordering::SeqCst);
            self.watcher.unpark();
        }
    }

    /// The leader has done one thing, and does the next; false when it leads no more.
    pub(crate) fn beat(&self, term: &mut Term) -> bool {
        self.advance(term, 2)
    }

    /// The leader waits again; false when it leads no more.
    pub(crate) fn rest(&self, term: &mut Term) -> bool {
        self.advance(term, 1)
    }

    fn advance(&self, term: &mut Term, by: u64) -> bool {
        let (before, after) = (term.0, term.0 + by);
        term.0 = after;
        self.count.compare_exchange(before, after, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }
}

/// What the watcher remembers of its last look.
#[derive(Default)]
pub(crate) struct Watch {
    seen: u64,
    held_up: u32,
    idle: u32,
}

/// What the watcher finds.
pub(crate) enum Look {
    /// Nothing to look at until it is woken.
    Idle,
    /// All is well: look again after so long.
    Again(Duration),
    /// The leader is held up, and leads no more: somebody is to lead in its place. Look again after
    /// so long.
    HeldUp(Term, Duration),
}

impl Watch {
    pub(crate) fn look(&mut self, pulse: &Pulse) -> Look {
        if !pulse.is_watched.load(Ordering::SeqCst) {
            return Look::Idle;
        }
        let count = self.current(pulse);
        if count != self.seen {
            *self = Self { seen: count, ..Self::default() };
            return Look::Again(LOOK);
        }
        if count % 2 == 1 {
            self.held_up += 1;
            if self.held_up < LOOKS_HELD_UP {
                return Look::Again(LOOK);
            }
            // Odd and three is even: the next leader begins by waiting.
            let next = count + 3;
            if pulse.count.compare_exchange(count, next, Ordering::SeqCst, Ordering::SeqCst).is_ok()
            {
                *self = Self { seen: next, ..Self::default() };
                return Look::HeldUp(Term(next), LOOK);
            }
            return Look::Again(LOOK);
        }
        self.idle += 1;
        if self.idle < LOOKS_IDLE_MAX {
            return Look::Again(LOOK);
        }
        self.idle = 0;
        pulse.is_watched.store(false, Ordering::SeqCst);
        // A leader that began in between did not wake anybody.
        if pulse.count.load(Ordering::SeqCst) == count {
            return Look::Idle;
        }
        pulse.is_watched.store(true, Ordering::SeqCst);
        Look::Again(LOOK)
    }

    /// The count, once a leader that only waits for a processor has had its turn.
    fn current(&self, pulse: &Pulse) -> u64 {
        let count = || pulse.count.load(Ordering::SeqCst);
        for _ in 0..TURNS {
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
    use super::{LOOKS_HELD_UP, LOOKS_IDLE_MAX, Look, Pulse, Watch};

    #[test]
    fn a_leader_that_does_one_thing_while_it_is_looked_at_again_and_again_is_replaced_and_notices()
    {
        let (_parker, watcher) = parking::pair();
        let (pulse, mut watch) = (Pulse::new(watcher), Watch::default());
        let mut leader = pulse.first();
        pulse.begin(&mut leader);
        for _ in 0..LOOKS_HELD_UP {
            assert!(matches!(watch.look(&pulse), Look::Again(_)), "it may just have begun");
        }
        let Look::HeldUp(mut next, _) = watch.look(&pulse) else { panic!("it was held up") };
        assert!(!pulse.beat(&mut leader));
        assert!(!pulse.rest(&mut leader), "once replaced, always replaced");
        pulse.begin(&mut next);
        assert!(pulse.rest(&mut next));
    }

    #[test]
    fn a_leader_that_beats_is_left_alone_and_one_that_waits_is_not_looked_at_for_ever() {
        let (parker, watcher) = parking::pair();
        let (pulse, mut watch) = (Pulse::new(watcher), Watch::default());
        assert!(matches!(watch.look(&pulse), Look::Idle), "nothing has begun");
        let mut leader = pulse.first();
        pulse.begin(&mut leader);
        assert!(parker.park_timeout(std::time::Duration::ZERO), "the watcher is woken");
        for _ in 0..100 {
            assert!(matches!(watch.look(&pulse), Look::Again(_)));
            assert!(pulse.beat(&mut leader));
        }
        assert!(pulse.rest(&mut leader));
        let looks = (0..).take_while(|_| !matches!(watch.look(&pulse), Look::Idle)).count();
        assert!(looks <= LOOKS_IDLE_MAX as usize + 1, "{looks}");
        pulse.begin(&mut leader);
        assert!(parker.park_timeout(std::time::Duration::ZERO), "it is woken anew");
    }
}
