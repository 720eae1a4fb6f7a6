//! A small generator of random numbers, so that a seed draws equal operations everywhere.

/// `SplitMix64`.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut next = self.0;
        next = (next ^ (next >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        next = (next ^ (next >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        next ^ (next >> 31)
    }

    /// Returns a number below `end`, which must not be zero.
    pub(crate) const fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }
}
