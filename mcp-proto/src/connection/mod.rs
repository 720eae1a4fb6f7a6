//! One connection: a router over parts that own their state.
//!
//! [`Connection`] decodes a message, selects the part that handles it ([`dispatch`]), calls that
//! part with the [`Env`] (time, configuration, negotiated terms, queues), and acts on what the part
//! returns and on the [`Effect`]s that it queued. Parts never access each other. Differences
//! between the eras are confined to [`eras`].

mod commands;
mod context;
mod dispatch;
mod eras;
mod inbound;
mod input_required;
mod keep_alive;
mod lifecycle;
mod opening;
mod pending_calls;
mod receive;
mod subscribing;
mod subscriptions;
mod transport;
mod violations;

use alloc::sync::Arc;

use crate::cache::Cache;
use crate::collections::LazyBox;
use crate::json::Raw;
use crate::limits::Limits;
use crate::meta::{ContextCache, MetaWriter};
use crate::method::MethodId;
use crate::permissions;
use crate::revision::{Revision, Side};
use crate::rpc::ErrorObject;
use crate::schema::Level;
use crate::time::{Instant, sooner};
use crate::vocabulary::{
    CallError, CallId, Caller, CloseReason, Event, Fault, Identity, IncomingId, Peer,
};

use context::{Effect, Env};
use inbound::{Inbound, Responded};
use keep_alive::KeepAlive;
use lifecycle::Lifecycle;
use lifecycle::phase::{Phase, Trigger};
use pending_calls::{Answered, Owner, PendingCalls};
use subscriptions::client::Subscriptions;
use subscriptions::server::Subscribers;

/// One connection of either role; owns all parts.
#[derive(Debug)]
pub(crate) struct Connection {
    env: Env,
    lifecycle: Lifecycle,
    keep_alive: KeepAlive,
    /// Server: the latest per-request context, cached because the next one is usually equal.
    contexts: ContextCache,
    calls: PendingCalls,
    inbound: Inbound,
    /// Client: its subscriptions to the server's changes.
    subscriptions: LazyBox<Subscriptions>,
    /// Server: the client's subscriptions to changes.
    subscribers: LazyBox<Subscribers>,
    cache: LazyBox<Cache>,
}

impl Connection {
    pub(crate) fn new(
        side: Side,
        now: Instant,
        identity: Arc<Identity>,
        meta: Arc<MetaWriter>,
    ) -> Self {
        Self {
            env: Env::new(side, now, identity, meta),
            lifecycle: Lifecycle::default(),
            keep_alive: KeepAlive::default(),
            contexts: ContextCache::default(),
            calls: PendingCalls::default(),
            inbound: Inbound::default(),
            subscriptions: LazyBox::default(),
            subscribers: LazyBox::default(),
            cache: LazyBox::default(),
        }
    }

    pub(crate) fn peer(&self) -> Option<&Arc<Peer>> {
        self.env.terms.peer.as_ref()
    }

    pub(crate) fn log_level(&self) -> Option<Level> {
        self.env.terms.log_level
    }

    pub(crate) fn limits(&self) -> &Limits {
        self.env.limits()
    }

    /// Sets the sender of the requests that arrive from now on.
    pub(crate) fn set_caller(&mut self, caller: Option<Arc<Caller>>) {
        self.inbound.set_caller(caller);
    }

    /// Client: sets the request on whose stream the messages arrive from now on, if it is known.
    pub(crate) fn set_stream_request(&mut self, id: Option<u64>) {
        self.inbound.stream_call = id.and_then(|id| self.call_of(id));
    }

    /// Returns the negotiated revision, or the proposed one until the peer is known.
    pub(crate) fn revision(&self) -> Revision {
        self.env.revision()
    }

    #[inline]
    pub(crate) fn poll_event(&mut self) -> Option<Event> {
        let idle_bytes_max = self.limits().idle_bytes_max;
        if idle_bytes_max == 0 && self.env.events.is_empty() {
            self.shrink();
        }
        self.env.events.pop(idle_bytes_max)
    }

    #[inline]
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        let timers = sooner(self.lifecycle.next_deadline(), self.keep_alive.next_deadline());
        sooner(sooner(self.calls.table().next_deadline(), timers), self.env.out.next_deadline())
    }

    /// Returns why the connection closed, or `None` while it is open or draining.
    pub(crate) fn closed(&self) -> Option<&CloseReason> {
        self.lifecycle.closed(self.env.phase())
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.env.phase() == Phase::Closed
    }

    #[inline]
    pub(crate) fn wants_input(&self) -> bool {
        let Env { events, out, .. } = &self.env;
        let limits = self.env.limits();
        self.env.allows().input
            && events.len() < limits.events_max
            && events.bytes() <= limits.events_bytes_max
            && out.may_reply(|| self.calls.table().len() > 0, limits)
    }

    /// Begins an input or a command. Deferred progress goes first, as at a poll, so that additional
    /// polls change nothing.
    // T-61: time never goes backwards; an earlier `now` is ignored.
    fn advance(&mut self, now: Instant) {
        self.inbound.send_deferred(&mut self.env);
        self.env.now = self.env.now.max(now);
    }

    pub(crate) fn handle_eof(&mut self, now: Instant) {
        self.advance(now);
        self.finish(CloseReason::Peer);
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        self.advance(now);
        while let Some(id) = self.calls.table().overdue(self.env.now) {
            let peer_waits = eras::peer_may_be_waiting(&self.env, &self.inbound);
            self.calls.expire(&mut self.env, id, peer_waits);
            self.settle();
        }
        if self.lifecycle.take_due(self.env.now) {
            self.step(Trigger::Idle);
        }
        if self.keep_alive.take_due(&self.env) {
            let timeout = self.env.limits().ping_timeout;
            let Self { env, calls, .. } = self;
            calls.send_raw(env, Owner::KeepAlive, MethodId::Ping, timeout, |_, _| Ok(()));
            self.keep_alive.arm(&self.env);
        }
        let Env { out, identity, now, .. } = &mut self.env;
        if out.has_stalled(*now, &identity.limits) {
            self.fault(Fault::Stalled);
        }
    }

    /// Applies the effects that parts have queued.
    #[inline]
    fn settle(&mut self) {
        while !self.env.effects.is_empty() {
            for effect in core::mem::take(&mut self.env.effects) {
                match effect {
                    Effect::Ended { call, owner, questions, outcome } => {
                        self.inbound.withdraw_questions(&mut self.env, &questions);
                        self.on_ended(call, owner, outcome);
                    }
                    Effect::Fault(fault) => self.fault(fault),
                }
            }
        }
    }

    /// Reports the outcome of a call to its owner.
    fn on_ended(&mut self, call: CallId, owner: Owner, outcome: Result<Raw, CallError>) {
        match owner {
            Owner::Application => self.env.emit(Event::Completed { call, outcome }),
            Owner::KeepAlive if matches!(outcome, Err(CallError::TimedOut)) => {
                if self.keep_alive.on_missed(&self.env) {
                    self.fault(Fault::Unresponsive);
                }
            }
            Owner::KeepAlive => self.keep_alive.on_sign_of_life(),
            Owner::Question(incoming, index) => {
                if let Some(error) = self.inbound.on_answer(&mut self.env, incoming, index, outcome)
                {
                    self.calls.withdraw_questions(&mut self.env, incoming);
                    let _stale = self.refuse_delivered(incoming, error);
                    self.env.emit(Event::RequestCancelled { incoming, reason: None });
                }
            }
            // Only clients make the calls below.
            _ if self.env.side() == Side::Server => {}
            Owner::Listen => {
                let ended = self.subscriptions.allocated_mut().map(|it| it.remove(&self.env, call));
                if let Some(filter) = ended.flatten() {
                    eras::on_subscription_ended(&self.env, &mut self.subscriptions, &filter);
                }
                self.send_subscriptions();
                self.env.emit(Event::Completed { call, outcome });
            }
            Owner::Handshake => {
                let next = self.lifecycle.on_initialized(&self.env, outcome);
                self.proceed(owner, next);
            }
            Owner::Probe if self.env.phase() == Phase::Ready => {
                if let Some(next) = self.lifecycle.on_probed_again(&self.env, outcome) {
                    self.reopen(next);
                }
            }
            Owner::Probe => {
                let next = self.lifecycle.on_discovered(&self.env, outcome);
                self.proceed(owner, next);
            }
            Owner::Subscribe => {
                self.subscriptions.on_subscribed(&mut self.env, call.0, outcome.is_ok());
                self.send_subscriptions();
            }
            // The transport has read the response.
            Owner::ToolList => {}
            Owner::Unsubscribe => {
                self.subscriptions.on_unsubscribed(call.0);
                self.send_subscriptions();
            }
        }
    }

    /// Handles the response to an in-flight request, given by its wire id and owner.
    #[inline]
    fn on_response(
        &mut self,
        request: (u64, Owner),
        kind: Option<&str>,
        outcome: Result<Raw, CallError>,
    ) {
        let Self { env, calls, cache, .. } = self;
        let (now, bytes_max) = (env.now, env.limits().cache_bytes_max);
        let is_client = env.side() == Side::Client;
        let answered = calls.on_response(env, request, kind, outcome, |call, outcome| {
            if let Some(place) = call.take_cache_as().filter(|_| is_client) {
                let is_first = call.retry().is_none_or(|retry| retry.rounds == 0);
                cache.on_completed(place, outcome, is_first, now, bytes_max);
            }
        });
        if let Answered::InputRequired { id, call, round } = answered {
            match self.inbound.deliver_questions(&mut self.env, call, &round) {
                Ok(asked) => self.calls.gather(&mut self.env, id, round, &asked),
                Err(error) => self.calls.fail(&mut self.env, id, error),
            }
        }
    }

    /// Responds with an error to a delivered request or to a question of the server.
    fn refuse_delivered(
        &mut self,
        incoming: IncomingId,
        mut error: ErrorObject,
    ) -> Result<(), crate::Misuse> {
        let open = self.inbound.requests().get(incoming).ok_or(crate::Misuse::Stale)?;
        let rules = open.peer.revision.rules();
        error.code = rules.error_code(error.code);
        if !permissions::is_complete_error(&error, rules) {
            return Err(crate::Misuse::Unencodable);
        }
        match self.inbound.respond_error(&mut self.env, incoming, error)? {
            Responded::Request => self.on_request_ended(),
            Responded::Question { call, index, answer } => {
                self.calls.on_input(&mut self.env, call, index, Err(answer));
                self.settle();
            }
        }
        Ok(())
    }

    /// Resumes our deadlines and completes draining after an inbound request has ended.
    fn on_request_ended(&mut self) {
        if self.inbound.requests().is_empty() {
            self.calls.resume_deadlines(&self.env);
        }
        self.check_drained();
    }

    // CAN-03…07, CAN-09, CAN-13, CAN-19: ends an inbound request with an event, not a response.
    fn withdraw(&mut self, incoming: IncomingId, reason: Option<Raw>) {
        let Some(open) = self.inbound.remove(incoming) else { return };
        if open.asking().is_some() {
            self.calls.withdraw_questions(&mut self.env, incoming);
        }
        self.env.emit(Event::RequestCancelled { incoming, reason });
        self.inbound.close(&mut self.env, &open);
        if self.inbound.requests().is_empty() {
            self.calls.resume_deadlines(&self.env);
        }
    }

    /// Ends the connection; a server first drains its open requests.
    fn finish(&mut self, why: CloseReason) {
        // A peer that has closed its side still reads; closing this side ends that wait as well.
        let drain_timeout = match why {
            CloseReason::Peer => self.env.limits().eof_drain_timeout,
            CloseReason::Local | CloseReason::Fault(_) => self.env.limits().drain_timeout,
        };
        self.lifecycle.begin_end(why);
        self.step(Trigger::End);
        if self.env.phase() == Phase::Draining {
            self.lifecycle.drain_until(self.env.now + drain_timeout);
        }
    }

    fn fault(&mut self, fault: Fault) {
        if !self.is_closed() {
            self.lifecycle.fault(fault);
            self.step(Trigger::Fault);
        }
    }

    /// Moves to the phase that follows `trigger`, if any, and runs its entry actions.
    fn step(&mut self, trigger: Trigger) {
        let Some(next) = self.env.phase().next(self.env.side(), trigger) else { return };
        self.env.terms.phase = next;
        match next {
            Phase::Opening | Phase::Greeted => {}
            Phase::Ready => {
                if let Some(peer) = &self.env.terms.peer {
                    self.env.events.push(Event::Ready(Arc::clone(peer)));
                }
                self.keep_alive.arm(&self.env);
                self.calls.repeat_recovered(&mut self.env);
                self.send_held_questions();
            }
            Phase::Draining => {
                self.subscribers.take().end(&mut self.env);
                self.lose_calls(false);
                self.withdraw_held();
                self.stop_timers();
                self.check_drained();
            }
            Phase::Closed => {
                if let Some(subscribers) = self.subscribers.allocated_mut() {
                    subscribers.forget_watched(&mut self.env);
                }
                self.lose_calls(false);
                self.withdraw_all();
                self.stop_timers();
                self.env.emit(Event::Closed(self.lifecycle.reason()));
            }
        }
    }

    fn stop_timers(&mut self) {
        self.lifecycle.stop_drain();
        self.keep_alive.disarm();
        self.env.out.stop_stall_timer();
    }

    /// Closes a draining connection once no request is open.
    fn check_drained(&mut self) {
        if self.env.phase() == Phase::Draining && self.inbound.is_idle() {
            self.step(Trigger::Idle);
        }
    }

    fn withdraw_all(&mut self) {
        while let Some(incoming) = self.inbound.requests().first() {
            self.withdraw(incoming, None);
        }
        self.inbound.forget_batches();
    }

    /// Withdraws the requests whose questions were never sent, because they cannot be answered.
    fn withdraw_held(&mut self) {
        while let Some((incoming, _)) = self.inbound.next_held() {
            self.withdraw(incoming, None);
        }
    }

    /// Fails all calls, because no response can arrive any more, except those that wait for the
    /// next session if `is_reopening`.
    fn lose_calls(&mut self, is_reopening: bool) {
        let (lost, questions) = self.calls.lose_all(is_reopening);
        self.inbound.withdraw_questions(&mut self.env, &questions);
        for (call, owner, error) in lost {
            match owner {
                Owner::Application | Owner::Listen => self.on_ended(call, owner, Err(error)),
                // The request cannot be answered without the input it asked for.
                Owner::Question(incoming, _) => self.withdraw(incoming, None),
                Owner::Handshake
                | Owner::KeepAlive
                | Owner::Probe
                | Owner::Subscribe
                | Owner::ToolList
                | Owner::Unsubscribe => {}
            }
        }
    }
}

#[cfg(test)]
mod tests;
