//! Cleanup of exchanges after the end of a call, a session, or the connection.

use super::action::ExchangeId;
use super::event_stream::StreamEnd;
use super::exchange::{Exchange, Purpose};
use super::outbound_post::SendGate;
use super::sse_transport::SseTransport;
use super::{CloseState, HttpClient};
use crate::client::{Client, ExchangeEndpoint as _};
use crate::message_endpoint::MessageEndpoint;
use crate::time::Instant;
use crate::vocabulary::{CallError, Fault, OutgoingKind};

impl HttpClient {
    /// Aborts the exchanges of completed calls.
    ///
    /// If the connection is closed, aborts all exchanges except those of one-way messages.
    // CAN-12, T-76: aborting the exchange cancels a modern request. HTTP-35: DELETE follows later.
    pub(super) fn settle(&mut self) {
        let mut ended = core::mem::take(&mut self.ended);
        self.client.drain_ended(&mut ended);
        for wire in ended.drain(..) {
            if let Some(id) = self.exchanges.by_wire(wire) {
                // The server has not accepted the request, so its cancellation is not sent, either.
                if self.exchanges.get(id).is_some_and(is_unsent_message) {
                    self.unsent.insert(wire);
                }
                self.end_exchange(id);
            }
            self.on_request_ended(wire);
        }
        self.ended = ended;
        if self.client.is_closed() && self.close_state == CloseState::Open {
            self.close_state = CloseState::Closing;
            self.queue.clear();
            if matches!(self.gate, SendGate::Initialized(_)) {
                self.gate = SendGate::Open;
            }
            for id in self.exchanges.ids() {
                let is_in_flight = |exchange: &Exchange| {
                    exchange.purpose == Purpose::OneWay && !exchange.is_unsent()
                };
                if !self.exchanges.get(id).is_some_and(is_in_flight) {
                    self.exchanges.abort(id);
                }
            }
        }
    }

    /// Ends the exchange of a call that has ended.
    fn end_exchange(&mut self, id: ExchangeId) {
        let is_posted = |exchange: &Exchange| {
            exchange.call_info().is_some_and(|call| call.over_sse) && !exchange.is_unsent()
        };
        if self.exchanges.get(id).is_some_and(is_posted) {
            // The stream has overtaken the response to the POST, which is about to arrive.
            self.exchanges.discard(id, self.now());
        } else {
            self.exchanges.abort(id);
        }
    }

    /// Handles the timer of an exchange: sends its request if it is waiting, else aborts it.
    pub(super) fn on_due(&mut self, id: ExchangeId) {
        let Some(exchange) = self.exchanges.get(id) else { return };
        if exchange.is_unsent() {
            self.exchanges.queue_start(id);
        } else if let Some(exchange) = self.exchanges.take_sse_stream(id) {
            self.on_sse_end(self.now(), exchange, None);
        } else {
            self.exchanges.abort(id);
            self.open_gate(id);
        }
    }

    /// Opens the gate if it waits for this exchange, and opens the stream for unsolicited messages.
    pub(super) fn open_gate(&mut self, id: ExchangeId) {
        if matches!(self.gate, SendGate::Initialized(exchange) if exchange == id) {
            self.gate = SendGate::Open;
            self.open_stream();
        }
    }

    /// Handles the loss of the session on the server: aborts all exchanges and initializes again,
    /// or gives up after too many losses.
    // HTTP-34, T-70…T-72: 404 to a request of the session.
    pub(super) fn on_session_lost(&mut self, now: Instant) {
        self.forget_session(now, StreamEnd::default(), Client::handle_session_lost);
    }

    /// Handles a response from a modern server in a session, which the server does not know: aborts
    /// all exchanges and probes the server.
    // LIF-31: the assumption about the era has failed.
    pub(super) fn on_session_refuted(&mut self, now: Instant) {
        self.sse = SseTransport::default();
        self.forget_session(now, StreamEnd::default(), Client::handle_era_refuted);
    }

    /// Handles the end of the stream of HTTP+SSE, which ends the session.
    pub(super) fn on_sse_session_lost(&mut self, now: Instant, end: StreamEnd) {
        self.forget_session(now, end, Client::handle_session_lost);
    }

    /// Ends the calls of a lost session that were not sent: the server cannot have processed them.
    fn fail_unsent(&mut self, now: Instant) {
        let mut unsent = self.queue.take();
        while let Some(outgoing) = self.client.poll_outgoing() {
            if let OutgoingKind::Request { id, .. } = outgoing.kind {
                unsent.push(id);
            }
        }
        for wire in unsent {
            if self.client.call_of(wire).is_some() {
                self.client.handle_unanswered(now, wire, CallError::SessionEnded);
            }
        }
    }

    /// Replaces a lost session. `end` is the end of its stream, over HTTP+SSE.
    fn forget_session(&mut self, now: Instant, end: StreamEnd, reopen: fn(&mut Client, Instant)) {
        self.fail_unsent(now);
        for id in self.exchanges.ids() {
            self.exchanges.abort(id);
        }
        self.gate = SendGate::Open;
        // An idle session over HTTP+SSE ends with its connection, which the server may not keep.
        let is_counted = !self.sse.is_used() || self.sse.is_asked;
        if is_counted && self.legacy.on_lost() {
            self.client.fail(now, Fault::SessionLost);
        } else {
            reopen(&mut self.client, now);
        }
        if self.sse.is_used() {
            self.reopen_sse(end);
        }
        self.unsent.clear();
    }
}

/// Returns whether the exchange holds a message that the server has not accepted.
fn is_unsent_message(exchange: &Exchange) -> bool {
    exchange.is_unsent() && exchange.kept.is_some()
}
