//! The errors of connections and calls.

use std::fmt;
use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use mcp_proto::schema::{DecodeError, OutputError};
use mcp_proto::{CallError, CloseReason, Fault, Misuse, Violation, printable};

/// An error from a connection or a call.
///
/// Which error occurs where:
///
/// | place | error |
/// |---|---|
/// | clients, connections and calls | [`Error`], which contains [`ListError`] and [`HttpFailure`] |
/// | a command that is not possible now, also in handlers | [`Misuse`] |
/// | what a handler returns | [`HandlerError`](crate::HandlerError), made by `?` from any error |
/// | building and serving a server | [`io::Error`], of kind `InvalidInput` for invalid settings |
/// | changing the entries of a running server | [`EditError`](crate::EditError) |
/// | a proxy of a client, inside an [`io::Error`] | `http::ProxyError` |
/// | the verifier of access tokens | `http::VerifyError` |
/// | the keyring of the system, inside an [`io::Error`] | `auth::KeyringError` |
/// | a test with `testing::pair` | `testing::PairError` |
#[non_exhaustive]
pub enum Error {
    /// The call failed.
    Call(CallError),
    /// The connection ended because of a protocol fault.
    ///
    /// Only [`Connection::close`](crate::Connection::close) returns this error.
    Closed(CloseReason),
    /// The result does not match the method.
    Decode(DecodeError),
    /// A hook of [`Client::on_call`](crate::Client::on_call) refused the call, which was not sent.
    Hook(Box<dyn std::error::Error + Send + Sync>),
    /// An I/O error, for example while starting a server process.
    Io(io::Error),
    /// The operation is invalid in the connection's current state, or the peer does not support it.
    Misuse(Misuse),
    /// The output of a tool could not be read as the expected type; see
    /// [`CallToolResult::structured`](mcp_proto::schema::CallToolResult::structured).
    Output(OutputError),
    /// A list, such as that of the server's tools, could not be fetched completely.
    List(ListError),
    /// The connection could not be opened, for example because the server exited or is unreachable.
    Start {
        /// The reason why the connection could not be opened.
        why: CloseReason,
        /// The program of the server's process; `None` unless the server was started by `spawn`.
        program: Option<Box<str>>,
        /// The exit status of the server's process, if it exited.
        status: Option<ExitStatus>,
        /// The first violations, at most 8: what the server sent instead of messages, such as the
        /// beginnings of lines that it wrote to stdout.
        violations: Box<[Violation]>,
        /// The last lines, at most 32, that the server wrote to stderr.
        stderr: Box<[String]>,
        /// Whether the server closed the connection in response to the initial `server/discover`
        /// probe.
        ///
        /// If so, the server may support only legacy revisions (up to 2025-11-25);
        /// [`Client::expect_era`](crate::Client::expect_era) skips the probe.
        probed: bool,
        /// Details of the failure for a connection over HTTP; `None` for other transports.
        http: Option<Box<HttpFailure>>,
    },
}

/// The reason why a list of the server could not be fetched completely.
///
/// To fetch the pages of such a list one by one, use [`Connection::call`](crate::Connection::call).
// PAG-07
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ListError {
    /// The list has more entries than [`Limits::list_entries_max`](mcp_proto::Limits).
    TooManyEntries {
        /// The limit.
        max: usize,
    },
    /// The pages together have more bytes than [`Limits::list_bytes_max`](mcp_proto::Limits).
    TooManyBytes {
        /// The limit.
        max: usize,
    },
    /// The list has more than 10,000 pages.
    TooManyPages,
    /// The server returned the cursor of an earlier page again.
    RepeatedCursor,
    /// The list was not complete after [`Limits::list_timeout`](mcp_proto::Limits).
    TimedOut {
        /// The limit.
        after: Duration,
    },
}

impl fmt::Display for ListError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooManyEntries { max } => {
                write!(f, "the list has more than {max} entries (`Limits::list_entries_max`)")
            }
            Self::TooManyBytes { max } => {
                write!(f, "the list has more than {max} bytes (`Limits::list_bytes_max`)")
            }
            Self::TooManyPages => f.write_str("the list has more than 10000 pages"),
            Self::RepeatedCursor => f.write_str("the list repeats a cursor and would never end"),
            Self::TimedOut { after } => {
                write!(f, "the list is incomplete after {after:?} (`Limits::list_timeout`)")
            }
        }
    }
}

impl std::error::Error for ListError {}

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

/// What `Display` says, because programs that return the error from `main` print it like this, and
/// the kind of the error.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self {
            Self::Call(_) => "Call",
            Self::Closed(_) => "Closed",
            Self::Decode(_) => "Decode",
            Self::Hook(_) => "Hook",
            Self::Io(_) => "Io",
            Self::List(_) => "List",
            Self::Misuse(_) => "Misuse",
            Self::Output(_) => "Output",
            Self::Start { .. } => "Start",
        };
        write!(f, "{self} (Error::{kind})")
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call(error) => {
                error.fmt(f)?;
                f.write_str(remedy(error))
            }
            Self::Closed(why) => write!(f, "the connection ended: {why}"),
            Self::Decode(error) => write!(f, "invalid result: {error}"),
            Self::Hook(error) => write!(f, "a hook refused the call: {error}"),
            Self::Io(error) => error.fmt(f),
            Self::Misuse(error) => error.fmt(f),
            Self::Output(error) => error.fmt(f),
            Self::List(error) => error.fmt(f),
            Self::Start { why, program, status, violations, stderr, probed, http } => {
                match (http, program) {
                    (Some(http), _) => write!(f, "no session with {}: {why}", http.url)?,
                    (None, Some(program)) => {
                        write!(f, "the server `{program}` did not start: {why}")?;
                    }
                    (None, None) => write!(f, "the server did not start: {why}")?,
                }
                if let CloseReason::Fault(Fault::Unreachable(error)) = why {
                    f.write_str(remedy(error))?;
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
                for violation in &**violations {
                    write!(f, "\n  received: {violation}")?;
                }
                for line in &**stderr {
                    let line = printable(line.as_bytes(), STDERR_CHARS_MAX);
                    write!(f, "\n  stderr: {line}")?;
                }
                Ok(())
            }
        }
    }
}

/// The maximum length of a displayed line of stderr, in characters.
const STDERR_CHARS_MAX: usize = 1024;

/// Returns the remedy for an error of the core that concerns an option of this crate, or nothing.
const fn remedy(error: &CallError) -> &'static str {
    match error {
        CallError::Http { status: 401, .. } => {
            "; pass a valid token with `Remote::authorization`, or log in with `Remote::authorized`"
        }
        _ => "",
    }
}

impl std::error::Error for Error {}

macro_rules! from {
    ($($error:ty => $variant:ident),+) => {
        $(impl From<$error> for Error {
            fn from(error: $error) -> Self {
                Self::$variant(error)
            }
        })+
    };
}

from!(
    CallError => Call, DecodeError => Decode, OutputError => Output, io::Error => Io,
    ListError => List, Misuse => Misuse
);

/// For functions that return [`io::Result`].
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Io(error) => error,
            other => Self::other(other),
        }
    }
}
