//! How a server's event streams are kept alive and resumed.

use core::time::Duration;

/// How event streams are kept up, and what is kept of them.
///
/// ```
/// use core::time::Duration;
/// use mcp_proto::http::Settings;
///
/// let patient = Settings { retry: Duration::from_secs(5), ..Settings::default() };
/// assert_eq!(patient.replay_bytes_max, 256 << 10);
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Settings {
    /// Bytes of sent messages that a session keeps for clients that resume, 256 KiB; each message
    /// counts as 128 bytes more. The oldest are dropped first.
    pub replay_bytes_max: usize,
    /// How long a client waits before it resumes a stream that ended early, 1 s. (HTTP-16)
    pub retry: Duration,
    /// How long a request of a session goes without a response before a resumable one begins, 50
    /// ms. (HTTP-16)
    pub prime_after: Duration,
    /// How long an event stream is silent before a comment is sent, 15 s. (HTTP-54)
    pub keep_alive: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            replay_bytes_max: 256 << 10,
            retry: Duration::from_secs(1),
            prime_after: Duration::from_millis(50),
            keep_alive: Duration::from_secs(15),
        }
    }
}
