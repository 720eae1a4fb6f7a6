//! The clock of a connection; nothing else reads the time.

use std::time::{Duration, Instant as StdInstant, SystemTime, UNIX_EPOCH};

use mcp_proto::Instant;

/// A monotonic clock that starts at zero with the connection.
#[derive(Debug)]
pub(crate) struct Clock {
    epoch: StdInstant,
}

impl Clock {
    pub(crate) fn new() -> Self {
        Self { epoch: StdInstant::now() }
    }

    pub(crate) fn now(&self) -> Instant {
        Instant::from_elapsed(self.epoch.elapsed())
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
