//! What happens when the peer breaks a rule: a report, an answer within reason, or the end of the
//! connection.

use crate::limits::Limits;
use crate::time::Instant;
use crate::vocabulary::{Fault, ViolationPolicy};

/// Bounds the error replies, and counts violations in a row.
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

    /// Violations so far without a good message in between.
    pub(crate) fn in_a_row(&self) -> u32 {
        self.in_a_row
    }

    /// A good message came.
    pub(crate) fn forgive(&mut self) {
        self.in_a_row = 0;
    }

    /// Counts a violation. Returns the fault if it was one too many.
    pub(crate) fn record(&mut self, policy: ViolationPolicy, limits: &Limits) -> Option<Fault> {
        if policy == ViolationPolicy::Close {
            return Some(Fault::FirstViolation);
        }
        self.in_a_row = self.in_a_row.saturating_add(1);
        let is_too_many = limits.violations_max.is_some_and(|max| self.in_a_row > max);
        is_too_many.then_some(Fault::TooManyViolations)
    }

    /// Takes one error reply out of the allowance, if there is one.
    pub(crate) fn may_reply(&mut self, now: Instant, limits: &Limits) -> bool {
        let every = limits.error_reply_every.as_nanos().max(1);
        let earned = now.duration_since(self.refilled).as_nanos() / every;
        if earned > 0 {
            let earned = u32::try_from(earned).unwrap_or(u32::MAX);
            self.replies_left =
                self.replies_left.saturating_add(earned).min(limits.error_replies_max);
            // What is left of the time counts towards the next one.
            self.refilled += limits.error_reply_every.saturating_mul(earned);
        }
        // The time runs from when the allowance was last full, or the first burst would be one too
        // long.
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
    fn violations_in_a_row_end_the_connection_and_good_messages_forgive_them() {
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
    fn error_replies_come_in_bursts_and_are_earned_back_one_by_one_t_18() {
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
