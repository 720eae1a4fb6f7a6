//! Rejections of HTTP requests: status, headers, and a JSON-RPC error body.

use alloc::borrow::Cow;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use super::session_table::SessionTableFull;
use crate::error::code;
use crate::revision::Revision;
use crate::rpc::{self, ErrorObject, RequestId};

/// The complete response to a rejected request.
///
/// The driver sends status, headers and body unchanged. A refusal that this crate creates repeats
/// at most three texts of the client: the request id, the name of a revision, and the name of a
/// method.
///
/// ```
/// use mcp_proto::http::{Policy, admit};
///
/// let refusal = admit(&Policy::default(), "PUT", &[("host", "localhost")]).unwrap_err();
/// assert_eq!(refusal.status, 405);
/// assert_eq!(refusal.headers[0], ("allow", "POST, GET, DELETE".into()));
/// assert_eq!(refusal.to_string(), "405: HTTP method is not supported by Streamable HTTP");
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Refusal {
    /// The HTTP status. This crate creates refusals with status 4xx or 501; drivers may also use
    /// other 5xx statuses.
    pub status: u16,
    /// Headers, with names in lower case. Includes `content-type` if there is a body.
    pub headers: Vec<(&'static str, Cow<'static, str>)>,
    /// A JSON-RPC error response, or empty.
    pub body: Vec<u8>,
    /// The reason, for logs.
    reason: Cow<'static, str>,
}

impl Refusal {
    /// Creates a refusal whose body is a JSON-RPC error with the message `why` and no request id.
    // HTTP-09, HTTP-55: the body of a rejection is an error response without an id.
    pub fn new(status: u16, why: impl Into<Cow<'static, str>>) -> Self {
        let why = why.into();
        let error = ErrorObject::new(code::INVALID_REQUEST, &*why);
        Self::with_error(status, None, None, &error)
    }

    /// Creates a 404 refusal for an unknown or ended session.
    ///
    /// A client that receives this status opens a new session. `id` is the id of the refused
    /// request, if known.
    // HTTP-33, HTTP-34: 404 tells the client to initialize again.
    #[must_use]
    pub fn unknown_session(id: Option<&RequestId>) -> Self {
        let error = ErrorObject::new(code::INVALID_REQUEST, "session not found");
        Self::with_error(404, None, id, &error)
    }

    /// Creates a refusal whose body is a JSON-RPC error.
    ///
    /// `revision` is the client's revision, if known. If `id` is `None`, the body has `"id":null`
    /// in revisions up to 2025-06-18. In later revisions, or if the revision is unknown, the body
    /// has no `id` member.
    #[must_use]
    pub fn with_error(
        status: u16,
        revision: Option<Revision>,
        id: Option<&RequestId>,
        error: &ErrorObject,
    ) -> Self {
        let mut body = Vec::new();
        let null_id = revision.is_some_and(|revision| revision.rules().unknown_id_is_null);
        rpc::error_line(&mut body, id, null_id, error);
        let fields = vec![("content-type", "application/json".into())];
        Self { status, headers: fields, body, reason: error.message.to_string().into() }
    }

    /// Returns the reason, for logs.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// Adds a header. `name` must be in lower case.
    #[must_use]
    pub fn header(mut self, name: &'static str, value: impl Into<Cow<'static, str>>) -> Self {
        self.headers.insert(0, (name, value.into()));
        self
    }
}

/// Refuses a session that does not fit with status 503.
impl From<SessionTableFull> for Refusal {
    fn from(full: SessionTableFull) -> Self {
        Self::new(503, full.to_string())
    }
}

/// Formats the status and the reason.
impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.status, self.reason)
    }
}

impl core::error::Error for Refusal {}

/// Returns the HTTP status of a JSON-RPC response in `revision`.
///
/// `error` is the JSON-RPC error code, or `None` for a result. The status applies to responses sent
/// as JSON; an event stream always has status 200.
///
/// ```
/// use mcp_proto::http::status_of;
/// use mcp_proto::{Revision, code};
///
/// assert_eq!(status_of(Revision::V2026_07_28, Some(code::METHOD_NOT_FOUND)), 404);
/// assert_eq!(status_of(Revision::V2025_11_25, Some(code::METHOD_NOT_FOUND)), 200);
/// assert_eq!(status_of(Revision::V2026_07_28, None), 200);
/// ```
#[must_use]
pub fn status_of(revision: Revision, error: Option<i64>) -> u16 {
    // HTTP-40…42: modern revisions map some error codes to 400 or 404.
    let statuses = revision.rules().http_statuses;
    statuses.iter().find(|(code, _)| Some(*code) == error).map_or(200, |(_, status)| *status)
}
