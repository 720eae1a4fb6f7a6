//! Subscriptions to changes, in both eras.

pub(crate) mod client;
pub(crate) mod filter;
pub(crate) mod server;
