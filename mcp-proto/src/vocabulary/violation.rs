//! Rules of the protocol that a peer broke and the connection survived.

use alloc::borrow::Cow;
use core::fmt;

/// A rule that the peer broke and that the connection survived.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Violation {
    /// Which kind of rule.
    pub kind: ViolationKind,
    /// More about it, for people. Holds nothing of what the peer sent but ids and method names.
    pub detail: Cow<'static, str>,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.detail)
    }
}

/// The kinds of rules that a connection survives the breach of.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum ViolationKind {
    /// A notification whose params are not what its method needs. (CAN-07, PRG-09)
    BadNotification,
    /// A batch where the revision has none, or an empty or too large one. (BAT-03, BAT-12, BAT-17)
    Batch,
    /// A request with the id of one that is still open. (ID-09)
    DuplicateId,
    /// A message that has no place in this phase of the session. (T-27, T-28)
    Early,
    /// An HTTP exchange that is not what it must be, and ends no call. (HTTP-60, T-79)
    Exchange,
    /// JSON that is no message. (JSON-14)
    Invalid,
    /// Text that is not JSON, or not UTF-8. (JSON-13, JSON-20)
    NotJson,
    /// A message longer than the limit. (FRM-10)
    TooLong,
    /// The stream ended inside a message. (FRM-12)
    Truncated,
    /// An answer to nothing that is open, or an error that names no request. (ID-08, T-03)
    UnknownResponse,
    /// Progress that did not grow. (PRG-16)
    StaleProgress,
    /// A request from a side that sends none. (T-93)
    UnexpectedRequest,
    /// A change that belongs to no subscription of ours, or came before it was acknowledged.
    /// (T-100)
    UnknownSubscription,
}

impl fmt::Display for ViolationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BadNotification => "bad notification",
            Self::Batch => "unexpected batch",
            Self::DuplicateId => "duplicate request id",
            Self::Early => "message out of place",
            Self::Exchange => "broken HTTP exchange",
            Self::Invalid => "not a message",
            Self::NotJson => "not JSON",
            Self::TooLong => "message too long",
            Self::Truncated => "message cut off",
            Self::UnknownResponse => "unknown response",
            Self::StaleProgress => "progress that did not grow",
            Self::UnexpectedRequest => "a request from a side that sends none",
            Self::UnknownSubscription => "a change for no subscription",
        })
    }
}

/// What to do about violations, beyond reporting them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ViolationPolicy {
    /// End the connection at the first one.
    Close,
    /// Nothing. The default of clients: a server that prints to its stdout must not be answered.
    /// (T-19)
    Ignore,
    /// Answer texts that are no messages with an error that names no request, within limits. The
    /// default of servers. (T-20)
    Reply,
}
