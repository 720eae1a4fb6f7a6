//! [`Limits`]: every bound of a connection, with its default and its cost.

use core::time::Duration;

mod memory;

#[cfg(test)]
pub(crate) use memory::{CALL_BYTES, EVENT_BYTES, REQUEST_BYTES};
pub(crate) use memory::{IDENTITY_BYTES_FREE, IDENTITY_FACTOR};

/// Every bound of one connection: what a peer can make it hold, and how long anything can take.
///
/// Sizes are bytes of JSON text. A connection's memory is the sum of the costs below, with
/// [`memory_max`](Self::memory_max) as the upper bound. With the defaults, an idle connection costs
/// well under 4 KiB; its buffers shrink after use.
///
/// ```
/// use core::time::Duration;
/// use mcp_proto::Limits;
///
/// let limits = Limits {
///     message_bytes_max: 64 << 10,
///     call_timeout: Duration::from_secs(5),
///     ..Limits::default()
/// };
/// assert_eq!(limits.requests_max, 1024);
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Limits {
    /// Longest incoming message in bytes; 16 MiB. A longer one is discarded up to the end of its
    /// line and reported; the connection continues. Costs up to twice this while a message is
    /// incomplete.
    // FRM-10: an overlong message does not end the connection.
    pub message_bytes_max: usize,
    /// Deepest nesting of a message; 100, and at most 128. No cost.
    // T-12: deeper messages are rejected.
    pub depth_max: u8,
    /// Longest id or progress token in bytes, with quotes; 256. Costs up to twice this per pending
    /// request.
    pub id_bytes_max: usize,
    /// Maximum number of our calls in flight; 4096. Further calls fail with
    /// [`Misuse::Blocked`](crate::Misuse::Blocked), except those of the connection itself: a ping,
    /// and one resource subscription at a time. Costs about 250 bytes each.
    pub calls_max: usize,
    /// Bytes of params and states retained to repeat calls with input; 64 MiB. Further calls fail
    /// with [`Misuse::Blocked`](crate::Misuse::Blocked). Applies only to calls that can be asked
    /// for input.
    pub calls_bytes_max: usize,
    /// Number of ended calls whose late responses are silently ignored; 256. Costs about 16 bytes
    /// each.
    // T-44: a response can cross a cancellation.
    pub retired_calls_max: usize,
    /// Maximum number of the peer's requests in flight; 1024. Further requests are answered with
    /// an error. Costs about 400 bytes each, plus params.
    // SEC-18: bounds the work that a peer can start.
    pub requests_max: usize,
    /// Bytes of params held by the peer's requests in flight; 64 MiB. Further requests are
    /// answered with an error.
    pub requests_bytes_max: usize,
    /// Maximum number of messages in a batch; 128. A larger batch is answered with a single error.
    // BAT-17: bounds the work of a batch.
    pub batch_members_max: usize,
    /// Number of queued events from which `wants_input` is false; 1024. One `handle_input` can
    /// exceed it by the events in its bytes. Costs about 200 bytes each.
    pub events_max: usize,
    /// Bytes of JSON in queued events from which `wants_input` is false; 32 MiB.
    pub events_bytes_max: usize,
    /// Queued outgoing bytes from which new calls, notifications and log messages fail with
    /// [`Misuse::Blocked`](crate::Misuse::Blocked) and progress notifications are dropped; 1 MiB.
    pub outbox_bytes_max: usize,
    /// Queued outgoing bytes from which no more input is read; 64 MiB. Responses are never
    /// refused, so a peer that sends requests without reading must be slowed down.
    pub replies_bytes_max: usize,
    /// Error replies to invalid messages in a burst; 16.
    // T-18, T-20: replies to input that is not JSON are rate-limited.
    pub error_replies_max: u32,
    /// Interval at which the burst regains one error reply; 1 s.
    pub error_reply_every: Duration,
    /// Consecutive violations, without a valid message in between, that end the connection;
    /// unlimited by default.
    pub violations_max: Option<u32>,
    /// How often one request may ask for input; 16.
    pub input_rounds_max: u32,
    /// Maximum number of input requests asked at a time; 16.
    pub input_requests_max: usize,
    /// Maximum number of subscriptions to changes; 256. A server refuses further ones; on a client
    /// they fail with [`Misuse::Blocked`](crate::Misuse::Blocked). Costs about 200 bytes each.
    pub subscriptions_max: usize,
    /// Maximum number of resources in one subscription; 256. A server refuses larger
    /// subscriptions, a client larger acknowledgements. Costs about 100 bytes each.
    pub subscription_uris_max: usize,
    /// Bytes of URIs in all subscriptions; 1 MiB. Further subscriptions are refused.
    pub subscriptions_bytes_max: usize,
    /// Bytes of the peer's identity and capabilities in a handshake; 1 MiB. A larger handshake
    /// fails. Costs up to 24 times this.
    pub peer_bytes_max: usize,
    /// Bytes of results that a client caches for as long as the server allows; 0, which disables
    /// the cache.
    // STL-42: a result is fresh only for its `ttlMs`.
    pub cache_bytes_max: usize,

    /// How long a call waits for a response or further progress; 60 s.
    // TMO-01: every call has a timeout.
    pub call_timeout: Duration,
    /// How long a call waits in total, regardless of progress; 10 min.
    // TMO-05: progress does not extend a call forever.
    pub call_timeout_max: Duration,
    /// Like `call_timeout`, for calls answered by a human; 10 min.
    // T-60: a human needs longer than a program.
    pub human_timeout: Duration,
    /// Like `call_timeout_max`, for calls answered by a human; 1 h.
    pub human_timeout_max: Duration,
    /// How long a client waits for the response to `initialize`; 30 s.
    // TMO-06: a timeout of `initialize` closes and does not cancel.
    pub handshake_timeout: Duration,
    /// How long a client waits for the response to the probe of the server's era; 5 s. Then it
    /// falls back to `initialize`.
    // TMO-15: no answer to the probe means a legacy server.
    pub probe_timeout: Duration,
    /// Interval between pings, at least 1 ms; `None`, the default, disables them. Ignored in
    /// revisions without pings.
    // TMO-09: the ping frequency is configurable and not excessive.
    pub ping_every: Option<Duration>,
    /// How long a ping waits for a response; 10 s.
    pub ping_timeout: Duration,
    /// Consecutive unanswered pings that end the connection; 3.
    // TMO-08: unanswered pings are a connection failure.
    pub pings_missed_max: u32,
    /// How long requests can still be answered after the peer closed its side or the server was
    /// asked to close; 50 ms.
    // FRM-20: exit promptly at the end of input.
    pub drain_timeout: Duration,
    /// How long a peer may leave more than `replies_bytes_max` unread before the connection ends;
    /// 60 s.
    pub stall_timeout: Duration,
    /// How long a child process may take to exit after its stdin is closed; 2 s.
    // FRM-19: the first step of a shutdown.
    pub exit_timeout: Duration,
    /// How long a child process may take to exit after it was asked to terminate; 2 s.
    // FRM-19: the second step.
    pub terminate_timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message_bytes_max: 16 << 20,
            depth_max: 100,
            id_bytes_max: 256,
            calls_max: 4096,
            calls_bytes_max: 64 << 20,
            retired_calls_max: 256,
            requests_max: 1024,
            requests_bytes_max: 64 << 20,
            batch_members_max: 128,
            events_max: 1024,
            events_bytes_max: 32 << 20,
            outbox_bytes_max: 1 << 20,
            replies_bytes_max: 64 << 20,
            error_replies_max: 16,
            error_reply_every: Duration::from_secs(1),
            violations_max: None,
            input_rounds_max: 16,
            input_requests_max: 16,
            subscriptions_max: 256,
            subscription_uris_max: 256,
            subscriptions_bytes_max: 1 << 20,
            peer_bytes_max: 1 << 20,
            cache_bytes_max: 0,
            call_timeout: Duration::from_secs(60),
            call_timeout_max: Duration::from_secs(600),
            human_timeout: Duration::from_secs(600),
            human_timeout_max: Duration::from_secs(3600),
            handshake_timeout: Duration::from_secs(30),
            probe_timeout: Duration::from_secs(5),
            ping_every: None,
            ping_timeout: Duration::from_secs(10),
            pings_missed_max: 3,
            drain_timeout: Duration::from_millis(50),
            stall_timeout: Duration::from_secs(60),
            exit_timeout: Duration::from_secs(2),
            terminate_timeout: Duration::from_secs(2),
        }
    }
}
