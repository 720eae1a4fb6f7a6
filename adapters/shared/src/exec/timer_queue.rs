//! Who is to be woken when; knows nothing of what for.

use std::collections::BTreeMap;
use std::task::Waker;

use mcp_proto::Instant;

/// When an alarm goes off, and which it is.
pub(crate) type AlarmKey = (Instant, u64);

/// Wakers in the order of their times. As many as there are futures that wait.
#[derive(Debug, Default)]
pub(crate) struct Alarms {
    set: BTreeMap<AlarmKey, Waker>,
    last: u64,
}

impl Alarms {
    /// Sets an alarm anew, or moves its waker.
    pub(crate) fn set(&mut self, key: Option<AlarmKey>, at: Instant, waker: &Waker) -> AlarmKey {
        let key = key.unwrap_or_else(|| {
            self.last += 1;
            (at, self.last)
        });
        match self.set.get_mut(&key) {
            Some(set) => set.clone_from(waker),
            None => drop(self.set.insert(key, waker.clone())),
        }
        key
    }

    pub(crate) fn remove(&mut self, key: AlarmKey) {
        self.set.remove(&key);
    }

    /// When the first goes off.
    pub(crate) fn first(&self) -> Option<Instant> {
        self.set.keys().next().map(|(at, _)| *at)
    }

    /// Takes one that is due.
    pub(crate) fn take_due(&mut self, now: Instant) -> Option<Waker> {
        let first = self.set.first_entry()?;
        (first.key().0 <= now).then(|| first.remove())
    }

    /// Takes all of them.
    pub(crate) fn take_all(&mut self) -> Vec<Waker> {
        std::mem::take(&mut self.set).into_values().collect()
    }
}
