//! [`Seed`]: a reproducible random number generator.

/// A random number generator (SplitMix64) whose output depends only on its seed.
///
/// ```
/// use mcp_proto::testing::Seed;
///
/// let mut dice = Seed(7);
/// assert!(dice.below(6) < 6);
/// assert_eq!(Seed(7).next(), Seed(7).next());
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Seed(pub u64);

impl Seed {
    /// Returns the next random number.
    pub const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a random number below `bound`, or zero if `bound` is zero.
    pub const fn below(&mut self, bound: usize) -> usize {
        if bound == 0 { 0 } else { (self.next() % bound as u64) as usize }
    }
}
