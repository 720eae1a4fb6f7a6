//! Time as the driver tells it: this file knows arithmetic that cannot overflow, and no clock.

use core::fmt;
use core::ops::{Add, AddAssign};
use core::time::Duration;

/// Timers that set themselves again wait at least this long, so that no driver spins.
pub(crate) const PERIOD_MIN: Duration = Duration::from_millis(1);

/// Returns the earlier of two deadlines.
pub(crate) fn sooner(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// A moment, in nanoseconds since an epoch that the driver chose.
///
/// There is no `now()` and no conversion from `std::time::Instant`: the driver reads its own clock
/// and says what time it is with every call. Arithmetic saturates at both ends. (TMO-14, T-61)
///
/// ```
/// use core::time::Duration;
/// use mcp_proto::Instant;
///
/// let start = Instant::from_nanos(1_000);
/// assert_eq!(start + Duration::from_nanos(5), Instant::from_nanos(1_005));
/// assert_eq!(start.duration_since(Instant::from_nanos(2_000)), Duration::ZERO);
/// assert_eq!(Instant::MAX + Duration::from_secs(1), Instant::MAX);
/// ```
#[derive(Clone, Copy, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Instant(u64);

impl Instant {
    /// The epoch itself.
    pub const ZERO: Self = Self(0);
    /// The end of time, about 584 years after the epoch.
    pub const MAX: Self = Self(u64::MAX);

    /// The moment `nanos` nanoseconds after the epoch.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// The moment `millis` milliseconds after the epoch; saturates.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// The moment that lies `elapsed` after the epoch; saturates.
    #[must_use]
    pub fn from_elapsed(elapsed: Duration) -> Self {
        Self::ZERO + elapsed
    }

    /// Nanoseconds since the epoch.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// How long after `earlier` this moment lies; zero when it does not.
    #[must_use]
    pub const fn duration_since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Instant {
    type Output = Self;

    fn add(self, by: Duration) -> Self {
        let nanos = u64::try_from(by.as_nanos()).unwrap_or(u64::MAX);
        Self(self.0.saturating_add(nanos))
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, by: Duration) {
        *self = *self + by;
    }
}

impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:09}s", self.0 / 1_000_000_000, self.0 % 1_000_000_000)
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn arithmetic_saturates_and_never_panics_t_61(nanos in any::<u64>(), secs in any::<u64>(), subsec in 0_u32..1_000_000_000) {
            let (at, by) = (Instant::from_nanos(nanos), Duration::new(secs, subsec));
            let wanted = u128::from(nanos) + by.as_nanos();
            prop_assert_eq!(u128::from((at + by).as_nanos()), wanted.min(u128::from(u64::MAX)));
            prop_assert!(at + by >= at);
            prop_assert_eq!((at + by).duration_since(at), by.min(Instant::MAX.duration_since(at)));
            prop_assert_eq!(at.duration_since(at + by), Duration::ZERO);
            prop_assert_eq!(Instant::from_elapsed(Duration::from_nanos(nanos)), at);
        }
    }

    #[test]
    fn a_moment_reads_as_seconds() {
        assert_eq!(alloc::format!("{}", Instant::from_nanos(12_000_000_034)), "12.000000034s");
        assert_eq!(Instant::from_millis(u64::MAX), Instant::MAX);
    }
}
