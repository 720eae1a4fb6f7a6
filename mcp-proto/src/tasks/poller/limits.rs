//! [`PollLimits`]: the bounds of a poller.

use core::time::Duration;

/// The bounds of a [`TaskPoller`](super::TaskPoller).
///
/// ```
/// use core::time::Duration;
/// use mcp_proto::tasks::PollLimits;
///
/// let limits =
///     PollLimits { interval_min: Duration::from_millis(10), ..PollLimits::default() };
/// assert_eq!(limits.interval_default, Duration::from_secs(1));
/// ```
///
/// Minor releases add fields: write `..PollLimits::default()`, and do not destructure without `..`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PollLimits {
    /// Minimum time between two polls, whatever the server suggests. Default: 100 ms. At least
    /// 1 ms.
    pub interval_min: Duration,
    /// Maximum time between two polls, whatever the server suggests. Default: 60 s.
    pub interval_max: Duration,
    /// Time between two polls if the server suggests none. Default: 1 s.
    pub interval_default: Duration,
    /// Maximum time for a task since its creation, also if its server grants more. Default: 24 h.
    pub time_max: Duration,
    /// Maximum number of input requests in the life of a task. Default: 256.
    ///
    /// A task that asks for more is cancelled. Each costs about 100 bytes, plus its key of at most
    /// 256 bytes, and its answer until it is sent.
    pub inputs_max: usize,
}

impl Default for PollLimits {
    fn default() -> Self {
        Self {
            interval_min: Duration::from_millis(100),
            interval_max: Duration::from_secs(60),
            interval_default: Duration::from_secs(1),
            time_max: Duration::from_secs(24 * 3600),
            inputs_max: 256,
        }
    }
}

impl PollLimits {
    /// Returns the time until the next poll, after this many requests without an answer in a row.
    // TSK-39.
    pub(super) fn interval(&self, suggested_ms: Option<i64>, lost: u32) -> Duration {
        let suggested = suggested_ms.and_then(|ms| u64::try_from(ms).ok());
        let interval = suggested.map_or(self.interval_default, Duration::from_millis);
        let min = self.interval_min.max(crate::time::PERIOD_MIN);
        let max = self.interval_max.max(min);
        interval.clamp(min, max).saturating_mul(1 << lost.min(16)).min(max)
    }
}
