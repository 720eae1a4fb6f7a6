//! The configuration of this side of a connection.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::extension::Extensions;
use crate::limits::Limits;
use crate::revision::{Era, Revision};
use crate::schema::{Capabilities, Implementation};
use crate::vocabulary::ViolationPolicy;

/// The configuration of this side, which is constant for a connection. All connections of a server
/// share one copy.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    pub(crate) info: Implementation,
    pub(crate) capabilities: Capabilities,
    pub(crate) instructions: Option<Box<str>>,
    /// The supported revisions, oldest first.
    pub(crate) revisions: Vec<Revision>,
    /// Methods that no revision defines but the application serves.
    pub(crate) served_methods: Vec<Box<str>>,
    pub(crate) extensions: Extensions,
    // SEC-02: the application may refuse subscriptions.
    /// Server: whether the application decides on subscriptions to resources.
    pub(crate) decides_subscriptions: bool,
    pub(crate) limits: Limits,
    pub(crate) policy: ViolationPolicy,
    /// Client: whether the result of `initialize` may name a modern revision.
    // T-31: some servers respond with one.
    pub(crate) accepts_modern_initialize_result: bool,
    /// Client: the era of the server, if known in advance.
    pub(crate) expected_era: Option<Era>,
    /// Whether modern messages carry this side's name and version.
    // STL-02, STL-05: both are optional.
    pub(crate) sends_info: bool,
}

impl Identity {
    /// Creates the defaults of either role, which support every revision.
    pub(crate) fn new(name: &str, version: &str, policy: ViolationPolicy) -> Self {
        Self {
            info: Implementation::new(name, version),
            capabilities: Capabilities::none(),
            instructions: None,
            revisions: Revision::ALL.to_vec(),
            served_methods: Vec::new(),
            extensions: Extensions::default(),
            decides_subscriptions: false,
            limits: Limits::default(),
            policy,
            accepts_modern_initialize_result: false,
            expected_era: None,
            sends_info: true,
        }
    }

    /// Returns the newest supported revision of an era.
    pub(crate) fn newest(&self, era: Era) -> Option<Revision> {
        self.revisions.iter().copied().filter(|revision| revision.is_of(era)).max()
    }

    /// Returns the revision to use until one is negotiated.
    pub(crate) fn preferred(&self) -> Revision {
        self.newest(Era::Legacy)
            .or_else(|| self.newest(Era::Modern))
            .unwrap_or(Revision::V2025_11_25)
    }

    /// Returns whether the server is known in advance to be of `era`.
    pub(crate) fn expects(&self, era: Era) -> bool {
        self.expected_era == Some(era)
    }

    /// Returns the capabilities to declare in `revision`, with its extensions.
    pub(crate) fn declared_in(&self, revision: Revision) -> Cow<'_, Capabilities> {
        if self.extensions.is_empty() {
            return Cow::Borrowed(&self.capabilities);
        }
        let base = self.capabilities.clone();
        Cow::Owned(self.extensions.of(revision).fold(base, |all, it| it.declare(all)))
    }

    /// Returns whether the application serves `method`, which no revision defines.
    pub(crate) fn serves_method(&self, method: &str) -> bool {
        self.served_methods.iter().any(|served| **served == *method)
    }
}
