//! [`AccountId`]: whose limits count a task.

use crate::vocabulary::Principal;

/// The owner of a share of the limits: one client.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum AccountId {
    Owner(Option<Principal>),
    Source(u64),
}

impl AccountId {
    pub(super) const fn is_source(&self) -> bool {
        matches!(self, Self::Source(_))
    }
}
