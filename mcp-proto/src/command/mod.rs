//! Commands: everything an application can do to a client or a server, as data.
//!
//! [`client::Command`](crate::client::Command) and [`server::Command`](crate::server::Command)
//! borrow their contents, so the methods of [`Client`](crate::client::Client) and
//! [`Server`](crate::server::Server) build them without allocating. [`OwnedCommand`] is the owned
//! form of both, for commands that are queued, sent to another thread, recorded or replayed.

pub(crate) mod client;
mod owned;
pub(crate) mod server;
pub(crate) mod summary;
#[cfg(test)]
mod tests;

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::fmt;

pub use owned::{OwnedChange, OwnedCommand};

use crate::error::{Misuse, Unencodable};
use crate::json::Raw;
use crate::revision::Revision;
use crate::schema::Encode;
use crate::vocabulary::{CallId, IncomingId, NeededInput};

/// Input requests to a client, each with its key.
pub(crate) type Questions<'a> = Cow<'a, [(&'a str, NeededInput)]>;

/// The outcome of a successfully applied command.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum CommandOutcome {
    /// The command started a call. An event will report the call's outcome.
    Call(CallId),
    /// The command is complete and has no further outcome.
    Done,
}

impl CommandOutcome {
    /// Returns the call that the command started, if any.
    #[must_use]
    pub const fn call(self) -> Option<CallId> {
        match self {
            Self::Call(call) => Some(call),
            Self::Done => None,
        }
    }

    /// Returns the call of a command that always starts one.
    pub(crate) fn into_call(self) -> Result<CallId, Misuse> {
        self.call().ok_or(Misuse::Unsupported)
    }

    /// Converts the result of a command that returns no value.
    pub(crate) const fn done((): ()) -> Self {
        Self::Done
    }

    /// Discards the result of a command that returns no value.
    pub(crate) const fn into_done(self) {}
}

/// Converts handles to and from integers, for commands that cross a file or an FFI boundary.
///
/// An unknown integer acts as the handle of a completed call or request.
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

/// The params or the result in a command.
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum Payload<'a> {
    /// No params. In a response, an empty payload fails with [`Misuse::Unencodable`].
    #[default]
    Empty,
    /// A value, encoded when the command is applied.
    ///
    /// A result is encoded for the revision of the request that it answers, and params for the
    /// negotiated revision.
    Value(&'a dyn Encode),
    /// JSON text, sent unchanged in every revision.
    Json(Raw),
}

impl Payload<'_> {
    /// Encodes the payload.
    ///
    /// A value that cannot be encoded becomes `null`, which every message rejects as params or
    /// result.
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

/// Returns the JSON that `write` writes.
///
/// Returns `None` if it writes nothing, and `null` if it fails or writes invalid JSON.
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
