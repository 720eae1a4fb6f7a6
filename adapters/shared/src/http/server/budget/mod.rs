//! What the clients of one HTTP service make it hold: counters, and the limits on them.

mod bytes;
mod owners;
mod stats;

pub(super) use bytes::ByteLease;
pub use owners::PeerAddress;
pub(super) use owners::{AddressShare, Share};
pub use stats::HttpStats;
pub(super) use stats::{Counters, Rejection};
