//! Whether a request was cancelled, and a way to block until it is.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Set once, at most.
#[derive(Debug, Default)]
pub(crate) struct Cancelled {
    set: Mutex<bool>,
    changed: Condvar,
}

impl Cancelled {
    pub(crate) fn set(&self) {
        *self.set.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
    }

    pub(crate) fn is_set(&self) -> bool {
        *self.set.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn wait(&self, patience: Duration) -> bool {
        let began = Instant::now();
        let mut set = self.set.lock().unwrap_or_else(PoisonError::into_inner);
        while !*set {
            let left = patience.saturating_sub(began.elapsed());
            if left.is_zero() {
                break;
            }
            set = self.changed.wait_timeout(set, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        *set
    }
}
