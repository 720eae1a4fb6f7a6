//! The interface between a connection and its transport.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use super::Connection;
use super::lifecycle::phase::Phase;
use super::pending_calls::{NewCall, Owner};
use crate::extension::Extensions;
use crate::json::Object;
use crate::meta::ContextCache;
use crate::method::MethodId;
use crate::time::Instant;
use crate::vocabulary::{
    CallError, CallId, CallOptions, Fault, Outgoing, Route, StreamId, ViolationKind,
};
use crate::wire::Outbox;

impl Connection {
    /// Takes the oldest message to send.
    pub(crate) fn poll_outgoing(&mut self) -> Option<Outgoing<'_>> {
        self.inbound.send_deferred(&mut self.env);
        self.env.out.poll()
    }

    pub(crate) fn has_outgoing(&mut self) -> bool {
        self.inbound.send_deferred(&mut self.env);
        !self.env.out.is_empty()
    }

    /// Returns the outbox of a byte stream, in line framing.
    pub(crate) fn lines(&mut self) -> &mut Outbox {
        self.inbound.send_deferred(&mut self.env);
        self.env.out.lines()
    }

    /// Selects line framing on a byte stream.
    pub(crate) fn use_lines(&mut self) {
        self.env.out.use_lines();
    }

    /// Enables routing: the transport has several streams.
    pub(crate) fn use_streams(&mut self) {
        self.env.out.use_streams();
    }

    pub(crate) fn hold(&mut self, route: Route, bytes: usize) {
        self.env.out.hold(route, bytes);
    }

    pub(crate) fn release(&mut self, route: Route, bytes: usize) {
        self.inbound.send_deferred(&mut self.env);
        self.env.out.release(route, bytes);
    }

    /// Returns the bytes of the peer's open requests, of queued events and of unsent messages.
    pub(crate) fn request_bytes(&self) -> usize {
        self.inbound.cost() + self.env.events.bytes() + self.env.out.unsent()
    }

    /// Returns the bytes of the peer's subscriptions.
    pub(crate) fn subscription_bytes(&self) -> usize {
        self.subscribers.cost()
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

    /// Returns the cache of the latest request context, which HTTP carries between connections.
    pub(crate) fn context_cache(&mut self) -> &mut ContextCache {
        &mut self.contexts
    }

    /// Returns the extensions that this side declares.
    pub(crate) fn extensions(&self) -> &Extensions {
        &self.env.identity.extensions
    }

    /// Returns the latest time passed to this connection.
    pub(crate) fn now(&self) -> Instant {
        self.env.now
    }

    /// Withdraws the peer's requests and subscriptions on a stream that it closed.
    // T-76, T-77: closing the stream cancels its requests.
    pub(crate) fn handle_stream_closed(&mut self, now: Instant, stream: StreamId) {
        self.advance(now);
        if let Some(subscribers) = self.subscribers.allocated_mut() {
            subscribers.on_stream_closed(&mut self.env, stream);
        }
        while let Some(incoming) = self.inbound.requests().first_on(stream) {
            self.withdraw(incoming, None);
        }
        self.check_drained();
    }

    /// Selects a transport of independent exchanges, and records the ids of requests that end.
    pub(crate) fn use_exchanges(&mut self) {
        self.lifecycle.use_exchanges();
        self.calls.record_ended();
    }

    /// Moves the wire ids that ended since the last call into `ended`.
    pub(crate) fn drain_ended(&mut self, ended: &mut Vec<u64>) {
        self.calls.drain_ended(ended);
    }

    /// Returns whether our request `id` awaits a response.
    pub(crate) fn is_in_flight(&self, id: u64) -> bool {
        self.calls.owner_in_flight(id).is_some()
    }

    /// Returns the application's call that our request `id` belongs to.
    pub(crate) fn call_of(&self, id: u64) -> Option<CallId> {
        self.calls.table().get(id).filter(|call| call.owner.is_application()).map(|call| call.id)
    }

    /// Fails our request `id`, whose exchange ended without a response.
    pub(crate) fn handle_unanswered(&mut self, now: Instant, id: u64, why: CallError) {
        self.advance(now);
        let Some(owner) = self.calls.owner_in_flight(id) else { return };
        // A ping that was not transmitted counts as unanswered. One that was refused for its
        // credentials shows that the peer is alive.
        let is_refused = matches!(why, CallError::Unauthorized(_));
        let is_missed = owner == Owner::KeepAlive && !is_refused;
        let why = if is_missed { CallError::TimedOut } else { why };
        let is_open = self.env.phase() == Phase::Ready && why != CallError::SessionEnded;
        let is_lost = matches!(why, CallError::Lost | CallError::SessionEnded);
        if is_lost && self.calls.recover(&mut self.env, id, is_open) {
            return self.settle();
        }
        let is_read = self.calls.table().get(id).is_some_and(|call| call.is_read);
        let why = if is_read && why == CallError::Lost { CallError::LostRead } else { why };
        self.on_response((id, owner), None, Err(why));
        self.settle();
    }

    /// Stops the timeout of our request `id`, which waits for credentials.
    pub(crate) fn park(&mut self, now: Instant, id: u64) {
        self.advance(now);
        self.calls.park(&self.env, id);
    }

    /// Restarts the timeout of our request `id`, which is sent again with credentials.
    pub(crate) fn unpark(&mut self, now: Instant, id: u64) {
        self.advance(now);
        self.calls.unpark(&self.env, id);
    }

    /// Client: drops the cached results that may depend on who asked for them.
    pub(crate) fn forget_private_results(&mut self) {
        if self.env.limits().cache_bytes_max > 0 {
            self.cache.forget_private();
        }
    }

    /// Client: requests the list of tools, from `cursor`, for the transport itself. Returns the
    /// wire id of the request, or `None` if the server offers no tools.
    pub(crate) fn list_tools(&mut self, now: Instant, cursor: Option<&[u8]>) -> Option<u64> {
        self.advance(now);
        let Self { env, calls, .. } = self;
        if !env.allows().traffic {
            return None;
        }
        let mut params = Vec::new();
        if let Some(cursor) = cursor {
            let mut object = Object::begin(&mut params);
            object.raw("cursor", cursor);
            object.end();
        }
        let rule = env.own_call_rule(Some(MethodId::ListTools), &params).ok()?;
        let wait = CallOptions::default().wait_for(rule, env.limits());
        let call = NewCall::own(MethodId::ListTools, rule, &params, Owner::ToolList, wait);
        Some(calls.send(env, call))
    }

    /// Client: sends our request `id` again. Returns its new wire id, or `None` if it cannot be
    /// sent again.
    pub(crate) fn send_again(&mut self, now: Instant, id: u64) -> Option<u64> {
        self.advance(now);
        self.calls.send_again(&mut self.env, id)
    }

    /// Reports a violation that the transport detected.
    pub(crate) fn report(&mut self, now: Instant, detail: Cow<'static, str>) {
        self.handle_input(now, |this| this.env.violation(ViolationKind::HttpExchange, detail));
    }

    /// Closes the connection because the transport failed.
    pub(crate) fn fail(&mut self, now: Instant, fault: Fault) {
        self.advance(now);
        self.fault(fault);
    }
}
