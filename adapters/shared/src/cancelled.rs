//! Whether a request was cancelled, and ways to wait until it is.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use event_listener::{Event, Listener as _};

/// Set once, at most.
#[derive(Debug, Default)]
pub(crate) struct Cancelled {
    set: AtomicBool,
    changed: Event,
}

impl Cancelled {
    pub(crate) fn set(&self) {
        self.set.store(true, Ordering::Release);
        self.changed.notify(usize::MAX);
    }

    pub(crate) fn is_set(&self) -> bool {
        self.set.load(Ordering::Acquire)
    }

    /// Waits until it is set.
    pub(crate) async fn wait(&self) {
        loop {
            let changed = self.changed.listen();
            if self.is_set() {
                return;
            }
            changed.await;
        }
    }

    /// Blocks until it is set, for as long as `patience`; true when it is.
    pub(crate) fn wait_here(&self, patience: Duration) -> bool {
        let Some(give_up) = Instant::now().checked_add(patience) else {
            futures_lite::future::block_on(self.wait());
            return true;
        };
        loop {
            let changed = self.changed.listen();
            if self.is_set() {
                return true;
            }
            if changed.wait_deadline(give_up).is_none() {
                return self.is_set();
            }
        }
    }
}
