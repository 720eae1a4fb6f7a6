//! One connection of a server: its events, requests, replies and subscriptions.

pub(crate) mod events;
pub(crate) mod id_hasher;
pub(crate) mod pending_changes;
pub(crate) mod serve;
pub(crate) mod serving;
pub(crate) mod subscriptions;
