//! State shared by all parts of a connection: time, configuration, negotiated terms and queues.
//!
//! Each call to a part passes an [`Env`]; all other state is private to the part. Actions that
//! involve other parts are left to the router: in the return value, or queued as an [`Effect`].

use alloc::borrow::Cow;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::convert::Infallible;

use super::lifecycle::phase::{Allowed, Phase};
use super::pending_calls::call::Owner;
use crate::connection::violations::Violations;
use crate::error::{Misuse, Unencodable};
use crate::json::Raw;
use crate::limits::Limits;
use crate::meta::MetaWriter;
use crate::method::MethodId;
use crate::permissions;
use crate::printable::printable;
use crate::queues::{Draft, Events, Outbound};
use crate::revision::{Era, MethodRule, Revision, Rules, Side};
use crate::rpc;
use crate::schema::Level;
use crate::time::Instant;
use crate::vocabulary::{
    CallError, CallId, Event, Fault, Filter, Identity, IncomingId, OutgoingKind, Peer, Route,
    StreamId, Violation, ViolationKind,
};

/// The environment passed to every call of a part.
#[derive(Debug)]
pub(crate) struct Env {
    side: Side,
    /// The time of the current input or command; monotonic.
    pub(super) now: Instant,
    pub(super) identity: Arc<Identity>,
    pub(super) terms: Terms,
    pub(super) out: Outbound,
    pub(super) events: Events,
    pub(super) violations: Violations,
    pub(super) effects: Vec<Effect>,
    /// Scratch buffer for params; empty between calls, reused to avoid allocation.
    pub(super) scratch: Vec<u8>,
}

/// The terms negotiated with the peer.
#[derive(Debug)]
pub(crate) struct Terms {
    pub(super) phase: Phase,
    pub(super) peer: Option<Arc<Peer>>,
    /// The proposed revision, used until one is negotiated.
    pub(super) trying: Revision,
    /// Writes the `_meta` of modern messages.
    pub(super) meta: Arc<MetaWriter>,
    /// The log level threshold. Server: set by the session's client. Client: sent with each modern
    /// request.
    pub(super) log_level: Option<Level>,
}

/// An action for the router that can arise anywhere in a part, so it is queued and not returned.
#[derive(Debug)]
pub(crate) enum Effect {
    /// A call has ended that is not the application's, or that has `questions`: those of the server
    /// that are still open.
    Ended {
        call: CallId,
        owner: Owner,
        questions: Vec<IncomingId>,
        outcome: Result<Raw, CallError>,
    },
    /// The connection must close.
    Fault(Fault),
}

impl Env {
    pub(super) fn new(
        side: Side,
        now: Instant,
        identity: Arc<Identity>,
        meta: Arc<MetaWriter>,
    ) -> Self {
        Self {
            side,
            now,
            terms: Terms {
                phase: Phase::Opening,
                peer: None,
                trying: identity.preferred(),
                meta,
                log_level: None,
            },
            out: Outbound::new(&identity.limits),
            events: Events::default(),
            violations: Violations::new(&identity.limits),
            effects: Vec::new(),
            scratch: Vec::new(),
            identity,
        }
    }

    /// Returns this side of the connection. A constant if only one role is enabled, so that the
    /// compiler removes the code of the other.
    pub(super) const fn side(&self) -> Side {
        match (cfg!(feature = "client"), cfg!(feature = "server")) {
            (true, false) => Side::Client,
            (false, true) => Side::Server,
            _ => self.side,
        }
    }

    /// Returns the rule of a call that the connection makes by itself, or `None` for a method that
    /// no revision defines.
    ///
    /// # Errors
    /// Fails unless the revision and the capabilities of the peer allow the call.
    pub(super) fn own_call_rule(
        &self,
        method: Option<MethodId>,
        params: &[u8],
    ) -> Result<Option<&'static MethodRule>, Misuse> {
        let theirs = self.terms.peer.as_deref();
        permissions::outgoing_call(self.side(), self.revision(), method, params, theirs, true)
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.identity.limits
    }

    /// Returns the negotiated revision, or the proposed one.
    pub(super) fn revision(&self) -> Revision {
        self.terms.peer.as_ref().map_or(self.terms.trying, |peer| peer.revision)
    }

    pub(super) fn rules(&self) -> &'static Rules {
        self.revision().rules()
    }

    pub(super) fn era(&self) -> Era {
        self.rules().era
    }

    pub(super) fn phase(&self) -> Phase {
        self.terms.phase
    }

    pub(super) fn allows(&self) -> &'static Allowed {
        self.terms.phase.allows()
    }

    /// Returns whether this side is a server that accepts modern requests (no handshake).
    pub(super) fn serves_modern(&self) -> bool {
        self.side() == Side::Server && self.identity.newest(Era::Modern).is_some()
    }

    /// Returns whether this side supports the modern era and no peer has been negotiated.
    pub(super) fn has_no_session(&self) -> bool {
        self.terms.peer.is_none() && self.identity.newest(Era::Modern).is_some()
    }

    /// Parses the filter of a subscription in `revision`, with the listen keys of our extensions.
    /// Returns `None` if a member has the wrong type.
    pub(super) fn read_filter(&self, filter: &[u8], revision: Revision) -> Option<Filter> {
        let Identity { extensions, limits, .. } = &*self.identity;
        let max = limits.subscription_uris_max;
        Filter::read(filter, max)?.with_elements(filter, max, extensions, revision)
    }

    /// Fails unless `allowed`, with the error that fits the phase.
    pub(super) fn require(&self, allowed: bool) -> Result<(), Misuse> {
        match self.terms.phase {
            _ if allowed => Ok(()),
            Phase::Closed | Phase::Draining => Err(Misuse::Closed),
            Phase::Opening | Phase::Greeted | Phase::Ready => Err(Misuse::NotReady),
        }
    }

    /// Fails unless there is room for new traffic on `route`.
    pub(super) fn require_room(&self, route: Route) -> Result<(), Misuse> {
        self.out.require_room(route, self.limits())
    }

    #[inline]
    pub(super) fn emit(&mut self, event: Event) {
        self.events.push(event);
    }

    /// Reports a violation, and queues a fault if the policy or the limit demands it.
    pub(super) fn violation(&mut self, kind: ViolationKind, detail: impl Into<Cow<'static, str>>) {
        self.events.push(Event::Violation(Violation { kind, detail: detail.into() }));
        if let Some(fault) = self.violations.record(self.identity.policy, &self.identity.limits) {
            self.effects.push(Effect::Fault(fault));
        }
    }

    /// Reports a notification with invalid params.
    pub(super) fn bad_notification(&mut self, method: &str, why: &str) {
        // The name comes from the peer, so it is truncated.
        let name = printable(method.as_bytes(), 64);
        self.violation(ViolationKind::BadNotification, alloc::format!("{name}: {why}"));
    }

    /// Queues one message, unless the connection is closed. `write` returns the offset of the
    /// params.
    #[inline]
    pub(super) fn send<E>(
        &mut self,
        draft: Draft,
        write: impl FnOnce(&mut Vec<u8>) -> Result<Option<usize>, E>,
    ) -> Result<(), E> {
        if self.terms.phase == Phase::Closed {
            return Ok(());
        }
        let revision = self.revision();
        self.out.append(draft, revision, self.now, &self.identity.limits, write)
    }

    /// Queues a protocol notification; `params` must not fail.
    pub(super) fn notify(
        &mut self,
        route: Route,
        method: MethodId,
        params: impl FnOnce(&mut Vec<u8>) -> Result<(), Unencodable>,
    ) {
        let draft = Draft::new(route, OutgoingKind::Notification(method.into()));
        let _infallible = self.send(draft, |out| rpc::notification(out, method.name(), params));
    }

    /// Queues a cancellation of our request `id`.
    pub(super) fn send_cancel(&mut self, route: Route, id: u64, reason: &str) {
        // While opening, only pings can be cancelled, and they time out soon.
        if self.terms.phase == Phase::Opening {
            return;
        }
        // CAN-08: with the reason, for logs. CAN-11: also in the modern era, except over HTTP.
        let draft = Draft::new(route, OutgoingKind::Cancel { id });
        let _infallible = self.send(draft, |out| {
            rpc::notification(out, MethodId::Cancelled.name(), |out| {
                let mut params = crate::json::Object::begin(out);
                crate::json::write_u64(params.key("requestId"), id);
                if !reason.is_empty() {
                    params.str("reason", reason);
                }
                params.end();
                Ok(())
            })
        });
    }

    /// Queues a progress notification with encoded `params`.
    pub(super) fn send_progress(&mut self, stream: StreamId, params: &[u8]) {
        self.notify(Route::Stream(stream), MethodId::Progress, |out| {
            out.extend_from_slice(params);
            Ok(())
        });
    }

    /// Queues the end of a stream: for good if `last`, otherwise the client may reconnect.
    pub(super) fn end_stream(&mut self, stream: StreamId, last: bool) {
        if self.terms.phase != Phase::Closed {
            let revision = self.revision();
            self.out.end_stream(Route::Stream(stream), last, revision);
        }
    }

    /// Queues a message whose encoding cannot fail.
    pub(super) fn send_infallible(
        &mut self,
        draft: Draft,
        write: impl FnOnce(&mut Vec<u8>) -> Option<usize>,
    ) {
        let Ok(()) = self.send(draft, |out| Ok::<_, Infallible>(write(out)));
    }
}

#[cfg(test)]
pub(super) mod for_test;
