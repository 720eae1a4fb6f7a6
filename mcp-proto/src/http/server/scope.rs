//! What the exchanges of one server have in common: a session of the legacy era, or one exchange of
//! the modern era.

use alloc::boxed::Box;
use alloc::string::String;

use super::event_id::tag;
use crate::http::refusal::status_of;
use crate::revision::Revision;

#[derive(Debug)]
pub(super) enum Scope {
    /// A session of the legacy era: a client that is gone can come back and resume.
    Session {
        id: Box<str>,
        /// The prefix of its event ids.
        tag: u32,
        naming: Naming,
    },
    /// One exchange of the modern era: it is cancelled when its client is gone.
    Single(Revision),
}

/// Whether the client has received the id of its session.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Naming {
    Due,
    Done,
}

impl Scope {
    pub(super) fn session(id: &str) -> Self {
        Self::Session { id: id.into(), tag: tag(id), naming: Naming::Due }
    }

    /// Returns the id of the session.
    pub(super) fn id(&self) -> Option<&str> {
        match self {
            Self::Session { id, .. } => Some(id),
            Self::Single(_) => None,
        }
    }

    /// Returns the prefix of event ids, where events have any.
    pub(super) fn tag(&self) -> Option<u32> {
        match self {
            Self::Session { tag, .. } => Some(*tag),
            Self::Single(_) => None,
        }
    }

    /// Returns the id of the session for the response that tells the client, once.
    pub(super) fn take_name(&mut self) -> Option<String> {
        let Self::Session { id, naming: naming @ Naming::Due, .. } = self else { return None };
        *naming = Naming::Done;
        Some(String::from(&**id))
    }

    /// Returns the HTTP status of an answer, from the code of its error if it is one.
    pub(super) fn status(&self, error: Option<i64>) -> u16 {
        match self {
            Self::Session { .. } => 200,
            Self::Single(revision) => status_of(*revision, error),
        }
    }
}
