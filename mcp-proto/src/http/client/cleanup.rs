//! Cleanup of exchanges after the end of a call, a session, or the connection.

use super::action::ExchangeId;
use super::exchanges::Purpose;
use super::outbound_post::SendGate;
use super::{CloseState, HttpClient};
use crate::client::Client;
use crate::message_endpoint::MessageEndpoint;
use crate::time::Instant;
use crate::vocabulary::Fault;

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
                self.exchanges.abort(id);
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
                let is_one_way = self
                    .exchanges
                    .get(id)
                    .is_some_and(|exchange| exchange.purpose == Purpose::OneWay);
                if !is_one_way {
                    self.exchanges.abort(id);
                }
            }
        }
    }

    /// Handles the timer of an exchange: sends its request if it is waiting, else aborts it.
    pub(super) fn on_due(&mut self, id: ExchangeId) {
        if self.exchanges.get(id).is_some_and(|exchange| exchange.is_waiting()) {
            self.exchanges.queue_start(id);
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
        self.forget_session(now, Client::handle_session_lost);
    }

    /// Handles a response from a modern server in a session, which the server does not know: aborts
    /// all exchanges and probes the server.
    // LIF-31: the assumption about the era has failed.
    pub(super) fn on_session_refuted(&mut self, now: Instant) {
        self.forget_session(now, Client::handle_era_refuted);
    }

    fn forget_session(&mut self, now: Instant, reopen: fn(&mut Client, Instant)) {
        for id in self.exchanges.ids() {
            self.exchanges.abort(id);
        }
        self.gate = SendGate::Open;
        self.queue.clear();
        if self.legacy.on_lost() {
            self.client.fail(now, Fault::SessionLost);
        } else {
            reopen(&mut self.client, now);
        }
        self.unsent.clear();
    }
}
