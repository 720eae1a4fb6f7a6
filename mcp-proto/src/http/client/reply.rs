//! Handling of responses: status, media type, and JSON bodies.

use alloc::format;
use alloc::vec::Vec;
use core::mem;

use bytes::Bytes;

use super::HttpClient;
use super::action::{ExchangeFailure, ExchangeId};
use super::event_stream::EventStream;
use super::exchange::{CallInfo, CallKind, Exchange, ExchangeState, Purpose};
use super::response_head::{content_coding, is_redirect, is_unavailable, refusal, retry_after};
use crate::client::ExchangeEndpoint as _;
use crate::http::Headers;
use crate::http::byte_order_mark;
use crate::http::header::{is_media_type, visible};
use crate::json::find;
use crate::message_endpoint::MessageEndpoint;
use crate::printable::printable;
use crate::rpc::{self, DecodedMessage, IncomingMessage, Malformed, Message, with_foreign_text};
use crate::time::Instant;
use crate::vocabulary::{CallError, StreamId};

/// The maximum length of a session id in bytes.
const SESSION_ID_BYTES_MAX: usize = 1024;

/// The maximum length of an error body in bytes.
const ERROR_BODY_BYTES_MAX: usize = 256 * 1024;

/// The maximum length of a quoted media type, in characters.
const MEDIA_TYPE_CHARS_MAX: usize = 64;

const JSON: &str = "application/json";
pub(super) const EVENTS: &str = "text/event-stream";

impl HttpClient {
    /// Handles the head of a response. `reason` explains an error status; empty if the driver found
    /// no explanation.
    pub(super) fn on_head(
        &mut self,
        now: Instant,
        id: ExchangeId,
        status: u16,
        fields: &dyn Headers,
        reason: Option<&str>,
    ) {
        let now = self.client.now().max(now);
        let Some(exchange) = self.exchanges.get(id) else { return };
        if !matches!(exchange.state, ExchangeState::Sent) || status < 200 {
            return;
        }
        let (purpose, in_session) = (exchange.purpose, exchange.in_session);
        let is_success = status < 300;
        if self.authorization.is_dpop() && self.on_dpop_nonce(now, id, status, fields) {
            return;
        }
        if purpose == Purpose::EndSession {
            // HTTP-35: the server may reject the DELETE; the outcome does not matter.
            return self.exchanges.ignore(id, now);
        }
        if !self.sse.is_used() {
            self.on_session_id(now, purpose, is_success, fields);
        }
        let was_open = exchange_was_open(self.exchanges.get(id));
        // HTTP-34, T-70: 404 means that the session is lost. HTTP-24: to a GET that never opened a
        // stream, it means that the server has no such stream.
        if status == 404 && in_session && (purpose != Purpose::Listen || was_open) {
            // The stream of a call that is resumed was its response.
            let is_rejected =
                |call: &CallInfo| !call.is_resumed && self.client.call_of(call.wire).is_some();
            if let Some(call) = purpose.call_info().filter(is_rejected) {
                self.client.handle_unanswered(now, call.wire, CallError::SessionEnded);
            }
            return self.on_session_lost(now);
        }
        if self.on_authorization_status(now, id, status, fields) {
            return;
        }
        if is_unavailable(status) && self.repeat_probe(now, id, retry_after(fields)) {
            // The rest of the response is of no use.
            return self.exchanges.queue_abort(id);
        }
        match purpose {
            Purpose::Call(call) if call.is_resumed => {
                self.on_stream_head(now, id, status, fields, reason);
            }
            // The response arrives on the stream.
            Purpose::Call(call) if is_success && call.over_sse => self.exchanges.discard(id, now),
            Purpose::Call(call) if is_success => {
                self.on_response_head(now, id, call, status, fields);
            }
            Purpose::Call(call) if matches!(status, 401 | 403) => {
                self.fail(now, id, call.wire, refusal(&self.authorization, status, fields, reason));
            }
            Purpose::Call(call) if is_redirect(status, fields) => {
                self.fail(now, id, call.wire, refusal(&self.authorization, status, fields, None));
            }
            Purpose::Call(_) => {
                let reason = reason.map(Into::into);
                self.set_state(id, ExchangeState::ErrorBody { status, reason, body: Vec::new() });
            }
            Purpose::Listen => self.on_stream_head(now, id, status, fields, reason),
            Purpose::SseStream => self.on_sse_head(now, id, status, fields, reason),
            Purpose::OneWay => {
                if !is_success {
                    let why = refusal(&self.authorization, status, fields, reason);
                    let detail = format!("server rejected a one-way message: {why}");
                    self.client.report_violation(now, detail);
                }
                self.exchanges.discard(id, now);
                self.open_gate(id);
            }
            Purpose::EndSession => {}
        }
    }

    /// Handles the successful head of a response to a request.
    // HTTP-11, T-91: the media type decides between JSON and an event stream. T-74: a success
    // without a response fails the call.
    fn on_response_head(
        &mut self,
        now: Instant,
        id: ExchangeId,
        call: CallInfo,
        status: u16,
        fields: &dyn Headers,
    ) {
        if let Some(why) = content_coding(fields) {
            return self.fail(now, id, call.wire, why);
        }
        let why = match fields.value("content-type", 0) {
            _ if matches!(status, 202 | 204 | 205) => {
                format!("server accepted the request with status {status} but sent no response")
            }
            Some(kind) if is_media_type(kind, JSON) => {
                return self.set_state(id, ExchangeState::Json(Vec::new()));
            }
            Some(kind) if is_media_type(kind, EVENTS) => return self.begin_events(id),
            Some(kind) => {
                let kind = printable(kind, MEDIA_TYPE_CHARS_MAX);
                format!("response is neither JSON nor an event stream, but {kind:?}")
            }
            None => "response has no `Content-Type`".into(),
        };
        self.fail(now, id, call.wire, CallError::Invalid(why.into()));
    }

    pub(super) fn begin_events(&mut self, id: ExchangeId) {
        let limits = self.client.limits();
        let Some(exchange) = self.exchanges.get_mut(id) else { return };
        exchange.state = ExchangeState::Events;
        exchange.stream.get_or_insert_with(|| EventStream::new(limits).into()).on_open();
    }

    /// Handles the session id in a head.
    // HTTP-29, HTTP-30, HTTP-60: the response to `initialize` assigns the id. T-79: a different id
    // in a later response is reported.
    fn on_session_id(
        &mut self,
        now: Instant,
        purpose: Purpose,
        is_success: bool,
        fields: &dyn Headers,
    ) {
        let Some(value) = fields.value("mcp-session-id", 0).filter(|_| self.is_legacy()) else {
            return;
        };
        let named = visible(value, SESSION_ID_BYTES_MAX);
        if matches!(purpose, Purpose::Call(CallInfo { kind: CallKind::Initialize, .. })) {
            self.legacy.on_offered(named.filter(|_| is_success));
            if named.is_none() {
                let detail = "`Mcp-Session-Id` is not visible ASCII, or longer than 1024 bytes";
                self.client.report_violation(now, detail);
            }
        } else if self.legacy.on_named(named) {
            let detail = "response has a different `Mcp-Session-Id`";
            self.client.report_violation(now, detail);
        }
    }

    /// Handles bytes of a body.
    pub(super) fn on_body(&mut self, now: Instant, id: ExchangeId, bytes: &[u8]) {
        let now = self.client.now().max(now);
        let message_bytes_max = self.client.limits().message_bytes_max;
        let Some(exchange) = self.exchanges.get_mut(id) else { return };
        let call = exchange.call_info();
        let (body, bytes_max) = match &mut exchange.state {
            ExchangeState::Events => return self.on_event_bytes(now, id, bytes),
            ExchangeState::Waiting
            | ExchangeState::Parked(_)
            | ExchangeState::Released
            | ExchangeState::Sent
            | ExchangeState::Ignored => return,
            ExchangeState::Json(body) => (body, message_bytes_max),
            ExchangeState::ErrorBody { body, .. } => {
                (body, message_bytes_max.min(ERROR_BODY_BYTES_MAX))
            }
        };
        if bytes.len() <= bytes_max.saturating_sub(body.len()) {
            body.extend_from_slice(bytes);
            return;
        }
        let kept = self.exchanges.take_kept(id);
        let taken =
            |exchange: &mut Exchange| mem::replace(&mut exchange.state, ExchangeState::Sent);
        let state = self.exchanges.get_mut(id).map(taken);
        self.exchanges.abort(id);
        match (call, state) {
            (Some(call), Some(ExchangeState::ErrorBody { status, reason, .. })) => {
                // The part may end within the access token.
                let why = self.http_error(status, reason, b"");
                self.on_unread_error(now, call, (status, why), kept);
            }
            (Some(call), _) => {
                self.client.handle_unanswered(now, call.wire, too_long(bytes_max));
            }
            (None, _) => {}
        }
    }

    /// Handles the end of a complete response.
    pub(super) fn on_end(&mut self, now: Instant, id: ExchangeId) {
        let now = self.client.now().max(now);
        let Some(exchange) = self.exchanges.get(id).filter(|exchange| !exchange.is_unsent()) else {
            return;
        };
        if matches!(exchange.state, ExchangeState::Events) {
            return self.on_stream_end(now, id, false, None);
        }
        if matches!(exchange.state, ExchangeState::Sent) {
            return self.on_failure(now, id, ExchangeFailure::Cut);
        }
        let Some(exchange) = self.exchanges.remove(id) else { return };
        let Some(call) = exchange.call_info() else { return };
        match exchange.state {
            ExchangeState::Json(body) => {
                let message = byte_order_mark::skip(IncomingMessage::Owned(Bytes::from(body)));
                self.on_response(now, call, &message, true);
                if !self.refresh.is_waiting(call.wire) {
                    let why = "body is not a response to the request";
                    self.client.handle_unanswered(now, call.wire, CallError::Invalid(why.into()));
                }
            }
            ExchangeState::ErrorBody { status, reason, body } => {
                let why = self.http_error(status, reason, &body);
                self.on_error_body(now, call, (status, why), Bytes::from(body), exchange.kept);
            }
            ExchangeState::Waiting
            | ExchangeState::Parked(_)
            | ExchangeState::Released
            | ExchangeState::Sent
            | ExchangeState::Events
            | ExchangeState::Ignored => {}
        }
    }

    /// Handles an exchange that failed before its response was complete.
    pub(super) fn on_failure(&mut self, now: Instant, id: ExchangeId, reason: ExchangeFailure) {
        let now = self.client.now().max(now);
        let Some(exchange) = self.exchanges.get(id).filter(|exchange| !exchange.is_unsent()) else {
            return;
        };
        let is_get = exchange.is_get() && !exchange.is_ignored();
        if matches!(exchange.state, ExchangeState::Events) || is_get {
            return self.on_stream_end(now, id, true, None);
        }
        let is_cut = reason == ExchangeFailure::Cut && !exchange.is_ignored();
        if is_cut && self.repeat_probe(now, id, None) {
            return;
        }
        let Some(exchange) = self.exchanges.remove(id) else { return };
        self.open_gate(id);
        let why = match (exchange.state, reason) {
            (ExchangeState::ErrorBody { status, reason, .. }, _) => {
                if let Purpose::Call(call) = exchange.purpose {
                    // The part may end within the access token.
                    let why = self.http_error(status, reason, b"");
                    self.on_unread_error(now, call, (status, why), exchange.kept);
                }
                return;
            }
            (ExchangeState::Sent, ExchangeFailure::Unreached) => CallError::Unsent,
            _ => CallError::Lost,
        };
        if let Purpose::Call(call) = exchange.purpose {
            self.client.handle_unanswered(now, call.wire, why);
        }
    }

    /// Handles a message in the response to a request. `is_whole_body`: the message must be the
    /// response.
    // HTTP-62: a modern exchange carries no response to another request. T-89: a legacy one may.
    pub(super) fn on_response(
        &mut self,
        now: Instant,
        call: CallInfo,
        message: &IncomingMessage<'_>,
        is_whole_body: bool,
    ) {
        let decoded = DecodedMessage::parse(message, self.client.limits());
        self.on_decoded(now, call, decoded, is_whole_body);
    }

    pub(super) fn on_decoded(
        &mut self,
        now: Instant,
        call: CallInfo,
        decoded: DecodedMessage<'_>,
        is_whole_body: bool,
    ) {
        let wire = call.wire;
        let mut failed = None;
        let mut filtered = None;
        let mut page = None;
        match &decoded.message {
            Ok(Message::Response { id, outcome: Err(error) })
                if id.as_u64() == Some(wire) && self.on_rejected(now, call, error) =>
            {
                return;
            }
            Ok(Message::OrphanError(error)) if self.on_rejected(now, call, error) => return,
            Ok(Message::Response { id, .. } | Message::BrokenResponse { id, .. })
                if id.as_u64() != Some(wire) && (is_whole_body || !call.is_legacy) =>
            {
                failed = Some(CallError::Invalid("response id does not match the request".into()));
            }
            // A body that cannot be read can only be the response to this request.
            Err(Malformed::Invalid { why, .. }) if is_whole_body => {
                let why = format!("body is not a response to the request: {why}");
                let why = with_foreign_text(why.into(), decoded.frame.bytes());
                failed = Some(CallError::Invalid(why.into()));
            }
            // An error without an id can only answer this request.
            Ok(Message::OrphanError(error)) => failed = Some(CallError::Refused(error.clone())),
            Ok(Message::Response { outcome: Ok(result), .. })
                if call.kind == CallKind::ListTools =>
            {
                filtered = self.tools.learn(result.text);
                page = self.refresh.is_list(wire).then(|| {
                    let ends = self.client.revision().rules().empty_cursor_ends;
                    let is_cursor =
                        |cursor: &&[u8]| cursor.starts_with(b"\"") && (cursor.len() > 2 || !ends);
                    find(result.text, "nextCursor").filter(is_cursor).map(Vec::from)
                });
            }
            _ => {}
        }
        if let Some(why) = failed {
            return self.client.handle_unanswered(now, wire, why);
        }
        if let Some((result, dropped)) = filtered {
            let names = dropped.names.join(", ");
            let detail =
                format!("dropped {} tools with invalid `x-mcp-header`: {names}", dropped.count);
            self.client.report_violation(now, detail);
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
        if let Some(cursor) = page {
            self.on_page(now, cursor.as_deref());
        }
        if call.kind == CallKind::Initialize {
            if self.client.peer().is_some() {
                self.legacy.on_initialized();
            }
        } else if !self.client.is_in_flight(wire) {
            self.legacy.on_answered();
        }
    }

    fn set_state(&mut self, id: ExchangeId, state: ExchangeState) {
        if let Some(exchange) = self.exchanges.get_mut(id) {
            exchange.state = state;
        }
    }

    /// Fails a call and discards the rest of its response.
    pub(super) fn fail(&mut self, now: Instant, id: ExchangeId, wire: u64, why: CallError) {
        self.exchanges.discard(id, now);
        self.client.handle_unanswered(now, wire, why);
    }
}

pub(super) fn too_long(bytes_max: usize) -> CallError {
    CallError::oversized(bytes_max)
}

pub(super) fn exchange_was_open(exchange: Option<&Exchange>) -> bool {
    exchange.and_then(|exchange| exchange.stream.as_ref()).is_some_and(|stream| stream.was_open())
}
