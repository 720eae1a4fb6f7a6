//! Opens the connection of a client, and a new session after the server has lost one.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::Connection;
use super::context::Env;
use super::lifecycle::phase::{Phase, Trigger};
use super::lifecycle::{Lifecycle, OpenAction, handshake};
use super::pending_calls::Owner;
use crate::collections::LazyBox;
use crate::json::TextWithMeta;
use crate::meta::MetaWriter;
use crate::method::MethodId;
use crate::revision::{Era, Revision, Side};
use crate::time::Instant;
use crate::vocabulary::{Identity, Peer, Route};

impl Connection {
    /// Client: sends the first request, or closes if no revision is configured.
    pub(crate) fn open(&mut self) {
        let next = Lifecycle::open(&self.env.identity);
        self.proceed(Owner::Probe, next);
    }

    /// Client: returns the configuration for reconnecting after the server exited on the probe.
    // T-36: some legacy servers exit on an unknown first request.
    pub(crate) fn fallback(&self) -> Option<Identity> {
        self.lifecycle.legacy_fallback(&self.env)
    }

    /// Client: returns the era to expect of the server when connecting again.
    // LIF-31: a guess is not remembered.
    pub(crate) fn era_to_expect(&self) -> Option<Era> {
        let revision = self.peer()?.revision;
        let is_known = revision.is_modern() || !self.lifecycle.has_guessed_era();
        is_known.then(|| revision.era())
    }

    /// Client: performs one action of opening the connection.
    pub(super) fn proceed(&mut self, owner: Owner, next: OpenAction) {
        match next {
            OpenAction::Agreed(peer) => self.agree(owner, peer),
            OpenAction::Fault(fault) => self.fault(fault),
            OpenAction::Initialize(revision) => {
                self.env.terms.trying = revision;
                let timeout = self.env.limits().handshake_timeout;
                let write =
                    |env: &Env, out: &mut Vec<u8>| handshake::write_initialize(env, revision, out);
                let Self { env, calls, .. } = self;
                calls.send_raw(env, Owner::Handshake, MethodId::Initialize, timeout, write);
            }
            OpenAction::Probe(revision, timeout) => {
                self.lifecycle.on_probe_sent(revision);
                self.try_modern(revision);
                let Self { env, calls, .. } = self;
                calls.send_raw(env, Owner::Probe, MethodId::Discover, timeout, |env, out| {
                    env.terms.meta.write_params(out, TextWithMeta::of(None), None, None);
                    Ok(())
                });
            }
        }
    }

    fn try_modern(&mut self, revision: Revision) {
        self.env.terms.trying = revision;
        self.env.terms.meta = Arc::new(MetaWriter::new(&self.env.identity, Side::Client, revision));
    }

    fn agree(&mut self, owner: Owner, peer: Peer) {
        // T-31: a modern revision in the `initialize` result means that no session was opened.
        if owner == Owner::Handshake && peer.revision.is_modern() {
            self.try_modern(peer.revision);
        }
        self.env.terms.peer = Some(Arc::new(peer));
        if owner == Owner::Handshake {
            self.env.notify(Route::Any, MethodId::Initialized, |_| Ok(()));
        }
        self.step(Trigger::Welcome);
    }

    /// Client: opens a new session after the server lost it. All calls fail, except requests that
    /// only read, which are sent again, once.
    // HTTP-34, T-71: the server answered 404 for the session id.
    pub(crate) fn handle_session_lost(&mut self, now: Instant) {
        self.advance(now);
        let legacy = self.env.identity.newest(Era::Legacy);
        if let Some(revision) = legacy.filter(|_| !self.revision().is_modern()) {
            self.reopen(OpenAction::Initialize(revision));
        }
    }

    /// Client: handles a response that a server of the negotiated era does not send. In a session,
    /// the era has changed, and the connection is opened again. Without one, the server is probed
    /// first, because anything on the way may have sent the response. A client without modern
    /// revisions opens a new session.
    // LIF-31: a probe follows when the assumption about the era fails.
    pub(crate) fn handle_era_refuted(&mut self, now: Instant) {
        self.advance(now);
        let Some(revision) = self.env.identity.newest(Era::Modern) else {
            return self.handle_session_lost(now);
        };
        if self.env.phase() != Phase::Ready {
            return;
        }
        if !self.revision().is_modern() {
            let timeout = self.env.limits().handshake_timeout;
            self.reopen(OpenAction::Probe(revision, timeout));
        } else if self.lifecycle.begin_probing_again() {
            let timeout = self.env.limits().probe_timeout;
            self.proceed(Owner::Probe, OpenAction::Probe(revision, timeout));
        }
    }

    /// Client: the status of the response to the probe, which follows, shows a modern server.
    // LIF-30, T-37: no fallback to `initialize`.
    #[allow(dead_code, reason = "used only by HTTP")]
    pub(crate) fn handle_modern_status(&mut self) {
        self.lifecycle.on_modern_status();
    }

    /// Client: ends everything that belongs to the session or the era, and continues with `next`.
    pub(super) fn reopen(&mut self, next: OpenAction) {
        let phase = self.env.phase().next(self.env.side(), Trigger::Forgotten);
        let Some(phase) = phase else { return };
        self.env.terms.phase = phase;
        self.calls.recover_all();
        self.lose_calls(true);
        self.withdraw_all();
        self.subscriptions = LazyBox::default();
        self.stop_timers();
        self.keep_alive.on_sign_of_life();
        self.env.terms.peer = None;
        self.env.terms.log_level = None;
        self.lifecycle.on_session_lost();
        // Queued messages belong to the lost session.
        self.env.out.clear();
        self.proceed(Owner::Handshake, next);
    }
}
