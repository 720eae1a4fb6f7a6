//! Wakers ordered by the time at which they are due.

use std::collections::BTreeMap;
use std::task::Waker;

use mcp_proto::Instant;

/// A timer's due time and a number that makes it unique.
pub(crate) type TimerKey = (Instant, u64);

/// The pending timers, one for each sleeping future.
///
/// Boxed on first use: no future sleeps on most connections.
#[derive(Debug, Default)]
pub(crate) struct TimerQueue(Option<Box<Timers>>);

#[derive(Debug, Default)]
struct Timers {
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
        let timers = self.0.get_or_insert_default();
        let key = key.unwrap_or_else(|| {
            timers.last_number += 1;
            (at, timers.last_number)
        });
        let is_unchanged = timers.wakers.get(&key).is_some_and(|stored| stored.will_wake(waker));
        (key, if is_unchanged { None } else { timers.wakers.insert(key, waker.clone()) })
    }

    pub(crate) fn remove(&mut self, key: TimerKey) -> Option<Waker> {
        self.0.as_mut()?.wakers.remove(&key)
    }

    /// Returns when the first timer is due.
    pub(crate) fn first(&self) -> Option<Instant> {
        self.0.as_ref()?.wakers.keys().next().map(|(at, _)| *at)
    }

    /// Removes a timer that is due and returns its waker.
    pub(crate) fn take_due(&mut self, now: Instant) -> Option<Waker> {
        let first = self.0.as_mut()?.wakers.first_entry()?;
        (first.key().0 <= now).then(|| first.remove())
    }

    /// Removes all timers and returns their wakers.
    pub(crate) fn take_all(&mut self) -> Vec<Waker> {
        let wakers = self.0.as_mut().map(|timers| std::mem::take(&mut timers.wakers));
        wakers.unwrap_or_default().into_values().collect()
    }
}
