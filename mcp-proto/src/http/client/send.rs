//! Sending: which exchange a message goes into, and the head of its request.

use alloc::string::String;

use bytes::Bytes;

use super::action::{Action, ExchangeId, Send, Verb};
use super::exchanges::{Errand, Exchange, Kind, Purpose, Stage, Todo};
use super::posting::{Head, Posting, Turn};
use super::{End, Http};
use crate::connection::{OutgoingKind, Session};
use crate::method::MethodId;
use crate::revision::Revision;

/// Messages without an answer that are on their way at a time; the next waits for one of them to
/// arrive.
const TELLING_MAX: usize = 64;

impl Http {
    /// Returns the next action, if anything is to be done.
    pub(super) fn next_action(&mut self) -> Option<Action> {
        while let Some(todo) = self.exchanges.next_todo() {
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
        loop {
            let posting = match core::mem::take(&mut self.turn) {
                Turn::Behind(exchange) => {
                    self.turn = Turn::Behind(exchange);
                    return None;
                }
                Turn::Full(posting) => posting,
                Turn::Free => match self.next_posting() {
                    Some(posting) => posting,
                    None => return self.goodbye().map(Action::Send),
                },
            };
            if let Some(send) = self.post(posting) {
                return Some(Action::Send(send));
            }
            if matches!(self.turn, Turn::Full(_)) {
                return None;
            }
        }
    }

    /// Takes the next message of the connection.
    fn next_posting(&mut self) -> Option<Posting> {
        let is_legacy = self.is_in_era_of_sessions();
        self.client.poll_outgoing().map(|outgoing| Posting::of(outgoing, &self.tools, is_legacy))
    }

    /// The exchange for a message; none if it is not to be sent, or not now. (HTTP-03)
    fn post(&mut self, posting: Posting) -> Option<Send> {
        let purpose = match &posting.kind {
            OutgoingKind::Request { id, .. } if !self.client.is_in_flight(*id) => {
                // It was over before its turn came, and so is its cancellation.
                self.unsent.insert(*id);
                return None;
            }
            OutgoingKind::Request { id, method, .. } => {
                Purpose::Call(self.errand(*id, method.id()))
            }
            // In the modern era the end of the exchange takes its place. (CAN-12, CAN-17)
            OutgoingKind::Cancel { id }
                if self.unsent.remove(id) || !self.is_in_era_of_sessions() =>
            {
                return None;
            }
            _ => Purpose::Tell,
        };
        if purpose == Purpose::Tell && self.exchanges.telling() >= TELLING_MAX {
            self.turn = Turn::Full(posting);
            return None;
        }
        let is_initialized = posting.is_initialized();
        let Posting { revision, names, body, .. } = posting;
        let is_first = matches!(purpose, Purpose::Call(Errand { kind: Kind::Initialize, .. }));
        let mut fields = Head::new();
        fields.push(("Accept".into(), "application/json, text/event-stream".into()));
        fields.push(("Content-Type".into(), "application/json".into()));
        let in_session = !is_first && self.session_fields(&mut fields, revision);
        fields.extend(names);
        let exchange = self.exchanges.insert(Exchange::new(purpose, Stage::Sent, in_session));
        if purpose == Purpose::Tell {
            let patience = self.client.limits().handshake_timeout;
            self.exchanges.set_due(exchange, Some(self.now() + patience));
        }
        if is_initialized {
            self.turn = Turn::Behind(exchange);
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
        !self.client.revision().is_modern()
    }

    /// The fields that carry what the two sides agreed on, for a message of `revision`. Returns
    /// whether the session's id is among them. (HTTP-31, HTTP-36, HTTP-39)
    fn session_fields(&self, fields: &mut Head, revision: Revision) -> bool {
        let is_agreed = self.client.peer().is_some();
        let in_era_of_sessions = self.is_in_era_of_sessions();
        let spoken = self.client.revision();
        if !in_era_of_sessions || is_agreed && spoken.rules().version_header {
            let version = if in_era_of_sessions { spoken } else { revision };
            fields.push(("MCP-Protocol-Version".into(), version.name().into()));
        }
        let id = self.legacy.id().filter(|_| in_era_of_sessions);
        fields.extend(id.map(|id| ("Mcp-Session-Id".into(), String::from(id))));
        id.is_some()
    }

    /// Opens a stream, or resumes one. (HTTP-05, SSE-16, SSE-19)
    fn get(&mut self, id: ExchangeId) -> Option<Send> {
        let mut fields = Head::new();
        fields.push(("Accept".into(), "text/event-stream".into()));
        let in_session = self.session_fields(&mut fields, self.client.revision());
        let exchange = self.exchanges.get_mut(id).filter(|exchange| exchange.is_waiting())?;
        let after = exchange.stream.as_ref().and_then(|stream| stream.resume_after());
        fields.extend(after.map(|after| ("Last-Event-ID".into(), String::from(after))));
        exchange.stage = Stage::Sent;
        exchange.in_session = in_session;
        Some(Send { exchange: id, verb: Verb::Get, fields, body: Bytes::new() })
    }

    /// Tells the server that the session is over, once everything else was told. (HTTP-35)
    fn goodbye(&mut self) -> Option<Send> {
        if self.end == End::Open || self.legacy.id().is_none() || self.exchanges.telling() > 0 {
            return None;
        }
        let mut fields = Head::new();
        let in_session = self.session_fields(&mut fields, self.client.revision());
        self.legacy.on_goodbye();
        let exchange = self.exchanges.insert(Exchange::new(Purpose::End, Stage::Sent, in_session));
        let patience = self.client.limits().exit_timeout;
        self.exchanges.set_due(exchange, Some(self.now() + patience));
        Some(Send { exchange, verb: Verb::Delete, fields, body: Bytes::new() })
    }
}
