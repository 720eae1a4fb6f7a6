//! Every bound of a connection, with its default and what it costs; knows nothing of what is
//! bounded.

use core::time::Duration;

mod memory;

#[cfg(test)]
pub(crate) use memory::{CALL_BYTES, EVENT_BYTES, REQUEST_BYTES};
pub(crate) use memory::{IDENTITY_BYTES_FREE, IDENTITY_FACTOR};

/// Every bound of one connection: what a peer can make it hold, and how long anything can take.
///
/// Sizes are in bytes of JSON text. A connection's memory is the sum of the costs below, and
/// [`memory_max`](Self::memory_max) its ceiling; with the defaults an idle one costs well under 4
/// KiB, and its buffers shrink again after use.
///
/// ```
/// use core::time::Duration;
/// use mcp_proto::Limits;
///
/// let limits = Limits { message_bytes_max: 64 << 10, call_timeout: Duration::from_secs(5), ..Limits::default() };
/// assert_eq!(limits.requests_max, 1024);
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Limits {
    /// The longest message taken in, 16 MiB. A longer one is discarded up to its line end and
    /// reported; the connection goes on. Costs up to twice this much while a message is
    /// incomplete. (FRM-10)
    pub message_bytes_max: usize,
    /// The deepest nesting of a message, 100; at most 128. Costs nothing. (T-12)
    pub depth_max: u8,
    /// The longest id and progress token, with quotes, 256. Costs up to twice this much per open
    /// request.
    pub id_bytes_max: usize,
    /// Our calls in flight, 4096; one more is [`Misuse::Blocked`](crate::Misuse::Blocked). What
    /// the session asks by itself finds room all the same: a ping, and one resource at a time
    /// to subscribe to. Costs about 250 bytes each.
    pub calls_max: usize,
    /// Bytes of params and states that are kept to make calls again with input, 64 MiB; one more
    /// call is [`Misuse::Blocked`](crate::Misuse::Blocked). Only calls that can ask for input
    /// keep theirs.
    pub calls_bytes_max: usize,
    /// Ended calls whose late answer is expected and ignored in silence, 256. Costs about 16 bytes
    /// each. (T-44)
    pub retired_max: usize,
    /// The peer's requests in flight, 1024; the next is answered with an error. Costs about 400
    /// bytes each, and their params. (SEC-18)
    pub requests_max: usize,
    /// Bytes of params that the peer's requests in flight may hold together, 64 MiB; the next
    /// request is answered with an error.
    pub requests_bytes_max: usize,
    /// Messages in one batch, 128; a larger batch is answered with one error. (BAT-17)
    pub batch_members_max: usize,
    /// Events that wait to be polled, 1024; with more, `wants_input` is false. One `handle_input`
    /// can pass the bound by as many events as its bytes hold. Costs about 200 bytes each.
    pub events_max: usize,
    /// Bytes of JSON that waiting events hold, 32 MiB; with more, `wants_input` is false.
    pub events_bytes_max: usize,
    /// Bytes waiting to be sent beyond which new calls, notifications and log messages are
    /// [`Misuse::Blocked`](crate::Misuse::Blocked) and progress is thinned out, 1 MiB.
    pub outbox_bytes_max: usize,
    /// Bytes waiting to be sent beyond which nothing more is read, 64 MiB: answers are never
    /// blocked, so a peer that asks and does not read must be held up itself.
    pub replies_bytes_max: usize,
    /// Error replies to texts that are no requests, in one burst, 16. (T-18, T-20)
    pub error_replies_max: u32,
    /// How often the burst gains one more error reply, 1 s.
    pub error_reply_every: Duration,
    /// Violations in a row, without one good message, that end the connection; none by default.
    pub violations_max: Option<u32>,
    /// Times that one request may ask for input, 16.
    pub input_rounds_max: u32,
    /// Questions that may be asked at a time, 16.
    pub questions_max: usize,
    /// Subscriptions to changes, 256: of those that a server holds the next is refused, for a
    /// client one more is [`Misuse::Blocked`](crate::Misuse::Blocked). Costs about 200 bytes
    /// each.
    pub subscriptions_max: usize,
    /// Resources in one subscription, 256; a larger one is refused, by a client its
    /// acknowledgement. Costs about 100 bytes each.
    pub subscription_uris_max: usize,
    /// Bytes of URIs that all subscriptions hold, 1 MiB; the next is refused.
    pub subscriptions_bytes_max: usize,
    /// Bytes in which the other side of a handshake says who it is and what it can, 1 MiB; with
    /// more, it fails. Costs up to 24 times this much.
    pub peer_bytes_max: usize,
    /// Bytes of answers that a client keeps to use again, for as long as the server says that they
    /// are good; 0, so none. (STL-42)
    pub cache_bytes_max: usize,

    /// How long a call waits for an answer, or for further progress, 60 s. (TMO-01)
    pub call_timeout: Duration,
    /// How long a call waits in all, whatever progress comes, 10 min. (TMO-05)
    pub call_timeout_max: Duration,
    /// As `call_timeout`, where a human answers, 10 min. (T-60)
    pub human_timeout: Duration,
    /// As `call_timeout_max`, where a human answers, 1 h.
    pub human_timeout_max: Duration,
    /// How long a client waits for the answer to `initialize`, 30 s. (TMO-06)
    pub handshake_timeout: Duration,
    /// How long a client waits for the answer that tells the server's era, 5 s; then it takes the
    /// server for one that wants `initialize`. (TMO-15)
    pub probe_timeout: Duration,
    /// How often to ping, at most once a millisecond; not at all by default, and not where the
    /// revision has no pings. (TMO-09)
    pub ping_every: Option<Duration>,
    /// How long a ping may take, 10 s.
    pub ping_timeout: Duration,
    /// Pings in a row without an answer that end the connection, 3. (TMO-08)
    pub pings_missed_max: u32,
    /// How long requests may still be answered once the peer hung up or the server was told to
    /// close, 50 ms. (FRM-20)
    pub drain_timeout: Duration,
    /// How long a peer may leave more than `replies_bytes_max` unread, 60 s; then the connection
    /// ends.
    pub stall_timeout: Duration,
    /// How long a child process may take to exit once its stdin is closed, 2 s. (FRM-19)
    pub exit_timeout: Duration,
    /// How long it may take to exit once it was told to terminate, 2 s. (FRM-19)
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
            retired_max: 256,
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
            questions_max: 16,
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
