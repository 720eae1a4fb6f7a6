//! [`Time`]: the current time by both clocks.

use core::time::Duration;

use crate::time::Instant;

/// The current time by two clocks, passed with every call.
///
/// Deadlines follow the monotonic clock. The expiry of tokens follows the wall clock, because a
/// monotonic clock may stop while a computer sleeps, and because expiry outlives the process.
/// Either clock may go backwards: the monotonic one then stops, and a jump of the wall clock only
/// moves the expiry of tokens.
///
/// ```
/// use mcp_proto::Instant;
/// use mcp_proto::auth::Time;
///
/// let time = Time { now: Instant::from_millis(1_500), unix: 1_784_000_000 };
/// assert!(time.now > Instant::ZERO);
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Time {
    /// The monotonic clock.
    pub now: Instant,
    /// The wall clock: seconds since 1970-01-01T00:00:00Z.
    pub unix: u64,
}

impl Time {
    /// Returns the monotonic time at which the wall clock will show `unix`.
    pub(super) fn at_unix(self, unix: u64) -> Instant {
        self.now + Duration::from_secs(unix.saturating_sub(self.unix))
    }
}
