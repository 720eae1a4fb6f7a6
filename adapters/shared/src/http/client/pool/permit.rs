//! The permits of connections: there are no more open connections than permits.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use event_listener::{Event, EventListener, IntoNotification as _};

/// The permits of a pool.
pub(super) struct Permits {
    max: usize,
    taken: AtomicUsize,
    /// Notified when a permit is returned, or a connection has room for another exchange.
    freed: Event,
}

impl Permits {
    pub(super) fn new(max: usize) -> Arc<Self> {
        Arc::new(Self { max: max.max(1), taken: AtomicUsize::new(0), freed: Event::new() })
    }

    /// Takes a permit, if there is one.
    pub(super) fn acquire(self: &Arc<Self>) -> Option<Permit> {
        let more = |taken: usize| (taken < self.max).then_some(taken + 1);
        let taken = self.taken.fetch_update(Ordering::SeqCst, Ordering::SeqCst, more);
        taken.is_ok().then(|| Permit(Arc::clone(self)))
    }

    /// Returns whether all permits are taken.
    pub(super) fn is_exhausted(&self) -> bool {
        self.taken.load(Ordering::SeqCst) >= self.max
    }

    /// Returns a future that completes after [`notify`](Self::notify), or after a permit was
    /// returned.
    pub(super) fn freed(&self) -> EventListener {
        self.freed.listen()
    }

    /// Wakes all exchanges that wait for a connection.
    pub(super) fn notify_all(&self) {
        self.freed.notify(usize::MAX);
    }

    /// Wakes one exchange that waits for a connection.
    pub(super) fn notify(&self) {
        self.freed.notify(1.additional());
    }
}

/// The permit of an open connection. Dropping it returns it.
pub(super) struct Permit(Arc<Permits>);

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.taken.fetch_sub(1, Ordering::SeqCst);
        self.0.notify();
    }
}

impl Permit {
    /// Returns the permits that this one is of.
    #[cfg(feature = "tls")]
    pub(super) fn permits(&self) -> Arc<Permits> {
        Arc::clone(&self.0)
    }
}
