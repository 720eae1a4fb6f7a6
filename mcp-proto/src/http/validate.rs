//! What a POST turns out to be once its body is there: which era it is of, and whether body and
//! head agree; knows nothing of which sessions exist, and runs no request.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;

use bytes::Bytes;

use super::admit::{Head, Version, spoken, too_long};
use super::field::{decode, text};
use super::fields::Fields;
use super::param_headers::Mirror;
use super::policy::Policy;
use super::refusal::Refusal;
use crate::error::code;
use crate::json::{Cursor, Frame, Raw, elements, find, unescape};
use crate::meta::{missing_context, supported};
use crate::method::MethodId;
use crate::revision::{Era, Revision, Side, named_by};
use crate::rpc::{Decoded, ErrorObject, Malformed, Message, Params, RequestId};
use crate::schema::key;

/// Where a POST goes.
///
/// ```
/// use mcp_proto::Revision;
/// use mcp_proto::http::{Admitted, Policy, Post, Posted, admit};
///
/// let fields = [
///     ("Host", "localhost:8080"),
///     ("Content-Type", "application/json"),
///     ("Accept", "application/json, text/event-stream"),
///     ("MCP-Protocol-Version", "2026-07-28"),
///     ("Mcp-Method", "tools/list"),
/// ];
/// let body = br#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{
///     "io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
/// let policy = Policy::default();
/// let Ok(Admitted::Post(head)) = admit(&policy, "POST", &fields) else { panic!() };
/// let post = head.read(&policy, &fields, body, &|_tool| None).unwrap();
/// assert!(matches!(post, Post::Alone { revision: Revision::V2026_07_28, message: Posted::Request { .. } }));
///
/// // The body says another method than the head.
/// let refusal = head.read(&policy, &fields, &body.map(|b| if b == b'l' { b'L' } else { b }), &|_| None).unwrap_err();
/// assert_eq!(refusal.status, 400);
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Post {
    /// A message that shares nothing with any other: a request, or a notification. If its client
    /// hangs up before the answer, that cancels it. (T-76)
    Alone {
        /// The revision that it is of, which has no sessions.
        revision: Revision,
        /// What the message is.
        message: Posted,
    },
    /// `initialize`: the beginning of a session.
    Opening {
        /// The request's id.
        id: RequestId,
    },
    /// A message of a session, which may be known or not. If its client hangs up, that is no
    /// cancel. (T-76)
    Within {
        /// The session's id, of visible ASCII.
        session: Box<str>,
        /// The revision that the head names; without one it is the session's own. (HTTP-37)
        version: Option<Revision>,
        /// What the message is.
        message: Posted,
    },
}

/// What kind of message came.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Posted {
    /// Something that is answered. (HTTP-10)
    Request {
        /// Its id.
        id: RequestId,
        /// Its method.
        method: Box<str>,
    },
    /// Something that is not, beyond 202. (HTTP-08)
    Notification {
        /// Its method.
        method: Box<str>,
    },
    /// The answer to something that the session asked; like a notification. It may be malformed.
    Response,
    /// Several messages at once, which are answered if there is a request among them. (BAT-01)
    Batch {
        /// The ids of its requests, in their order. Its members are not checked beyond that.
        requests: Vec<RequestId>,
    },
}

impl Head {
    /// Reads the body that came with this head and holds the two against each other. (requirements
    /// §3.2)
    ///
    /// `fields` are those that the head was admitted by. `schema_of` is asked for the input schema
    /// of the tool that is called, by its name: arguments that it has repeated in the head must
    /// be as they are in the body (HTTP-50). A tool that is not known has none, and neither has
    /// one whose annotations are [invalid](super::InvalidMirror).
    ///
    /// Every message stands alone where this server has no sessions, and none where it has nothing
    /// else. Otherwise one does if the head names a revision without sessions or one that
    /// nobody knows, or if its own `_meta` names any.
    ///
    /// # Errors
    /// How to refuse it. If it is a request, its id is in there.
    pub fn read(
        &self,
        policy: &Policy,
        fields: &dyn Fields,
        body: &[u8],
        schema_of: &dyn Fn(&str) -> Option<Raw>,
    ) -> Result<Post, Refusal> {
        self.decode(policy, fields, Frame::Borrowed(body), schema_of).map(|(post, _)| post)
    }

    /// As [`read`](Self::read), and gives what it read to hand it on to
    /// [`Session::handle_decoded`](super::Session::handle_decoded).
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_once<'a>(
        &self,
        policy: &Policy,
        fields: &dyn Fields,
        body: &'a Bytes,
        schema_of: &dyn Fn(&str) -> Option<Raw>,
    ) -> Result<(Post, Decoded<'a>), Refusal> {
        self.decode(policy, fields, Frame::Shared(body), schema_of)
    }

    fn decode<'a>(
        &self,
        policy: &Policy,
        fields: &dyn Fields,
        body: Frame<'a>,
        schema_of: &dyn Fn(&str) -> Option<Raw>,
    ) -> Result<(Post, Decoded<'a>), Refusal> {
        if body.bytes().len() > policy.body_bytes_max() {
            return Err(too_long());
        }
        let decoded = Decoded::of(body, policy.limits());
        let post = match &decoded.message {
            Ok(message) => self.sort(policy, fields, message, schema_of)?,
            Err(Malformed::Array) => self.array(policy, body.bytes())?,
            Err(malformed) => {
                return Err(self.refuse(400, malformed.request_id(), &malformed.to_error()));
            }
        };
        Ok((post, decoded))
    }

    fn sort(
        &self,
        policy: &Policy,
        fields: &dyn Fields,
        message: &Message<'_>,
        schema_of: &dyn Fn(&str) -> Option<Raw>,
    ) -> Result<Post, Refusal> {
        let modern = self.is_modern(policy, message);
        match message {
            Message::Request { id, method, params } if modern => {
                let checks = Checks { policy, fields, head: self, schema_of };
                let revision = checks
                    .request(&method.text, params)
                    .map_err(|(status, error)| self.refuse(status, Some(id), &error))?;
                Ok(Post::Alone { revision, message: asked(id, &method.text) })
            }
            Message::Notification { method, params } if modern => {
                let checks = Checks { policy, fields, head: self, schema_of };
                let revision = checks
                    .notification(&method.text, params)
                    .map_err(|(status, error)| self.refuse(status, None, &error))?;
                Ok(Post::Alone { revision, message: told(&method.text) })
            }
            // (HTTP-07, T-94)
            _ if modern => {
                let error = ErrorObject::new(
                    code::INVALID_REQUEST,
                    "the revision has no responses of clients",
                );
                Err(self.refuse(400, None, &error))
            }
            Message::Request { id, method, .. } if method.id == Some(MethodId::Initialize) => {
                Ok(Post::Opening { id: id.clone() })
            }
            Message::Request { id, method, .. } => {
                self.within(policy, Some(id), asked(id, &method.text))
            }
            Message::Notification { method, .. } => self.within(policy, None, told(&method.text)),
            Message::Response { .. } | Message::BrokenResponse { .. } | Message::OrphanError(_) => {
                self.within(policy, None, Posted::Response)
            }
        }
    }

    /// Which era a message is of. (HTTP-43, LIF-20, LIF-21)
    fn is_modern(&self, policy: &Policy, message: &Message<'_>) -> bool {
        let by_head = match &self.version {
            Version::Absent => false,
            Version::Known(revision) => revision.era() == Era::Modern,
            Version::Malformed | Version::Unknown(_) => true,
        };
        let says = |params: &Params<'_>| params.meta_member(key::PROTOCOL_VERSION).is_some();
        let by_itself = match message {
            Message::Request { params, .. } | Message::Notification { params, .. } => says(params),
            Message::Response { .. } | Message::BrokenResponse { .. } | Message::OrphanError(_) => {
                false
            }
        };
        // Where nothing stands alone, such a request is one of a session that names a wrong
        // version: whoever made it then tries `initialize`. (LIF-28, HTTP-38)
        !policy.offers_sessions() || policy.speaks_of(Era::Modern) && (by_head || by_itself)
    }

    /// A message of a session. (HTTP-32, HTTP-38)
    fn within(
        &self,
        policy: &Policy,
        id: Option<&RequestId>,
        message: Posted,
    ) -> Result<Post, Refusal> {
        let version = spoken(policy, &self.version).map_err(|refusal| self.echo(refusal, id))?;
        let session = self.session.required().map_err(|refusal| self.echo(refusal, id))?;
        Ok(Post::Within { session, version, message })
    }

    /// An array, where there may be a session that takes it: only the session knows. (HTTP-06,
    /// BAT-01, BAT-12)
    fn array(&self, policy: &Policy, body: &[u8]) -> Result<Post, Refusal> {
        let mut cursor = Cursor::over(body, policy.limits().depth_max);
        let checked = cursor.value().and_then(|array| cursor.finish().map(|()| array));
        let array =
            checked.map_err(|error| self.refuse(400, None, &Malformed::Parse(error).to_error()))?;
        let takes = |revision: Revision| policy.speaks(revision) && revision.rules().batches;
        let may_be = match &self.version {
            Version::Absent => Revision::ALL.into_iter().any(takes),
            Version::Known(revision) => takes(*revision),
            Version::Malformed | Version::Unknown(_) => false,
        };
        if !may_be {
            let error = ErrorObject::new(code::INVALID_REQUEST, "a body is one message");
            return Err(self.refuse(400, None, &error));
        }
        // More are too many for the session as well, which says so.
        let members = elements(array).take(policy.limits().batch_members_max);
        let requests =
            members.filter_map(|member| request_id(member, policy.limits().id_bytes_max)).collect();
        self.within(policy, None, Posted::Batch { requests })
    }

    /// Writes a refusal for a client of the revision that the head names.
    fn refuse(&self, status: u16, id: Option<&RequestId>, error: &ErrorObject) -> Refusal {
        Refusal::with_error(status, self.version.revision(), id, error)
    }

    /// The same refusal, with the id of the request.
    fn echo(&self, refusal: Refusal, id: Option<&RequestId>) -> Refusal {
        if id.is_none() {
            return refusal;
        }
        let error = ErrorObject::new(code::INVALID_REQUEST, refusal.why());
        self.refuse(refusal.status, id, &error)
    }
}

fn asked(id: &RequestId, method: &str) -> Posted {
    Posted::Request { id: id.clone(), method: method.into() }
}

fn told(method: &str) -> Posted {
    Posted::Notification { method: method.into() }
}

/// The id of a member of a batch, if that is a request.
fn request_id(member: &[u8], id_bytes_max: usize) -> Option<RequestId> {
    find(member, "method")?;
    find(member, "id").filter(|id| id.len() <= id_bytes_max).and_then(RequestId::from_json)
}

/// What is asked of a message that stands alone.
struct Checks<'a> {
    policy: &'a Policy,
    fields: &'a dyn Fields,
    head: &'a Head,
    schema_of: &'a dyn Fn(&str) -> Option<Raw>,
}

/// The status, and the error.
type Failure = (u16, ErrorObject);

impl Checks<'_> {
    /// The checks of a request, in the order of requirements §3.2. (T-105)
    fn request(&self, method: &str, params: &Params<'_>) -> Result<Revision, Failure> {
        let revision = self.revision(method, params);
        // Whoever opens a session where there are none learns what there is, whatever went wrong.
        // (LIF-33)
        let revision = revision.map_err(|(status, error)| match (method, &error.data) {
            ("initialize", None) => {
                (status, error.with_data(supported(&self.policy.revisions, None)))
            }
            _ => (status, error),
        })?;
        self.name(method, params)?;
        if method == "tools/call" {
            self.mirrored(params)?;
        }
        Ok(revision)
    }

    /// Up to whether the method is known.
    fn revision(&self, method: &str, params: &Params<'_>) -> Result<Revision, Failure> {
        self.version_is_there()?;
        let said = self.method_field()?.ok_or_else(|| mismatch("`Mcp-Method` is missing"))?;
        let meta = |name| params.meta_member(name);
        let version = meta(key::PROTOCOL_VERSION).and_then(unescape);
        let has_capabilities =
            meta(key::CLIENT_CAPABILITIES).is_some_and(|value| value.starts_with(b"{"));
        let Some(version) = version.filter(|_| has_capabilities) else {
            return Err((400, missing_context(&self.policy.revisions)));
        };
        let revision = self.same_version(&version)?;
        if said != method {
            return Err(mismatch("`Mcp-Method` is not the method of the body"));
        }
        let revision = self.supported(revision, &version)?;
        let rule = MethodId::from_name(method).and_then(|method| method.rule(revision));
        let known = rule.is_some_and(|rule| rule.is_request && rule.is_sent_by(Side::Client));
        if !known && !self.policy.serves(method) {
            return Err((404, ErrorObject::method_not_found(method)));
        }
        Ok(revision)
    }

    /// The checks of a notification, which says less of itself: what it says must be so.
    fn notification(&self, method: &str, params: &Params<'_>) -> Result<Revision, Failure> {
        let version = self.version_is_there()?;
        let revision = match params.meta_member(key::PROTOCOL_VERSION).and_then(unescape) {
            Some(version) => self.same_version(&version)?,
            None => self.head.version.revision(),
        };
        if self.method_field()?.is_some_and(|said| said != method) {
            return Err(mismatch("`Mcp-Method` is not the method of the body"));
        }
        self.supported(revision, version)
    }

    /// What the head says is the version. (HTTP-39, HTTP-43, HTTP-45)
    fn version_is_there(&self) -> Result<&str, Failure> {
        match &self.head.version {
            Version::Known(revision) => Ok(revision.name()),
            Version::Unknown(name) => Ok(name),
            Version::Absent => {
                let (status, error) = mismatch("`MCP-Protocol-Version` is missing");
                Err((status, error.with_data(supported(&self.policy.revisions, None))))
            }
            Version::Malformed => Err(mismatch("`MCP-Protocol-Version` is malformed")),
        }
    }

    /// The revision, if it is one, that the head names as well. (HTTP-40)
    fn same_version(&self, version: &str) -> Result<Option<Revision>, Failure> {
        if self.version_is_there()? != version {
            return Err(mismatch("`MCP-Protocol-Version` is not the protocol version of the body"));
        }
        Ok(self.head.version.revision())
    }

    /// (HTTP-41)
    fn supported(&self, revision: Option<Revision>, version: &str) -> Result<Revision, Failure> {
        let spoken =
            |revision: &Revision| revision.era() == Era::Modern && self.policy.speaks(*revision);
        revision.filter(spoken).ok_or_else(|| {
            let error = ErrorObject::new(
                code::UNSUPPORTED_PROTOCOL_VERSION,
                "unsupported protocol version",
            );
            (400, error.with_data(supported(&self.policy.revisions, Some(version))))
        })
    }

    /// What the head says is the method. (HTTP-44, HTTP-45)
    fn method_field(&self) -> Result<Option<&str>, Failure> {
        let Ok(value) = self.fields.one("mcp-method") else {
            return Err(mismatch("`Mcp-Method` is repeated"));
        };
        value
            .map(|value| text(value).ok_or_else(|| mismatch("`Mcp-Method` is malformed")))
            .transpose()
    }

    /// Whether the head names the same thing as the body. (HTTP-45) Without a name in either the
    /// params are wrong, which is found when they are read. (T-106)
    fn name(&self, method: &str, params: &Params<'_>) -> Result<(), Failure> {
        let Some(member) = named_by(method) else { return Ok(()) };
        let Ok(value) = self.fields.one("mcp-name") else {
            return Err(mismatch("`Mcp-Name` is repeated"));
        };
        let said = match value.map(decode) {
            None => None,
            Some(Ok(name)) => Some(name),
            Some(Err(_)) => return Err(mismatch("`Mcp-Name` is malformed")),
        };
        match (said, params.member(member).and_then(unescape)) {
            (None, Some(_)) => Err(mismatch("`Mcp-Name` is missing")),
            (Some(said), Some(name)) if said != name => {
                Err(mismatch(format!("`Mcp-Name` is not the `{member}` of the body")))
            }
            (_, None) | (Some(_), Some(_)) => Ok(()),
        }
    }

    /// Whether the head repeats those arguments that the tool wants repeated. (HTTP-50)
    fn mirrored(&self, params: &Params<'_>) -> Result<(), Failure> {
        let tool = params.member("name").and_then(unescape);
        let Some(schema) = tool.and_then(|tool| (self.schema_of)(&tool)) else { return Ok(()) };
        let Ok(mirror) = Mirror::of(&schema) else { return Ok(()) };
        if mirror.is_empty() {
            return Ok(());
        }
        let arguments =
            params.member("arguments").map(|value| Frame::Borrowed(value).keep(value, true));
        mirror.check(arguments.as_ref(), self.fields).map_err(|found| mismatch(format!("{found}")))
    }
}

/// The head and the body do not agree, or the head is not as it has to be. (HTTP-40, HTTP-45,
/// HTTP-50)
fn mismatch(why: impl Into<Cow<'static, str>>) -> Failure {
    (400, ErrorObject::new(code::HEADER_MISMATCH, why.into()))
}

#[cfg(test)]
mod tests;
