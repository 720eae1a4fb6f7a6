//! What all parts of a connection share: the time, the configuration, what is agreed with the peer,
//! and the queues.
//!
//! A part receives an [`Env`] with each call and owns everything else that it knows. What a part
//! cannot do itself it leaves to the router, as an [`Effect`].

use alloc::borrow::Cow;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::convert::Infallible;

use super::lifecycle::phase::{Allowed, Phase};
use super::pending_calls::Owner;
use crate::connection::violations::Violations;
use crate::error::{Misuse, Unencodable};
use crate::json::Raw;
use crate::limits::Limits;
use crate::meta::MetaWriter;
use crate::method::MethodId;
use crate::queues::{Draft, Events, Outbound};
use crate::revision::{Era, Revision, Rules, Side};
use crate::rpc;
use crate::schema::Level;
use crate::time::Instant;
use crate::vocabulary::{
    CallError, CallId, Event, Fault, Identity, IncomingId, OutgoingKind, Peer, Route, StreamId,
    Violation, ViolationKind,
};

/// What a part receives with each call.
#[derive(Debug)]
pub(crate) struct Env {
    pub(super) side: Side,
    /// The time of the input or command that is being handled. Never goes back.
    pub(super) now: Instant,
    pub(super) identity: Arc<Identity>,
    pub(super) terms: Terms,
    pub(super) out: Outbound,
    pub(super) events: Events,
    pub(super) violations: Violations,
    pub(super) effects: Vec<Effect>,
    /// Params that are being written; empty between calls, kept for its memory.
    pub(super) scratch: Vec<u8>,
}

/// What is agreed with the peer, or will be.
#[derive(Debug)]
pub(crate) struct Terms {
    pub(super) phase: Phase,
    pub(super) peer: Option<Arc<Peer>>,
    /// The revision to speak until one is agreed on.
    pub(super) trying: Revision,
    /// Writes the `_meta` of modern messages.
    pub(super) meta: Arc<MetaWriter>,
    /// The threshold for log messages. Server: as the session's client set it. Client: as each
    /// request says.
    pub(super) log_level: Option<Level>,
}

/// What a part leaves to the router.
#[derive(Debug)]
pub(crate) enum Effect {
    /// A call has ended. `questions` are those of the server that the application still had to
    /// answer for it.
    Ended {
        call: CallId,
        owner: Owner,
        questions: Vec<IncomingId>,
        outcome: Result<Raw, CallError>,
    },
    /// The connection cannot go on.
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
            out: Outbound::default(),
            events: Events::default(),
            violations: Violations::new(&identity.limits),
            effects: Vec::new(),
            scratch: Vec::new(),
            identity,
        }
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.identity.limits
    }

    /// The revision that was agreed on, or the one that is tried.
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

    /// Whether this side serves a client without a handshake.
    pub(super) fn serves_modern(&self) -> bool {
        self.side == Side::Server && self.identity.newest(Era::Modern).is_some()
    }

    /// Whether this side is a server whose clients need no handshake, and none was made.
    pub(super) fn has_no_session(&self) -> bool {
        self.terms.peer.is_none() && self.identity.newest(Era::Modern).is_some()
    }

    /// Succeeds if `allowed`; otherwise says why the phase forbids it.
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

    /// Reports a broken rule, and ends the connection when it was one too many.
    pub(super) fn violation(&mut self, kind: ViolationKind, detail: impl Into<Cow<'static, str>>) {
        self.events.push(Event::Violation(Violation { kind, detail: detail.into() }));
        if let Some(fault) = self.violations.record(self.identity.policy, &self.identity.limits) {
            self.effects.push(Effect::Fault(fault));
        }
    }

    /// Reports a notification whose params are wrong.
    pub(super) fn bad_notification(&mut self, method: &str, why: &str) {
        // The name is the peer's: enough of it to recognise.
        let name: alloc::string::String = method.chars().take(64).collect();
        self.violation(ViolationKind::BadNotification, alloc::format!("{name}: {why}"));
    }

    /// Queues one message: the only way out of a connection. `write` returns where its params
    /// begin.
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

    /// Queues a notification of the protocol, whose params cannot fail to be written.
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
        // Before the connection is open there is nothing but pings, which are over soon enough.
        if self.terms.phase == Phase::Opening {
            return;
        }
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

    /// Queues the params of a progress notification.
    pub(super) fn send_progress(&mut self, stream: StreamId, params: &[u8]) {
        self.notify(Route::Stream(stream), MethodId::Progress, |out| {
            out.extend_from_slice(params);
            Ok(())
        });
    }

    /// Queues the end of a stream, for now or, if it is the last, for ever.
    pub(super) fn end_stream(&mut self, stream: StreamId, last: bool) {
        if self.terms.phase != Phase::Closed {
            let revision = self.revision();
            self.out.end_stream(Route::Stream(stream), last, revision);
        }
    }

    /// Queues a message that cannot fail to be written.
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
