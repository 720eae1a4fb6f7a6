//! What a response means for what was asked: its status, its type, and a body that is one text;
//! knows nothing of event streams.

use alloc::format;
use alloc::vec::Vec;

use bytes::Bytes;

use super::Http;
use super::action::{ExchangeId, Failure};
use super::event::{Event, challenges};
use super::exchanges::{Errand, Exchange, Kind, Purpose, Stage};
use super::stream::Stream;
use crate::connection::decoded::Content;
use crate::connection::{CallError, Decoded, Incoming, Session, StreamId};
use crate::http::Fields;
use crate::http::header::{is_media_type, visible};
use crate::rpc::{self, Message};
use crate::time::Instant;

/// The longest id of a session that is taken.
const SESSION_ID_BYTES_MAX: usize = 1024;

/// The longest body that is looked at to learn why a status is no success.
const EXPLANATION_BYTES_MAX: usize = 256 * 1024;

/// Challenges that wait to be polled; with more, the oldest are forgotten.
const CHALLENGED_MAX: usize = 64;

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

impl Http {
    pub(super) fn head(&mut self, now: Instant, id: ExchangeId, status: u16, fields: &dyn Fields) {
        let now = self.client.now().max(now);
        let Some(exchange) = self.exchanges.get(id) else { return };
        if !matches!(exchange.stage, Stage::Sent) || status < 200 {
            return;
        }
        let (purpose, in_session) = (exchange.purpose, exchange.in_session);
        let is_success = status < 300;
        if purpose == Purpose::End {
            // The server may have no use for it. (HTTP-35)
            return self.exchanges.ignore(id, now);
        }
        self.session_named(now, purpose, is_success, fields);
        let was_open = exchange_was_open(self.exchanges.get(id));
        // Where there never was a stream, it says that there is none. (HTTP-24, HTTP-34, T-70)
        if status == 404 && in_session && (purpose != Purpose::Listen || was_open) {
            return self.session_lost(now);
        }
        if matches!(status, 401 | 403) {
            let call = purpose.errand().and_then(|errand| self.client.call_of(errand.wire));
            if self.events.len() == CHALLENGED_MAX {
                self.events.pop_front();
            }
            self.events.push_back(Event::Challenged {
                call,
                status,
                challenges: challenges(fields),
            });
        }
        match purpose {
            Purpose::Call(errand) if errand.is_resumed => self.stream_head(now, id, status, fields),
            Purpose::Call(errand) if is_success => {
                self.answer_head(now, id, errand, status, fields)
            }
            Purpose::Call(errand) if matches!(status, 401 | 403) => {
                self.fail(now, id, errand.wire, CallError::Http { status });
            }
            Purpose::Call(_) => self.set_stage(id, Stage::Refused { status, body: Vec::new() }),
            Purpose::Listen => self.stream_head(now, id, status, fields),
            Purpose::Tell => {
                if !is_success {
                    let detail =
                        format!("a message that has no answer was refused with status {status}");
                    self.client.report(now, detail);
                }
                self.exchanges.let_go(id, now);
                self.open_gate(id);
            }
            Purpose::End => {}
        }
    }

    /// The head of the answer to a request: what the body will be. (HTTP-11, T-74, T-91)
    fn answer_head(
        &mut self,
        now: Instant,
        id: ExchangeId,
        errand: Errand,
        status: u16,
        fields: &dyn Fields,
    ) {
        let why = match fields.value("content-type", 0) {
            _ if matches!(status, 202 | 204 | 205) => {
                format!("the server took the request with status {status}, and answers nothing")
            }
            Some(kind) if is_media_type(kind, JSON) => {
                return self.set_stage(id, Stage::Json(Vec::new()));
            }
            Some(kind) if is_media_type(kind, EVENTS) => return self.events_begin(id),
            Some(_) => "the answer is neither JSON nor an event stream".into(),
            None => "the answer has no media type".into(),
        };
        self.fail(now, id, errand.wire, CallError::Invalid(why.into()));
    }

    /// The head of the answer to a GET. (HTTP-24)
    fn stream_head(&mut self, now: Instant, id: ExchangeId, status: u16, fields: &dyn Fields) {
        let is_events =
            fields.value("content-type", 0).is_some_and(|kind| is_media_type(kind, EVENTS));
        let errand = self.exchanges.get(id).and_then(Exchange::errand);
        match status {
            200..300 if is_events => self.events_begin(id),
            // It may pass.
            408 | 425 | 429 | 500 | 502..600 => self.connect_again(now, id),
            401 | 403 if errand.is_none() && exchange_was_open(self.exchanges.get(id)) => {
                self.connect_again(now, id);
            }
            _ => match errand {
                Some(errand) if status < 300 => {
                    let why = "what was to go on is no event stream";
                    self.fail(now, id, errand.wire, CallError::Invalid(why.into()));
                }
                Some(errand) => self.fail(now, id, errand.wire, CallError::Http { status }),
                None => self.exchanges.let_go(id, now),
            },
        }
    }

    fn events_begin(&mut self, id: ExchangeId) {
        let limits = self.client.limits();
        let Some(exchange) = self.exchanges.get_mut(id) else { return };
        exchange.stage = Stage::Events;
        exchange.stream.get_or_insert_with(|| Stream::new(limits).into()).opened();
    }

    /// What a head says of the session. (HTTP-29, HTTP-30, HTTP-60, T-79)
    fn session_named(
        &mut self,
        now: Instant,
        purpose: Purpose,
        is_success: bool,
        fields: &dyn Fields,
    ) {
        let Some(value) =
            fields.value("mcp-session-id", 0).filter(|_| self.is_in_era_of_sessions())
        else {
            return;
        };
        let named = visible(value, SESSION_ID_BYTES_MAX);
        if matches!(purpose, Purpose::Call(Errand { kind: Kind::Initialize, .. })) {
            self.legacy.on_offered(named.filter(|_| is_success));
            if named.is_none() {
                let detail =
                    "the id of the session is not of visible characters alone, or too long";
                self.client.report(now, detail);
            }
        } else if self.legacy.on_named(named) {
            let detail = "a response names another session than the one that was opened";
            self.client.report(now, detail);
        }
    }

    pub(super) fn body(&mut self, now: Instant, id: ExchangeId, bytes: &[u8]) {
        let now = self.client.now().max(now);
        let message_bytes_max = self.client.limits().message_bytes_max;
        let Some(exchange) = self.exchanges.get_mut(id) else { return };
        let errand = exchange.errand();
        let (body, bytes_max, status) = match &mut exchange.stage {
            Stage::Events => return self.events(now, id, bytes),
            Stage::Waiting | Stage::Sent | Stage::Ignored => return,
            Stage::Json(body) => (body, message_bytes_max, None),
            Stage::Refused { status, body } => {
                (body, message_bytes_max.min(EXPLANATION_BYTES_MAX), Some(*status))
            }
        };
        if bytes.len() <= bytes_max.saturating_sub(body.len()) {
            body.extend_from_slice(bytes);
            return;
        }
        let why = match status {
            Some(status) => CallError::Http { status },
            None => too_long(bytes_max),
        };
        self.exchanges.abort(id);
        if let Some(errand) = errand {
            self.client.handle_unanswered(now, errand.wire, why);
        }
    }

    pub(super) fn end(&mut self, now: Instant, id: ExchangeId) {
        let now = self.client.now().max(now);
        let Some(exchange) = self.exchanges.get(id).filter(|exchange| !exchange.is_waiting())
        else {
            return;
        };
        if matches!(exchange.stage, Stage::Events) {
            return self.stream_ended(now, id, false);
        }
        if matches!(exchange.stage, Stage::Sent) {
            return self.failure(now, id, Failure::Cut);
        }
        let Some(exchange) = self.exchanges.remove(id) else { return };
        let Some(errand) = exchange.errand() else { return };
        match exchange.stage {
            Stage::Json(body) => {
                self.answered(now, errand, &Incoming::Owned(Bytes::from(body)), true);
                let why = "the response holds no answer";
                self.client.handle_unanswered(now, errand.wire, CallError::Invalid(why.into()));
            }
            Stage::Refused { status, body } => self.refused(now, errand, status, Bytes::from(body)),
            Stage::Waiting | Stage::Sent | Stage::Events | Stage::Ignored => {}
        }
    }

    pub(super) fn failure(&mut self, now: Instant, id: ExchangeId, reason: Failure) {
        let now = self.client.now().max(now);
        let Some(exchange) = self.exchanges.get(id).filter(|exchange| !exchange.is_waiting())
        else {
            return;
        };
        let is_get = exchange.purpose == Purpose::Listen
            || exchange.errand().is_some_and(|it| it.is_resumed);
        if matches!(exchange.stage, Stage::Events) || is_get && !exchange.is_ignored() {
            return self.stream_ended(now, id, true);
        }
        let Some(exchange) = self.exchanges.remove(id) else { return };
        self.open_gate(id);
        let why = match (exchange.stage, reason) {
            (Stage::Refused { status, .. }, _) => CallError::Http { status },
            (Stage::Sent, Failure::Unreached) => CallError::Unsent,
            _ => CallError::Lost,
        };
        if let Purpose::Call(errand) = exchange.purpose {
            self.client.handle_unanswered(now, errand.wire, why);
        }
    }

    /// A status that is no success: the body says more, if it is an error as JSON-RPC has them.
    /// (HTTP-61, LIF-30, T-73)
    fn refused(&mut self, now: Instant, errand: Errand, status: u16, body: Bytes) {
        let body = Incoming::Owned(body);
        let decoded = Decoded::read(&body, self.client.limits());
        match decoded.content() {
            Content::Message(
                Message::Response { outcome: Err(_), .. } | Message::OrphanError(_),
            ) => {
                self.decoded(now, errand, decoded, true);
            }
            _ => self.client.handle_unanswered(now, errand.wire, CallError::Http { status }),
        }
    }

    /// A message in the response to a request. With `alone`, it can only be the answer. (HTTP-62,
    /// T-89)
    pub(super) fn answered(
        &mut self,
        now: Instant,
        errand: Errand,
        message: &Incoming<'_>,
        alone: bool,
    ) {
        let decoded = Decoded::read(message, self.client.limits());
        self.decoded(now, errand, decoded, alone);
    }

    fn decoded(&mut self, now: Instant, errand: Errand, decoded: Decoded<'_>, alone: bool) {
        let wire = errand.wire;
        let mut failed = None;
        let mut without = None;
        match decoded.content() {
            Content::Message(Message::Response { id, .. } | Message::BrokenResponse { id, .. })
                if id.as_u64() != Some(wire) && (alone || !errand.in_era_of_sessions) =>
            {
                failed = Some(CallError::Invalid("the answer is to another request".into()));
            }
            // It can only be about what was asked.
            Content::Message(Message::OrphanError(error)) => {
                failed = Some(CallError::Refused(error.clone()))
            }
            Content::Message(Message::Response { outcome: Ok(result), .. })
                if errand.kind == Kind::ListTools =>
            {
                without = self.tools.learn(result.text);
            }
            _ => {}
        }
        if let Some(why) = failed {
            return self.client.handle_unanswered(now, wire, why);
        }
        if let Some((result, dropped)) = without {
            let names = dropped.names.join(", ");
            let detail = format!("`x-mcp-header` is invalid in {} tools: {names}", dropped.count);
            self.client.report(now, detail);
            let mut answer = Vec::with_capacity(result.len() + 64);
            let id = rpc::RequestId::from(wire);
            let _infallible = rpc::response(&mut answer, &id, |out| {
                out.extend_from_slice(&result);
                Ok(())
            });
            self.client.handle_message(now, StreamId::ONLY, Bytes::from(answer));
        } else {
            self.client.handle_decoded(now, StreamId::ONLY, decoded);
        }
        if errand.kind == Kind::Initialize {
            if self.client.peer().is_some() {
                self.legacy.on_initialized();
            }
        } else if !self.client.is_in_flight(wire) {
            self.legacy.on_answered();
        }
    }

    fn set_stage(&mut self, id: ExchangeId, stage: Stage) {
        if let Some(exchange) = self.exchanges.get_mut(id) {
            exchange.stage = stage;
        }
    }

    /// The call has failed, and what its exchange still brings means nothing.
    pub(super) fn fail(&mut self, now: Instant, id: ExchangeId, wire: u64, why: CallError) {
        self.exchanges.let_go(id, now);
        self.client.handle_unanswered(now, wire, why);
    }
}

pub(super) fn too_long(bytes_max: usize) -> CallError {
    CallError::Invalid(format!("the answer is longer than {bytes_max} bytes").into())
}

fn exchange_was_open(exchange: Option<&Exchange>) -> bool {
    exchange.and_then(|exchange| exchange.stream.as_ref()).is_some_and(|stream| stream.was_open())
}
