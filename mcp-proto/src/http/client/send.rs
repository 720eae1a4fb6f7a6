//! Which exchange a message goes into, and what its head says; knows nothing of responses.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

use bytes::Bytes;

use super::Http;
use super::action::{Action, ExchangeId, Send, Verb};
use super::table::{Errand, Exchange, Kind, Purpose, Stage};
use super::tools::Tools;
use crate::connection::{Method, Outgoing, OutgoingKind, Session};
use crate::http::param_headers::standard_of;
use crate::json::{Frame, find, unescape};
use crate::method::MethodId;
use crate::revision::Revision;

/// Header fields in the making.
type Head = Vec<(Cow<'static, str>, String)>;

/// Messages without an answer that are on their way at a time; the next waits for one of them to arrive.
const TELLING_MAX: usize = 64;

/// A message that was taken from the session, on its way into an exchange.
#[derive(Debug)]
pub(super) struct Posting {
    kind: OutgoingKind,
    revision: Revision,
    /// The fields that repeat what the body says.
    names: Head,
    body: Bytes,
}

/// What to do once it is its turn.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Todo {
    Abort(ExchangeId),
    /// Send the GET of an exchange that waits.
    Get(ExchangeId),
}

impl Http {
    /// The next action, if anything is to be done.
    pub(super) fn next_action(&mut self) -> Option<Action> {
        while let Some(todo) = self.todo.pop_front() {
            match todo {
                Todo::Abort(exchange) => return Some(Action::Abort(exchange)),
                // It can have been over before its turn came.
                Todo::Get(exchange) => {
                    if let Some(send) = self.get(exchange) {
                        return Some(Action::Send(send));
                    }
                }
            }
        }
        // The server is to know that the session is open before anything else comes. (LIF-19)
        while self.gate.is_none() {
            let posting = self.held.take().or_else(|| self.next_posting());
            let Some(posting) = posting else { return self.goodbye().map(Action::Send) };
            if let Some(send) = self.post(posting) {
                return Some(Action::Send(send));
            }
            if self.held.is_some() {
                break;
            }
        }
        None
    }

    /// Takes the next message of the session.
    fn next_posting(&mut self) -> Option<Posting> {
        let is_legacy = self.is_in_era_of_sessions();
        let outgoing = self.session.poll_outgoing()?;
        let names = match &outgoing.kind {
            OutgoingKind::Request { method, .. } | OutgoingKind::Notification(method) => {
                names(&self.tools, method, &outgoing, is_legacy)
            }
            OutgoingKind::Cancel { .. } => {
                names(&self.tools, &MethodId::Cancelled.into(), &outgoing, is_legacy)
            }
            _ => Head::new(),
        };
        let Outgoing { kind, revision, body, .. } = outgoing;
        Some(Posting { kind, revision, names, body: Bytes::copy_from_slice(body) })
    }

    /// The exchange for a message; none if it is not to be sent, or not now. (HTTP-03)
    fn post(&mut self, posting: Posting) -> Option<Send> {
        let purpose = match &posting.kind {
            OutgoingKind::Request { id, .. } if !self.session.is_in_flight(*id) => {
                // It was over before its turn came, and so is its cancellation.
                self.unsent.insert(*id);
                return None;
            }
            OutgoingKind::Request { id, method, .. } => Purpose::Call(self.errand(*id, method.id())),
            // In the modern era the end of the exchange takes its place. (CAN-12, CAN-17)
            OutgoingKind::Cancel { id } if self.unsent.remove(id) || !self.is_in_era_of_sessions() => {
                return None;
            }
            _ => Purpose::Tell,
        };
        if purpose == Purpose::Tell && self.exchanges.telling() >= TELLING_MAX {
            self.held = Some(posting);
            return None;
        }
        let Posting { kind, revision, names, body } = posting;
        let is_first = matches!(purpose, Purpose::Call(Errand { kind: Kind::Initialize, .. }));
        let mut fields = Head::new();
        fields.push(("Accept".into(), "application/json, text/event-stream".into()));
        fields.push(("Content-Type".into(), "application/json".into()));
        let in_session = !is_first && self.session_fields(&mut fields, revision);
        fields.extend(names);
        let exchange = self.exchanges.insert(Exchange::new(purpose, Stage::Sent, in_session));
        if purpose == Purpose::Tell {
            let patience = self.session.limits().handshake_timeout;
            self.exchanges.set_due(exchange, Some(self.now() + patience));
        }
        if matches!(&kind, OutgoingKind::Notification(method) if method.id() == Some(MethodId::Initialized)) {
            self.gate = Some(exchange);
        }
        Some(Send { exchange, verb: Verb::Post, fields, body })
    }

    fn errand(&self, wire: u64, method: Option<MethodId>) -> Errand {
        let in_era_of_sessions = self.is_in_era_of_sessions();
        let kind = match method {
            Some(MethodId::Initialize) => Kind::Initialize,
            Some(MethodId::ListTools) if !in_era_of_sessions => Kind::ListTools,
            Some(MethodId::Listen) => Kind::Subscription,
            _ => Kind::Other,
        };
        Errand { wire, kind, in_era_of_sessions, is_resumed: false }
    }

    pub(super) fn is_in_era_of_sessions(&self) -> bool {
        !self.session.revision().is_modern()
    }

    /// The fields that carry what the two sides agreed on, for a message of `revision`. Returns whether the session's id
    /// is among them. (HTTP-31, HTTP-36, HTTP-39)
    fn session_fields(&self, fields: &mut Head, revision: Revision) -> bool {
        let is_agreed = self.session.peer().is_some();
        let in_era_of_sessions = self.is_in_era_of_sessions();
        let spoken = self.session.revision();
        if !in_era_of_sessions || is_agreed && spoken.rules().version_header {
            let version = if in_era_of_sessions { spoken } else { revision };
            fields.push(("MCP-Protocol-Version".into(), version.name().into()));
        }
        let id = self.session_id.as_ref().filter(|_| in_era_of_sessions);
        fields.extend(id.map(|id| ("Mcp-Session-Id".into(), String::from(&**id))));
        id.is_some()
    }

    /// Opens a stream, or resumes one. (HTTP-05, SSE-16, SSE-19)
    fn get(&mut self, id: ExchangeId) -> Option<Send> {
        let mut fields = Head::new();
        fields.push(("Accept".into(), "text/event-stream".into()));
        let in_session = self.session_fields(&mut fields, self.session.revision());
        let exchange = self.exchanges.get_mut(id).filter(|exchange| exchange.is_waiting())?;
        let after = exchange.stream.as_ref().and_then(|stream| stream.resume_after());
        fields.extend(after.map(|after| ("Last-Event-ID".into(), String::from(after))));
        exchange.stage = Stage::Sent;
        exchange.in_session = in_session;
        Some(Send { exchange: id, verb: Verb::Get, fields, body: Bytes::new() })
    }

    /// Tells the server that the session is over, once everything else was told. (HTTP-35)
    fn goodbye(&mut self) -> Option<Send> {
        if !self.is_over || self.session_id.is_none() || self.exchanges.telling() > 0 {
            return None;
        }
        let mut fields = Head::new();
        let in_session = self.session_fields(&mut fields, self.session.revision());
        self.session_id = None;
        let exchange = self.exchanges.insert(Exchange::new(Purpose::End, Stage::Sent, in_session));
        let patience = self.session.limits().exit_timeout;
        self.exchanges.set_due(exchange, Some(self.now() + patience));
        Some(Send { exchange, verb: Verb::Delete, fields, body: Bytes::new() })
    }
}

/// The fields that repeat what a message says, for intermediaries that read no bodies. In a session they are not
/// needed, and do no harm. (HTTP-44, HTTP-47)
fn names(tools: &Tools, method: &Method, outgoing: &Outgoing<'_>, is_legacy: bool) -> Head {
    let params = outgoing.params();
    let mut fields = Head::new();
    let (method_value, name) = standard_of(method, params);
    fields.push(("Mcp-Method".into(), method_value.into_owned()));
    fields.extend(name.map(|name| ("Mcp-Name".into(), name)));
    if method.id() == Some(MethodId::CallTool) && !is_legacy {
        let params = params.unwrap_or_default();
        let tool = find(params, "name").and_then(unescape);
        if let Some(mirror) = tool.and_then(|tool| tools.mirror(&tool)) {
            let arguments = find(params, "arguments").map(|it| Frame::Borrowed(it).keep(it, false));
            let repeated = mirror.fields(arguments.as_ref());
            fields.extend(repeated.into_iter().map(|(name, value)| (Cow::Owned(name), value)));
        }
    }
    fields
}
