//! What the clients of one HTTP service make it hold: counters, and the limits on them.

mod addresses;
mod bytes;
mod stats;

pub(super) use addresses::AddressShare;
pub use addresses::PeerAddress;
pub(super) use bytes::ByteLease;
pub use stats::HttpStats;
pub(super) use stats::{Counters, Rejection};
