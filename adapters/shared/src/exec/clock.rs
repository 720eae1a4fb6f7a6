//! The clock of a connection; nothing else reads the time.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant as StdInstant, SystemTime, UNIX_EPOCH};

use mcp_proto::Instant;

/// A monotonic clock of a connection.
#[derive(Debug)]
pub(crate) enum Clock {
    /// The time since the connection began.
    System(StdInstant),
    /// The time in nanoseconds that the program passed in last; it drives the connection by hand.
    Manual(AtomicU64),
}

impl Clock {
    pub(crate) fn new() -> Self {
        Self::System(StdInstant::now())
    }

    /// Creates a clock that only [`advance_to`](Self::advance_to) advances.
    pub(crate) fn manual(now: Instant) -> Self {
        Self::Manual(AtomicU64::new(now.as_nanos()))
    }

    pub(crate) fn now(&self) -> Instant {
        match self {
            Self::System(epoch) => Instant::from_elapsed(epoch.elapsed()),
            Self::Manual(nanos) => Instant::from_nanos(nanos.load(Ordering::Acquire)),
        }
    }

    /// Returns whether the program drives the connection by hand.
    pub(crate) const fn is_manual(&self) -> bool {
        matches!(self, Self::Manual(_))
    }

    /// Advances a manual clock. An earlier time counts as no time passing.
    pub(crate) fn advance_to(&self, now: Instant) {
        if let Self::Manual(nanos) = self {
            nanos.fetch_max(now.as_nanos(), Ordering::AcqRel);
        }
    }

    /// Returns the time left until `deadline`; zero if it has passed.
    pub(crate) fn until(&self, deadline: Instant) -> Duration {
        deadline.duration_since(self.now())
    }
}

/// Returns the seconds since the Unix epoch, for timestamps that outlive a connection.
pub(crate) fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
