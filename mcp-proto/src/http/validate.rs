//! Classification of a POST by its head and body: its era, its kind of message, and its session.

mod modern;

use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;
use core::fmt;

use bytes::Bytes;

use self::modern::ModernChecks;
use super::admit::{PostHead, VersionHeader, require_supported, too_long};
use super::byte_order_mark;
use super::headers::Headers;
use super::policy::Policy;
use super::redact::Redacted;
use super::refusal::Refusal;
use crate::error::code;
use crate::json::{Cursor, Frame, Raw, elements, find};
use crate::method::{Method, MethodId};
use crate::revision::{Era, Revision};
use crate::rpc::{
    DecodedMessage, Defect, ErrorObject, Malformed, Message, MethodName, Params, RequestId,
};
use crate::schema::key;

/// A POST request, classified by its head and body.
///
/// ```
/// use mcp_proto::Revision;
/// use mcp_proto::http::{Admitted, Policy, Post, PostedMessage, admit};
///
/// let fields = [
///     ("Host", "localhost:8080"),
///     ("Content-Type", "application/json"),
///     ("Accept", "application/json, text/event-stream"),
///     ("MCP-Protocol-Version", "2026-07-28"),
///     ("Mcp-Method", "tools/list"),
/// ];
/// let body = br#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{
///     "io.modelcontextprotocol/protocolVersion":"2026-07-28",
///     "io.modelcontextprotocol/clientCapabilities":{}}}}"#;
/// let policy = Policy::default();
/// let Ok(Admitted::Post(head)) = admit(&policy, "POST", &fields) else { panic!() };
/// let post = head.read(&policy, &fields, body, &|_tool| None).unwrap();
/// let Post::Modern { revision, message } = post else { panic!("not modern") };
/// assert_eq!(revision, Revision::V2026_07_28);
/// assert!(matches!(message, PostedMessage::Request { .. }));
///
/// // A body whose method differs from the method in the head is refused.
/// let body = body.map(|byte| if byte == b'l' { b'L' } else { byte });
/// let refusal = head.read(&policy, &fields, &body, &|_| None).unwrap_err();
/// assert_eq!(refusal.status, 400);
/// ```
#[derive(Clone, Eq, PartialEq)]
pub enum Post {
    /// A modern request or notification, which is independent of all others.
    ///
    /// A request is cancelled if the client disconnects before receiving the response.
    // T-76: closing the response stream cancels a modern request.
    Modern {
        /// The modern revision of the message.
        revision: Revision,
        /// The kind of message.
        message: PostedMessage,
    },
    /// An `initialize` request, which opens a session.
    Initialize {
        /// The request id.
        id: RequestId,
    },
    /// A legacy message to a server [without sessions](super::Policy::without_sessions), which is
    /// independent of all others.
    ///
    /// If the message [needs no response](PostedMessage::needs_response), it has no effect: reply
    /// with status 202. Otherwise, pass it to [`HttpServer::sessionless`].
    ///
    /// [`HttpServer::sessionless`]: super::HttpServer::sessionless
    Sessionless {
        /// The revision in `MCP-Protocol-Version`, or an assumed one.
        revision: Revision,
        /// The kind of message.
        message: PostedMessage,
    },
    /// A message in a legacy session. The driver must check whether the session exists.
    ///
    /// A request is not cancelled if the client disconnects.
    // T-76: disconnection is not cancellation in the legacy era.
    Session {
        /// The session id, in visible ASCII.
        session: Box<str>,
        /// The revision in `MCP-Protocol-Version`; `None` means the session's revision.
        // HTTP-37: without the header, the version is the negotiated one.
        version: Option<Revision>,
        /// The kind of message.
        message: PostedMessage,
    },
}

impl fmt::Debug for Post {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Modern { revision, message } => f
                .debug_struct("Modern")
                .field("revision", revision)
                .field("message", message)
                .finish(),
            Self::Sessionless { revision, message } => f
                .debug_struct("Sessionless")
                .field("revision", revision)
                .field("message", message)
                .finish(),
            Self::Initialize { id } => f.debug_struct("Initialize").field("id", id).finish(),
            Self::Session { session, version, message } => f
                .debug_struct("Session")
                .field("session", &Redacted(session))
                .field("version", version)
                .field("message", message)
                .finish(),
        }
    }
}

/// The kind of a posted message.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum PostedMessage {
    /// A request.
    // HTTP-10: answered with JSON or an event stream.
    Request {
        /// The request id.
        id: RequestId,
        /// The method.
        method: Method,
    },
    /// A notification.
    // HTTP-08: answered with 202.
    Notification {
        /// The method.
        method: Method,
    },
    /// A response, possibly malformed, to a request from the server. Answered with status 202.
    Response,
    /// A JSON-RPC batch, which only revision 2025-03-26 has.
    ///
    /// A batch that contains a request is answered like a request.
    // BAT-01: a batch holds requests, notifications and responses.
    Batch {
        /// The ids of the requests in the batch, in order. The messages are not validated yet.
        requests: Vec<RequestId>,
    },
}

impl PostedMessage {
    /// Returns whether the message requires a response: a request, or a batch that contains one.
    ///
    /// [`HttpServer::handle_post`](super::HttpServer::handle_post) takes the value.
    #[must_use]
    pub fn needs_response(&self) -> bool {
        match self {
            Self::Request { .. } => true,
            Self::Notification { .. } | Self::Response => false,
            Self::Batch { requests } => !requests.is_empty(),
        }
    }

    /// Returns the id of a single request, to refuse it with.
    #[must_use]
    pub const fn request_id(&self) -> Option<&RequestId> {
        if let Self::Request { id, .. } = self { Some(id) } else { None }
    }
}

/// Checks the `MCP-Protocol-Version` header of a POST to a legacy session.
///
/// `version` and `id` are those of [`Post::Session`]; `negotiated` is the revision of the session.
/// Without the header, the session's revision applies.
///
/// # Errors
/// Returns a 400 refusal if the header names another revision than the negotiated one.
// HTTP-36: the header names the negotiated revision.
pub fn check_version(
    version: Option<Revision>,
    negotiated: Option<Revision>,
    id: Option<&RequestId>,
) -> Result<(), Refusal> {
    match (version, negotiated) {
        (Some(version), Some(negotiated)) if version != negotiated => {
            let why = format!("`MCP-Protocol-Version` must be {negotiated}, as negotiated");
            let error = ErrorObject::new(code::INVALID_REQUEST, why);
            Err(Refusal::with_error(400, Some(negotiated), id, &error))
        }
        _ => Ok(()),
    }
}

impl PostHead {
    /// Classifies a POST by its body and checks that head and body agree.
    ///
    /// `fields` are the headers that were passed to [`admit`](super::admit).
    ///
    /// `schema_of` returns the input schema of the tool with the given name, so that a call's
    /// `Mcp-Param-*` headers can be [checked] against its arguments. The headers are not checked if
    /// `schema_of` returns `None` or the tool has an [invalid](super::InvalidParamHeader)
    /// annotation.
    ///
    /// [checked]: https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#server-validation
    ///
    /// If the policy allows only modern or only legacy revisions, every message is treated as
    /// modern or legacy accordingly. Otherwise, a message is modern if
    /// - the `MCP-Protocol-Version` header names a modern or unknown revision, or is malformed; or
    /// - `_meta` in the body names a revision.
    ///
    /// # Errors
    /// Returns the [`Refusal`] to send if
    /// - the body is too long, is malformed or disagrees with the head;
    /// - a required header is missing; or
    /// - the revision or the method is not supported.
    ///
    /// The refusal contains the request's id if the id was parsed.
    // HTTP-50: mirrored arguments must match.
    pub fn read(
        &self,
        policy: &Policy,
        fields: &dyn Headers,
        body: &[u8],
        schema_of: &dyn Fn(&str) -> Option<Raw>,
    ) -> Result<Post, Refusal> {
        self.read_frame(policy, fields, Frame::Borrowed(body), schema_of).map(|(post, _)| post)
    }

    /// Like [`read`](Self::read), but also returns the parsed message.
    ///
    /// Pass the message to [`HttpServer::handle_decoded`](super::HttpServer::handle_decoded).
    ///
    /// # Errors
    /// Returns the [`Refusal`] to send, in the cases that [`read`](Self::read) lists.
    pub fn read_decoded<'a>(
        &self,
        policy: &Policy,
        fields: &dyn Headers,
        body: &'a Bytes,
        schema_of: &dyn Fn(&str) -> Option<Raw>,
    ) -> Result<(Post, DecodedMessage<'a>), Refusal> {
        self.read_frame(policy, fields, Frame::Shared(body), schema_of)
    }

    fn read_frame<'a>(
        &self,
        policy: &Policy,
        fields: &dyn Headers,
        body: Frame<'a>,
        schema_of: &dyn Fn(&str) -> Option<Raw>,
    ) -> Result<(Post, DecodedMessage<'a>), Refusal> {
        if body.bytes().len() > policy.body_bytes_max() {
            return Err(too_long(policy));
        }
        let body = byte_order_mark::skip_in(body);
        let decoded = DecodedMessage::of(body, policy.limits(), &[]);
        let post = match &decoded.message {
            Ok(message) => {
                self.check_accept(message)?;
                self.classify(policy, fields, message, schema_of)?
            }
            Err(Malformed::Array) => self.classify_batch(policy, body.bytes())?,
            Err(Malformed::Invalid { id, answerable, why }) => {
                let id = id.as_ref().filter(|_| *answerable);
                return Err(self.refuse(400, id, &why.to_error()));
            }
        };
        Ok((post, decoded))
    }

    /// Refuses a subscription whose client does not accept an event stream, its only answer.
    fn check_accept(&self, message: &Message<'_>) -> Result<(), Refusal> {
        match message {
            Message::Request { id, method, .. }
                if !self.accepts_events && method.id == Some(MethodId::Listen) =>
            {
                let why = "`Accept` must include `text/event-stream` for a subscription";
                let error = ErrorObject::new(code::INVALID_REQUEST, why);
                Err(self.refuse(406, Some(id), &error))
            }
            _ => Ok(()),
        }
    }

    fn classify(
        &self,
        policy: &Policy,
        fields: &dyn Headers,
        message: &Message<'_>,
        schema_of: &dyn Fn(&str) -> Option<Raw>,
    ) -> Result<Post, Refusal> {
        if self.is_modern(policy, message) {
            let checks = ModernChecks { policy, fields, head: self, schema_of };
            self.classify_modern(&checks, message)
        } else {
            self.classify_legacy(policy, message)
        }
    }

    fn classify_modern(
        &self,
        checks: &ModernChecks<'_>,
        message: &Message<'_>,
    ) -> Result<Post, Refusal> {
        match message {
            Message::Request { id, method, params } => {
                let revision = checks
                    .check_request(method, params)
                    .map_err(|(status, error)| self.refuse(status, Some(id), &error))?;
                Ok(Post::Modern { revision, message: request(id, method) })
            }
            Message::Notification { method, params } => {
                let revision = checks
                    .check_notification(method, params)
                    .map_err(|(status, error)| self.refuse(status, None, &error))?;
                Ok(Post::Modern { revision, message: notification(method) })
            }
            // HTTP-07, T-94: a modern client has no requests to respond to.
            Message::Response { .. } | Message::BrokenResponse { .. } | Message::OrphanError(_) => {
                let error = ErrorObject::new(
                    code::INVALID_REQUEST,
                    "clients send no responses in this protocol revision",
                );
                Err(self.refuse(400, None, &error))
            }
        }
    }

    fn classify_legacy(&self, policy: &Policy, message: &Message<'_>) -> Result<Post, Refusal> {
        match message {
            Message::Request { id, method, .. } => {
                if method.id == Some(MethodId::Initialize) && !policy.has_no_sessions() {
                    return Ok(Post::Initialize { id: id.clone() });
                }
                self.require_session(policy, Some(id), request(id, method))
            }
            Message::Notification { method, .. } => {
                self.require_session(policy, None, notification(method))
            }
            Message::Response { .. } | Message::BrokenResponse { .. } | Message::OrphanError(_) => {
                self.require_session(policy, None, PostedMessage::Response)
            }
        }
    }

    /// Returns whether a message belongs to the modern era.
    // HTTP-43, LIF-20, LIF-21: how a dual-era server tells the eras apart.
    fn is_modern(&self, policy: &Policy, message: &Message<'_>) -> bool {
        let by_head = match &self.version {
            VersionHeader::Absent => false,
            VersionHeader::Known(revision) => revision.era() == Era::Modern,
            VersionHeader::Malformed | VersionHeader::Unknown(_) => true,
        };
        let names_version =
            |params: &Params<'_>| params.meta_member(key::PROTOCOL_VERSION).is_some();
        // Called only if the head leaves it open: it searches the body.
        let by_body = || match message {
            Message::Request { params, .. } | Message::Notification { params, .. } => {
                names_version(params)
            }
            Message::Response { .. } | Message::BrokenResponse { .. } | Message::OrphanError(_) => {
                false
            }
        };
        // LIF-28, HTTP-38: a legacy-only server rejects a modern request for its version, so that
        // the client falls back to `initialize`.
        !policy.speaks_era(Era::Legacy) || policy.speaks_era(Era::Modern) && (by_head || by_body())
    }

    /// Classifies a message of a session.
    // HTTP-32: the session id is required. HTTP-38: the version must be supported.
    fn require_session(
        &self,
        policy: &Policy,
        id: Option<&RequestId>,
        message: PostedMessage,
    ) -> Result<Post, Refusal> {
        let version = require_supported(policy, &self.version)
            .map_err(|refusal| self.with_id(refusal, id))?;
        if policy.has_no_sessions() {
            let revision = version.unwrap_or_else(|| policy.sessionless_revision());
            return Ok(Post::Sessionless { revision, message });
        }
        let session = self.session.require().map_err(|refusal| self.with_id(refusal, id))?;
        Ok(Post::Session { session, version, message })
    }

    /// Classifies an array as a batch, if the named revision or any supported one has batches. The
    /// session later checks its own revision.
    // HTTP-06, BAT-12: later revisions have no batches. BAT-01: a batch may hold any messages.
    fn classify_batch(&self, policy: &Policy, body: &[u8]) -> Result<Post, Refusal> {
        let mut cursor = Cursor::over(body, policy.limits().depth_max);
        let checked = cursor.value().and_then(|array| cursor.finish().map(|()| array));
        let array =
            checked.map_err(|error| self.refuse(400, None, &Defect::Syntax(error).to_error()))?;
        let has_batches =
            |revision: Revision| policy.supports(revision) && revision.rules().batches;
        let is_possible = match &self.version {
            VersionHeader::Absent => Revision::ALL.into_iter().any(has_batches),
            VersionHeader::Known(revision) => has_batches(*revision),
            VersionHeader::Malformed | VersionHeader::Unknown(_) => false,
        };
        if !is_possible {
            let error = ErrorObject::new(
                code::INVALID_REQUEST,
                "batches are not supported: the body must be a single message",
            );
            return Err(self.refuse(400, None, &error));
        }
        // The session rejects a batch with more members.
        let members = elements(array).take(policy.limits().batch_members_max);
        let (calls, others): (Vec<&[u8]>, Vec<&[u8]>) =
            members.partition(|member| find(member, "method").is_some());
        // BAT-09: a client posts responses separately.
        let is_response =
            |member: &&[u8]| find(member, "result").or_else(|| find(member, "error")).is_some();
        if !calls.is_empty() && others.iter().any(is_response) {
            let error = ErrorObject::new(
                code::INVALID_REQUEST,
                "a batch must not contain both requests and responses",
            );
            return Err(self.refuse(400, None, &error));
        }
        let id_bytes_max = policy.limits().id_bytes_max;
        let requests =
            calls.into_iter().filter_map(|member| request_id(member, id_bytes_max)).collect();
        self.require_session(policy, None, PostedMessage::Batch { requests })
    }

    /// Creates a refusal, encoded for the revision that the head names.
    fn refuse(&self, status: u16, id: Option<&RequestId>, error: &ErrorObject) -> Refusal {
        Refusal::with_error(status, self.version.revision(), id, error)
    }

    /// Adds a request id to a refusal.
    fn with_id(&self, refusal: Refusal, id: Option<&RequestId>) -> Refusal {
        if id.is_none() {
            return refusal;
        }
        let error = ErrorObject::new(code::INVALID_REQUEST, refusal.reason());
        self.refuse(refusal.status, id, &error)
    }
}

fn request(id: &RequestId, method: &MethodName<'_>) -> PostedMessage {
    PostedMessage::Request { id: id.clone(), method: method.to_method() }
}

fn notification(method: &MethodName<'_>) -> PostedMessage {
    PostedMessage::Notification { method: method.to_method() }
}

/// Returns the id of a batch member with a method, if it is a request.
fn request_id(member: &[u8], id_bytes_max: usize) -> Option<RequestId> {
    find(member, "id").filter(|id| id.len() <= id_bytes_max).and_then(RequestId::from_json)
}

#[cfg(test)]
mod tests;
