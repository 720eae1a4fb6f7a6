//! Commands: everything an application can do to a client or a server, as data.
//!
//! [`client::Command`](crate::client::Command) and [`server::Command`](crate::server::Command)
//! borrow what they hold, so that the methods of [`Client`](crate::client::Client) and
//! [`Server`](crate::server::Server) build them for free. [`OwnedCommand`] is either of them on its
//! own: to queue, send to another thread, record or replay.

pub(crate) mod client;
mod owned;
pub(crate) mod server;
pub(crate) mod summary;
#[cfg(test)]
mod tests;

use alloc::borrow::Cow;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

pub use owned::{OwnedChange, OwnedCommand};

use crate::connection::{CallId, IncomingId, Peer, Question, Session};
use crate::error::{Misuse, Unencodable};
use crate::json::Raw;
use crate::revision::{Revision, Side};
use crate::schema::Encode;
use crate::time::Instant;

/// Questions to a client with the keys of their answers.
pub(crate) type Questions<'a> = Cow<'a, [(&'a str, Question)]>;

/// The application's half of a role: [`Client`](crate::client::Client) or
/// [`Server`](crate::server::Server), and nothing else.
///
/// [`Session`] is the transport's half. Code that serves both roles builds an [`OwnedCommand`] and
/// converts it.
///
/// ```
/// use mcp_proto::server::{Config, Server};
/// use mcp_proto::{Apply, Applied, Instant, Misuse, OwnedCommand};
///
/// /// Closes a connection of either role.
/// fn close<R: Apply>(role: &mut R) -> Result<Applied, Misuse> {
///     role.apply(Instant::ZERO, (&OwnedCommand::Close).try_into()?)
/// }
///
/// let mut server = Server::new(Instant::ZERO, Config::new("quiet", "1.0.0"));
/// assert_eq!(close(&mut server), Ok(Applied::Done));
/// ```
pub trait Apply: Session<Event: fmt::Display> {
    /// The role.
    const SIDE: Side;

    /// The commands of the role. Converting a command that the role lacks fails with
    /// [`Misuse::Unsupported`].
    type Command<'a>: TryFrom<&'a OwnedCommand, Error = Misuse> + Clone + fmt::Debug;

    /// Applies a command.
    ///
    /// # Errors
    /// [`Misuse`], and nothing was changed or sent.
    fn apply(&mut self, now: Instant, command: Self::Command<'_>) -> Result<Applied, Misuse>;

    /// Encodes a command for the revision in force, so that it borrows nothing.
    fn to_owned_command(&self, command: Self::Command<'_>) -> OwnedCommand;

    /// The peer, once known.
    fn peer(&self) -> Option<&Arc<Peer>>;
}

/// The effect of a command.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Applied {
    /// A call was made; its outcome follows as an event.
    Call(CallId),
    /// The command has no handle.
    Done,
}

impl Applied {
    /// The call, for a command that makes one.
    #[must_use]
    pub const fn call(self) -> Option<CallId> {
        match self {
            Self::Call(call) => Some(call),
            Self::Done => None,
        }
    }

    /// The call of a command that makes one.
    pub(crate) fn into_call(self) -> Result<CallId, Misuse> {
        self.call().ok_or(Misuse::Unsupported)
    }

    /// The effect of a command that has no handle.
    pub(crate) const fn done((): ()) -> Self {
        Self::Done
    }

    /// Drops the handle.
    pub(crate) const fn into_done(self) {}
}

/// Converts handles to and from their numbers, for commands that cross a file or a foreign function
/// interface. A number that no handle has names a call or a request that is over.
macro_rules! numbers {
    ($($handle:ident)+) => {
        $(
            impl From<u64> for $handle {
                fn from(number: u64) -> Self {
                    Self(number)
                }
            }

            impl From<$handle> for u64 {
                fn from(handle: $handle) -> Self {
                    handle.0
                }
            }
        )+
    };
}

numbers! { CallId IncomingId }

/// The params or the result that a command carries.
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum Payload<'a> {
    /// No params.
    #[default]
    Empty,
    /// A value, encoded for the revision in force when the command is applied.
    Value(&'a dyn Encode),
    /// JSON text, sent as it is in every revision.
    Json(Raw),
}

impl Payload<'_> {
    /// Encodes the payload now. A value that cannot be encoded becomes `null`, which no message
    /// accepts either.
    pub(crate) fn into_raw(self, revision: Revision) -> Option<Raw> {
        match self {
            Self::Empty => None,
            Self::Value(value) => encoded(|out| value.encode(revision, out)),
            Self::Json(raw) => Some(raw),
        }
    }
}

impl Encode for Payload<'_> {
    fn encode(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        match self {
            Self::Empty => Ok(()),
            Self::Value(value) => value.encode(revision, out),
            Self::Json(raw) => raw.encode(revision, out),
        }
    }
}

impl fmt::Debug for Payload<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("Empty"),
            Self::Value(_) => f.write_str("Value(..)"),
            Self::Json(raw) => f.debug_tuple("Json").field(raw).finish(),
        }
    }
}

impl<'a> From<Option<&'a dyn Encode>> for Payload<'a> {
    fn from(value: Option<&'a dyn Encode>) -> Self {
        value.map_or(Self::Empty, Self::Value)
    }
}

impl From<Raw> for Payload<'_> {
    fn from(raw: Raw) -> Self {
        Self::Json(raw)
    }
}

impl<'a> From<&'a Option<Raw>> for Payload<'a> {
    fn from(raw: &'a Option<Raw>) -> Self {
        raw.as_ref().map_or(Self::Empty, |raw| Self::Value(raw))
    }
}

/// The JSON that `write` writes: `None` for nothing, `null` where it fails or writes no JSON.
fn encoded(write: impl FnOnce(&mut Vec<u8>) -> Result<(), Unencodable>) -> Option<Raw> {
    let mut text = Vec::new();
    if write(&mut text).is_err() {
        return Some(Raw::null());
    }
    if text.is_empty() {
        return None;
    }
    let raw = core::str::from_utf8(&text).ok().and_then(|text| Raw::from_text(text).ok());
    Some(raw.unwrap_or_else(Raw::null))
}
