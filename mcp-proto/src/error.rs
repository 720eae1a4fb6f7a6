//! The caller's mistakes, and the error codes of the wire; knows nothing of peers, calls or
//! messages.

use core::fmt;

/// The caller asked for something that cannot be done now; nothing was changed and nothing was
/// sent.
///
/// ```
/// use mcp_proto::client::{Client, Config};
/// use mcp_proto::{CallOptions, Instant, Misuse, Raw};
///
/// let mut client = Client::new(Instant::ZERO, Config::new("demo", "1.0.0"));
/// let early = client.call_raw(Instant::ZERO, "tools/list", None, CallOptions::default());
/// assert_eq!(early, Err(Misuse::NotReady)); // the peer has not answered `initialize` yet (LIF-09)
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Misuse {
    /// A bound of [`Limits`](crate::Limits) is reached: drain the outbox or let calls end, then try
    /// again.
    Blocked,
    /// The connection is closing or closed.
    Closed,
    /// The handshake is not over.
    NotReady,
    /// The id names nothing that is open: it was completed, answered or cancelled before. Where the
    /// peer can cancel or hang up this is no mistake, since the event that says so may not have
    /// been polled yet: ignore it there.
    Stale,
    /// The side that would have to offer the capability for this did not declare it. (CAP-03)
    Undeclared,
    /// The value cannot be written as the message needs it: not JSON, or not an object where one is
    /// required.
    Unencodable,
    /// The revision in force, or this role, has no such message, or the machine itself sends it.
    Unsupported,
}

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Blocked => "a limit is reached; drain the outbox or let open calls end first",
            Self::Closed => "the connection is closed",
            Self::NotReady => "the handshake is not over",
            Self::Stale => "the id names nothing that is open",
            Self::Undeclared => "the capability that this needs was not declared",
            Self::Unencodable => "the value cannot be encoded as this message",
            Self::Unsupported => "the protocol revision or the role has no such message",
        })
    }
}

impl core::error::Error for Misuse {}

/// A value that cannot be written as JSON.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Unencodable;

impl fmt::Display for Unencodable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the value cannot be written as JSON")
    }
}

impl core::error::Error for Unencodable {}

impl From<Unencodable> for Misuse {
    fn from(_: Unencodable) -> Self {
        Self::Unencodable
    }
}

/// Error codes of JSON-RPC and of MCP. (requirements §3.1)
pub mod code {
    /// The text is not JSON.
    pub const PARSE_ERROR: i64 = -32700;
    /// The JSON is not a valid message, or not one that may be sent now.
    pub const INVALID_REQUEST: i64 = -32600;
    /// No such method, or a capability that is not offered.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// The method is known and its params are wrong.
    pub const INVALID_PARAMS: i64 = -32602;
    /// The receiver failed.
    pub const INTERNAL_ERROR: i64 = -32603;
    /// No such resource, up to revision 2025-11-25.
    pub const RESOURCE_NOT_FOUND: i64 = -32002;
    /// A header differs from the body, is missing or malformed. (since 2026-07-28)
    pub const HEADER_MISMATCH: i64 = -32020;
    /// The request needs a capability that the client did not declare. (since 2026-07-28)
    pub const MISSING_CLIENT_CAPABILITY: i64 = -32021;
    /// The server does not speak the revision of the request. (since 2026-07-28)
    pub const UNSUPPORTED_PROTOCOL_VERSION: i64 = -32022;
    /// The user must go to a URL first. (2025-11-25)
    pub const URL_ELICITATION_REQUIRED: i64 = -32042;
    /// The user rejected a sampling. (up to 2025-11-25)
    pub const USER_REJECTED: i64 = -1;
}
