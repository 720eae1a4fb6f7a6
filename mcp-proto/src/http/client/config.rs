//! The configuration of a client over HTTP.

use core::time::Duration;

use crate::http::legacy_sse::server_url::ServerUrl;

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
    pub(super) retry_max: Duration,
    pub(super) concurrent_calls_max: usize,
    pub(super) has_stream: bool,
    pub(super) parks: bool,
    pub(super) sse_fallback: Option<ServerUrl>,
}

impl HttpConfig {
    /// Creates the default configuration.
    ///
    /// In a legacy session, the client opens a stream for messages that belong to no call, and
    /// resumes event streams that end too early. Before each attempt, the client waits. The delay
    /// is 1 s at first and doubles with each attempt, up to 30 s. The server can specify another
    /// delay, up to 5 min. See [`reconnect`](Self::reconnect) and [`retry_max`](Self::retry_max).
    ///
    /// `seed` initializes the random jitter of these delays. The jitter prevents all clients of a
    /// server from reconnecting together. Choose the seed at random; it need not be secret.
    // T-86: reconnections are spread.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self {
            seed,
            reconnect_min: Duration::from_secs(1),
            reconnect_max: Duration::from_secs(30),
            retry_max: Duration::from_secs(300),
            concurrent_calls_max: 128,
            has_stream: true,
            parks: false,
            sse_fallback: None,
        }
    }

    /// Sets the minimum and maximum delay before a stream reconnects. Default: 1 s and 30 s.
    ///
    /// By default, the delay is `min` at first. The delay doubles with each consecutive attempt
    /// that delivers no message, up to `max`. Random jitter adds at most half of the delay.
    ///
    /// The server can specify a delay with a `retry` field. In that case, the first attempt after a
    /// stream has ended waits for the server's delay, plus at most 100 ms of jitter. If this
    /// attempt fails, each further one waits for the longer of the server's and the default delay.
    ///
    /// If the server refuses an attempt with a `Retry-After` header, the next attempt waits at
    /// least that long. Every delay is at least 50 ms. This minimum doubles, up to `min`, with each
    /// consecutive stream that the server ends without a message.
    // T-86: exponential backoff.
    #[must_use]
    pub const fn reconnect(mut self, min: Duration, max: Duration) -> Self {
        self.reconnect_min = min;
        self.reconnect_max = max;
        self
    }

    /// Sets the maximum delay that the server can specify, by a `retry` field or a `Retry-After`
    /// header. Default: 5 min.
    ///
    /// Longer delays are shortened to this maximum, so that a server cannot stop a stream
    /// indefinitely. A `Retry-After` header is ignored unless it is a number of seconds. If `max`
    /// is below 50 ms, the maximum is 50 ms.
    // HTTP-17: a bound on the time that clients wait.
    #[must_use]
    pub const fn retry_max(mut self, max: Duration) -> Self {
        self.retry_max = max;
        self
    }

    /// Sets the maximum number of calls in flight; 0 counts as 1. Default: 128.
    ///
    /// Further calls wait in a queue, in order; their timeouts run while they wait. Subscriptions,
    /// pings, responses and notifications do not count and never wait for a call.
    ///
    /// Each call in flight uses an HTTP connection. In the adapters, the buffers of such a
    /// connection take about 16 KiB.
    ///
    /// While the server processes a call, it can send a request to the client. If the handler of
    /// that request makes a second call, the first call waits for the second. If all calls in
    /// flight wait in this way, none can complete. To avoid this, choose a maximum greater than the
    /// number of calls that can wait for handlers at a time.
    #[must_use]
    pub const fn concurrent_calls_max(mut self, max: usize) -> Self {
        self.concurrent_calls_max = max;
        self
    }

    /// Makes the client park requests that the server rejects for missing authorization.
    ///
    /// Without this option, such a call fails. With it, the client keeps a request that is rejected
    /// with status 401, or with status 403 and the error `insufficient_scope` in a challenge. An
    /// [`HttpEvent::Parked`](super::HttpEvent::Parked) reports the request. Answer each such event
    /// with [`HttpClient::authorize`](super::HttpClient::authorize), which sends the request again,
    /// or with [`HttpClient::deny`](super::HttpClient::deny) or
    /// [`HttpClient::deny_request`](super::HttpClient::deny_request), which fail it.
    ///
    /// While a call is parked, its timeout is [`human_timeout`](crate::Limits::human_timeout),
    /// since the user may have to log in; an exact [`timeout`](crate::CallOptions::timeout) of the
    /// application still applies. The requests that open the connection wait without limit. The
    /// DELETE that ends a session, and the pings that check the connection, are not parked.
    ///
    /// The client keeps at most 16 MiB, plus one message, of requests that are parked or await a
    /// response. Beyond that, further calls wait in a queue until there is room, and other
    /// messages that are sent during it are not parked. At most 64 messages other than calls are
    /// parked or in flight; further ones are not sent until there is room. Commands fail with
    /// [`Misuse::Blocked`](crate::Misuse::Blocked) once [`calls_max`](crate::Limits::calls_max) or
    /// the size of the outbound queue is reached.
    #[must_use]
    pub const fn parks(mut self) -> Self {
        self.parks = true;
        self
    }

    /// Makes the client fall back to [HTTP+SSE](crate::http::legacy_sse), the transport of revision
    /// 2024-11-05, for servers without Streamable HTTP.
    ///
    /// `url` is the URL that the driver sends requests to. The client tries the fallback if the
    /// response to `initialize` at that URL has status 400, 404 or 405, unless the body is an error
    /// that only modern servers send. The probe `server/discover` alone never causes it, nor does
    /// status 401. If the client supports no legacy revision, this option has no effect.
    ///
    /// If the server does not offer HTTP+SSE, either, connecting fails with the response to
    /// `initialize`.
    // LIF-36.
    #[must_use]
    pub fn sse_fallback(mut self, url: ServerUrl) -> Self {
        self.sse_fallback = Some(url);
        self
    }

    /// Disables the stream for messages that belong to no call.
    ///
    /// Without this stream, the client receives only messages that arrive in the response to one of
    /// its own messages. By default, the client opens the stream in legacy sessions.
    // HTTP-22: opening a stream with GET is optional.
    #[must_use]
    pub const fn without_stream(mut self) -> Self {
        self.has_stream = false;
        self
    }
}
