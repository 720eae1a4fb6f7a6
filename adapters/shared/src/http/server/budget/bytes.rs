//! Byte budgets.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The sum of all leases.
#[derive(Debug, Default)]
pub(in crate::http) struct Gauge(AtomicUsize);

impl Gauge {
    pub(in crate::http) fn get(&self) -> usize {
        self.0.load(Relaxed)
    }
}

/// Bytes that count in a gauge until the lease is dropped.
#[derive(Debug)]
pub(in crate::http) struct ByteLease {
    gauge: Arc<Gauge>,
    bytes: usize,
}

impl ByteLease {
    pub(in crate::http) fn new(gauge: &Arc<Gauge>) -> Self {
        Self { gauge: Arc::clone(gauge), bytes: 0 }
    }

    /// Adds `bytes` if the gauge then reads at most `max`; returns whether it did.
    pub(in crate::http) fn try_add(&mut self, bytes: usize, max: usize) -> bool {
        let before = self.gauge.0.fetch_add(bytes, Relaxed);
        let fits = before.saturating_add(bytes) <= max;
        if fits {
            self.bytes += bytes;
        } else {
            self.gauge.0.fetch_sub(bytes, Relaxed);
        }
        fits
    }

    /// Returns the bytes of this lease.
    pub(in crate::http) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the sum of all leases.
    pub(in crate::http) fn total(&self) -> usize {
        self.gauge.get()
    }

    /// Changes the lease to `bytes`, even if the gauge then exceeds its limit.
    pub(in crate::http) fn set(&mut self, bytes: usize) {
        if bytes > self.bytes {
            self.gauge.0.fetch_add(bytes - self.bytes, Relaxed);
        } else if bytes < self.bytes {
            self.gauge.0.fetch_sub(self.bytes - bytes, Relaxed);
        }
        self.bytes = bytes;
    }
}

impl Drop for ByteLease {
    fn drop(&mut self) {
        self.set(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leases_share_a_budget_and_give_it_back() {
        let gauge = Arc::new(Gauge::default());
        let (mut one, mut two) = (ByteLease::new(&gauge), ByteLease::new(&gauge));
        assert!(one.try_add(60, 100) && two.try_add(40, 100));
        assert!(!two.try_add(1, 100));
        assert_eq!(gauge.get(), 100);
        one.set(10);
        assert!(two.try_add(50, 100));
        two.set(200);
        assert_eq!(gauge.get(), 210);
        drop(two);
        assert_eq!(gauge.get(), 10);
        drop(one);
        assert_eq!(gauge.get(), 0);
    }
}
