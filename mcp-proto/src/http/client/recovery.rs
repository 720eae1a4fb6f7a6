//! What becomes of exchanges when what they are for is over: calls, the session, everything; knows nothing of heads and
//! bodies.

use core::time::Duration;

use super::Http;
use super::action::ExchangeId;
use super::send::Todo;
use super::table::Purpose;
use crate::connection::{Fault, Session};
use crate::time::Instant;

/// How long the rest of a response may take that means nothing: a connection that is read to the end can be used again.
pub(super) const LINGER: Duration = Duration::from_secs(1);

/// Responses that may take this long at a time.
const LINGERING_MAX: usize = 32;

/// Sessions in a row that a server may forget before it has answered a call.
const FORGOTTEN_MAX: u32 = 3;

impl Http {
    /// Ends the exchanges of calls that are over, and all of them at the end. (CAN-12, HTTP-35, T-76)
    pub(super) fn settle(&mut self) {
        let mut ended = core::mem::take(&mut self.ended);
        self.session.drain_ended(&mut ended);
        for wire in ended.drain(..) {
            if let Some(id) = self.exchanges.of_wire(wire) {
                self.abort(id);
            }
        }
        self.ended = ended;
        if self.session.is_closed() && !self.is_over {
            self.is_over = true;
            self.gate = None;
            for id in self.exchanges.ids() {
                let tells = self.exchanges.get(id).is_some_and(|exchange| exchange.purpose == Purpose::Tell);
                if !tells {
                    self.abort(id);
                }
            }
        }
    }

    /// Ends an exchange at once.
    pub(super) fn abort(&mut self, id: ExchangeId) {
        let Some(exchange) = self.exchanges.remove(id) else { return };
        if !exchange.is_waiting() {
            self.todo.push_back(Todo::Abort(id));
        }
    }

    /// What an exchange still brings means nothing: it may come, for a while.
    pub(super) fn let_go(&mut self, now: Instant, id: ExchangeId) {
        if self.exchanges.ignored() < LINGERING_MAX {
            self.exchanges.ignore(id, now + LINGER);
        } else {
            self.abort(id);
        }
    }

    /// Time is up for an exchange: its turn has come, or its end.
    pub(super) fn is_due(&mut self, id: ExchangeId) {
        if self.exchanges.get(id).is_some_and(|exchange| exchange.is_waiting()) {
            self.todo.push_back(Todo::Get(id));
        } else {
            self.abort(id);
            self.open_gate(id);
        }
    }

    /// What had to come before everything else has come, or will not.
    pub(super) fn open_gate(&mut self, id: ExchangeId) {
        if self.gate == Some(id) {
            self.gate = None;
            self.open_stream();
        }
    }

    /// The server has forgotten the session: everything that belongs to it is over, and another one is opened.
    /// (HTTP-34, T-70…T-72)
    pub(super) fn session_lost(&mut self, now: Instant) {
        for id in self.exchanges.ids() {
            self.abort(id);
        }
        self.gate = None;
        self.held = None;
        self.session_id = None;
        self.candidate = None;
        self.has_strayed = false;
        self.forgotten += 1;
        if self.forgotten > FORGOTTEN_MAX {
            self.session.fail(now, Fault::SessionLost);
        } else {
            self.session.handle_session_lost(now);
        }
        self.unsent.clear();
    }
}
