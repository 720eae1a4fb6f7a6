//! Violations of the protocol by the peer that do not end the connection.

use alloc::borrow::Cow;
use core::fmt;

/// A violation of the protocol by the peer.
///
/// Violations are reported as [`client::Event::Violation`](crate::client::Event::Violation) and
/// [`server::Event::Violation`](crate::server::Event::Violation). By default, they do not end the
/// connection and require no reaction other than logging. To let them end the connection, set
/// [`ViolationPolicy::Close`] or [`Limits::violations_max`](crate::Limits::violations_max).
///
/// ```
/// use mcp_proto::client::{Client, Config, Event};
/// use mcp_proto::{Instant, MessageEndpoint, StreamId, ViolationKind};
///
/// let mut client = Client::new(Instant::ZERO, Config::new("demo", "1.0.0"));
/// client.handle_message(Instant::ZERO, StreamId::ONLY, &b"Server started"[..]);
///
/// let Some(Event::Violation(violation)) = client.poll_event() else { panic!() };
/// assert_eq!(violation.kind, ViolationKind::NotJson);
/// assert!(violation.to_string().starts_with("invalid JSON"));
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Violation {
    /// The kind of violation.
    pub kind: ViolationKind,
    /// A description for logs. Quotes ids, names and numbers of the peer, but no payload.
    pub detail: Cow<'static, str>,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.detail)
    }
}

/// The kind of a [`Violation`].
///
/// ```
/// use mcp_proto::ViolationKind;
///
/// assert_eq!(ViolationKind::DuplicateId.to_string(), "duplicate request id");
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum ViolationKind {
    /// A notification whose params do not match its method. It is ignored.
    // CAN-07, PRG-09: malformed cancellations and progress are ignored.
    BadNotification,
    /// An invalid batch. None of its members is handled.
    ///
    /// A batch is invalid in these cases:
    ///
    /// - the connection does not use revision 2025-03-26, the only revision that allows batches;
    /// - the batch is empty;
    /// - the batch has more than [`Limits::batch_members_max`](crate::Limits::batch_members_max)
    ///   members;
    /// - the pending responses to earlier batches exceed
    ///   [`Limits::replies_bytes_max`](crate::Limits::replies_bytes_max).
    // BAT-03, BAT-12, BAT-17: none of its members is handled.
    InvalidBatch,
    /// A request that reuses the id of a request in flight. The new request is refused.
    // ID-09: ids are unique while in flight.
    DuplicateId,
    /// A notification before `initialize`. It is ignored.
    // T-27, T-28: what may precede the handshake.
    BeforeInitialize,
    /// A violation of the rules of the HTTP transport. All calls continue.
    ///
    /// For example, a response has a wrong session id, or the server refuses a notification.
    // HTTP-60, T-79: exchanges that carry no request.
    HttpExchange,
    /// JSON that is not a JSON-RPC message.
    // JSON-14: invalid request.
    Invalid,
    /// Text that is not JSON or not UTF-8, often because a server logs to its stdout.
    // JSON-13, JSON-20: parse errors.
    NotJson,
    /// A message longer than [`Limits::message_bytes_max`](crate::Limits::message_bytes_max). It is
    /// discarded. Raise the limit if the peer legitimately sends messages of this size.
    // FRM-10: the connection continues after the line end.
    TooLong,
    /// A message cut off by the end of the stream.
    // FRM-12: an incomplete last line is discarded.
    Truncated,
    /// A response that matches no pending call, or an error response without an id. It is ignored.
    // ID-08, T-03: neither ends a call.
    UnknownResponse,
    /// Progress that did not increase. It is ignored.
    // PRG-16: progress must increase.
    StaleProgress,
    /// A request from a server in revision 2026-07-28, in which only clients send requests. It is
    /// ignored.
    // T-93: servers of the modern era send no requests.
    UnexpectedRequest,
    /// A change notification for an unknown or not yet acknowledged subscription. It is ignored.
    // T-100: changes are tagged with their subscription.
    UnknownSubscription,
}

impl fmt::Display for ViolationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BadNotification => "invalid notification params",
            Self::InvalidBatch => "invalid batch",
            Self::DuplicateId => "duplicate request id",
            Self::BeforeInitialize => "notification before `initialize`",
            Self::HttpExchange => "invalid HTTP exchange",
            Self::Invalid => "invalid JSON-RPC message",
            Self::NotJson => "invalid JSON or UTF-8",
            Self::TooLong => "message too long",
            Self::Truncated => "truncated message",
            Self::UnknownResponse => "response without a pending call",
            Self::StaleProgress => "progress did not increase",
            Self::UnexpectedRequest => "unexpected request from a server",
            Self::UnknownSubscription => "notification for an unknown subscription",
        })
    }
}

/// How a connection reacts to a violation, in addition to reporting it.
///
/// ```
/// use mcp_proto::ViolationPolicy;
/// use mcp_proto::client::Config;
///
/// let strict = Config::new("demo", "1.0.0").on_violation(ViolationPolicy::Close);
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ViolationPolicy {
    /// Close the connection at the first violation, with
    /// [`Fault::FirstViolation`](crate::Fault::FirstViolation).
    Close,
    /// Only report the violation.
    ///
    /// The default for clients, because a server that logs to its stdout must not receive error
    /// responses to its log lines.
    // T-19: clients do not answer garbage.
    Ignore,
    /// Send an error response to any text that is not a message. The default for servers.
    ///
    /// [`Limits::error_replies_max`](crate::Limits::error_replies_max) limits these responses.
    // T-20: error replies are rate limited.
    Reply,
}
