//! How a request is refused over HTTP: a status, fields, and a body that JSON-RPC can read; knows
//! no reason to.

use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use crate::error::code;
use crate::revision::Revision;
use crate::rpc::{self, ErrorObject, RequestId};

/// The whole answer to a request that is not let in.
///
/// The driver sends status, fields and body as they are. Nothing in it but an echoed id, and the
/// name of a revision or a method, comes from the peer.
///
/// ```
/// use mcp_proto::http::{Policy, admit};
///
/// let refusal = admit(&Policy::default(), "PUT", &[("host", "localhost")]).unwrap_err();
/// assert_eq!(refusal.status, 405);
/// assert_eq!(refusal.fields[0], ("allow", "POST, GET, DELETE".to_string()));
/// assert_eq!(refusal.to_string(), "405: the verb is not one of Streamable HTTP");
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Refusal {
    /// The HTTP status, 4xx.
    pub status: u16,
    /// Fields of the head, their names in lower case; the content type is among them if there is a
    /// body.
    pub fields: Vec<(&'static str, String)>,
    /// An error response of JSON-RPC, or nothing.
    pub body: Vec<u8>,
    /// Why, for a log.
    why: Cow<'static, str>,
}

impl Refusal {
    /// Refuses with a status and an error that names no request. (HTTP-09, HTTP-55)
    pub fn new(status: u16, why: impl Into<Cow<'static, str>>) -> Self {
        let why = why.into();
        let error = ErrorObject::new(code::INVALID_REQUEST, &*why);
        Self::with_error(status, None, None, &error)
    }

    /// Refuses a message for a session that is none, or no longer: the client then opens a new one.
    /// (HTTP-33, HTTP-34)
    #[must_use]
    pub fn unknown_session(id: Option<&RequestId>) -> Self {
        let error = ErrorObject::new(code::INVALID_REQUEST, "no such session");
        Self::with_error(404, None, id, &error)
    }

    /// Refuses with an error of JSON-RPC, written for a client of `revision`, or of one that is not
    /// known.
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
        let fields = vec![("content-type", "application/json".to_string())];
        Self { status, fields, body, why: error.message.to_string().into() }
    }

    pub(super) fn why(&self) -> &str {
        &self.why
    }

    /// The same with one more field.
    #[must_use]
    pub fn field(mut self, name: &'static str, value: &str) -> Self {
        self.fields.insert(0, (name, value.into()));
        self
    }
}

/// The status, and why.
impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.status, self.why)
    }
}

impl core::error::Error for Refusal {}

/// Returns the HTTP status of a response to a request of `revision`, from the code of its error if
/// it is one, as long as nothing of the response was sent before.
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
    // (HTTP-40…42, requirements §3.2)
    let statuses = revision.rules().http_statuses;
    statuses.iter().find(|(code, _)| Some(*code) == error).map_or(200, |(_, status)| *status)
}
