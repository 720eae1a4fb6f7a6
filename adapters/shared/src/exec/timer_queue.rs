//! Wakers ordered by the time at which they are due.

use std::collections::BTreeMap;
use std::task::Waker;

use mcp_proto::Instant;

/// A timer's due time and a number that makes it unique.
pub(crate) type TimerKey = (Instant, u64);

/// The pending timers, one for each sleeping future.
#[derive(Debug, Default)]
pub(crate) struct TimerQueue {
    wakers: BTreeMap<TimerKey, Waker>,
    last_number: u64,
}

impl TimerQueue {
    /// Adds a timer, or replaces the waker of the one with `key`. Returns its key and the waker
    /// that was replaced.
    pub(crate) fn set(
        &mut self,
        key: Option<TimerKey>,
        at: Instant,
        waker: &Waker,
    ) -> (TimerKey, Option<Waker>) {
        let key = key.unwrap_or_else(|| {
            self.last_number += 1;
            (at, self.last_number)
        });
        let is_unchanged = self.wakers.get(&key).is_some_and(|stored| stored.will_wake(waker));
        (key, if is_unchanged { None } else { self.wakers.insert(key, waker.clone()) })
    }

    pub(crate) fn remove(&mut self, key: TimerKey) -> Option<Waker> {
        self.wakers.remove(&key)
    }

    /// Returns when the first timer is due.
    pub(crate) fn first(&self) -> Option<Instant> {
        self.wakers.keys().next().map(|(at, _)| *at)
    }

    /// Removes a timer that is due and returns its waker.
    pub(crate) fn take_due(&mut self, now: Instant) -> Option<Waker> {
        let first = self.wakers.first_entry()?;
        (first.key().0 <= now).then(|| first.remove())
    }

    /// Removes all timers and returns their wakers.
    pub(crate) fn take_all(&mut self) -> Vec<Waker> {
        std::mem::take(&mut self.wakers).into_values().collect()
    }
}
