//! How a client recovers lost connections: its settings, and the budget of attempts.

pub(crate) mod link_slot;
mod reopen;
mod settings;
pub(crate) mod state;

use std::collections::VecDeque;
use std::time::Duration;

use mcp_proto::{CallError, CloseReason, Fault, Instant, code};

/// How a client opens a lost connection again; see [`Client::recovery`](crate::Client::recovery).
///
/// An attempt follows the loss after a delay, which doubles from attempt to attempt and has no
/// random part. The number of attempts within a period is limited, also if they succeed, so that a
/// server that crashes again and again is given up.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use std::time::Duration;
///
/// use mcp_tokio::{Client, Recovery};
///
/// let patient = Recovery::new().attempts(100, Duration::from_secs(3600));
/// let client = Client::new("demo", "1.0.0").recovery(patient);
/// let once = Client::new("demo", "1.0.0").recovery(Recovery::off());
/// # drop((client, once));
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
#[must_use = "a client uses it once it is passed to `Client::recovery`"]
pub struct Recovery {
    delay_min: Duration,
    delay_max: Duration,
    attempts_max: usize,
    period: Duration,
}

/// The maximum of [`Recovery::attempts`], each of which is remembered for a period.
const ATTEMPTS_MAX: usize = 1000;

impl Recovery {
    /// Creates the default: delays from 250 ms to 30 s, and 10 attempts within 10 min.
    pub const fn new() -> Self {
        Self {
            delay_min: Duration::from_millis(250),
            delay_max: Duration::from_secs(30),
            attempts_max: 10,
            period: Duration::from_secs(600),
        }
    }

    /// Creates settings with which lost connections stay lost.
    pub const fn off() -> Self {
        Self { attempts_max: 0, ..Self::new() }
    }

    /// Sets the delay of the first attempt within a period, and the maximum delay.
    pub const fn delays(mut self, min: Duration, max: Duration) -> Self {
        self.delay_min = min;
        self.delay_max = max;
        self
    }

    /// Sets the maximum number of attempts within any `period`, 1000 at most. Zero is
    /// [`off`](Self::off).
    pub const fn attempts(mut self, max: usize, period: Duration) -> Self {
        self.attempts_max = if max > ATTEMPTS_MAX { ATTEMPTS_MAX } else { max };
        self.period = period;
        self
    }

    pub(crate) const fn is_off(&self) -> bool {
        self.attempts_max == 0
    }
}

impl Default for Recovery {
    fn default() -> Self {
        Self::new()
    }
}

/// Returns whether another connection may help: not if this side or the user has to change
/// something.
pub(crate) const fn is_recoverable(why: &CloseReason) -> bool {
    match why {
        CloseReason::Peer => true,
        CloseReason::Local => false,
        CloseReason::Fault(Fault::Unreachable(error)) => !is_up_to_the_user(error),
        CloseReason::Fault(fault) => matches!(
            fault,
            Fault::HandshakeTimedOut | Fault::SessionLost | Fault::Stalled | Fault::Unresponsive
        ),
    }
}

/// Returns whether a request fails again until the user logs in, or changes the URL.
const fn is_up_to_the_user(error: &CallError) -> bool {
    matches!(error, CallError::Redirected { .. } | CallError::Unauthorized(_))
}

/// Returns whether a subscription that ended in this way may be started again: not if the server
/// has refused it, or if this side or the user has to change something.
// STL-36, STL-37: a server that stops ends its subscriptions by results, and one that is cut off
// does not. Neither tells an end that is final, which another attempt finds out.
pub(crate) const fn may_resume(outcome: &Result<(), CallError>) -> bool {
    let Err(error) = outcome else { return true };
    match error {
        CallError::Http { .. }
        | CallError::Lost
        | CallError::SessionEnded
        | CallError::SubscriptionEnded
        | CallError::TimedOut
        | CallError::Unsent => true,
        // The server is about to stop, or has no room at present.
        CallError::Refused(error) => error.code == code::INTERNAL_ERROR,
        _ => false,
    }
}

/// The attempts of one connection or subscription so far, as far as they count.
#[derive(Debug, Default)]
pub(crate) struct RetryBudget {
    /// When the attempts of the last period began.
    attempts: VecDeque<Instant>,
}

/// An attempt to come.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Retry {
    /// Its number within the period, from 1.
    pub(crate) attempt: usize,
    pub(crate) delay: Duration,
}

impl RetryBudget {
    /// Returns the next attempt; `None` if there were too many.
    pub(crate) fn next(&mut self, recovery: &Recovery, now: Instant) -> Option<Retry> {
        let Recovery { delay_min, delay_max, attempts_max, period } = *recovery;
        while self.attempts.front().is_some_and(|at| now.duration_since(*at) >= period) {
            self.attempts.pop_front();
        }
        let before = self.attempts.len();
        if before >= attempts_max {
            return None;
        }
        let doubled = u32::try_from(before).ok().and_then(|doublings| 2_u32.checked_pow(doublings));
        let delay = doubled.and_then(|factor| delay_min.checked_mul(factor)).unwrap_or(delay_max);
        let delay = delay.min(delay_max);
        self.attempts.push_back(now + delay);
        Some(Retry { attempt: before + 1, delay })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    #[test]
    fn delays_double_up_to_the_maximum_and_the_attempts_of_a_period_are_limited() {
        let mut budget = RetryBudget::default();
        let recovery = Recovery::new();
        let mut now = at(0);
        let mut delays = Vec::new();
        while let Some(retry) = budget.next(&recovery, now) {
            assert_eq!(retry.attempt, delays.len() + 1);
            delays.push(retry.delay.as_millis());
            now += retry.delay;
        }
        assert_eq!(delays, [250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
        // The first attempt was at 250 ms.
        assert_eq!(budget.next(&recovery, at(600_249)), None);
        let again = budget.next(&recovery, at(600_250)).unwrap();
        assert_eq!(again, Retry { attempt: 10, delay: Duration::from_secs(30) });
        assert_eq!(budget.next(&recovery, at(600_250)), None);
    }

    #[test]
    fn a_connection_that_stays_open_for_a_period_is_recovered_as_at_first() {
        let mut budget = RetryBudget::default();
        let recovery = Recovery::new();
        assert_eq!(budget.next(&recovery, at(0)).unwrap().delay, Duration::from_millis(250));
        assert_eq!(budget.next(&recovery, at(500)).unwrap().delay, Duration::from_millis(500));
        assert_eq!(budget.next(&recovery, at(700_000)).unwrap().delay, Duration::from_millis(250));
    }

    #[test]
    fn what_needs_the_user_or_the_application_is_not_tried_again() {
        let unreachable = |error| CloseReason::Fault(Fault::Unreachable(error));
        assert!(is_recoverable(&CloseReason::Peer));
        assert!(is_recoverable(&unreachable(CallError::Unsent)));
        assert!(!is_recoverable(&unreachable(CallError::Unauthorized("no token".into()))));
        assert!(!is_recoverable(&CloseReason::Local));
        assert!(!is_recoverable(&CloseReason::Fault(Fault::TooManyViolations)));
    }

    #[test]
    fn large_numbers_of_attempts_have_the_maximum_delay() {
        let patient = Recovery::new().attempts(usize::MAX, Duration::MAX);
        let mut budget = RetryBudget::default();
        let delays: Vec<_> =
            std::iter::from_fn(|| budget.next(&patient, at(0))).map(|retry| retry.delay).collect();
        assert_eq!(delays.len(), ATTEMPTS_MAX);
        assert_eq!(delays[ATTEMPTS_MAX - 1], Duration::from_secs(30));
        assert_eq!(RetryBudget::default().next(&Recovery::off(), at(0)), None);
    }
}
