//! What to do about a peer that breaks a rule: report it, answer it within reason, or give up.

use alloc::borrow::Cow;
use core::fmt;

use crate::limits::Limits;
use crate::time::Instant;

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
    /// A change that belongs to no subscription of ours, or came before it was acknowledged. (T-100)
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
    /// Nothing. The default of clients: a server that prints to its stdout must not be answered. (T-19)
    Ignore,
    /// Answer texts that are no messages with an error that names no request, within limits. The default of
    /// servers. (T-20)
    Reply,
}

/// Bounds the error replies, and counts violations in a row.
#[derive(Debug)]
pub(crate) struct Guard {
    replies_left: u32,
    refilled: Instant,
    in_a_row: u32,
}

impl Guard {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self { replies_left: limits.error_replies_max, refilled: Instant::ZERO, in_a_row: 0 }
    }

    /// Violations so far without a good message in between.
    pub(crate) fn in_a_row(&self) -> u32 {
        self.in_a_row
    }

    /// A good message came.
    pub(crate) fn good(&mut self) {
        self.in_a_row = 0;
    }

    /// One more violation; true when it is one too many.
    pub(crate) fn bad(&mut self, limits: &Limits) -> bool {
        self.in_a_row = self.in_a_row.saturating_add(1);
        limits.violations_max.is_some_and(|max| self.in_a_row > max)
    }

    /// Takes one error reply out of the allowance, if there is one.
    pub(crate) fn may_reply(&mut self, now: Instant, limits: &Limits) -> bool {
        let every = limits.error_reply_every.as_nanos().max(1);
        let earned = now.duration_since(self.refilled).as_nanos() / every;
        if earned > 0 {
            let earned = u32::try_from(earned).unwrap_or(u32::MAX);
            self.replies_left = self.replies_left.saturating_add(earned).min(limits.error_replies_max);
            // What is left of the time counts towards the next one.
            self.refilled += limits.error_reply_every.saturating_mul(earned);
        }
        // The time runs from when the allowance was last full, or the first burst would be one too long.
        if self.replies_left == limits.error_replies_max {
            self.refilled = now;
        }
        let allowed = self.replies_left > 0;
        self.replies_left = self.replies_left.saturating_sub(1);
        allowed
    }
}
