//! The lifecycle of a connection: opening, draining and closing.
//!
//! [`phase`] is the state machine; [`probe`] and [`handshake`] interpret the opening messages.

pub(crate) mod handshake;
mod open_action;
pub(crate) mod phase;
pub(crate) mod probe;

use alloc::boxed::Box;
use alloc::string::ToString;

use super::context::Env;
use crate::json::Raw;
use crate::revision::{Era, Revision};
use crate::rpc::ErrorObject;
use crate::time::Instant;
use crate::vocabulary::{CallError, CloseReason, Fault, Identity};

pub(crate) use open_action::OpenAction;
use phase::Phase;
use probe::Probing;

type Outcome = Result<Raw, CallError>;

/// The state of opening and closing a connection.
#[derive(Debug, Default)]
pub(crate) struct Lifecycle {
    probing: Probing,
    /// Client: the server of the open connection is being probed.
    is_probing_again: bool,
    /// Why the connection is closing or closed.
    end: Option<Box<CloseReason>>,
    /// Server: when draining ends, even if requests are still open.
    drain_due: Option<Instant>,
}

impl Lifecycle {
    /// Client: returns the first action.
    // LIF-01, LIF-26, LIF-32: a probe, or `initialize` if the server is known to be legacy.
    pub(crate) fn open(identity: &Identity) -> OpenAction {
        let limits = &identity.limits;
        let expects_legacy = identity.expects(Era::Legacy);
        match (identity.newest(Era::Modern), identity.newest(Era::Legacy)) {
            (Some(revision), None) => OpenAction::Probe(revision, limits.handshake_timeout),
            (Some(revision), _) if !expects_legacy => {
                OpenAction::Probe(revision, limits.probe_timeout)
            }
            (_, Some(revision)) => OpenAction::Initialize(revision),
            (None, None) => OpenAction::Fault(Fault::NoRevisionConfigured),
        }
    }

    /// Records that a probe was sent in `revision`.
    pub(crate) fn on_probe_sent(&mut self, revision: Revision) {
        self.probing.on_sent(revision);
    }

    /// Client: handles the outcome of `server/discover`.
    pub(crate) fn on_discovered(&mut self, env: &Env, outcome: Outcome) -> OpenAction {
        let identity = &env.identity;
        self.probing.on_outcome(&outcome);
        let mut outcome = probe::ProbeOutcome::of(outcome, &identity.limits);
        if self.probing.take_modern_status() {
            outcome = outcome.without_fallback();
        }
        self.probing.next(outcome, identity, env.terms.trying)
    }

    /// Client: notes that the status of the response to the probe shows a modern server.
    #[allow(dead_code, reason = "used only by HTTP")]
    pub(crate) fn on_modern_status(&mut self) {
        self.probing.on_modern_status();
    }

    /// Client: handles the outcome of `initialize`.
    // T-42: capabilities are taken from a successful result only.
    pub(crate) fn on_initialized(&mut self, env: &Env, outcome: Outcome) -> OpenAction {
        match outcome {
            Ok(result) => handshake::read_welcome(&result, &env.identity),
            Err(CallError::Refused(error)) => self.on_initialize_refused(&env.identity, error),
            Err(CallError::TimedOut) => OpenAction::Fault(Fault::HandshakeTimedOut),
            Err(
                error @ (CallError::Http { .. }
                | CallError::Lost
                | CallError::Redirected { .. }
                | CallError::Unauthorized(_)
                | CallError::Unsent),
            ) => OpenAction::Fault(Fault::Unreachable(error)),
            Err(other) => OpenAction::Fault(Fault::BadHandshake(other.to_string().into())),
        }
    }

    // LIF-31: the server may be modern after all, unless a probe was answered.
    fn on_initialize_refused(&mut self, identity: &Identity, error: ErrorObject) -> OpenAction {
        match identity.newest(Era::Modern).filter(|_| self.probing.take_last_chance()) {
            Some(revision) => OpenAction::Probe(revision, identity.limits.handshake_timeout),
            None => OpenAction::Fault(Fault::Refused(error)),
        }
    }

    /// Returns, once, whether an error without an id may answer a probe that timed out.
    pub(crate) fn takes_late_refusal(&mut self) -> bool {
        self.probing.take_late()
    }

    /// Selects a transport of independent exchanges.
    pub(crate) fn use_exchanges(&mut self) {
        self.probing.use_exchanges();
    }

    /// Client: handles the outcome of a probe of the server of an open connection. Returns the
    /// action to replace the connection with, if the server has another era by now.
    // LIF-31: the assumption about the era has failed.
    pub(crate) fn on_probed_again(&mut self, env: &Env, outcome: Outcome) -> Option<OpenAction> {
        self.is_probing_again = false;
        if probe::says_nothing(&outcome) {
            return None;
        }
        let next = self.on_discovered(env, outcome);
        matches!(next, OpenAction::Initialize(_)).then_some(next)
    }

    /// Begins to probe the server of an open connection. Returns false if it is being probed.
    pub(crate) fn begin_probing_again(&mut self) -> bool {
        let begins = !self.is_probing_again;
        if begins {
            self.on_session_lost();
            self.is_probing_again = true;
        }
        begins
    }

    /// Returns whether the era of the server was guessed, because no probe reached it.
    pub(crate) fn has_guessed_era(&self) -> bool {
        self.probing.was_unavailable()
    }

    /// Notes that a session was lost: the server is expected to be legacy still.
    pub(crate) fn on_session_lost(&mut self) {
        self.probing.on_session_lost();
    }

    /// Client: returns the configuration for reconnecting after the server exited on the probe.
    // T-36: some legacy servers exit on an unknown first request.
    pub(crate) fn legacy_fallback(&self, env: &Env) -> Option<Identity> {
        let went_away =
            self.closed(env.phase()) == Some(&CloseReason::Peer) && env.terms.peer.is_none();
        // Some servers die of the probe only once `initialize` arrives, after the probe timed out.
        let may_have_been_the_probe = self.probing.is_unanswered();
        if !(went_away && may_have_been_the_probe && env.identity.newest(Era::Legacy).is_some()) {
            return None;
        }
        let mut identity = Identity::clone(&env.identity);
        identity.revisions.retain(|revision| !revision.is_modern());
        Some(identity)
    }

    /// Sets the reason for closing, unless one is set.
    pub(crate) fn begin_end(&mut self, why: CloseReason) {
        if self.end.is_none() {
            self.end = Some(Box::new(why));
        }
    }

    /// Sets a fault as the reason for closing.
    pub(crate) fn fault(&mut self, fault: Fault) {
        self.end = Some(Box::new(CloseReason::Fault(fault)));
    }

    /// Returns why the connection closed; `None` before `Phase::Closed`.
    pub(crate) fn closed(&self, phase: Phase) -> Option<&CloseReason> {
        self.end.as_deref().filter(|_| phase == Phase::Closed)
    }

    /// Returns the reason for closing.
    pub(crate) fn reason(&self) -> CloseReason {
        self.end.as_deref().cloned().unwrap_or(CloseReason::Local)
    }

    /// Ends draining at `due`, or earlier if that was set before.
    pub(crate) fn drain_until(&mut self, due: Instant) {
        self.drain_due = Some(self.drain_due.map_or(due, |before| before.min(due)));
    }

    pub(crate) fn stop_drain(&mut self) {
        self.drain_due = None;
    }

    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.drain_due
    }

    /// Returns, once, whether the drain timeout has expired.
    pub(crate) fn take_due(&mut self, now: Instant) -> bool {
        self.drain_due.take_if(|due| *due <= now).is_some()
    }
}

#[cfg(test)]
mod tests;
