//! Subscriptions to changes, in both eras.

pub(crate) mod client;
pub(crate) mod server;
