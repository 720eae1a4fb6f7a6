//! The life of a connection: how it opens, what was agreed, and how it ends.
//!
//! [`phase`] is the machine; [`probe`] and [`handshake`] decide what opening messages mean.

pub(crate) mod handshake;
mod next;
pub(crate) mod phase;
pub(crate) mod probe;

use alloc::boxed::Box;
use alloc::string::ToString;

use super::context::Env;
use crate::json::Raw;
use crate::revision::{Era, Revision};
use crate::rpc::ErrorObject;
use crate::time::Instant;
use crate::vocabulary::{CallError, Close, Fault, Identity};

pub(crate) use next::Next;
use phase::Phase;
use probe::Probing;

/// How a connection opens and ends.
#[derive(Debug, Default)]
pub(crate) struct Lifecycle {
    probing: Probing,
    /// Why the connection is ending, once it is.
    end: Option<Box<Close>>,
    /// Server: when requests may no longer be answered.
    drain_due: Option<Instant>,
}

impl Lifecycle {
    /// Client: the first message. (LIF-01, LIF-26, LIF-32)
    pub(crate) fn open(identity: &Identity) -> Next {
        let limits = &identity.limits;
        let expects_legacy = identity.expects(Era::Legacy);
        match (identity.newest(Era::Modern), identity.newest(Era::Legacy)) {
            (Some(revision), None) => Next::Probe(revision, limits.handshake_timeout),
            (Some(revision), _) if !expects_legacy => Next::Probe(revision, limits.probe_timeout),
            (_, Some(revision)) => Next::Initialize(revision),
            (None, None) => Next::Fault(Fault::NothingToOffer),
        }
    }

    /// A probe is sent in `revision`.
    pub(crate) fn on_probe_sent(&mut self, revision: Revision) {
        self.probing.sent(revision);
    }

    /// Client: `server/discover` was answered, or is not going to be.
    pub(crate) fn on_discovered(&mut self, env: &Env, outcome: Result<Raw, CallError>) -> Next {
        let identity = &env.identity;
        if matches!(outcome, Err(CallError::TimedOut)) {
            self.probing.timed_out();
        } else {
            self.probing.answered();
        }
        let answer = probe::Answer::of(outcome, &identity.limits);
        self.probing.next(answer, identity, env.terms.trying)
    }

    /// Client: `initialize` was answered. Capabilities count only from a good answer. (T-42)
    pub(crate) fn on_initialized(&mut self, env: &Env, outcome: Result<Raw, CallError>) -> Next {
        match outcome {
            Ok(result) => handshake::read_welcome(&result, &env.identity),
            Err(CallError::Refused(error)) => self.on_initialize_refused(&env.identity, error),
            Err(CallError::TimedOut) => Next::Fault(Fault::HandshakeTimedOut),
            Err(error @ (CallError::Http { .. } | CallError::Lost | CallError::Unsent)) => {
                Next::Fault(Fault::Unopened(error))
            }
            Err(other) => Next::Fault(Fault::BadHandshake(other.to_string().into())),
        }
    }

    /// `initialize` was refused: unless a probe was answered before, the server may be modern.
    /// (LIF-31)
    fn on_initialize_refused(&mut self, identity: &Identity, error: ErrorObject) -> Next {
        match identity.newest(Era::Modern).filter(|_| self.probing.take_last_chance()) {
            Some(revision) => Next::Probe(revision, identity.limits.handshake_timeout),
            None => Next::Fault(Fault::Refused(error)),
        }
    }

    /// Returns whether an error that names no request belongs to a probe that was given up; once.
    pub(crate) fn takes_late_refusal(&mut self) -> bool {
        self.probing.take_late()
    }

    /// Each message finds its own way to the server.
    pub(crate) fn over_exchanges(&mut self) {
        self.probing.over_exchanges();
    }

    /// The server forgot the session: its era is known.
    pub(crate) fn restart(&mut self) {
        self.probing.settled();
    }

    /// Client: what to connect with after the server went away at the probe. (T-36)
    pub(crate) fn fallback(&self, env: &Env) -> Option<Identity> {
        let went_away = self.closed(env.phase()) == Some(&Close::Peer) && env.terms.peer.is_none();
        let at_the_probe = env.terms.trying.is_modern() && !self.probing.is_certain();
        if !(went_away && at_the_probe && env.identity.newest(Era::Legacy).is_some()) {
            return None;
        }
        let mut identity = Identity::clone(&env.identity);
        identity.revisions.retain(|revision| !revision.is_modern());
        Some(identity)
    }

    /// The connection is ending, for this reason if there was none before.
    pub(crate) fn begin_end(&mut self, why: Close) {
        if self.end.is_none() {
            self.end = Some(Box::new(why));
        }
    }

    /// The connection is over because of a fault.
    pub(crate) fn fault(&mut self, fault: Fault) {
        self.end = Some(Box::new(Close::Fault(fault)));
    }

    /// Why the connection is over, once it is.
    pub(crate) fn closed(&self, phase: Phase) -> Option<&Close> {
        self.end.as_deref().filter(|_| phase == Phase::Closed)
    }

    /// Why the connection is ending.
    pub(crate) fn reason(&self) -> Close {
        self.end.as_deref().cloned().unwrap_or(Close::Local)
    }

    pub(crate) fn set_drain(&mut self, due: Option<Instant>) {
        self.drain_due = due;
    }

    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.drain_due
    }

    /// Returns whether the time to drain is up; once.
    pub(crate) fn take_due(&mut self, now: Instant) -> bool {
        self.drain_due.take_if(|due| *due <= now).is_some()
    }
}

#[cfg(test)]
mod tests;
