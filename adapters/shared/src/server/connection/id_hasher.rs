//! Maps keyed by ids that the connection assigns, with a cheap hash.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map keyed by ids that the connection assigns.
pub(crate) type NumberedMap<K, T> = HashMap<K, T, BuildHasherDefault<IdHasher>>;

/// A multiplicative hash that spreads consecutive numbers.
///
/// The connection assigns the ids itself, so a peer cannot choose colliding ones.
#[derive(Default)]
pub(crate) struct IdHasher(u64);

/// 2⁶⁴ divided by the golden ratio.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

impl Hasher for IdHasher {
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
