//! The configuration of a client over HTTP.

use core::time::Duration;

/// The configuration of an [`HttpClient`](super::HttpClient).
///
/// Limits are set on the [`client::Config`](crate::client::Config) of the wrapped client.
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
    /// Creates the default configuration.
    ///
    /// In legacy sessions, the client opens a stream for messages that belong to no call. An event
    /// stream that has ended is resumed after 1 s, doubling to 30 s, unless the server sets the
    /// time.
    ///
    /// `seed` initializes the jitter, which prevents the clients of one server from all
    /// reconnecting at once. Choose it at random; it need not be secret.
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

    /// Sets the minimum and maximum delay before a stream reconnects. Default: 1 s and 30 s.
    ///
    /// The delay starts at `min`, doubles with each attempt up to `max`, and is extended by jitter
    /// of up to half of it. If the server has set a time, that time replaces the delay of the first
    /// attempt after a stream has ended and is the minimum of later ones. Every delay is at least
    /// 50 ms.
    // T-86: exponential backoff.
    #[must_use]
    pub const fn reconnect(mut self, min: Duration, max: Duration) -> Self {
        self.reconnect_min = min;
        self.reconnect_max = max;
        self
    }

    /// Disables the stream for messages that belong to no call.
    ///
    /// The client then receives only messages that are sent with a response. By default, it opens
    /// such a stream in legacy sessions.
    // HTTP-22: opening a stream with GET is optional.
    #[must_use]
    pub const fn without_stream(mut self) -> Self {
        self.has_stream = false;
        self
    }
}
