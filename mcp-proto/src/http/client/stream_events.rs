//! Handling of event streams: their messages, their ends, and reconnection.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::ToString;
use core::time::Duration;

use bytes::Bytes;

use super::HttpClient;
use super::action::ExchangeId;
use super::event_stream::EventStream;
use super::exchange::{CallInfo, CallKind, Exchange, ExchangeState, Purpose};
use super::reply::{EVENTS, exchange_was_open, too_long};
use super::response_head::{content_coding, is_transient, refusal, retry_after};
use crate::client::ExchangeEndpoint as _;
use crate::http::Headers;
use crate::http::header::is_media_type;
use crate::http::sse::Item;
use crate::message_endpoint::MessageEndpoint;
use crate::rpc::IncomingMessage;
use crate::time::Instant;
use crate::vocabulary::{CallError, StreamId, ViolationKind};

impl HttpClient {
    /// Handles the head of a response to a GET.
    // HTTP-24: an event stream, or 405 if the server offers none.
    pub(super) fn on_stream_head(
        &mut self,
        now: Instant,
        id: ExchangeId,
        status: u16,
        fields: &dyn Headers,
        reason: Option<&str>,
    ) {
        let is_events =
            fields.value("content-type", 0).is_some_and(|kind| is_media_type(kind, EVENTS));
        let call = self.exchanges.get(id).and_then(Exchange::call_info);
        let coding = content_coding(fields);
        match (status, call) {
            (200..300, _) if is_events && coding.is_none() => self.begin_events(id),
            _ if is_transient(status) => self.reconnect(now, id, fields),
            (200..300, Some(call)) => {
                let why = || CallError::Invalid("resumed stream is not an event stream".into());
                self.fail(now, id, call.wire, coding.unwrap_or_else(why));
            }
            (_, Some(call)) => {
                self.fail(now, id, call.wire, refusal(&self.authorization, status, fields, reason));
            }
            (_, None) => self.on_listen_refused(now, id, status, fields, reason),
        }
    }

    /// Handles a permanent refusal of the stream for messages that belong to no call.
    ///
    /// A server that has opened the stream before offers it, so the client keeps trying.
    // HTTP-28, T-86: the stream may end at any time; reconnections back off.
    fn on_listen_refused(
        &mut self,
        now: Instant,
        id: ExchangeId,
        status: u16,
        fields: &dyn Headers,
        reason: Option<&str>,
    ) {
        let was_open = exchange_was_open(self.exchanges.get(id));
        match status {
            // Other credentials may be accepted next time.
            401 | 403 => return self.reconnect(now, id, fields),
            405 | 501 => {}
            _ if was_open => {
                // The server may have dropped the event after which the stream was to resume.
                let limits = self.client.limits();
                if let Some(exchange) = self.exchanges.get_mut(id) {
                    exchange.stream.iter_mut().for_each(|stream| stream.forget_position(limits));
                }
                return self.reconnect(now, id, fields);
            }
            _ => {}
        }
        self.exchanges.discard(id, now);
        if was_open || !matches!(status, 404 | 405 | 501) {
            let why = match status {
                200..300 => content_coding(fields).map_or_else(
                    || "the response is not an event stream".into(),
                    |it| it.to_string(),
                ),
                _ => refusal(&self.authorization, status, fields, reason).to_string(),
            };
            let detail =
                format!("no messages of the server outside of responses will arrive: {why}");
            self.client.report_violation(now, detail);
        }
    }

    /// Handles bytes of an event stream.
    // SSE-09, SSE-12: only non-empty `message` events matter. SSE-23: limits. SSE-25: redelivery.
    pub(super) fn on_event_bytes(&mut self, now: Instant, id: ExchangeId, mut input: &[u8]) {
        let is_sse = |exchange: &Exchange| exchange.purpose == Purpose::SseStream;
        if self.exchanges.get(id).is_some_and(is_sse) {
            return self.on_sse_bytes(now, id, input);
        }
        let taken = self.exchanges.get_mut(id).and_then(|exchange| {
            let stream = exchange.stream.take()?;
            Some((exchange.purpose, stream))
        });
        let Some((purpose, mut stream)) = taken else { return };
        let EventStream { reader, seen, carrier, .. } = &mut *stream;
        while let Some(found) = reader.next(&mut input) {
            let event = match found {
                Item::Event(event) => event,
                Item::TooLong => match purpose {
                    Purpose::Call(call) => {
                        let why = too_long(self.client.limits().message_bytes_max);
                        self.exchanges.abort(id);
                        return self.client.handle_unanswered(now, call.wire, why);
                    }
                    Purpose::EndSession
                    | Purpose::Listen
                    | Purpose::OneWay
                    | Purpose::SseStream => {
                        self.client.handle_violation(now, StreamId::ONLY, ViolationKind::TooLong);
                        continue;
                    }
                },
            };
            // Some servers begin a stream with an event without a message, and give the first
            // message the id of that event.
            if event.message().is_none() || event.id.is_some_and(|id| seen.is_redelivered(id)) {
                continue;
            }
            carrier.on_message();
            let message = match event.data {
                Some(Cow::Owned(data)) => IncomingMessage::Owned(Bytes::from(data)),
                Some(Cow::Borrowed(data)) => IncomingMessage::Borrowed(data),
                None => continue,
            };
            self.on_event_message(now, id, purpose, message);
            // The message may have ended the call, the session, or the connection.
            if !self
                .exchanges
                .get(id)
                .is_some_and(|exchange| matches!(exchange.state, ExchangeState::Events))
            {
                return;
            }
        }
        if let Some(exchange) = self.exchanges.get_mut(id) {
            exchange.stream = Some(stream);
        }
    }

    fn on_event_message(
        &mut self,
        now: Instant,
        id: ExchangeId,
        purpose: Purpose,
        message: IncomingMessage<'_>,
    ) {
        let Purpose::Call(call) = purpose else {
            return self.client.handle_message(now, StreamId::ONLY, message);
        };
        self.client.set_stream_request(Some(call.wire));
        self.on_response(now, call, &message, false);
        self.client.set_stream_request(None);
        if !self.client.is_in_flight(call.wire) {
            self.exchanges.discard(id, now);
        }
        self.settle();
    }

    /// Handles the end, loss or failed resumption of a stream: schedules a reconnection if
    /// possible, else completes its call.
    // HTTP-18, HTTP-28, SSE-20…22: resumption. HTTP-53: modern streams are not resumed. T-101: a
    // subscription that ends cleanly is withdrawn.
    pub(super) fn on_stream_end(
        &mut self,
        now: Instant,
        id: ExchangeId,
        was_cut: bool,
        retry_after: Option<Duration>,
    ) {
        if self.repeat_probe(now, id, retry_after) {
            return;
        }
        let Some(exchange) = self.exchanges.remove(id) else { return };
        if exchange.purpose == Purpose::SseStream {
            return self.on_sse_end(now, exchange, retry_after);
        }
        let Exchange { purpose, stream, .. } = exchange;
        let mut stream = stream.unwrap_or_else(|| EventStream::new(self.client.limits()).into());
        let end = stream.on_end(retry_after);
        let purpose = match purpose {
            Purpose::Call(call) => {
                if !self.client.is_in_flight(call.wire) {
                    return;
                }
                let is_resumable = call.is_legacy && stream.resume_after().is_some();
                if !is_resumable {
                    let is_end = call.kind == CallKind::Subscription && !was_cut;
                    let why = if is_end { CallError::SubscriptionEnded } else { CallError::Lost };
                    return self.client.handle_unanswered(now, call.wire, why);
                }
                Purpose::Call(CallInfo { is_resumed: true, ..call })
            }
            Purpose::Listen => Purpose::Listen,
            Purpose::EndSession | Purpose::OneWay | Purpose::SseStream => return,
        };
        let delay = self.backoff.delay(end);
        let mut next = Exchange::new(purpose, ExchangeState::Waiting, false);
        next.stream = Some(stream);
        let next = self.exchanges.insert(next);
        self.exchanges.set_due(next, Some(now + delay));
    }

    /// Handles a transient error status: aborts the exchange and schedules a reconnection.
    fn reconnect(&mut self, now: Instant, id: ExchangeId, fields: &dyn Headers) {
        self.exchanges.queue_abort(id);
        self.on_stream_end(now, id, true, retry_after(fields));
    }

    /// Opens the stream for messages that belong to no call, in a legacy session.
    // HTTP-22: the client may issue a GET.
    pub(super) fn open_stream(&mut self) {
        let is_offered = self.config.has_stream && !self.sse.is_used();
        if is_offered && self.is_legacy() && !self.client.is_closed() {
            let id = self.exchanges.insert(Exchange::new(
                Purpose::Listen,
                ExchangeState::Waiting,
                false,
            ));
            self.exchanges.queue_start(id);
        }
    }
}
