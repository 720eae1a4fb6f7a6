//! What the unit tests of the parts share: an `Env` without a connection, and its queues as text.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::super::event::Event;
use super::super::identity::Identity;
use super::super::lifecycle::phase::Phase;
use super::super::meta_writer::MetaWriter;
use super::super::peer::Peer;
use super::super::violations::ViolationPolicy;
use super::Env;
use crate::limits::Limits;
use crate::revision::{CAPABILITIES, Revision, Side};
use crate::rpc::{self, Message, Params};
use crate::schema::{Capabilities, Implementation};
use crate::time::Instant;

impl Identity {
    /// A side that declares all of its capabilities and speaks `revisions`.
    pub(crate) fn for_test(side: Side, limits: Limits, revisions: &[Revision]) -> Self {
        let own = CAPABILITIES.iter().filter(|rule| rule.side == side);
        Self {
            info: Implementation::new("n", "1"),
            capabilities: own.fold(Capabilities::none(), |all, rule| all.with(rule.capability)),
            instructions: None,
            revisions: revisions.to_vec(),
            also_served: Vec::new(),
            limits,
            policy: ViolationPolicy::Ignore,
            takes_modern_welcome: false,
            expected: None,
            tells_info: true,
        }
    }
}

impl Peer {
    /// A peer that declares all of its capabilities.
    pub(crate) fn for_test(side: Side, revision: Revision) -> Arc<Self> {
        Arc::new(Self {
            revision,
            info: Implementation::new("peer", "1"),
            capabilities: Identity::for_test(side, Limits::default(), &[revision]).capabilities,
            instructions: None,
        })
    }
}

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

/// A message with these params.
pub(crate) fn message(params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"m","params":{params}}}"#)
}

/// The params of a [`message`].
pub(crate) fn params_in(message: &str) -> Params<'_> {
    match rpc::decode_utf8(message.as_bytes(), 64, 64) {
        Ok(Message::Notification { params, .. }) => params,
        other => panic!("{message}: {other:?}"),
    }
}
