//! What a transport tells a connection, and takes from it.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use super::Connection;
use super::pending_calls::Owner;
use crate::time::Instant;
use crate::vocabulary::{CallError, CallId, Fault, Outgoing, Route, StreamId, ViolationKind};
use crate::wire::Outbox;

impl Connection {
    /// Takes the oldest message to send.
    pub(crate) fn poll_outgoing(&mut self) -> Option<Outgoing<'_>> {
        self.send_deferred();
        self.env.out.poll()
    }

    pub(crate) fn has_outgoing(&mut self) -> bool {
        self.send_deferred();
        !self.env.out.is_empty()
    }

    /// The bytes to send, of a byte stream.
    pub(crate) fn lines(&mut self) -> &mut Outbox {
        self.send_deferred();
        self.env.out.lines()
    }

    /// Tops the queue up with progress that had to wait for room.
    fn send_deferred(&mut self) {
        if self.inbound.has_deferred() {
            self.inbound.send_deferred(&mut self.env);
        }
    }

    /// The transport is a byte stream from now on.
    pub(crate) fn use_lines(&mut self) {
        self.env.out.use_lines();
    }

    /// The transport has several streams from now on.
    pub(crate) fn use_streams(&mut self) {
        self.env.out.use_streams();
    }

    pub(crate) fn hold(&mut self, route: Route, bytes: usize) {
        self.env.out.hold(route, bytes);
    }

    pub(crate) fn release(&mut self, route: Route, bytes: usize) {
        self.env.out.release(route, bytes);
    }

    /// Releases unused capacity while idle.
    pub(crate) fn shrink(&mut self) {
        self.calls.shrink();
        self.inbound.shrink();
        self.env.events.shrink();
        self.env.out.shrink();
        self.env.scratch = Vec::new();
        self.env.effects = Vec::new();
    }

    /// The latest time that this connection knows.
    pub(crate) fn now(&self) -> Instant {
        self.env.now
    }

    /// A stream was closed by the peer: what it asked for on it is withdrawn. (T-76, T-77)
    pub(crate) fn handle_stream_closed(&mut self, now: Instant, stream: StreamId) {
        self.advance(now);
        if let Some(subscribers) = self.subscribers.allocated_mut() {
            subscribers.on_stream_closed(&mut self.env, stream);
        }
        while let Some(incoming) = self.inbound.first_on(stream) {
            self.withdraw(incoming, None);
        }
        self.check_drained();
    }

    /// Each message travels by itself from now on, and the ids of requests that end are recorded.
    pub(crate) fn use_exchanges(&mut self) {
        self.lifecycle.over_exchanges();
        self.calls.record_ended();
    }

    /// Moves the ids of requests that have ended since the last time to `ended`.
    pub(crate) fn drain_ended(&mut self, ended: &mut Vec<u64>) {
        self.calls.drain_ended(ended);
    }

    /// Whether the peer owes an answer to the request `id`.
    pub(crate) fn is_in_flight(&self, id: u64) -> bool {
        self.calls.owner_in_flight(id).is_some()
    }

    /// The application's call that the request `id` belongs to.
    pub(crate) fn call_of(&self, id: u64) -> Option<CallId> {
        self.calls.get(id).filter(|call| call.owner.is_application()).map(|call| call.id)
    }

    /// The exchange of the request `id` is over, and no answer can come.
    pub(crate) fn handle_unanswered(&mut self, now: Instant, id: u64, why: CallError) {
        self.advance(now);
        let Some(owner) = self.calls.owner_in_flight(id) else { return };
        // A ping that was not carried counts like one that was not answered.
        let why = if owner == Owner::KeepAlive { CallError::TimedOut } else { why };
        self.on_response((id, owner), None, Err(why));
        self.settle();
    }

    /// The transport found a broken rule of its own.
    pub(crate) fn report(&mut self, now: Instant, detail: Cow<'static, str>) {
        self.advance(now);
        if self.env.allows().input {
            self.env.violation(ViolationKind::Exchange, detail);
            self.settle();
        }
    }

    /// The transport cannot go on.
    pub(crate) fn fail(&mut self, now: Instant, fault: Fault) {
        self.advance(now);
        self.fault(fault);
    }
}
