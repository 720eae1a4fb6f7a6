//! The scope of a server over HTTP: a legacy session, or a single modern exchange.

use alloc::string::String;
use alloc::sync::Arc;

use super::event_id::session_tag;
use crate::http::redact::Redacted;
use crate::http::refusal::status_of;
use crate::revision::Revision;

#[derive(Debug)]
pub(super) enum Scope {
    /// A legacy session: a client that disconnects can return and resume.
    Session {
        id: Redacted<Arc<str>>,
        /// The prefix of its event ids.
        tag: u32,
        id_delivery: IdDelivery,
    },
    /// A single modern exchange: it is cancelled when its client disconnects.
    Single(Revision),
}

/// Whether the session id was sent to the client.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum IdDelivery {
    Pending,
    Done,
}

impl Scope {
    pub(super) fn session(id: Arc<str>) -> Self {
        let tag = session_tag(&id);
        Self::Session { id: Redacted(id), tag, id_delivery: IdDelivery::Pending }
    }

    /// Returns the session id.
    pub(super) fn id(&self) -> Option<&str> {
        match self {
            Self::Session { id, .. } => Some(&id.0),
            Self::Single(_) => None,
        }
    }

    /// Returns the prefix of event ids, if events have ids.
    pub(super) fn tag(&self) -> Option<u32> {
        match self {
            Self::Session { tag, .. } => Some(*tag),
            Self::Single(_) => None,
        }
    }

    /// Returns the session id for the first response; `None` afterwards.
    pub(super) fn take_session_id(&mut self) -> Option<String> {
        let Self::Session { id, id_delivery: delivery @ IdDelivery::Pending, .. } = self else {
            return None;
        };
        *delivery = IdDelivery::Done;
        Some(String::from(&*id.0))
    }

    /// Returns the HTTP status of a response, given its JSON-RPC error code if it is an error.
    pub(super) fn status(&self, error: Option<i64>) -> u16 {
        match self {
            Self::Session { .. } => 200,
            Self::Single(revision) => status_of(*revision, error),
        }
    }
}
