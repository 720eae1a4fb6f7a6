//! Settings for keeping event streams alive and resumable.

use core::time::Duration;

use crate::time::PERIOD_MIN;

/// Settings for keeping event streams open and resumable.
///
/// ```
/// use core::time::Duration;
/// use mcp_proto::http::StreamSettings;
///
/// let retry = Some(Duration::from_secs(5));
/// let patient = StreamSettings { retry, ..StreamSettings::default() };
/// // The default, 256 KiB.
/// assert_eq!(patient.replay_bytes_max, 256 << 10);
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct StreamSettings {
    /// The maximum size of a session's replay buffer in bytes. Default: 256 KiB.
    ///
    /// Each message counts as its length plus 128 bytes. The oldest messages are evicted first.
    pub replay_bytes_max: usize,
    /// How long a client waits before it resumes a stream that the application ended early.
    /// Default: 1 s.
    ///
    /// The time is sent only before such an end, which only revision 2025-11-25 has. `None` sends
    /// no time, for clients that reject the field `retry`, and leaves the time to the client.
    // HTTP-16: sent as `retry` before an early close.
    pub retry: Option<Duration>,
    /// How long a request may stay unanswered before its response starts as an event stream.
    /// Default: 50 ms.
    ///
    /// An event stream can be resumed, unlike a JSON response. This setting applies only to
    /// revision 2025-11-25. In other revisions, the response starts as an event stream after
    /// [`keep_alive`](Self::keep_alive).
    // HTTP-16: the stream starts with a priming event.
    pub prime_after: Duration,
    /// How long a stream may be idle before a comment is sent to keep it open. Default: 15 s.
    // HTTP-54: comments keep idle connections open.
    pub keep_alive: Duration,
}

impl StreamSettings {
    /// Returns the time between two comments; at least 1 ms, so that no timer repeats immediately.
    pub(super) fn keep_alive_period(&self) -> Duration {
        self.keep_alive.max(PERIOD_MIN)
    }
}

impl Default for StreamSettings {
    fn default() -> Self {
        Self {
            replay_bytes_max: 256 << 10,
            retry: Some(Duration::from_secs(1)),
            prime_after: Duration::from_millis(50),
            keep_alive: Duration::from_secs(15),
        }
    }
}
