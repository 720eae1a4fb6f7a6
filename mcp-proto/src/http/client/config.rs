//! The configuration of a client over HTTP.

use core::time::Duration;

/// The configuration of a client over HTTP. Limits are set on the wrapped
/// [`client::Config`](crate::client::Config).
///
/// ```
/// use core::time::Duration;
/// use mcp_proto::http::client::HttpConfig;
///
/// let config = HttpConfig::new(0x5eed)
///     .reconnect(Duration::from_millis(200), Duration::from_secs(10))
///     .without_stream();
/// ```
#[derive(Clone, Debug)]
pub struct HttpConfig {
    pub(super) seed: u64,
    pub(super) reconnect_min: Duration,
    pub(super) reconnect_max: Duration,
    pub(super) has_stream: bool,
}

impl HttpConfig {
    /// Creates the default configuration: the client opens a stream for unsolicited messages in
    /// legacy sessions, and reconnects after 1 s to 30 s unless the server sets the time.
    ///
    /// `seed` adds jitter, so that clients of one server do not all reconnect at once. Choose it at
    /// random; it need not be secret.
    // T-86: reconnections are spread.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self {
            seed,
            reconnect_min: Duration::from_secs(1),
            reconnect_max: Duration::from_secs(30),
            has_stream: true,
        }
    }

    /// Sets the minimum and maximum delay before a stream reconnects. The delay starts at `min` and
    /// doubles with each attempt. A longer time set by the server takes precedence.
    // T-86: exponential backoff.
    #[must_use]
    pub const fn reconnect(mut self, min: Duration, max: Duration) -> Self {
        self.reconnect_min = min;
        self.reconnect_max = max;
        self
    }

    /// Opens no stream for unsolicited messages; the client receives only those sent with a
    /// response.
    // HTTP-22: opening a stream with GET is optional.
    #[must_use]
    pub const fn without_stream(mut self) -> Self {
        self.has_stream = false;
        self
    }
}
