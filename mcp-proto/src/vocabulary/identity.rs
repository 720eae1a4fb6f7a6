//! The configuration of a connection: what this side is, speaks and offers.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::limits::Limits;
use crate::revision::{Era, Revision};
use crate::schema::{Capabilities, Implementation};
use crate::vocabulary::ViolationPolicy;

/// What this side is, for the whole of a connection. All connections of a server share one.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    pub(crate) info: Implementation,
    pub(crate) capabilities: Capabilities,
    pub(crate) instructions: Option<Box<str>>,
    /// The revisions that this side speaks, oldest first.
    pub(crate) revisions: Vec<Revision>,
    /// Methods that are served although no revision has them.
    pub(crate) also_served: Vec<Box<str>>,
    pub(crate) limits: Limits,
    pub(crate) policy: ViolationPolicy,
    /// Client: whether the answer to `initialize` may name a modern revision. (T-31)
    pub(crate) takes_modern_welcome: bool,
    /// Client: the era of the server, where it is known already.
    pub(crate) expected: Option<Era>,
    /// Whether modern messages carry this side's name and version. (STL-02, STL-05)
    pub(crate) tells_info: bool,
}

impl Identity {
    /// The newest revision of an era that this side speaks.
    pub(crate) fn newest(&self, era: Era) -> Option<Revision> {
        self.revisions.iter().copied().filter(|revision| revision.is_of(era)).max()
    }

    /// The revision to speak until one is agreed on.
    pub(crate) fn preferred(&self) -> Revision {
        self.newest(Era::Legacy)
            .or_else(|| self.newest(Era::Modern))
            .unwrap_or(Revision::V2025_11_25)
    }

    /// Whether the server is known to be of this era.
    pub(crate) fn expects(&self, era: Era) -> bool {
        self.expected == Some(era)
    }

    /// Whether this side serves a method that no revision has.
    pub(crate) fn also_serves(&self, method: &str) -> bool {
        self.also_served.iter().any(|served| **served == *method)
    }
}
