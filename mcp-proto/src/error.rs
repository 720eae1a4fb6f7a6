//! [`Misuse`], the error of commands that cannot be applied, and the error codes of the protocol.

use core::fmt;

/// The error for a command that cannot be applied; nothing was changed or sent.
///
/// ```
/// use mcp_proto::client::{Client, Config};
/// use mcp_proto::{CallOptions, Instant, Misuse, Raw};
///
/// let mut client = Client::new(Instant::ZERO, Config::new("demo", "1.0.0"));
/// let result = client.call_raw(Instant::ZERO, "tools/list", None, CallOptions::default());
/// assert_eq!(result, Err(Misuse::NotReady)); // `server/discover` is not answered yet
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Misuse {
    /// A limit in [`Limits`](crate::Limits) is reached.
    ///
    /// Drain the outbox or let calls complete, then retry.
    Blocked,
    /// The connection is closing or closed.
    Closed,
    /// The handshake is not complete.
    // LIF-09: a client sends only pings before the handshake ends.
    NotReady,
    /// The call has completed, or the incoming request was answered or cancelled.
    ///
    /// Ignore this error when responding to a request that the peer can cancel: the event that
    /// reports the cancellation may not have been polled yet.
    Stale,
    /// The command needs a capability that this side or the peer did not declare.
    // CAP-03: only declared capabilities are used.
    Undeclared,
    /// The value cannot be encoded as the message requires.
    ///
    /// For example, it is not valid JSON or not an object.
    Unencodable,
    /// The negotiated revision does not define the message or a value in it, or the application may
    /// not send the message.
    ///
    /// For example, revisions before 2025-11-25 do not define form fields that accept several
    /// choices. Some messages, such as `initialize`, are sent only by the library itself.
    Unsupported,
}

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Blocked => {
                "a limit of `Limits` is reached; drain the outbox or let calls complete"
            }
            Self::Closed => "the connection is closed",
            Self::NotReady => "the handshake is not complete",
            Self::Stale => "the id refers to nothing pending",
            Self::Undeclared => "the required capability was not declared",
            Self::Unencodable => {
                "the value does not fit the message: arguments and params must be JSON objects, \
                 those of prompts with strings as values, and progress must increase"
            }
            Self::Unsupported => {
                "the protocol revision or the role does not define this message or a value in it"
            }
        })
    }
}

impl core::error::Error for Misuse {}

/// The error for a value that cannot be encoded as JSON.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Unencodable;

impl fmt::Display for Unencodable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the value cannot be encoded as JSON")
    }
}

impl core::error::Error for Unencodable {}

impl From<Unencodable> for Misuse {
    fn from(_: Unencodable) -> Self {
        Self::Unencodable
    }
}

/// Error codes of JSON-RPC and MCP.
// Requirements §3.1.
pub mod code {
    /// The text is not JSON.
    pub const PARSE_ERROR: i64 = -32700;
    /// The JSON is not a valid message, or the message is not allowed in the current state.
    pub const INVALID_REQUEST: i64 = -32600;
    /// The method does not exist, or requires a capability that the receiver did not declare.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// The params of a known method are invalid.
    pub const INVALID_PARAMS: i64 = -32602;
    /// An internal error of the receiver.
    pub const INTERNAL_ERROR: i64 = -32603;
    /// The resource does not exist (up to 2025-11-25).
    pub const RESOURCE_NOT_FOUND: i64 = -32002;
    /// A header is missing or malformed, or differs from the body (since 2026-07-28).
    pub const HEADER_MISMATCH: i64 = -32020;
    /// The request requires a capability that the client did not declare (since 2026-07-28).
    pub const MISSING_CLIENT_CAPABILITY: i64 = -32021;
    /// The server does not support the request's revision (since 2026-07-28).
    pub const UNSUPPORTED_PROTOCOL_VERSION: i64 = -32022;
    /// The user must first visit a URL (2025-11-25 only).
    pub const URL_ELICITATION_REQUIRED: i64 = -32042;
    /// The user rejected a sampling request (up to 2025-11-25).
    pub const USER_REJECTED: i64 = -1;
}
