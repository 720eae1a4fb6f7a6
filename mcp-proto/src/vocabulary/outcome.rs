//! How calls and connections end, and the progress of a request.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use core::fmt;

use crate::json::{Object, write_f64};
use crate::rpc::ErrorObject;

/// Why a call failed.
///
/// Reported by [`client::Event::Completed`](crate::client::Event::Completed) and
/// [`server::Event::Completed`](crate::server::Event::Completed). A failure other than
/// [`Lost`](Self::Lost) does not affect other calls. Only [`Unsent`](Self::Unsent) and
/// [`SessionEnded`](Self::SessionEnded) guarantee that the peer did not act on the request. If a
/// call failed for another reason, retry it only if it is idempotent.
///
/// Over HTTP, a client repeats a request that only reads once by itself if its response is lost, or
/// if the server ends the session. These are lists, `resources/read`, `prompts/get` and
/// `completion/complete`. An unsuccessful status, such as 503, ends every call.
///
/// ```
/// use mcp_proto::{CallError, ErrorObject, code};
///
/// let error = CallError::Refused(ErrorObject::invalid_params("unknown tool: tomorrow"));
/// assert_eq!(error.to_string(), "unknown tool: tomorrow (-32602)");
/// assert!(matches!(error, CallError::Refused(error) if error.code == code::INVALID_PARAMS));
/// ```
///
/// See the specification on [errors] and [cancellation][cancel].
///
/// [errors]: https://modelcontextprotocol.io/specification/2026-07-28/basic
/// [cancel]: https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/cancellation
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum CallError {
    /// This side cancelled the call.
    Cancelled,
    /// The server responded with an unsuccessful HTTP status and without a JSON-RPC error.
    ///
    /// The statuses 401 and 403 require [authorization][spec].
    ///
    /// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
    // HTTP-61: an unsuccessful status ends the call.
    Http {
        /// The HTTP status, 100 to 999.
        status: u16,
        /// The server's explanation, [safe](crate::printable) for logs and at most 256 characters:
        /// the text of the body, or the reason in the authentication challenge.
        reason: Option<Box<str>>,
    },
    /// The peer sent an invalid response. Holds a description of the problem.
    Invalid(Box<str>),
    /// The connection ended before the response arrived.
    ///
    /// Over HTTP, a call also fails with this error if its HTTP request is cut off or its session
    /// ends. The peer may or may not have acted on the request.
    Lost,
    /// Like [`Lost`](Self::Lost), for a request that only reads: the peer has not acted on it, and
    /// it can be repeated.
    LostRead,
    /// The server redirected the request to another URL, and the redirect was not followed.
    ///
    /// Only redirects with status 307 or 308 to the server's origin (scheme, host and port) are
    /// followed, because the request carries credentials.
    Redirected {
        /// The HTTP status, 300 to 399.
        status: u16,
        /// The `Location` header without its query, at most 2048 bytes.
        target: Box<str>,
    },
    /// The peer responded with an error.
    ///
    /// If the error came with an HTTP status of 400 or more and under another id, its message ends
    /// with the status.
    Refused(ErrorObject),
    /// The peer required more than [`input_rounds_max`](crate::Limits::input_rounds_max) rounds of
    /// input.
    TooManyRounds,
    /// The server has ended the session and did not process the request. Retrying is safe: the
    /// client opens another session.
    // HTTP-34: the server responded with 404 to the id of the session.
    SessionEnded,
    /// No response arrived in time, and the peer was asked to cancel the request.
    ///
    /// [`CallOptions`](crate::CallOptions) sets the timeouts of a call, and
    /// [`Limits`](crate::Limits) sets the defaults.
    // TMO-13: a timeout cancels the request.
    TimedOut,
    /// The server requires authorization, and the client did not obtain it. Holds the reason.
    ///
    /// Occurs over HTTP if the client waits for credentials; otherwise, such a request fails with
    /// [`Http`](Self::Http).
    Unauthorized(Box<str>),
    /// The request was not sent: no HTTP connection could be established. Retrying is safe.
    Unsent,
    /// The peer required input, and this side answered with an error. The call is not retried.
    // T-99: an error instead of input ends the call.
    InputRefused(ErrorObject),
    /// The server ended the subscription without a response.
    ///
    /// Subscribe again if the changes are still of interest. Clients of the adapters do so when
    /// they recover connections.
    // STL-37: the stream of a subscription may end at any time.
    SubscriptionEnded,
}

impl CallError {
    /// Creates the error of a call whose response was longer than `bytes_max`.
    pub(crate) fn oversized(bytes_max: usize) -> Self {
        let why = format!("response exceeds {bytes_max} bytes (`Limits::message_bytes_max`)");
        Self::Invalid(why.into())
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cancelled => f.write_str("the call was cancelled"),
            Self::Http { status, reason } => {
                write!(f, "the server responded with HTTP status {status}")?;
                reason.as_ref().map_or(Ok(()), |reason| write!(f, ": {reason}"))
            }
            Self::Invalid(why) => write!(f, "invalid response: {why}"),
            Self::Lost => f.write_str(
                "the connection ended before the response; the peer may have acted on the request",
            ),
            Self::LostRead => f.write_str("the connection ended before the response"),
            Self::SessionEnded => f.write_str(
                "the server has ended the session and did not process the request; repeat it",
            ),
            Self::Redirected { status, target } => write!(
                f,
                "the server redirected the request to {target:?} (HTTP status {status}); only \
                 redirects with status 307 or 308 within one origin are followed, use the final URL"
            ),
            Self::Refused(error) => error.fmt(f),
            Self::TooManyRounds => f.write_str(
                "the peer required too many rounds of input (`Limits::input_rounds_max`)",
            ),
            Self::TimedOut => f.write_str("the call timed out (`CallOptions::timeout`)"),
            Self::InputRefused(error) => {
                write!(f, "the input that the peer required was refused: {error}")
            }
            Self::Unauthorized(why) => write!(f, "the client is not authorized: {why}"),
            Self::Unsent => {
                f.write_str("the server could not be reached, the request was not sent")
            }
            Self::SubscriptionEnded => f.write_str("the server ended the subscription"),
        }
    }
}

impl core::error::Error for CallError {}

/// Why a connection cannot continue.
///
/// [`CloseReason::Fault`] holds the fault. Most faults are caused by the peer;
/// [`NoRevisionConfigured`](Self::NoRevisionConfigured) is a configuration error.
///
/// ```
/// use mcp_proto::{CloseReason, Fault};
///
/// fn should_reconnect(close: &CloseReason) -> bool {
///     use Fault::{Stalled, Unresponsive};
///     matches!(close, CloseReason::Peer | CloseReason::Fault(Unresponsive | Stalled))
/// }
/// assert!(should_reconnect(&CloseReason::Fault(Fault::Stalled)));
/// assert!(!should_reconnect(&CloseReason::Local));
/// ```
///
/// See the specification on the [handshake] of the legacy era and on [version negotiation][version]
/// in the modern era.
///
/// [handshake]: https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
/// [version]: https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Fault {
    /// The response to `initialize` or `server/discover` is invalid. Holds the reason.
    // LIF-07: required members of the handshake.
    BadHandshake(Box<str>),
    /// The peer violated the protocol, and the policy is
    /// [`ViolationPolicy::Close`](crate::ViolationPolicy::Close).
    FirstViolation,
    /// The server did not respond to `initialize` or `server/discover` in time. The limit for the
    /// handshake is [`Limits::handshake_timeout`](crate::Limits::handshake_timeout).
    // TMO-06: the handshake has its own timeout.
    HandshakeTimedOut,
    /// The server supports none of the client's revisions.
    ///
    /// Holds the revision in the server's response to `initialize`, or a comma-separated list of
    /// the revisions in its response to `server/discover`.
    // LIF-06, T-30, T-32: the client disconnects.
    NoCommonRevision(String),
    /// The configuration allows no protocol revision.
    ///
    /// Pass at least one to [`client::Config::revisions`](crate::client::Config::revisions).
    NoRevisionConfigured,
    /// The server responded with an error to `initialize`, or to `server/discover` when the client
    /// could not fall back to `initialize`.
    // LIF-15: an error ends the handshake.
    Refused(ErrorObject),
    /// The server repeatedly ended HTTP sessions right after opening them.
    // T-72: the client does not reopen sessions without end.
    SessionLost,
    /// The peer read nothing for [`Limits::stall_timeout`](crate::Limits::stall_timeout), while
    /// more than [`Limits::replies_bytes_max`](crate::Limits::replies_bytes_max) bytes were queued.
    Stalled,
    /// The peer committed more consecutive violations than
    /// [`Limits::violations_max`](crate::Limits::violations_max) allows.
    TooManyViolations,
    /// The request that opens the connection failed over HTTP. Holds the error of the request.
    ///
    /// The error is [`CallError::Unsent`], [`CallError::Lost`], [`CallError::Http`],
    /// [`CallError::Redirected`] or [`CallError::Unauthorized`].
    // T-72: an unsuccessful status ends the handshake.
    Unreachable(CallError),
    /// The peer left [`Limits::pings_missed_max`](crate::Limits::pings_missed_max) consecutive
    /// pings unanswered.
    // TMO-08: missed pings end the connection.
    Unresponsive,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadHandshake(why) => write!(f, "the handshake failed: {why}"),
            Self::FirstViolation => {
                f.write_str("the peer violated the protocol (`ViolationPolicy::Close`)")
            }
            Self::HandshakeTimedOut => {
                f.write_str("the handshake timed out (`Limits::handshake_timeout`)")
            }
            Self::NoCommonRevision(name) => write!(
                f,
                "the server supports protocol version {name:?}, this client does not \
                 (`Config::revisions`)"
            ),
            Self::NoRevisionConfigured => f.write_str(
                "the configuration allows no protocol version (`Config::revisions` is empty)",
            ),
            Self::Refused(error) => write!(f, "the server refused the handshake: {error}"),
            Self::SessionLost => {
                f.write_str("the server repeatedly ended sessions right after opening them")
            }
            Self::Stalled => f.write_str(
                "the peer stopped reading (`Limits::replies_bytes_max`, `Limits::stall_timeout`)",
            ),
            Self::TooManyViolations => f.write_str(
                "the peer violated the protocol too many times in a row (`Limits::violations_max`)",
            ),
            Self::Unreachable(why) => write!(f, "could not connect to the server: {why}"),
            Self::Unresponsive => {
                f.write_str("the peer stopped answering pings (`Limits::pings_missed_max`)")
            }
        }
    }
}

impl core::error::Error for Fault {}

/// Why a connection ended.
///
/// Reported by the last event, [`client::Event::Closed`](crate::client::Event::Closed) or
/// [`server::Event::Closed`](crate::server::Event::Closed).
///
/// ```
/// use mcp_proto::client::{Client, Config, Event};
/// use mcp_proto::{CloseReason, Instant, MessageEndpoint};
///
/// let mut client = Client::new(Instant::ZERO, Config::new("demo", "1.0.0"));
/// client.close(Instant::ZERO);
/// assert!(matches!(client.poll_event(), Some(Event::Closed(CloseReason::Local))));
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum CloseReason {
    /// A fault ended the connection.
    Fault(Fault),
    /// This side closed the connection.
    Local,
    /// The peer closed the connection, or the transport failed.
    Peer,
}

impl fmt::Display for CloseReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fault(fault) => fault.fmt(f),
            Self::Local => f.write_str("closed by this side"),
            Self::Peer => f.write_str("closed by the peer"),
        }
    }
}

/// The progress of a request.
///
/// `progress` must increase with every notification, even if the total is unknown. See the
/// specification on [progress].
///
/// ```
/// use mcp_proto::Progress;
///
/// let half = Progress::new(50.0).with_total(100.0).with_message("compiling");
/// assert_eq!(half.total, Some(100.0));
/// ```
///
/// [progress]: https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// The work done so far, in any unit.
    pub progress: f64,
    /// The total work, in the unit of `progress`, if known.
    pub total: Option<f64>,
    /// A description of the current step, for users. Not sent in revision 2024-11-05.
    pub message: Option<Box<str>>,
}

impl Progress {
    /// Creates progress without a total or a message.
    #[must_use]
    pub const fn new(progress: f64) -> Self {
        Self { progress, total: None, message: None }
    }

    /// Sets the total work, in the unit of `progress`.
    #[must_use]
    pub const fn with_total(mut self, total: f64) -> Self {
        self.total = Some(total);
        self
    }

    /// Sets the message shown to users.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<Box<str>>) -> Self {
        self.message = Some(message.into());
        self
    }

    /// Writes the members of a notification besides its token.
    pub(crate) fn write_members(&self, params: &mut Object<'_>, with_message: bool) {
        write_f64(params.key("progress"), self.progress);
        if let Some(total) = self.total.filter(|total| total.is_finite()) {
            write_f64(params.key("total"), total);
        }
        params.opt_str("message", self.message.as_deref().filter(|_| with_message));
    }
}
