//! Tables by the ids of requests, which are numbers that a connection counts up itself; knows
//! nothing of what is in them.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use mcp_proto::IncomingId;

/// What there is for each open request.
pub(crate) type ByIncoming<T> = HashMap<IncomingId, T, BuildHasherDefault<Spread>>;

/// Spreads numbers that follow each other. No peer chooses them, so none can choose those that
/// collide.
#[derive(Default)]
pub(crate) struct Spread(u64);

/// 2⁶⁴ divided by the golden ratio.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(GOLDEN);
    }
}
