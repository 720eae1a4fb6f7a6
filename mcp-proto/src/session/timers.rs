//! The timers that are not a call's: a fixed table, one slot a kind; knows nothing of what they are for.

use crate::time::Instant;

/// What a session waits for besides answers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Timer {
    /// The time to answer what is open is up.
    Drain,
    /// The next ping is due.
    Ping,
    /// The peer has had its time to read.
    Stall,
}

impl Timer {
    pub(crate) const ALL: [Self; 3] = [Self::Drain, Self::Ping, Self::Stall];
}

/// When each timer goes off.
#[derive(Debug, Default)]
pub(crate) struct Timers([Option<Instant>; 3]);

impl Timers {
    pub(crate) fn set(&mut self, timer: Timer, at: Instant) {
        if let Some(slot) = self.0.get_mut(timer as usize) {
            *slot = Some(at);
        }
    }

    pub(crate) fn is_set(&self, timer: Timer) -> bool {
        self.0.get(timer as usize).is_some_and(Option::is_some)
    }

    pub(crate) fn clear(&mut self) {
        self.0 = Default::default();
    }

    /// Takes the timer if it is due.
    pub(crate) fn take_due(&mut self, timer: Timer, now: Instant) -> bool {
        let Some(slot) = self.0.get_mut(timer as usize) else { return false };
        let due = slot.is_some_and(|at| at <= now);
        if due {
            *slot = None;
        }
        due
    }

    pub(crate) fn next(&self) -> Option<Instant> {
        let [one, other, third] = self.0;
        sooner(sooner(one, other), third)
    }
}

/// The earlier of two moments that may never come.
pub(crate) fn sooner(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
