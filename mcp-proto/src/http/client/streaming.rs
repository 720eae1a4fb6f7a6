//! What comes in event streams, and what becomes of a stream that ends; knows nothing of heads.

use alloc::borrow::Cow;

use bytes::Bytes;

use super::Http;
use super::action::ExchangeId;
use super::exchanges::{Errand, Exchange, Kind, Purpose, Stage};
use super::reply::too_long;
use super::stream::Stream;
use crate::connection::{CallError, Session, StreamId, ViolationKind};
use crate::http::sse::Found;
use crate::rpc::Incoming;
use crate::time::Instant;

impl Http {
    /// Bytes of an event stream. (SSE-09, SSE-12, SSE-23, SSE-25)
    pub(super) fn events(&mut self, now: Instant, id: ExchangeId, mut input: &[u8]) {
        let taken = self.exchanges.get_mut(id).and_then(|exchange| {
            let stream = exchange.stream.take()?;
            Some((exchange.purpose, stream))
        });
        let Some((purpose, mut stream)) = taken else { return };
        let Stream { reader, seen, carrier, .. } = &mut *stream;
        while let Some(found) = reader.next(&mut input) {
            let event = match found {
                Found::Event(event) => event,
                Found::TooLong => match purpose {
                    Purpose::Call(errand) => {
                        let why = too_long(self.client.limits().message_bytes_max);
                        self.exchanges.abort(id);
                        return self.client.handle_unanswered(now, errand.wire, why);
                    }
                    Purpose::End | Purpose::Listen | Purpose::Tell => {
                        self.client.handle_violation(now, ViolationKind::TooLong);
                        continue;
                    }
                },
            };
            let came_before = event.id.is_some_and(|id| seen.came_before(id));
            if event.message().is_none() || came_before {
                continue;
            }
            carrier.on_message();
            let message = match event.data {
                Some(Cow::Owned(data)) => Incoming::Owned(Bytes::from(data)),
                Some(Cow::Borrowed(data)) => Incoming::Borrowed(data),
                None => continue,
            };
            self.event(now, id, purpose, message);
            // It can have been the end of the call, of the session, or of everything.
            if !self
                .exchanges
                .get(id)
                .is_some_and(|exchange| matches!(exchange.stage, Stage::Events))
            {
                return;
            }
        }
        if let Some(exchange) = self.exchanges.get_mut(id) {
            exchange.stream = Some(stream);
        }
    }

    fn event(&mut self, now: Instant, id: ExchangeId, purpose: Purpose, message: Incoming<'_>) {
        let Purpose::Call(errand) = purpose else {
            return self.client.handle_message(now, StreamId::ONLY, message);
        };
        self.answered(now, errand, &message, false);
        if !self.client.is_in_flight(errand.wire) {
            self.exchanges.let_go(id, now);
        }
        self.settle();
    }

    /// The stream has ended, or was cut off, or could not be connected to again: what it is for
    /// goes on if it can. (HTTP-18, HTTP-28, HTTP-53, SSE-20…22, T-101)
    pub(super) fn stream_ended(&mut self, now: Instant, id: ExchangeId, was_cut: bool) {
        let Some(exchange) = self.exchanges.remove(id) else { return };
        let Exchange { purpose, stream, .. } = exchange;
        let mut stream = stream.unwrap_or_else(|| Stream::new(self.client.limits()).into());
        let (attempts, retry, was_open) = stream.ended();
        let purpose = match purpose {
            Purpose::Call(errand) => {
                if !self.client.is_in_flight(errand.wire) {
                    return;
                }
                let is_resumable = errand.in_era_of_sessions && stream.resume_after().is_some();
                if !is_resumable {
                    let is_end = errand.kind == Kind::Subscription && !was_cut;
                    let why = if is_end { CallError::Withdrawn } else { CallError::Lost };
                    return self.client.handle_unanswered(now, errand.wire, why);
                }
                Purpose::Call(Errand { is_resumed: true, ..errand })
            }
            Purpose::Listen => Purpose::Listen,
            Purpose::End | Purpose::Tell => return,
        };
        let delay = self.backoff.delay(attempts, retry, was_open);
        let mut next = Exchange::new(purpose, Stage::Waiting, false);
        next.stream = Some(stream);
        let next = self.exchanges.insert(next);
        self.exchanges.set_due(next, Some(now + delay));
    }

    /// There was a head that says no, which may pass.
    pub(super) fn connect_again(&mut self, now: Instant, id: ExchangeId) {
        self.exchanges.queue_abort(id);
        self.stream_ended(now, id, true);
    }

    /// Opens the stream on which the server says what belongs to no call. (HTTP-22)
    pub(super) fn open_stream(&mut self) {
        if self.config.has_stream && self.is_in_era_of_sessions() && !self.client.is_closed() {
            let id = self.exchanges.insert(Exchange::new(Purpose::Listen, Stage::Waiting, false));
            self.exchanges.queue_get(id);
        }
    }
}
