//! Counts violations by the peer and rate-limits the error replies to them.

use crate::limits::Limits;
use crate::time::Instant;
use crate::vocabulary::{Fault, ViolationPolicy};

/// The count of consecutive violations, and a token bucket for error replies.
#[derive(Debug)]
pub(crate) struct Violations {
    replies_left: u32,
    refilled: Instant,
    in_a_row: u32,
}

impl Violations {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self { replies_left: limits.error_replies_max, refilled: Instant::ZERO, in_a_row: 0 }
    }

    /// Returns the number of consecutive violations since the last valid message.
    pub(crate) fn in_a_row(&self) -> u32 {
        self.in_a_row
    }

    /// Resets the count after a valid message.
    pub(crate) fn forgive(&mut self) {
        self.in_a_row = 0;
    }

    /// Counts a violation. Returns a fault if the policy or the limit closes the connection.
    pub(crate) fn record(&mut self, policy: ViolationPolicy, limits: &Limits) -> Option<Fault> {
        if policy == ViolationPolicy::Close {
            return Some(Fault::FirstViolation);
        }
        self.in_a_row = self.in_a_row.saturating_add(1);
        let is_too_many = limits.violations_max.is_some_and(|max| self.in_a_row > max);
        is_too_many.then_some(Fault::TooManyViolations)
    }

    /// Takes one token for an error reply. Returns whether one was available.
    pub(crate) fn may_reply(&mut self, now: Instant, limits: &Limits) -> bool {
        let every = limits.error_reply_every.as_nanos().max(1);
        let earned = now.duration_since(self.refilled).as_nanos() / every;
        if earned > 0 {
            let earned = u32::try_from(earned).unwrap_or(u32::MAX);
            self.replies_left =
                self.replies_left.saturating_add(earned).min(limits.error_replies_max);
            // The remaining time counts towards the next token.
            self.refilled += limits.error_reply_every.saturating_mul(earned);
        }
        // A full bucket earns nothing; otherwise the first burst would be one reply too long.
        if self.replies_left == limits.error_replies_max {
            self.refilled = now;
        }
        let allowed = self.replies_left > 0;
        self.replies_left = self.replies_left.saturating_sub(1);
        allowed
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;

    #[test]
    fn consecutive_violations_close_the_connection_and_valid_messages_reset_the_count() {
        let limits = Limits { violations_max: Some(2), ..Limits::default() };
        let mut violations = Violations::new(&limits);
        for _ in 0..3 {
            assert_eq!(violations.record(ViolationPolicy::Reply, &limits), None);
            assert_eq!(violations.record(ViolationPolicy::Reply, &limits), None);
            violations.forgive();
        }
        for _ in 0..2 {
            violations.record(ViolationPolicy::Ignore, &limits);
        }
        assert_eq!(
            violations.record(ViolationPolicy::Ignore, &limits),
            Some(Fault::TooManyViolations)
        );
        assert_eq!(violations.record(ViolationPolicy::Close, &limits), Some(Fault::FirstViolation));
    }

    #[test]
    fn error_replies_are_rate_limited_with_a_burst_t_18() {
        let limits = Limits {
            error_replies_max: 2,
            error_reply_every: Duration::from_secs(1),
            ..Limits::default()
        };
        let mut violations = Violations::new(&limits);
        let at = |millis| Instant::ZERO + Duration::from_millis(millis);
        let replies = [0, 0, 0, 999, 1000, 1001, 9000, 9000, 9000];
        let allowed = replies.map(|millis| violations.may_reply(at(millis), &limits));
        assert_eq!(allowed, [true, true, false, false, true, false, true, true, false]);
    }
}
