//! [`Limits`]: every bound of a connection, with its default and its memory cost.

use core::time::Duration;

mod memory;

#[cfg(test)]
pub(crate) use memory::{CALL_BYTES, EVENT_BYTES};
pub(crate) use memory::{IDENTITY_BYTES_FREE, IDENTITY_FACTOR, REQUEST_BYTES, SHARED_BYTES_MIN};

/// The memory and time limits of one connection.
///
/// Byte limits count JSON text. The costs given for each limit are memory per connection;
/// [`memory_max`](Self::memory_max) returns an upper bound for their sum. With the defaults, an
/// idle connection costs less than 4 KiB, and up to 112 KiB more after large messages;
/// [`idle_bytes_max`](Self::idle_bytes_max) lowers both. [`small`](Self::small) suits devices.
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
/// // The other limits keep their defaults.
/// assert_eq!(limits.requests_max, 1024);
/// ```
///
/// Minor releases add fields: write `..Limits::default()`, and do not destructure without `..`.
#[derive(Clone, Debug, Eq, PartialEq)]
// SEC-19: whatever a peer sends, memory and output are bounded.
pub struct Limits {
    /// Maximum number of bytes that the event loop passes to one call of `handle_input`, at least
    /// 1. Default: 64 KiB.
    ///
    /// Each call queues all events and error replies that its input causes: up to 350 bytes for
    /// each byte of input, and on a client another 8 for each subscription. The connection cannot
    /// refuse more input than this; event loops read, or pass on, at most this number of bytes at a
    /// time.
    pub input_bytes_max: usize,
    /// Maximum capacity, in bytes, that each of the buffers keeps while it is empty.
    /// Default: 16 KiB.
    ///
    /// These are the buffers of incomplete input, of events, and of params that are being written.
    /// The buffer of output keeps four times this capacity, and one that was given back with
    /// [`Outbox::reuse`](crate::Outbox::reuse) until the next output but one. With 0, an idle
    /// connection also frees its tables, as
    /// [`MessageEndpoint::shrink`](crate::MessageEndpoint::shrink) does, whenever all its events
    /// have been polled: this takes the least memory, and several allocations for each message.
    pub idle_bytes_max: usize,
    /// Maximum length of an incoming message in bytes. Default: 16 MiB.
    ///
    /// On a byte stream, a longer message is discarded up to the end of its line and reported as a
    /// violation; the connection continues. If the message is a response whose id precedes its
    /// result or error, or is the last member, the call ends with
    /// [`CallError::Invalid`](crate::CallError::Invalid).
    ///
    /// An incomplete message costs up to twice this limit.
    // FRM-10: an overlong message does not end the connection.
    pub message_bytes_max: usize,
    /// Maximum nesting depth of a message, at most 128. Default: 100. Costs no memory.
    // T-12: deeper messages are rejected.
    pub depth_max: u8,
    /// Maximum length of an id or progress token in bytes, including quotes. Default: 256.
    ///
    /// Costs up to twice this limit per pending request.
    pub id_bytes_max: usize,
    /// Maximum number of this side's calls in flight. Default: 4096.
    ///
    /// Further calls fail with [`Misuse::Blocked`](crate::Misuse::Blocked). The connection itself
    /// can still send pings, one request that subscribes to or unsubscribes from a resource and,
    /// over HTTP, one request for the list of tools. Each call costs about 250 bytes.
    pub calls_max: usize,
    /// Maximum total bytes that a client keeps to repeat its calls. Default: 64 MiB.
    ///
    /// In revision 2026-07-28, a client repeats a call after the server has required input. The
    /// client therefore keeps the params and the server's request state of each `tools/call`,
    /// `prompts/get` and `resources/read` in flight.
    ///
    /// A new call whose params would exceed the limit fails with
    /// [`Misuse::Blocked`](crate::Misuse::Blocked). A call in flight fails if the server's request
    /// state would exceed the limit.
    pub calls_bytes_max: usize,
    /// Number of ended calls to remember, so that late responses to them are ignored. Default: 256.
    ///
    /// Each ended call costs about 16 bytes.
    // T-44: a response can cross a cancellation.
    pub retired_calls_max: usize,
    /// Maximum number of the peer's requests in flight. Default: 1024.
    ///
    /// Further requests are answered with an error. Each request costs about 400 bytes plus its
    /// params.
    // SEC-18: bounds the work that a peer can start.
    pub requests_max: usize,
    /// Maximum total size of the params of the peer's in-flight requests, in bytes.
    /// Default: 64 MiB.
    ///
    /// The `_meta` of a request counts twice, because it is also kept separately. A `clientInfo` of
    /// more than 112 bytes in `_meta` counts another 24 times, because its decoded form can take
    /// that much memory. Further requests are answered with an error.
    pub requests_bytes_max: usize,
    /// Maximum number of messages in a batch, in revision 2025-03-26. Default: 128.
    ///
    /// A larger batch is a violation, answered with at most one error.
    // BAT-17: bounds the work of a batch.
    pub batch_members_max: usize,
    /// Number of queued events at which `wants_input` becomes false. Default: 1024.
    ///
    /// A single call to `handle_input` can exceed this number, because all events that its input
    /// causes are queued. Each event costs about 200 bytes.
    pub events_max: usize,
    /// Total size of the JSON in queued events, in bytes, above which `wants_input` is false.
    /// Default: 32 MiB.
    pub events_bytes_max: usize,
    /// Number of queued outgoing bytes above which this side sends no new traffic. Default: 1 MiB.
    ///
    /// While more bytes are queued, calls, notifications and log messages fail with
    /// [`Misuse::Blocked`](crate::Misuse::Blocked). Of the progress notifications of each request,
    /// only the latest is kept and sent later.
    pub outbox_bytes_max: usize,
    /// Number of queued outgoing bytes above which `wants_input` is false. Default: 64 MiB.
    ///
    /// Responses are never refused, so this limit slows down a peer that sends requests without
    /// reading the responses.
    ///
    /// While this side itself awaits a response, `wants_input` stays true above this limit until
    /// [`requests_max`](Self::requests_max) more replies have been queued. This prevents two peers
    /// that await responses from each other from both ceasing to read.
    pub replies_bytes_max: usize,
    /// Maximum number of error replies to invalid messages in quick succession. Default: 16.
    ///
    /// One more reply is allowed after each [`error_reply_every`](Self::error_reply_every). Invalid
    /// messages beyond that are reported as violations, but not answered.
    // T-18, T-20: replies to input that is not JSON are rate-limited.
    pub error_replies_max: u32,
    /// Interval after which one more error reply to an invalid message is allowed. Default: 1 s.
    ///
    /// Unused replies accumulate up to [`error_replies_max`](Self::error_replies_max).
    pub error_reply_every: Duration,
    /// Maximum number of consecutive violations; one more ends the connection. Default: unlimited.
    ///
    /// A valid message resets the count.
    pub violations_max: Option<u32>,
    /// Maximum number of times that a server may require input for one request. Default: 16.
    // SEC-17: a peer cannot ask forever.
    pub input_rounds_max: u32,
    /// Maximum number of input requests that a server sends together for one request. Default: 16.
    pub input_requests_max: usize,
    /// Maximum number of subscriptions to changes. Default: 256.
    ///
    /// A server refuses further subscriptions; on a client, subscribing fails with
    /// [`Misuse::Blocked`](crate::Misuse::Blocked). Each subscription costs about 200 bytes.
    pub subscriptions_max: usize,
    /// Maximum number of resources and [elements of extensions](crate::Filter::elements) in one
    /// subscription. Default: 256.
    ///
    /// A server refuses larger subscriptions. A client reports a larger acknowledgement, which only
    /// revision 2026-07-28 has, as a violation and ignores it. Each resource costs about 100 bytes.
    pub subscription_uris_max: usize,
    /// Maximum total size of the URIs and elements in all subscriptions, in bytes. Default: 1 MiB.
    ///
    /// A server refuses a subscription that would exceed this limit. A client reports such an
    /// acknowledgement, which only revision 2026-07-28 has, as a violation and ignores it.
    pub subscriptions_bytes_max: usize,
    /// Maximum bytes of the peer's identity and capabilities, in a handshake or a modern request.
    /// Default: 1 MiB.
    ///
    /// A larger handshake fails; a modern request that exceeds the limit is refused before it is
    /// decoded. A name and version (`clientInfo` or `serverInfo`) longer than a quarter of this
    /// limit, or than 112 bytes if that is more, is ignored; in the result of `initialize`, it
    /// fails the handshake.
    ///
    /// Each session and each modern request in flight costs up to eight times this limit. The cost
    /// of a request counts towards [`requests_bytes_max`](Self::requests_bytes_max).
    pub peer_bytes_max: usize,
    /// Maximum total size of the results that a client caches, in bytes. Default: 0 (no cache).
    ///
    /// Each result is cached for as long as the server allows.
    // STL-42: a result is fresh only for its `ttlMs`.
    pub cache_bytes_max: usize,
    /// Maximum number of entries of a list that is fetched as a whole. Default: 10,000.
    ///
    /// This limit, [`list_bytes_max`](Self::list_bytes_max) and
    /// [`list_timeout`](Self::list_timeout) apply to methods that collect all pages of a list, such
    /// as `list_tools` of the adapters. Such a method fails if a limit is exceeded. Each entry
    /// costs about 500 bytes plus its text.
    pub list_entries_max: usize,
    /// Maximum total size, in bytes, of all pages when a complete list is fetched. Default: 32 MiB.
    ///
    /// All pages may stay in memory as long as a returned entry exists.
    pub list_bytes_max: usize,

    /// Maximum time a call waits for a response. Default: 60 s.
    ///
    /// Each progress notification for the call restarts this time. Servers send some only if the
    /// call asks for them, with [`CallOptions::progress`](crate::CallOptions::progress).
    // TMO-01: every call has a timeout.
    pub call_timeout: Duration,
    /// Maximum total time a call waits, regardless of progress. Default: 10 min.
    // TMO-05: progress does not extend a call forever.
    pub call_timeout_max: Duration,
    /// Like [`call_timeout`](Self::call_timeout), but for calls that a human answers.
    /// Default: 10 min.
    ///
    /// These calls are `elicitation/create`, `sampling/createMessage` and `tasks/result`, in
    /// revisions up to 2025-11-25.
    // T-60: a human needs longer than a program.
    pub human_timeout: Duration,
    /// Like [`call_timeout_max`](Self::call_timeout_max), but for the calls that
    /// [`human_timeout`](Self::human_timeout) names. Default: 1 h.
    pub human_timeout_max: Duration,
    /// Maximum time a client waits for the response to `initialize`. Default: 30 s.
    ///
    /// Also applies to `server/discover`, unless [`probe_timeout`](Self::probe_timeout) applies.
    ///
    /// In place of the default, the adapters give a server process that they start 2 min, because
    /// its command, such as `npx` or `uvx`, may first download the server.
    // TMO-06: a timeout of `initialize` closes and does not cancel.
    pub handshake_timeout: Duration,
    /// Maximum time a client waits for the response to its `server/discover` probe. Default: 5 s.
    ///
    /// After that, the client assumes a legacy server and sends `initialize`. If the client
    /// supports no legacy revision, [`handshake_timeout`](Self::handshake_timeout) applies instead.
    // TMO-15: no answer to the probe means a legacy server.
    pub probe_timeout: Duration,
    /// Interval between pings, at least 1 ms. Default: `None`, which disables them.
    ///
    /// Ignored in revision 2026-07-28, which has no pings.
    // TMO-09: the ping frequency is configurable and not excessive.
    pub ping_every: Option<Duration>,
    /// Maximum time a ping waits for a response. Default: 10 s.
    pub ping_timeout: Duration,
    /// Number of consecutive unanswered pings after which the connection ends. Default: 3.
    // TMO-08: unanswered pings are a connection failure.
    pub pings_missed_max: u32,
    /// Maximum time for which a server still answers open requests after closing. Default: 50 ms.
    ///
    /// The time starts when the application closes the server, even if the client has closed its
    /// side before.
    pub drain_timeout: Duration,
    /// Maximum time for which a server still answers open requests after the client has closed its
    /// side. Default: 4 s.
    ///
    /// A client may close its side as soon as it has sent all requests, and still read the
    /// responses. A client that closes its side in order to end the server usually waits for 2 s.
    /// The connection closes earlier
    /// - as soon as all requests are answered;
    /// - on stdin and stdout, in the adapters on Unix, once stdout has no reader; or
    /// - if the application also closes the server and [`drain_timeout`](Self::drain_timeout) has
    ///   passed since then.
    ///
    /// The open requests stay in memory until the connection closes.
    // FRM-20: exit promptly at the end of input.
    pub eof_drain_timeout: Duration,
    /// Maximum time for which a peer may stop reading before the connection ends. Default: 60 s.
    ///
    /// The timer runs while more than [`replies_bytes_max`](Self::replies_bytes_max) bytes are
    /// queued. In the HTTP servers of the adapters, the timer runs whenever a write has to wait.
    pub stall_timeout: Duration,
    /// Maximum time for a child process to exit after its stdin is closed. Default: 2 s.
    ///
    /// After that, the process is asked to terminate.
    // FRM-19: the first step of a shutdown.
    pub exit_timeout: Duration,
    /// Maximum time for a child process to exit after it is asked to terminate. Default: 2 s.
    ///
    /// After that, the process is killed.
    // FRM-19: the second step.
    pub terminate_timeout: Duration,
    /// Maximum total time for fetching a list as a whole. Default: 2 min.
    ///
    /// When this time has passed, the request for the current page is cancelled.
    pub list_timeout: Duration,
}

impl Limits {
    /// Returns limits for small devices, with a [`memory_max`](Self::memory_max) below 64 KiB.
    ///
    /// Messages have at most 1 KiB. One request, one call, one subscription and one queued event
    /// are allowed at a time, and peers describe themselves in at most 448 bytes. Memory is freed
    /// as soon as it is empty. Timeouts are those of the [default](Self::default).
    ///
    /// ```
    /// use mcp_proto::Limits;
    ///
    /// assert!(Limits::small().memory_max() < 64 << 10);
    /// ```
    #[must_use]
    pub fn small() -> Self {
        Self {
            input_bytes_max: 8,
            idle_bytes_max: 0,
            message_bytes_max: 1024,
            id_bytes_max: 40,
            calls_max: 1,
            calls_bytes_max: 256,
            retired_calls_max: 4,
            requests_max: 1,
            requests_bytes_max: 1024,
            batch_members_max: 1,
            events_max: 1,
            events_bytes_max: 0,
            outbox_bytes_max: 512,
            replies_bytes_max: 512,
            error_replies_max: 2,
            input_requests_max: 1,
            subscriptions_max: 1,
            subscription_uris_max: 1,
            subscriptions_bytes_max: 64,
            peer_bytes_max: 448,
            list_entries_max: 16,
            list_bytes_max: 4096,
            ..Self::default()
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            input_bytes_max: 64 << 10,
            idle_bytes_max: 16 << 10,
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
            list_entries_max: 10_000,
            list_bytes_max: 32 << 20,
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
            eof_drain_timeout: Duration::from_secs(4),
            stall_timeout: Duration::from_secs(60),
            exit_timeout: Duration::from_secs(2),
            terminate_timeout: Duration::from_secs(2),
            list_timeout: Duration::from_secs(120),
        }
    }
}
