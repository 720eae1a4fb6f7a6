//! When the keys of an issuer are fetched.

use std::sync::Arc;
use std::time::Duration;

use super::key_set::KeySet;

/// How long keys are used before they are fetched again.
const FRESH: Duration = Duration::from_secs(60 * 60);

/// How long keys are used while newer ones are fetched.
const STALE: Duration = Duration::from_secs(2 * 60 * 60);

/// How long keys are used after a fetch has failed.
const USABLE: Duration = Duration::from_secs(24 * 60 * 60);

/// The minimum time between the beginnings of two fetches.
const PAUSE: Duration = Duration::from_secs(60);

/// The minimum time between the end of a fetch and the next one while there are no usable keys.
const RETRY: Duration = Duration::from_secs(5);

/// How long a failed fetch justifies the use of stale keys. More than a pause, so that requests do
/// not wait for each further fetch that fails.
const FAILURE: Duration = Duration::from_secs(2 * 60);

/// The keys of an issuer, and when they were fetched. Times count from any start.
///
/// ```text
///            begin              succeed
/// no keys ──────────▶ fetching ──────────▶ keys ── stale, or a key is missing ──▶ fetching
///    ▲                   │ fail                                                      │ fail
///    └───────────────────┘                 keys, until they are not usable ◀─────────┘
/// ```
#[derive(Debug, Default)]
pub(super) struct Rotation {
    keys: Option<(Arc<KeySet>, Duration)>,
    /// The beginning of the latest fetch, or its end if there are no usable keys then.
    attempted: Option<Duration>,
    is_fetching: bool,
    /// The end of the latest completed fetch, if it has failed.
    failed: Option<Duration>,
}

/// What to do for a token.
#[derive(Debug)]
pub(super) enum Next {
    /// Verify it with these keys.
    Use(Arc<KeySet>),
    /// Wait until the fetch in progress has ended, then ask again.
    Wait,
    /// It cannot be verified now.
    Unavailable,
}

impl Rotation {
    /// Returns what to do for a token, which `has_key` finds a key for, and whether a fetch must be
    /// started for it. The fetch counts as started.
    ///
    /// Keys are used for a while after they should have been fetched again. Older ones may have
    /// been withdrawn in the meantime: they are used only if a fetch has just failed.
    pub(super) fn next(
        &mut self,
        now: Duration,
        has_key: impl FnOnce(&KeySet) -> bool,
    ) -> (Next, bool) {
        let since = |at: Duration| now.saturating_sub(at);
        let usable = self.usable(now);
        // An unknown key id makes the keys be fetched, but never more often than this.
        let pause = if usable.is_some() { PAUSE } else { RETRY };
        let may_fetch = !self.is_fetching && self.attempted.is_none_or(|at| since(at) >= pause);
        let has_just_failed = self.failed.is_some_and(|at| since(at) < FAILURE);
        let (next, wants_fetch) = match usable {
            Some((keys, at)) if (since(*at) < STALE || has_just_failed) && has_key(keys) => {
                (Next::Use(Arc::clone(keys)), since(*at) >= FRESH)
            }
            _ if self.is_fetching || may_fetch => (Next::Wait, true),
            // A new key may exist that could not be fetched.
            Some(_) if self.failed.is_some() => (Next::Unavailable, false),
            Some((keys, _)) => (Next::Use(Arc::clone(keys)), false),
            None => (Next::Unavailable, false),
        };
        let starts = wants_fetch && may_fetch;
        if starts {
            (self.is_fetching, self.attempted) = (true, Some(now));
        }
        (next, starts)
    }

    /// Ends a fetch, with keys or without.
    pub(super) fn end(&mut self, now: Duration, keys: Option<KeySet>) {
        (self.is_fetching, self.failed) = (false, keys.is_none().then_some(now));
        if let Some(keys) = keys {
            self.keys = Some((Arc::new(keys), now));
        }
        if self.usable(now).is_none() {
            // A fetch may take longer than the pause. Those who waited for it must not wait again.
            self.attempted = Some(now);
        }
    }

    /// Returns the keys unless they are too old, and when they were fetched.
    fn usable(&self, now: Duration) -> Option<&(Arc<KeySet>, Duration)> {
        self.keys.as_ref().filter(|(_, at)| now.saturating_sub(*at) < USABLE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Duration = Duration::from_secs(1_000_000);

    /// Returns what is done for a token this many seconds after the start.
    fn next(rotation: &mut Rotation, after: u64, has_key: bool) -> &'static str {
        match rotation.next(START + Duration::from_secs(after), |_| has_key) {
            (Next::Use(_), false) => "use",
            (Next::Use(_), true) => "use and fetch",
            (Next::Wait, false) => "wait",
            (Next::Wait, true) => "fetch",
            (Next::Unavailable, _) => "unavailable",
        }
    }

    fn end(rotation: &mut Rotation, after: u64, succeeds: bool) {
        rotation.end(START + Duration::from_secs(after), succeeds.then(KeySet::default));
    }

    #[test]
    fn keys_are_fetched_when_old_or_missing_but_not_too_often() {
        let mut rotation = Rotation::default();
        assert_eq!(next(&mut rotation, 0, false), "fetch");
        assert_eq!(next(&mut rotation, 1, true), "wait");
        end(&mut rotation, 1, true);
        for (after, has_key, expected) in
            [(1, true, "use"), (59, false, "use"), (3600, true, "use"), (60, false, "fetch")]
        {
            assert_eq!(next(&mut rotation, after, has_key), expected, "{after} {has_key}");
        }
        assert_eq!(next(&mut rotation, 61, true), "use", "although keys are being fetched");
        assert_eq!(next(&mut rotation, 61, false), "wait");
        end(&mut rotation, 61, true);
        assert_eq!(next(&mut rotation, 61 + 3600, true), "use and fetch");
        assert_eq!(next(&mut rotation, 61 + 3600, true), "use");
    }

    #[test]
    fn without_keys_a_failed_fetch_is_soon_repeated() {
        let mut rotation = Rotation::default();
        assert_eq!(next(&mut rotation, 0, true), "fetch");
        end(&mut rotation, 0, false);
        assert_eq!(next(&mut rotation, 4, true), "unavailable");
        assert_eq!(next(&mut rotation, 5, true), "fetch");
        // The pause counts from the end: requests that waited for the fetch do not start another.
        end(&mut rotation, 25, false);
        assert_eq!(next(&mut rotation, 25, true), "unavailable");
        assert_eq!(next(&mut rotation, 29, true), "unavailable");
        assert_eq!(next(&mut rotation, 30, true), "fetch");
    }

    // Otherwise, a withdrawn key would be accepted after a night without requests.
    #[test]
    fn after_a_long_time_without_requests_keys_are_fetched_before_they_are_used() {
        let mut rotation = Rotation::default();
        end(&mut rotation, 0, true);
        assert_eq!(next(&mut rotation, 7199, true), "use and fetch");
        end(&mut rotation, 7199, true);
        assert_eq!(next(&mut rotation, 20_000, true), "fetch");
        assert_eq!(next(&mut rotation, 20_001, true), "wait");
        end(&mut rotation, 20_020, false);
        assert_eq!(next(&mut rotation, 20_020, true), "use");
        assert_eq!(next(&mut rotation, 20_060, true), "use and fetch");
        assert_eq!(next(&mut rotation, 20_061, true), "use", "as the fetch before has just failed");
        end(&mut rotation, 20_080, false);
        // The failure says nothing any more.
        assert_eq!(next(&mut rotation, 30_000, true), "fetch");
        end(&mut rotation, 30_000, true);
        assert_eq!(next(&mut rotation, 30_000, true), "use");
    }

    #[test]
    fn old_keys_are_used_for_a_day_while_fetching_fails() {
        let (mut rotation, day) = (Rotation::default(), 24 * 3600);
        end(&mut rotation, 0, true);
        assert_eq!(next(&mut rotation, 7200, true), "fetch");
        assert_eq!(next(&mut rotation, 7200, false), "wait");
        end(&mut rotation, 7200, false);
        assert_eq!(next(&mut rotation, 7200 + 59, true), "use");
        // The key may be new: the token is not called invalid.
        assert_eq!(next(&mut rotation, 7200 + 59, false), "unavailable");
        assert_eq!(next(&mut rotation, day - 1, true), "fetch");
        end(&mut rotation, day - 1, false);
        assert_eq!(next(&mut rotation, day - 1, true), "use");
        assert_eq!(next(&mut rotation, day, true), "unavailable");
        assert_eq!(next(&mut rotation, day + 4, true), "fetch");
    }
}
