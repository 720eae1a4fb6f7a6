//! What a transport that carries each message in an exchange of its own tells a session, and asks of it: which calls
//! are on their way, that one cannot be answered any more, that the session is gone; knows nothing of the transport.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use super::calls::{Asker, CallId};
use super::core::Core;
use super::guard::ViolationKind;
use super::outcome::{CallError, Fault};
use super::phase::Trigger;
use crate::collections::LazyBox;
use crate::revision::{Era, Revision};
use crate::time::Instant;

impl Core {
    /// Each message travels by itself from now on, and what `take_ended` gives is kept.
    pub(crate) fn over_exchanges(&mut self) {
        self.opening.over_exchanges();
        self.calls.record_ended();
    }

    /// Moves the wire ids that are over, or stand for a call no longer, since this was asked last to `ended`.
    pub(crate) fn take_ended(&mut self, ended: &mut Vec<u64>) {
        self.calls.take_ended(ended);
    }

    /// The latest time that anybody told.
    pub(crate) fn now(&self) -> Instant {
        self.now
    }

    /// It is `now`, or as late as it was: which it is.
    pub(crate) fn passed(&mut self, now: Instant) -> Instant {
        self.advance(now);
        self.now
    }

    /// The revision to speak: the one agreed on, or the one that is tried.
    pub(crate) fn speaks(&self) -> Revision {
        self.revision()
    }

    /// Whether the peer owes an answer to `wire`.
    pub(crate) fn is_on_its_way(&self, wire: u64) -> bool {
        self.calls.get(wire).is_some_and(|call| call.is_sent)
    }

    /// What the application knows the call by, if it made it.
    pub(crate) fn call_of(&self, wire: u64) -> Option<CallId> {
        self.calls.get(wire).filter(|call| call.is_application()).map(|call| call.id)
    }

    /// What carried `wire` is over, and no answer can come.
    pub(crate) fn call_failed(&mut self, now: Instant, wire: u64, why: CallError) {
        self.advance(now);
        let Some(call) = self.calls.get(wire).filter(|call| call.is_sent) else { return };
        if call.asker == Asker::KeepAlive {
            self.calls.remove(wire);
            self.ping_missed();
        } else {
            self.answer_came(wire, None, Err(why));
        }
    }

    /// The transport found a broken rule of its own.
    pub(crate) fn transport_violation(&mut self, now: Instant, detail: impl Into<Cow<'static, str>>) {
        self.advance(now);
        if self.phase.allows().input {
            self.violation(ViolationKind::Exchange, detail);
        }
    }

    /// The transport cannot go on.
    pub(crate) fn transport_fault(&mut self, now: Instant, fault: Fault) {
        self.advance(now);
        self.fault(fault);
    }

    /// Client: the server has forgotten the session. Whatever belongs to it is over, and another one is opened: nothing
    /// is made again by itself. (HTTP-34, T-71)
    pub(crate) fn session_lost(&mut self, now: Instant) {
        self.advance(now);
        let Some(revision) = self.me.newest(Era::Legacy).filter(|_| self.rules().servers_ask) else { return };
        let Some(next) = self.phase.next(self.side, Trigger::Forgotten) else { return };
        self.phase = next;
        self.lose_calls();
        while let Some(incoming) = self.incoming.first() {
            self.withdraw(incoming, None);
        }
        self.batches = LazyBox::default();
        self.listens = LazyBox::default();
        self.timers.clear();
        self.ponged();
        self.peer = None;
        self.log_level = None;
        self.opening.settled();
        // All of it was meant for the session.
        self.take_back(0);
        self.initialize_in(revision);
    }
}
