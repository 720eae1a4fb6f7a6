//! How a client opens its connection, and opens another session when the server has forgotten the
//! first.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::Connection;
use super::context::Env;
use super::lifecycle::phase::Trigger;
use super::lifecycle::{Lifecycle, Next, handshake};
use super::pending_calls::Owner;
use crate::collections::LazyBox;
use crate::meta::MetaWriter;
use crate::method::MethodId;
use crate::revision::{Era, Revision, Side};
use crate::time::Instant;
use crate::vocabulary::{Identity, Peer, Route};

impl Connection {
    /// Client: sends the first message.
    pub(crate) fn open(&mut self) {
        let next = Lifecycle::open(&self.env.identity);
        self.proceed(Owner::Probe, next);
    }

    /// Client: what to connect with after the server went away at the probe. (T-36)
    pub(crate) fn fallback(&self) -> Option<Identity> {
        self.lifecycle.fallback(&self.env)
    }

    /// Client: does what opening the connection takes next.
    pub(super) fn proceed(&mut self, owner: Owner, next: Next) {
        match next {
            Next::Agreed(peer) => self.agree(owner, peer),
            Next::Fault(fault) => self.fault(fault),
            Next::Initialize(revision) => {
                self.env.terms.trying = revision;
                let timeout = self.limits().handshake_timeout;
                let write =
                    |env: &Env, out: &mut Vec<u8>| handshake::write_initialize(env, revision, out);
                self.calls.send_raw(
                    &mut self.env,
                    Owner::Handshake,
                    MethodId::Initialize,
                    timeout,
                    write,
                );
            }
            Next::Probe(revision, timeout) => {
                self.lifecycle.on_probe_sent(revision);
                self.try_modern(revision);
                self.calls.send_raw(
                    &mut self.env,
                    Owner::Probe,
                    MethodId::Discover,
                    timeout,
                    |env, out| {
                        env.terms.meta.write_params(out, None, None, None);
                        Ok(())
                    },
                );
            }
        }
    }

    fn try_modern(&mut self, revision: Revision) {
        self.env.terms.trying = revision;
        self.env.terms.meta = Arc::new(MetaWriter::new(&self.env.identity, Side::Client, revision));
    }

    fn agree(&mut self, owner: Owner, peer: Peer) {
        // No session was opened, then: each message carries what it needs. (T-31)
        if owner == Owner::Handshake && peer.revision.is_modern() {
            self.try_modern(peer.revision);
        }
        self.env.terms.peer = Some(Arc::new(peer));
        if owner == Owner::Handshake {
            self.env.notify(Route::Any, MethodId::Initialized, |_| Ok(()));
        }
        self.step(Trigger::Welcome);
    }

    /// Client: the server has forgotten the session. Everything that belongs to it is over, and a
    /// new one is opened: nothing is repeated by itself. (HTTP-34, T-71)
    pub(crate) fn handle_session_lost(&mut self, now: Instant) {
        self.advance(now);
        let Some(revision) =
            self.env.identity.newest(Era::Legacy).filter(|_| !self.revision().is_modern())
        else {
            return;
        };
        let Some(next) = self.env.phase().next(self.env.side, Trigger::Forgotten) else { return };
        self.env.terms.phase = next;
        self.lose_calls();
        self.withdraw_all();
        self.subscriptions = LazyBox::default();
        self.stop_timers();
        self.keep_alive.on_sign_of_life();
        self.env.terms.peer = None;
        self.env.terms.log_level = None;
        self.lifecycle.restart();
        // All of it was meant for the session.
        self.env.out.clear();
        self.proceed(Owner::Handshake, Next::Initialize(revision));
    }
}
