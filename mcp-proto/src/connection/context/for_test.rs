//! Test helpers for parts: an `Env` without a connection, and access to its queues.

use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::super::lifecycle::phase::Phase;
use super::Env;
use crate::limits::Limits;
use crate::meta::MetaWriter;
use crate::revision::{Revision, Side};
use crate::time::Instant;
use crate::vocabulary::{Event, Identity, Peer};

impl Env {
    /// Returns the environment of a connection in `Phase::Ready`; a modern server has no peer.
    pub(crate) fn for_test(side: Side, limits: Limits, revision: Revision) -> Self {
        let identity = Arc::new(Identity::for_test(side, limits, &[revision]));
        let meta = Arc::new(MetaWriter::of(&identity, side));
        let mut env = Self::new(side, Instant::ZERO, identity, meta);
        if side == Side::Client || !revision.is_modern() {
            env.terms.peer = Some(Peer::for_test(side.other(), revision));
            env.terms.phase = Phase::Ready;
        }
        env
    }

    /// Sets the time to `millis` after the epoch.
    pub(crate) fn at(&mut self, millis: u64) {
        self.now = Instant::from_millis(millis);
    }

    /// Takes the queued messages as text.
    pub(crate) fn sent(&mut self) -> Vec<String> {
        let mut sent = Vec::new();
        while let Some(outgoing) = self.out.poll() {
            sent.push(core::str::from_utf8(outgoing.body).unwrap().to_string());
        }
        sent
    }

    /// Takes the queued events.
    pub(crate) fn take_events(&mut self) -> Vec<Event> {
        core::iter::from_fn(|| self.events.pop(0)).collect()
    }
}
