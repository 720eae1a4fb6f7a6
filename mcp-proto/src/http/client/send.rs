//! Which exchange a message goes into, and what its head says; knows nothing of responses.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

use bytes::Bytes;

use super::Http;
use super::action::{Action, ExchangeId, Send, Verb};
use super::table::{Errand, Exchange, Kind, Purpose, Stage};
use crate::http;
use crate::json::{Frame, find, unescape};
use crate::revision::Era;
use crate::rpc::{self, Message, Params};
use crate::schema::key;
use crate::session::Session;

/// Header fields in the making.
type Head = Vec<(Cow<'static, str>, String)>;

/// Messages without an answer that are on their way at a time; the next waits for one of them to arrive.
const TELLING_MAX: usize = 64;

/// How deep our own messages can be.
const DEPTH_MAX: u8 = 128;

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
            let message = self.held.take().or_else(|| self.session.outbox().poll_message());
            let Some(message) = message else { return self.goodbye().map(Action::Send) };
            if let Some(send) = self.post(message) {
                return Some(Action::Send(send));
            }
            if self.held.is_some() {
                break;
            }
        }
        None
    }

    /// The exchange for a message; none if it is not to be sent, or not now. (HTTP-03)
    fn post(&mut self, message: Bytes) -> Option<Send> {
        let text = core::str::from_utf8(&message).unwrap_or_default();
        let (purpose, names, opens) = match rpc::decode(text, DEPTH_MAX, usize::MAX) {
            Ok(Message::Request { id, method, params }) => {
                let wire = id.as_u64().unwrap_or_default();
                if !self.session.core_ref().is_on_its_way(wire) {
                    // It was over before its turn came, and so is what would take it back.
                    self.unsent.insert(wire);
                    return None;
                }
                let errand = self.errand(wire, &method);
                (Purpose::Call(errand), self.names(&method, &params), false)
            }
            Ok(Message::Notification { method, params }) => {
                if method == "notifications/cancelled" && !self.tells_cancelled(&params) {
                    return None;
                }
                (Purpose::Tell, self.names(&method, &params), method == "notifications/initialized")
            }
            // An answer, or answers.
            _ => (Purpose::Tell, Head::new(), false),
        };
        if purpose == Purpose::Tell && self.exchanges.telling() >= TELLING_MAX {
            self.held = Some(message);
            return None;
        }
        let is_first = matches!(purpose, Purpose::Call(Errand { kind: Kind::Initialize, .. }));
        let mut fields = Head::new();
        fields.push(("Accept".into(), "application/json, text/event-stream".into()));
        fields.push(("Content-Type".into(), "application/json".into()));
        let in_session = !is_first && self.session_fields(&mut fields, text);
        fields.extend(names);
        let exchange = self.exchanges.insert(Exchange::new(purpose, Stage::Sent, in_session));
        if purpose == Purpose::Tell {
            let patience = self.session.limits().handshake_timeout;
            self.exchanges.set_due(exchange, Some(self.now() + patience));
        }
        if opens {
            self.gate = Some(exchange);
        }
        Some(Send { exchange, verb: Verb::Post, fields, body: message })
    }

    fn errand(&self, wire: u64, method: &str) -> Errand {
        let in_era_of_sessions = self.is_in_era_of_sessions();
        let kind = match method {
            "initialize" => Kind::Initialize,
            "tools/list" if !in_era_of_sessions => Kind::ListTools,
            "subscriptions/listen" => Kind::Subscription,
            _ => Kind::Other,
        };
        Errand { wire, kind, in_era_of_sessions, is_resumed: false }
    }

    pub(super) fn is_in_era_of_sessions(&self) -> bool {
        self.session.core_ref().speaks().rules().era == Era::Legacy
    }

    /// Whether a cancellation is a message. Without sessions the exchange is ended in its place. (CAN-12, CAN-17)
    fn tells_cancelled(&mut self, params: &Params<'_>) -> bool {
        let wire = params.member("requestId").and_then(|id| core::str::from_utf8(id).ok()?.parse().ok());
        let was_unsent = wire.is_some_and(|wire: u64| self.unsent.remove(&wire));
        !was_unsent && self.is_in_era_of_sessions()
    }

    /// The fields that repeat what the body says, for whoever stands in between and reads no bodies. Where there are
    /// sessions nobody asks for them, and they do no harm. (HTTP-44, HTTP-47)
    fn names(&self, method: &str, params: &Params<'_>) -> Head {
        let mut fields = Head::new();
        let object = params.object.map(|object| Frame::Borrowed(object.text).keep(object.text, false));
        let (method_value, name) = http::standard(method, object.as_ref());
        fields.push(("Mcp-Method".into(), method_value.into_owned()));
        fields.extend(name.map(|name| ("Mcp-Name".into(), name)));
        if method == "tools/call" && !self.is_in_era_of_sessions() {
            let tool = params.member("name").and_then(unescape);
            if let Some(mirror) = tool.and_then(|tool| self.tools.mirror(&tool)) {
                let arguments = object.as_ref().and_then(|object| object.member("arguments"));
                let repeated = mirror.fields(arguments.as_ref());
                fields.extend(repeated.into_iter().map(|(name, value)| (Cow::Owned(name), value)));
            }
        }
        fields
    }

    /// The fields that say what the two agreed on; whether the session's id is among them. (HTTP-31, HTTP-36, HTTP-39)
    fn session_fields(&self, fields: &mut Head, body: &str) -> bool {
        let core = self.session.core_ref();
        let is_agreed = core.peer().is_some();
        let in_era_of_sessions = self.is_in_era_of_sessions();
        let revision = core.speaks();
        if !in_era_of_sessions || is_agreed && revision.rules().version_header {
            let said = find(body.as_bytes(), "params")
                .filter(|_| !in_era_of_sessions)
                .and_then(|params| find(find(params, "_meta")?, key::PROTOCOL_VERSION))
                .and_then(unescape);
            let version = said.map_or_else(|| revision.name().into(), Cow::into_owned);
            fields.push(("MCP-Protocol-Version".into(), version));
        }
        let id = self.session_id.as_ref().filter(|_| in_era_of_sessions);
        fields.extend(id.map(|id| ("Mcp-Session-Id".into(), String::from(&**id))));
        id.is_some()
    }

    /// Opens a stream, or resumes one. (HTTP-05, SSE-16, SSE-19)
    fn get(&mut self, id: ExchangeId) -> Option<Send> {
        let mut fields = Head::new();
        fields.push(("Accept".into(), "text/event-stream".into()));
        let in_session = self.session_fields(&mut fields, "");
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
        let in_session = self.session_fields(&mut fields, "");
        self.session_id = None;
        let exchange = self.exchanges.insert(Exchange::new(Purpose::End, Stage::Sent, in_session));
        let patience = self.session.limits().exit_timeout;
        self.exchanges.set_due(exchange, Some(self.now() + patience));
        Some(Send { exchange, verb: Verb::Delete, fields, body: Bytes::new() })
    }
}
