//! The fallback to HTTP+SSE, the transport of revision 2024-11-05: one stream for all messages of
//! the server, and a message endpoint for those of the client.
// LIF-36: POST first; on 400, 404 or 405, GET and wait for the event `endpoint`.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use core::mem;
use core::time::Duration;

use bytes::Bytes;

use super::HttpClient;
use super::action::ExchangeId;
use super::event_stream::StreamEnd;
use super::exchange::{CallInfo, CallKind, Exchange, ExchangeState, KeptRequest, Purpose};
use super::outbound_post::{OutboundPost, SendGate};
use super::reply::EVENTS;
use super::response_head::{content_coding, is_transient, refusal, retry_after};
use super::sse_transport::{SseOpening, SseState};
use crate::client::ExchangeEndpoint as _;
use crate::error::code;
use crate::http::Headers;
use crate::http::header::is_media_type;
use crate::http::sse::{IncomingEvent, Item};
use crate::message_endpoint::MessageEndpoint;
use crate::rpc::{DecodedMessage, IncomingMessage, Malformed, Message};
use crate::secret::Secret;
use crate::time::Instant;
use crate::vocabulary::{CallError, Fault, OutgoingKind, StreamId, ViolationKind};

/// The type of the event that names the message endpoint.
// HTTP-57: the first event of the stream.
const ENDPOINT: &str = "endpoint";

impl HttpClient {
    /// Returns whether a refused `initialize` makes the client try HTTP+SSE.
    pub(super) fn may_fall_back(&self) -> bool {
        self.config.sse_fallback.is_some() && !self.sse.is_used()
    }

    /// Tries HTTP+SSE if an error status answers `initialize`. Returns false if it does not allow
    /// that. `kept` is the request.
    pub(super) fn fall_back(
        &mut self,
        call: CallInfo,
        (status, why): (u16, &CallError),
        body: Option<&Result<Message<'_>, Malformed>>,
        kept: Option<Box<KeptRequest>>,
    ) -> bool {
        let Some(kept) = kept.filter(|_| call.kind == CallKind::Initialize) else { return false };
        let error = match body {
            Some(Ok(Message::Response { id, outcome: Err(error) }))
                if id.as_u64() == Some(call.wire) =>
            {
                Some(error)
            }
            Some(Ok(Message::OrphanError(error))) => Some(error),
            _ => None,
        };
        let is_modern = error.is_some_and(|error| is_modern_error(error.code));
        if !self.may_fall_back() || !matches!(status, 400 | 404 | 405) || is_modern {
            return false;
        }
        let refused = match error {
            Some(error) => CallError::Refused(error.clone()),
            None => why.clone(),
        };
        let initialize = OutboundPost::initialize(call.wire, self.client.revision(), kept.request);
        let opening = SseOpening { initialize, wire: call.wire, refused: Some(refused) };
        self.sse.state = SseState::Opening(opening.into());
        let id = self.insert_sse_stream();
        self.exchanges.queue_start(id);
        true
    }

    fn insert_sse_stream(&mut self) -> ExchangeId {
        self.exchanges.insert(Exchange::new(Purpose::SseStream, ExchangeState::Waiting, false))
    }

    /// Opens another stream after the session was lost. The first message of the connection is
    /// the `initialize` request of the next session.
    pub(super) fn reopen_sse(&mut self, end: StreamEnd) {
        self.sse.state = SseState::Unused;
        if self.client.is_closed() {
            return;
        }
        let is_legacy = self.is_legacy();
        let message = self
            .client
            .poll_outgoing()
            .map(|outgoing| OutboundPost::of(outgoing, &self.tools, &self.extensions, is_legacy));
        let Some(initialize) = message else { return };
        let OutgoingKind::Request { id: wire, .. } = initialize.kind else { return };
        self.sse.state = SseState::Opening(SseOpening { initialize, wire, refused: None }.into());
        self.schedule_sse_stream(end);
    }

    fn schedule_sse_stream(&mut self, end: StreamEnd) {
        let delay = self.backoff.delay(self.sse.on_end(end));
        let id = self.insert_sse_stream();
        self.exchanges.set_due(id, Some(self.now() + delay));
    }

    /// Handles the head of the response that is to carry the stream.
    pub(super) fn on_sse_head(
        &mut self,
        now: Instant,
        id: ExchangeId,
        status: u16,
        fields: &dyn Headers,
        reason: Option<&str>,
    ) {
        let kind = fields.value("content-type", 0);
        let is_events = kind.is_some_and(|kind| is_media_type(kind, EVENTS));
        let coding = content_coding(fields);
        if (200..300).contains(&status) && is_events && coding.is_none() {
            return self.begin_events(id);
        }
        let no_events = || CallError::Invalid("stream of HTTP+SSE is not an event stream".into());
        let why = match status {
            200..300 => coding.unwrap_or_else(no_events),
            _ => refusal(&self.authorization, status, fields, reason),
        };
        self.exchanges.discard(id, now);
        if is_transient(status) && self.is_reconnecting() {
            let retry_after = retry_after(fields);
            return self.schedule_sse_stream(StreamEnd { retry_after, ..StreamEnd::default() });
        }
        match status {
            401 | 403 => self.fail_sse(now, why),
            _ => self.on_sse_refused(now, why),
        }
    }

    fn is_reconnecting(&self) -> bool {
        matches!(&self.sse.state, SseState::Opening(opening) if opening.refused.is_none())
    }

    /// Gives up opening a stream, because the server does not offer HTTP+SSE. The first time, the
    /// waiting request fails as it did over Streamable HTTP, else because of `why`.
    pub(super) fn on_sse_refused(&mut self, now: Instant, why: CallError) {
        let refused = match &mut self.sse.state {
            SseState::Opening(opening) => opening.refused.take(),
            SseState::Unused | SseState::Open { .. } => None,
        };
        self.fail_sse(now, refused.unwrap_or(why));
    }

    /// Gives up opening a stream: the waiting request fails because of `why`.
    pub(super) fn fail_sse(&mut self, now: Instant, why: CallError) {
        let SseState::Opening(opening) = mem::take(&mut self.sse.state) else { return };
        self.client.handle_unanswered(now, opening.wire, why);
    }

    /// Handles bytes of the stream.
    // HTTP-57: first the event `endpoint`, then `message` events.
    pub(super) fn on_sse_bytes(&mut self, now: Instant, id: ExchangeId, mut input: &[u8]) {
        let taken = self.exchanges.get_mut(id).and_then(|exchange| exchange.stream.take());
        let Some(mut stream) = taken else { return };
        while let Some(found) = stream.reader.next(&mut input) {
            match found {
                Item::TooLong if self.sse.is_opening() => {
                    self.exchanges.abort(id);
                    return self.on_sse_refused(now, CallError::Invalid(NO_ENDPOINT.into()));
                }
                Item::TooLong => {
                    self.client.handle_violation(now, StreamId::ONLY, ViolationKind::TooLong);
                }
                Item::Event(event) => self.on_sse_event(now, id, event),
            }
            // The event may have ended the session, or the connection.
            let is_open = |exchange: &Exchange| matches!(exchange.state, ExchangeState::Events);
            if !self.exchanges.get(id).is_some_and(is_open) {
                return;
            }
        }
        if let Some(exchange) = self.exchanges.get_mut(id) {
            exchange.stream = Some(stream);
        }
    }

    fn on_sse_event(&mut self, now: Instant, id: ExchangeId, event: IncomingEvent<'_>) {
        // Lines without data are no event.
        let Some(data) = event.data else { return };
        if self.sse.is_opening() {
            return self.on_first_event(now, id, event.kind, &data);
        }
        match event.kind {
            "message" if !data.is_empty() => {
                let message = match data {
                    Cow::Owned(data) => IncomingMessage::Owned(Bytes::from(data)),
                    Cow::Borrowed(data) => IncomingMessage::Borrowed(data),
                };
                self.on_sse_message(now, &message);
            }
            ENDPOINT => {
                let detail = "server named a second message endpoint, which is ignored";
                self.client.report_violation(now, detail);
            }
            _ => {}
        }
    }

    fn on_sse_message(&mut self, now: Instant, message: &IncomingMessage<'_>) {
        self.sse.on_message();
        let decoded = DecodedMessage::parse(message, self.client.limits());
        let answers = match &decoded.message {
            Ok(Message::Response { id, .. }) => id.as_u64(),
            _ => None,
        };
        let answers = answers.filter(|wire| self.client.is_in_flight(*wire));
        let was_ready = self.client.peer().is_some();
        self.client.handle_decoded(now, StreamId::ONLY, decoded);
        // HTTP+SSE belongs to the legacy era, and ends its sessions with their streams.
        if self.client.peer().is_some() && self.client.revision().is_modern() {
            let why = "the server agreed on a modern revision over HTTP+SSE";
            self.client.fail(now, Fault::BadHandshake(why.into()));
        }
        if was_ready && answers.is_some() {
            self.sse.is_asked = false;
            self.legacy.on_answered();
        }
        self.settle();
    }

    /// Handles the first event, which must name the message endpoint.
    // HTTP-58: messages are sent to that URI. It belongs to the origin of the server, so that
    // credentials reach no other server.
    fn on_first_event(&mut self, now: Instant, id: ExchangeId, kind: &str, data: &[u8]) {
        let named = core::str::from_utf8(data).ok().filter(|_| kind == ENDPOINT);
        let url = self.config.sse_fallback.as_ref();
        let target = url.zip(named).and_then(|(url, named)| url.resolve(named));
        let Some(target) = target else {
            self.exchanges.abort(id);
            if kind == ENDPOINT {
                return self.fail_sse(now, CallError::Invalid(BAD_ENDPOINT.into()));
            }
            return self.on_sse_refused(now, CallError::Invalid(NO_ENDPOINT.into()));
        };
        let SseState::Opening(opening) = mem::take(&mut self.sse.state) else { return };
        let SseOpening { initialize, wire, .. } = *opening;
        self.exchanges.set_due(id, None);
        self.sse.is_asked = false;
        self.sse.state = SseState::Open { target: Secret::new(target), initialize: wire };
        self.gate = SendGate::Held(initialize);
    }

    /// Handles the end of the stream, or the failure to open it.
    pub(super) fn on_sse_end(
        &mut self,
        now: Instant,
        exchange: Exchange,
        retry_after: Option<Duration>,
    ) {
        let retry = exchange.stream.as_ref().and_then(|stream| stream.reader.retry());
        let was_open = exchange.stream.is_some();
        let end = StreamEnd { attempts: 0, retry, retry_after, was_open };
        match &self.sse.state {
            SseState::Unused => {}
            SseState::Opening(opening) if opening.refused.is_none() => {
                self.schedule_sse_stream(end);
            }
            SseState::Opening(_) => self.on_sse_refused(now, CallError::Lost),
            // The handshake was not complete: there is no session to replace.
            SseState::Open { initialize, .. } if self.client.peer().is_none() => {
                let wire = *initialize;
                self.sse.state = SseState::Unused;
                self.client.handle_unanswered(now, wire, CallError::Lost);
            }
            SseState::Open { .. } => self.on_sse_session_lost(now, end),
        }
    }
}

const NO_ENDPOINT: &str = "first event of the stream does not name a message endpoint";

const BAD_ENDPOINT: &str = "server named a message endpoint that is malformed, or not at the \
                            scheme, host and port of the server's URL";

/// Returns whether only modern servers send this error.
fn is_modern_error(error: i64) -> bool {
    use code::{HEADER_MISMATCH, MISSING_CLIENT_CAPABILITY, UNSUPPORTED_PROTOCOL_VERSION};
    [HEADER_MISMATCH, MISSING_CLIENT_CAPABILITY, UNSUPPORTED_PROTOCOL_VERSION].contains(&error)
}
