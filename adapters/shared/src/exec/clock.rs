//! The one place that reads a clock.

use std::time::{Duration, Instant as StdInstant, SystemTime, UNIX_EPOCH};

use mcp_proto::Instant;

/// A monotonic clock that starts with the connection.
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

    /// How long until `deadline`; zero when it is past.
    pub(crate) fn until(&self, deadline: Instant) -> Duration {
        deadline.duration_since(self.now())
    }
}

/// Seconds since the Unix epoch, for what outlives a connection.
pub(crate) fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
