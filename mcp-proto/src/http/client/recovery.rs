//! The end of exchanges whose purpose is over: of a call, of the session, or of the connection.

use super::action::ExchangeId;
use super::exchanges::Purpose;
use super::posting::Turn;
use super::{End, Http};
use crate::connection::{Fault, Session};
use crate::time::Instant;

impl Http {
    /// Ends the exchanges of calls that are over, and all of them at the end. (CAN-12, HTTP-35,
    /// T-76)
    pub(super) fn settle(&mut self) {
        let mut ended = core::mem::take(&mut self.ended);
        self.client.drain_ended(&mut ended);
        for wire in ended.drain(..) {
            if let Some(id) = self.exchanges.of_wire(wire) {
                self.exchanges.abort(id);
            }
        }
        self.ended = ended;
        if self.client.is_closed() && self.end == End::Open {
            self.end = End::Closing;
            if matches!(self.turn, Turn::Behind(_)) {
                self.turn = Turn::Free;
            }
            for id in self.exchanges.ids() {
                let tells = self
                    .exchanges
                    .get(id)
                    .is_some_and(|exchange| exchange.purpose == Purpose::Tell);
                if !tells {
                    self.exchanges.abort(id);
                }
            }
        }
    }

    /// Time is up for an exchange: its turn has come, or its end.
    pub(super) fn is_due(&mut self, id: ExchangeId) {
        if self.exchanges.get(id).is_some_and(|exchange| exchange.is_waiting()) {
            self.exchanges.queue_get(id);
        } else {
            self.exchanges.abort(id);
            self.open_gate(id);
        }
    }

    /// What had to come before everything else has come, or will not.
    pub(super) fn open_gate(&mut self, id: ExchangeId) {
        if matches!(self.turn, Turn::Behind(exchange) if exchange == id) {
            self.turn = Turn::Free;
            self.open_stream();
        }
    }

    /// The server has forgotten the session: everything that belongs to it is over, and another one
    /// is opened. (HTTP-34, T-70…T-72)
    pub(super) fn session_lost(&mut self, now: Instant) {
        for id in self.exchanges.ids() {
            self.exchanges.abort(id);
        }
        self.turn = Turn::Free;
        if self.legacy.on_lost() {
            self.client.fail(now, Fault::SessionLost);
        } else {
            self.client.handle_session_lost(now);
        }
        self.unsent.clear();
    }
}
