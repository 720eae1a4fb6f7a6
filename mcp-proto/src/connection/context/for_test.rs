//! What the unit tests of the parts share: an `Env` without a connection, and its queues as text.

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
    /// The environment of a connection that is ready. A modern server has no session.
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

    /// Moves the time to so many milliseconds after the epoch.
    pub(crate) fn at(&mut self, millis: u64) {
        self.now = Instant::from_millis(millis);
    }

    /// Takes the messages to send.
    pub(crate) fn sent(&mut self) -> Vec<String> {
        let mut sent = Vec::new();
        while let Some(outgoing) = self.out.poll() {
            sent.push(core::str::from_utf8(outgoing.body).unwrap().to_string());
        }
        sent
    }

    /// Takes the events.
    pub(crate) fn told(&mut self) -> Vec<Event> {
        core::iter::from_fn(|| self.events.pop()).collect()
    }
}
