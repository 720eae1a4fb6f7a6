//! Fixtures for the unit tests of a connection and its parts.

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;

use crate::limits::Limits;
use crate::revision::{CAPABILITIES, Revision, Side};
use crate::rpc::{self, Message, Params};
use crate::schema::{Capabilities, Implementation};
use crate::vocabulary::{Identity, Peer, ViolationPolicy};

impl Identity {
    /// Returns a configuration with all capabilities of `side` and with `revisions`.
    pub(crate) fn for_test(side: Side, limits: Limits, revisions: &[Revision]) -> Self {
        let own = CAPABILITIES.iter().filter(|rule| rule.side == side);
        Self {
            capabilities: own.fold(Capabilities::none(), |all, rule| all.with(rule.capability)),
            revisions: revisions.to_vec(),
            limits,
            ..Self::new("n", "1", ViolationPolicy::Ignore)
        }
    }
}

impl Peer {
    /// Returns a peer with all capabilities of `side`.
    pub(crate) fn for_test(side: Side, revision: Revision) -> Arc<Self> {
        Arc::new(Self {
            revision,
            info: Implementation::new("peer", "1"),
            capabilities: Identity::for_test(side, Limits::default(), &[revision]).capabilities,
            instructions: None,
        })
    }
}

/// Returns a notification with these params.
pub(crate) fn message(params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"m","params":{params}}}"#)
}

/// Decodes the params of a [`message`].
pub(crate) fn params_in(message: &str) -> Params<'_> {
    match rpc::decode_utf8(message.as_bytes(), 64, 64, &[]) {
        Ok(Message::Notification { params, .. }) => params,
        other => panic!("{message}: {other:?}"),
    }
}
