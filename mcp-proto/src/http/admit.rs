//! Admission of an HTTP request by its head, before its body is read.

use alloc::boxed::Box;
use alloc::format;
use core::fmt;
use core::str::from_utf8;

use super::header::{Authority, accepts, is_event_id, is_media_type, text, visible};
use super::headers::Headers;
use super::policy::Policy;
use super::redact::Redacted;
use super::refusal::Refusal;
use super::request_headers::{Field, RequestHeaders};
use crate::revision::{Era, Revision};

/// The media type of JSON.
pub(super) const JSON: &str = "application/json";

/// The media type of event streams.
pub(super) const EVENT_STREAM: &str = "text/event-stream";

/// The maximum length of `MCP-Protocol-Version` in bytes.
const VERSION_BYTES_MAX: usize = 64;

/// The maximum length of a session id or a `Last-Event-ID` in bytes.
// HTTP-30: session ids are visible ASCII. SSE-16: a stream is resumed with `Last-Event-ID`.
pub(super) const ID_BYTES_MAX: usize = 256;

/// An HTTP request whose method and headers [`admit`] has accepted.
#[derive(Clone, Eq, PartialEq)]
pub enum Admitted {
    /// A POST with a message. Pass its body to [`PostHead::read`].
    Post(PostHead),
    /// A GET: the client listens for server messages in a session, or resumes a stream.
    // HTTP-22: GET opens a stream for messages that belong to no request.
    Get(GetRequest),
    /// A DELETE: the client ends the session with this id.
    // HTTP-35: DELETE terminates a session.
    Delete(Box<str>),
}

impl fmt::Debug for Admitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Post(head) => f.debug_tuple("Post").field(head).finish(),
            Self::Get(request) => f.debug_tuple("Get").field(request).finish(),
            Self::Delete(id) => f.debug_tuple("Delete").field(&Redacted(id)).finish(),
        }
    }
}

/// A GET request, which listens for server messages in a session or resumes a stream.
#[derive(Clone, Eq, PartialEq)]
#[non_exhaustive]
pub struct GetRequest {
    /// The session id, in visible ASCII.
    pub session: Box<str>,
    /// The `Last-Event-ID` header: the id of the last event received on the stream to resume.
    ///
    /// `None` if the client does not resume a stream, but listens for messages that belong to no
    /// request.
    pub last_event_id: Option<Box<str>>,
}

impl fmt::Debug for GetRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GetRequest")
            .field("session", &Redacted(&self.session))
            .field("last_event_id", &self.last_event_id)
            .finish()
    }
}

/// The head of an admitted POST. Call [`read`](Self::read) with the body.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PostHead {
    pub(super) version: VersionHeader,
    pub(super) session: SessionHeader,
    pub(super) accepts_events: bool,
}

impl PostHead {
    /// Returns whether the client accepts an event stream.
    ///
    /// If not, call [`HttpServer::require_json`](super::HttpServer::require_json) for the exchange.
    #[must_use]
    pub const fn accepts_events(&self) -> bool {
        self.accepts_events
    }
}

/// The value of `MCP-Protocol-Version`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum VersionHeader {
    Absent,
    /// Repeated, empty, too long, or not visible ASCII.
    Malformed,
    Known(Revision),
    Unknown(Box<str>),
}

impl VersionHeader {
    fn of(headers: &RequestHeaders<'_>) -> Self {
        match headers.protocol_version {
            Field::Absent => Self::Absent,
            Field::Once(value) => match visible(value, VERSION_BYTES_MAX) {
                None => Self::Malformed,
                Some(name) => Revision::from_name(name)
                    .map_or_else(|| Self::Unknown(name.into()), Self::Known),
            },
            Field::Repeated => Self::Malformed,
        }
    }

    pub(super) const fn revision(&self) -> Option<Revision> {
        if let Self::Known(revision) = self { Some(*revision) } else { None }
    }
}

/// The value of `Mcp-Session-Id`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum SessionHeader {
    Absent,
    RepeatedHeader,
    /// A value that this server cannot have issued.
    Foreign,
    Id(Redacted<Box<str>>),
}

impl SessionHeader {
    fn of(headers: &RequestHeaders<'_>) -> Self {
        match headers.session_id {
            Field::Absent => Self::Absent,
            Field::Once(value) => match visible(value, ID_BYTES_MAX) {
                Some(id) => Self::Id(Redacted(id.into())),
                None if value.iter().all(|byte| matches!(byte, b' ' | b'\t')) => Self::Absent,
                None => Self::Foreign,
            },
            Field::Repeated => Self::RepeatedHeader,
        }
    }

    /// Returns the id, or the refusal of a request that requires one.
    // HTTP-32: 400 without an id. HTTP-33: 404 for an unknown id.
    pub(super) fn require(&self) -> Result<Box<str>, Refusal> {
        match self {
            Self::Id(id) => Ok(id.0.clone()),
            Self::Absent => Err(Refusal::new(400, "`Mcp-Session-Id` is missing")),
            Self::RepeatedHeader => Err(Refusal::new(400, "`Mcp-Session-Id` is repeated")),
            // The id may come from another server behind this URL, so treat it like an expired
            // one: 404 makes the client initialize again.
            Self::Foreign => Err(Refusal::unknown_session(None)),
        }
    }
}

/// Admits or rejects a request by its HTTP method and headers, before its body is read.
///
/// Checks, in this order, the host and origin (with [`check_origin`]), the HTTP method, and then
///
/// - for POST: `Content-Length`, `Transfer-Encoding`, `Content-Encoding`, `Content-Type` and
///   `Accept`, which must allow JSON;
/// - for GET: `MCP-Protocol-Version`, `Accept`, `Mcp-Session-Id` and `Last-Event-ID`;
/// - for DELETE: `MCP-Protocol-Version` and `Mcp-Session-Id`.
///
/// Checks that need the body of a POST are left to [`PostHead::read`]. Over HTTP/2 and later, pass
/// the value of `:authority` as the `host` header.
///
/// ```
/// use mcp_proto::http::{Admitted, Policy, admit};
///
/// let mut fields = vec![
///     ("Host", "localhost:8080"),
///     ("Content-Type", "application/json"),
///     ("Accept", "application/json, text/event-stream"),
/// ];
/// assert!(matches!(admit(&Policy::default(), "POST", &fields), Ok(Admitted::Post(_))));
///
/// fields.push(("Origin", "https://evil.example"));
/// assert_eq!(admit(&Policy::default(), "POST", &fields).unwrap_err().status, 403);
/// ```
///
/// # Errors
/// Returns the [`Refusal`] to send, for the first check that fails.
pub fn admit(policy: &Policy, verb: &str, fields: &dyn Headers) -> Result<Admitted, Refusal> {
    let headers = &RequestHeaders::of(fields);
    check_host_and_origin(policy, headers)?;
    by_method(policy, verb, headers)
}

/// Like [`admit`], for a request whose host and origin [`check_origin`] has accepted.
///
/// # Errors
/// Returns the [`Refusal`] to send, for the first check that fails.
pub fn admit_screened(
    policy: &Policy,
    verb: &str,
    fields: &dyn Headers,
) -> Result<Admitted, Refusal> {
    by_method(policy, verb, &RequestHeaders::of(fields))
}

fn by_method(
    policy: &Policy,
    verb: &str,
    headers: &RequestHeaders<'_>,
) -> Result<Admitted, Refusal> {
    let sessions = policy.offers_sessions();
    // HTTP-01, HTTP-23: one endpoint; GET opens an event stream, or is rejected with 405.
    match verb {
        "POST" => post(policy, headers).map(Admitted::Post),
        "GET" if sessions => get(policy, headers).map(Admitted::Get),
        "DELETE" if sessions => {
            check_session_version(policy, headers)?;
            SessionHeader::of(headers).require().map(Admitted::Delete)
        }
        "GET" | "DELETE" => Err(not_allowed(policy, "this server has no sessions")),
        _ => Err(not_allowed(policy, "HTTP method is not supported by Streamable HTTP")),
    }
}

/// Checks `Host` and `Origin`; the first step of [`admit`].
///
/// A server that authenticates clients should call this function first, then authenticate the
/// client, and then call [`admit_screened`].
///
/// # Errors
/// Returns the [`Refusal`] to send. Its status is 400 if `Host` is missing, repeated or malformed,
/// and 403 if the policy does not allow the host or the origin.
// HTTP-55: an invalid origin is rejected with 403. T-90: so is `null`, unless configured.
pub fn check_origin(policy: &Policy, fields: &dyn Headers) -> Result<(), Refusal> {
    check_host_and_origin(policy, &RequestHeaders::of(fields))
}

/// Checks `Host` alone, for resources that pages of any origin may read, such as
/// [metadata](super::Guard::metadata_reply).
///
/// # Errors
/// Returns the [`Refusal`] to send. Its status is 400 if `Host` is missing, repeated or malformed,
/// and 403 if the policy does not allow the host.
// HTTP-55: also against DNS rebinding, nothing is served.
pub fn check_host(policy: &Policy, fields: &dyn Headers) -> Result<(), Refusal> {
    check_host_header(policy, &RequestHeaders::of(fields))
}

fn check_host_and_origin(policy: &Policy, headers: &RequestHeaders<'_>) -> Result<(), Refusal> {
    check_host_header(policy, headers)?;
    match headers.origin {
        Field::Absent => Ok(()),
        Field::Once(origin) if policy.allows_origin(origin) => Ok(()),
        _ => Err(Refusal::new(403, "`Origin` is not allowed by this server")),
    }
}

fn check_host_header(policy: &Policy, headers: &RequestHeaders<'_>) -> Result<(), Refusal> {
    let Field::Once(host) = headers.host else {
        return Err(Refusal::new(400, "exactly one `Host` header is required"));
    };
    let Some(host) = Authority::parse(host) else {
        return Err(Refusal::new(400, "`Host` is malformed"));
    };
    if !policy.allows_host(&host) {
        return Err(Refusal::new(403, "`Host` is not allowed by this server"));
    }
    Ok(())
}

fn post(policy: &Policy, headers: &RequestHeaders<'_>) -> Result<PostHead, Refusal> {
    check_body_headers(policy, headers)?;
    // HTTP-04, HTTP-10: the server chooses between JSON, which every request may receive, and an
    // event stream.
    if !is_accepted(headers, JSON) {
        return Err(Refusal::new(406, "`Accept` must include `application/json`"));
    }
    Ok(PostHead {
        version: VersionHeader::of(headers),
        session: SessionHeader::of(headers),
        accepts_events: is_accepted(headers, EVENT_STREAM),
    })
}

/// Returns whether the client accepts a media type. Without `Accept`, a client accepts any.
// RFC 9110, section 12.5.1.
pub(super) fn is_accepted(headers: &RequestHeaders<'_>, kind: &str) -> bool {
    headers.accept == Field::Absent || accepts(headers.values(headers.accept, "accept"), kind)
}

/// Checks the headers about the body of a POST, which must be JSON without an encoding.
pub(super) fn check_body_headers(
    policy: &Policy,
    headers: &RequestHeaders<'_>,
) -> Result<(), Refusal> {
    check_content_length(policy, headers)?;
    // The HTTP library removes the chunks, and would leave any other coding in the body.
    let is_chunked = |coding| text(coding).is_some_and(|it| it.eq_ignore_ascii_case("chunked"));
    let mut codings = headers.values(headers.transfer_encoding, "transfer-encoding");
    if !codings.all(is_chunked) {
        return Err(Refusal::new(501, "`Transfer-Encoding` must be `chunked`"));
    }
    // A driver that decodes bodies removes this header first.
    let mut encodings = headers.values(headers.content_encoding, "content-encoding");
    let is_encoded = encodings.any(|coding| {
        !text(coding)
            .is_some_and(|coding| coding.is_empty() || coding.eq_ignore_ascii_case("identity"))
    });
    if is_encoded {
        return Err(Refusal::new(415, "`Content-Encoding` is not supported"));
    }
    match headers.content_type {
        Field::Once(value) if is_media_type(value, JSON) => {}
        Field::Absent | Field::Once(_) => {
            return Err(Refusal::new(415, "`Content-Type` must be `application/json`"));
        }
        Field::Repeated => return Err(Refusal::new(400, "`Content-Type` is repeated")),
    }
    Ok(())
}

/// Checks that `Content-Length`, if present, is a number within the limit.
fn check_content_length(policy: &Policy, headers: &RequestHeaders<'_>) -> Result<(), Refusal> {
    let malformed = || Refusal::new(400, "`Content-Length` is malformed");
    let length = match headers.content_length {
        Field::Absent => return Ok(()),
        Field::Once(length) => length,
        Field::Repeated => return Err(malformed()),
    };
    let digits = text(length).filter(|digits| !digits.is_empty()).ok_or_else(malformed)?;
    if !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return Err(malformed());
    }
    // A number that overflows is above the limit, too.
    match digits.parse::<usize>() {
        Ok(length) if length <= policy.body_bytes_max() => Ok(()),
        _ => Err(too_long(policy)),
    }
}

/// Returns the refusal of a body that exceeds the limit.
pub(super) fn too_long(policy: &Policy) -> Refusal {
    let bytes_max = policy.body_bytes_max();
    Refusal::new(413, format!("the body exceeds {bytes_max} bytes, the limit of this server"))
}

fn get(policy: &Policy, headers: &RequestHeaders<'_>) -> Result<GetRequest, Refusal> {
    check_session_version(policy, headers)?;
    if !is_accepted(headers, EVENT_STREAM) {
        return Err(Refusal::new(406, "`Accept` must include `text/event-stream`"));
    }
    let session = SessionHeader::of(headers).require()?;
    let malformed = || Refusal::new(400, "`Last-Event-ID` is malformed");
    let last_event_id = match headers.last_event_id {
        Field::Absent => None,
        Field::Repeated => return Err(malformed()),
        Field::Once(id) => {
            // Surrounding blanks are not part of the value; non-ASCII ids are sent as UTF-8.
            let id = from_utf8(id).map_err(|_| malformed())?.trim_matches([' ', '\t']);
            Some(id).filter(|id| is_event_id(id, ID_BYTES_MAX)).ok_or_else(malformed)?.into()
        }
    };
    Ok(GetRequest { session, last_event_id: last_event_id.map(Into::into) })
}

/// Checks that the version of a GET or DELETE is absent or a supported legacy revision.
// HTTP-37: an absent version is the session's. HTTP-38: 400 for an unsupported one. HTTP-52: 405
// for a modern one.
fn check_session_version(policy: &Policy, headers: &RequestHeaders<'_>) -> Result<(), Refusal> {
    match VersionHeader::of(headers) {
        VersionHeader::Absent => Ok(()),
        VersionHeader::Known(revision) if revision.era() == Era::Modern => {
            Err(not_allowed(policy, "this protocol revision has no sessions"))
        }
        version => require_supported(policy, &version).map(|_| ()),
    }
}

/// Returns the revision that a legacy request names, or refuses an unsupported one.
// HTTP-38: an invalid or unsupported version is rejected with 400.
pub(super) fn require_supported(
    policy: &Policy,
    version: &VersionHeader,
) -> Result<Option<Revision>, Refusal> {
    match version {
        VersionHeader::Absent => Ok(None),
        VersionHeader::Known(revision) if policy.supports(*revision) => Ok(Some(*revision)),
        VersionHeader::Known(_) | VersionHeader::Unknown(_) => {
            Err(Refusal::new(400, "unsupported `MCP-Protocol-Version`"))
        }
        VersionHeader::Malformed => Err(Refusal::new(400, "`MCP-Protocol-Version` is malformed")),
    }
}

fn not_allowed(policy: &Policy, why: &'static str) -> Refusal {
    let verbs = if policy.offers_sessions() { "POST, GET, DELETE" } else { "POST" };
    Refusal::new(405, why).header("allow", verbs)
}

#[cfg(test)]
mod tests;
