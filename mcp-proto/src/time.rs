//! [`Instant`]: the time that the driver passes in, with saturating arithmetic.

use core::fmt;
use core::ops::{Add, AddAssign};
use core::time::Duration;

/// Minimum period of repeating timers, which keeps the driver from busy-looping.
pub(crate) const PERIOD_MIN: Duration = Duration::from_millis(1);

/// Returns the earlier of two deadlines.
pub(crate) fn sooner(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// A point in time, in nanoseconds since an epoch that the program chooses.
///
/// There is no `now()` and no conversion from `std::time::Instant`: the program reads its own clock
/// and passes the time with every call. Arithmetic does not overflow: an instant saturates at
/// [`MAX`](Self::MAX), and the duration since a later instant is zero.
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
// TMO-14: the core reads no clock. T-61: no time overflows.
#[derive(Clone, Copy, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Instant(u64);

impl Instant {
    /// The epoch: the instant from which all others are counted.
    pub const ZERO: Self = Self(0);
    /// The latest instant, about 584 years after the epoch.
    pub const MAX: Self = Self(u64::MAX);

    /// Creates the instant `nanos` nanoseconds after the epoch.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Creates the instant `millis` milliseconds after the epoch; saturates at [`MAX`](Self::MAX).
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// Creates the instant `elapsed` after the epoch; saturates at [`MAX`](Self::MAX).
    #[must_use]
    pub fn from_elapsed(elapsed: Duration) -> Self {
        Self::ZERO + elapsed
    }

    /// Returns the nanoseconds since the epoch, [`ZERO`](Self::ZERO).
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Returns the time elapsed since `earlier`, or zero if `earlier` is later than `self`.
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
        fn arithmetic_saturates_and_never_panics_t_61(
            nanos in any::<u64>(), secs in any::<u64>(), subsec in 0_u32..1_000_000_000,
        ) {
            let (at, by) = (Instant::from_nanos(nanos), Duration::new(secs, subsec));
            let expected = u128::from(nanos) + by.as_nanos();
            prop_assert_eq!(u128::from((at + by).as_nanos()), expected.min(u128::from(u64::MAX)));
            prop_assert!(at + by >= at);
            prop_assert_eq!((at + by).duration_since(at), by.min(Instant::MAX.duration_since(at)));
            prop_assert_eq!(at.duration_since(at + by), Duration::ZERO);
            prop_assert_eq!(Instant::from_elapsed(Duration::from_nanos(nanos)), at);
        }
    }

    #[test]
    fn an_instant_is_displayed_in_seconds() {
        assert_eq!(alloc::format!("{}", Instant::from_nanos(12_000_000_034)), "12.000000034s");
        assert_eq!(Instant::from_millis(u64::MAX), Instant::MAX);
    }
}
