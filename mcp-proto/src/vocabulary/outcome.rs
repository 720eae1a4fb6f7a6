//! How calls and connections end, by whose fault it was.

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;

use crate::rpc::ErrorObject;

/// How one call failed; the connection goes on, unless it says `Lost`.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum CallError {
    /// We cancelled it.
    Cancelled,
    /// The server answered with an HTTP status that is no success, and said nothing more that can
    /// be understood. (HTTP-61)
    Http {
        /// The status.
        status: u16,
    },
    /// The peer answered with something that is no answer: what is wrong with it.
    Invalid(Box<str>),
    /// The connection ended first, or over HTTP the session or the exchange. Whether the peer acted
    /// on the call is unknown.
    Lost,
    /// The peer answered with an error.
    Refused(ErrorObject),
    /// The peer asked for input more often than allowed.
    Rounds,
    /// No answer came in time; the peer was told that none is wanted any more. (TMO-13)
    TimedOut,
    /// The request did not reach the server: there was no HTTP connection to it.
    Unsent,
    /// The peer asked for input, and this side answered with an error: the call is not made again.
    /// (T-99)
    Unanswered(ErrorObject),
    /// The server ended the subscription without a last word. (STL-37)
    Withdrawn,
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cancelled => f.write_str("the call was cancelled"),
            Self::Http { status: status @ 300..400 } => {
                write!(
                    f,
                    "the server answered with HTTP status {status}, and redirects are not followed"
                )
            }
            Self::Http { status } => write!(f, "the server answered with HTTP status {status}"),
            Self::Invalid(why) => write!(f, "the answer is invalid: {why}"),
            Self::Lost => f.write_str("the connection ended before the answer came"),
            Self::Refused(error) => error.fmt(f),
            Self::Rounds => f.write_str("the peer asked for input too often"),
            Self::TimedOut => f.write_str("no answer came in time"),
            Self::Unanswered(error) => {
                write!(f, "a question of the peer was not answered: {error}")
            }
            Self::Unsent => f.write_str("the server could not be reached"),
            Self::Withdrawn => f.write_str("the server ended the subscription"),
        }
    }
}

impl core::error::Error for CallError {}

/// What the peer did that the connection cannot survive.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Fault {
    /// The answer to `initialize` lacks what it must hold. (LIF-07)
    BadHandshake(Box<str>),
    /// The policy is to close at the first violation, and there was one.
    FirstViolation,
    /// `initialize` was not answered in time, or the server's era could not be found out. (TMO-06)
    HandshakeTimedOut,
    /// The server speaks none of our revisions: what it speaks. (LIF-06, T-30, T-32)
    NoCommonRevision(String),
    /// We were told to speak no revision at all.
    NothingToOffer,
    /// The server refused `initialize`, or `server/discover` where there is nothing to fall back
    /// to. (LIF-15)
    Refused(ErrorObject),
    /// The server forgot one session after the other as soon as it had opened it. (T-72)
    SessionLost,
    /// The peer asked for more than it read, for too long.
    Stalled,
    /// More violations in a row than allowed.
    TooManyViolations,
    /// Nothing came of asking the server to be connected to: why. (T-72)
    Unopened(CallError),
    /// The peer stopped answering pings. (TMO-08)
    Unresponsive,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadHandshake(why) => write!(f, "the answer to initialize is invalid: {why}"),
            Self::FirstViolation => f.write_str("the peer violated the protocol"),
            Self::HandshakeTimedOut => f.write_str("the server did not answer in time"),
            Self::NoCommonRevision(name) => {
                write!(
                    f,
                    "the server speaks protocol version {name:?}, which is not supported here"
                )
            }
            Self::NothingToOffer => f.write_str("there is no revision to speak"),
            Self::Refused(error) => write!(f, "the server refused to be connected to: {error}"),
            Self::SessionLost => f.write_str("the server forgets every session at once"),
            Self::Stalled => f.write_str("the peer does not read what it asked for"),
            Self::TooManyViolations => f.write_str("the peer violated the protocol too often"),
            Self::Unopened(why) => write!(f, "the server could not be connected to: {why}"),
            Self::Unresponsive => f.write_str("the peer stopped answering pings"),
        }
    }
}

impl core::error::Error for Fault {}

/// Why a connection is over.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Close {
    /// The peer broke a rule that cannot be survived.
    Fault(Fault),
    /// We closed it.
    Local,
    /// The peer hung up.
    Peer,
}

impl fmt::Display for Close {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fault(fault) => fault.fmt(f),
            Self::Local => f.write_str("closed here"),
            Self::Peer => f.write_str("the peer hung up"),
        }
    }
}

/// How far a request has come.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// Grows with every notification.
    pub progress: f64,
    /// What it grows to, if that is known.
    pub total: Option<f64>,
    /// A sentence for people. (since 2025-03-26)
    pub message: Option<Box<str>>,
}

impl Progress {
    /// Progress without a total and without words.
    #[must_use]
    pub const fn new(progress: f64) -> Self {
        Self { progress, total: None, message: None }
    }

    /// The same, out of `total`.
    #[must_use]
    pub const fn of(mut self, total: f64) -> Self {
        self.total = Some(total);
        self
    }

    /// The same, with words.
    #[must_use]
    pub fn message(mut self, message: impl Into<Box<str>>) -> Self {
        self.message = Some(message.into());
        self
    }
}
