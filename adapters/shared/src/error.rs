//! The errors of connections and calls.

use std::fmt;
use std::io;
use std::process::ExitStatus;

use mcp_proto::schema::DecodeError;
use mcp_proto::{CallError, CloseReason, Misuse};

/// An error from a connection or a call.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The call failed.
    Call(CallError),
    /// The connection ended.
    Closed(CloseReason),
    /// The result does not match the method.
    Decode(DecodeError),
    /// An I/O error, for example while starting a server process.
    Io(io::Error),
    /// The operation is invalid in the connection's current state, or the peer does not support it.
    Misuse(Misuse),
    /// The server's list has more than 10,000 pages, or the server repeated a cursor.
    // PAG-07
    TooManyPages,
    /// The server could not be started or reached, or the connection could not be opened.
    Start {
        /// Why the connection could not be opened.
        why: CloseReason,
        /// The exit status of the server's process, if it exited.
        status: Option<ExitStatus>,
        /// The last lines, at most 32, that the server wrote to stderr.
        stderr: Vec<String>,
        /// Whether the server closed the connection in response to the initial `server/discover`
        /// probe.
        ///
        /// The server may then be legacy; [`Client::expect_era`](crate::Client::expect_era) skips
        /// the probe.
        probed: bool,
        /// Details of the failure for a connection over HTTP; `None` for other transports.
        http: Option<Box<HttpFailure>>,
    },
}

/// A failure to connect to a server over HTTP.
#[derive(Debug)]
#[non_exhaustive]
pub struct HttpFailure {
    /// The URL of the server, without the query.
    pub url: String,
    /// The I/O, TLS or HTTP error that prevented or broke the connection; `None` if the server
    /// responded.
    pub cause: Option<io::Error>,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call(error) => error.fmt(f),
            Self::Closed(why) => write!(f, "the connection ended: {why}"),
            Self::Decode(error) => write!(f, "invalid result: {error}"),
            Self::Io(error) => error.fmt(f),
            Self::Misuse(error) => error.fmt(f),
            Self::TooManyPages => f.write_str("the list has too many pages or repeats a cursor"),
            Self::Start { why, status, stderr, probed, http } => {
                match http {
                    Some(http) => write!(f, "no session with {}: {why}", http.url)?,
                    None => write!(f, "the server did not start: {why}")?,
                }
                if let Some(cause) = http.as_ref().and_then(|http| http.cause.as_ref()) {
                    write!(f, ": {cause}")?;
                }
                if let Some(status) = status {
                    write!(f, " ({status})")?;
                }
                if *probed {
                    f.write_str(
                        " when its era was probed: for a legacy server, use `Client::expect_era`",
                    )?;
                }
                for line in stderr {
                    write!(f, "\n  stderr: {line}")?;
                }
                Ok(())
            }
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
    fn from(error: Misuse) -> Self {
        Self::Misuse(error)
    }
}
