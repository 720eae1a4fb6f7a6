//! How a connection or a call fails, for people and for programs.

use std::fmt;
use std::io;
use std::process::ExitStatus;

use mcp_proto::schema::DecodeError;
use mcp_proto::{CallError, Close, Misuse};

/// Why something did not work.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The call failed.
    Call(CallError),
    /// The connection ended.
    Closed(Close),
    /// The answer came and is not what its method answers.
    Decode(DecodeError),
    /// The operating system refused.
    Io(io::Error),
    /// It cannot be done now, or not with this peer.
    Misuse(Misuse),
    /// A list went on without end, or in circles. (PAG-07)
    Pages,
    /// The server could not be started or reached, or did not open a session.
    Start {
        /// Why the session did not open.
        why: Close,
        /// How its process ended, if it did.
        status: Option<ExitStatus>,
        /// The last lines that it wrote to stderr.
        stderr: Vec<String>,
        /// It hung up when it was asked which era it is of: it may be an old one, and
        /// `Client::expect` leaves the question out.
        probed: bool,
        /// Where it is and what came of that, if it was to be reached over HTTP.
        http: Option<Box<HttpFailure>>,
    },
}

/// What came of connecting to a server over HTTP.
#[derive(Debug)]
#[non_exhaustive]
pub struct HttpFailure {
    /// Where the server is, without the query.
    pub url: String,
    /// Why there was no connection to it, or none any more, if the system, TLS or HTTP said so.
    pub cause: Option<io::Error>,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call(error) => error.fmt(f),
            Self::Closed(why) => write!(f, "the connection ended: {why}"),
            Self::Decode(error) => write!(f, "the answer is invalid: {error}"),
            Self::Io(error) => error.fmt(f),
            Self::Misuse(error) => error.fmt(f),
            Self::Pages => f.write_str("the list goes on without end"),
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
                        " at the question which era it is of: expect the legacy era if it is an old one",
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
