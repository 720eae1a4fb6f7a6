//! The errors of connections and calls.

use std::fmt;
use std::io;

use mcp_proto::schema::DecodeError;
use mcp_proto::{CallError, CloseReason, Misuse};

/// An error from a connection or a call.
///
/// ```
/// use mcp_wasm::Error;
/// use mcp_wasm::proto::Misuse;
///
/// assert!(matches!(Error::from(Misuse::NotReady), Error::Misuse(_)));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The call failed.
    Call(CallError),
    /// The result does not match the method.
    Decode(DecodeError),
    /// The server or the client is configured wrongly, or the host failed.
    Io(io::Error),
    /// A list of the server has more than the maximum of
    /// [`Limits::list_entries_max`](mcp_proto::Limits) or
    /// [`Limits::list_bytes_max`](mcp_proto::Limits), has more than 10,000 pages, or repeats a
    /// cursor.
    List(&'static str),
    /// The operation is invalid in the connection's current state, or the peer does not support it.
    Misuse(Misuse),
    /// The connection could not be opened.
    Start(CloseReason),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call(error) => error.fmt(f),
            Self::Decode(error) => write!(f, "invalid result: {error}"),
            Self::Io(error) => error.fmt(f),
            Self::List(why) => f.write_str(why),
            Self::Misuse(misuse) => misuse.fmt(f),
            Self::Start(why) => write!(f, "cannot open the connection: {why}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<CallError> for Error {
    fn from(error: CallError) -> Self {
        Self::Call(error)
    }
}

impl From<DecodeError> for Error {
    fn from(error: DecodeError) -> Self {
        Self::Decode(error)
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Misuse> for Error {
    fn from(misuse: Misuse) -> Self {
        Self::Misuse(misuse)
    }
}
