//! What a client over HTTP is told once; knows nothing of the session.

use core::time::Duration;

/// How a client behaves over HTTP; the bounds are those of its session's [`Limits`](crate::Limits).
///
/// ```
/// use core::time::Duration;
/// use mcp_proto::http::client::Config;
///
/// let config = Config::new(0x5eed).reconnect(Duration::from_millis(200), Duration::from_secs(10)).without_stream();
/// ```
#[derive(Clone, Debug)]
pub struct Config {
    pub(super) seed: u64,
    pub(super) reconnect_min: Duration,
    pub(super) reconnect_max: Duration,
    pub(super) has_stream: bool,
}

impl Config {
    /// A client that opens a stream of its own where there are sessions, and reconnects after 1 s
    /// to 30 s where the server does not say after how long.
    ///
    /// The seed spreads reconnections, so that clients that lost the same server do not all come
    /// back at once: draw it at random. It guards no secret. (T-86)
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self {
            seed,
            reconnect_min: Duration::from_secs(1),
            reconnect_max: Duration::from_secs(30),
            has_stream: true,
        }
    }

    /// How long to wait before a stream is connected to again for the first time, and at the most;
    /// it is twice as long each time. What a server asks for is waited for whatever is said
    /// here. (T-86)
    #[must_use]
    pub const fn reconnect(mut self, min: Duration, max: Duration) -> Self {
        self.reconnect_min = min;
        self.reconnect_max = max;
        self
    }

    /// Opens no stream beyond those of calls: what the server says by itself is not heard.
    /// (HTTP-22)
    #[must_use]
    pub const fn without_stream(mut self) -> Self {
        self.has_stream = false;
        self
    }
}
