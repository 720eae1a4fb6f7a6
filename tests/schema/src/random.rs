//! Deterministic pseudo-random numbers.

/// A small generator of the `SplitMix` family.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Creates the stream for `name` and `index`.
    #[must_use]
    pub fn new(name: &str, index: u64) -> Self {
        let start = name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self(start ^ index.wrapping_mul(0x2545_f491_4f6c_dd1d))
    }

    /// Returns the next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `bound`, which must not be zero.
    pub fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound.max(1)).unwrap_or(u64::MAX);
        usize::try_from(self.number() % bound).unwrap_or(0)
    }

    /// Returns true in `share` of 100 cases.
    pub fn chance(&mut self, share: usize) -> bool {
        self.below(100) < share
    }

    /// Picks one of `all`, which must not be empty.
    pub fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}
