//! [`TaskTime`]: the current time by both clocks, and timestamps in ISO 8601.

use alloc::string::String;
use core::time::Duration;

use crate::time::Instant;

/// The current time by two clocks, passed with every call.
///
/// Deadlines follow the monotonic clock. Timestamps, and deadlines that outlive the process, follow
/// the wall clock. Either clock may go backwards: the monotonic one then stops, and timestamps of a
/// task never decrease.
///
/// ```
/// use mcp_proto::Instant;
/// use mcp_proto::tasks::TaskTime;
///
/// let time = TaskTime { now: Instant::from_millis(1_500), unix_ms: 1_784_000_000_000 };
/// assert!(time.now > Instant::ZERO);
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct TaskTime {
    /// The monotonic clock.
    pub now: Instant,
    /// The wall clock: milliseconds since 1970-01-01T00:00:00Z.
    pub unix_ms: u64,
}

impl TaskTime {
    /// Returns the monotonic time at which the wall clock will show `unix_ms`.
    pub(super) fn at_unix_ms(self, unix_ms: u64) -> Instant {
        self.now + Duration::from_millis(unix_ms.saturating_sub(self.unix_ms))
    }
}

/// 9999-12-31T23:59:59.999Z: later years have five digits.
const UNIX_MS_MAX: u64 = 253_402_300_799_999;

const DAY_MS: u64 = 86_400_000;

/// Formats a time of the wall clock as RFC 3339 requires, in UTC and with milliseconds.
// TSK-11: ISO 8601.
pub(super) fn timestamp(unix_ms: u64) -> String {
    let unix_ms = unix_ms.min(UNIX_MS_MAX);
    let (year, month, day) = date(unix_ms / DAY_MS);
    let ms = unix_ms % DAY_MS;
    let fields = [
        (4, year, '-'),
        (2, month, '-'),
        (2, day, 'T'),
        (2, ms / 3_600_000, ':'),
        (2, ms / 60_000 % 60, ':'),
        (2, ms / 1000 % 60, '.'),
        (3, ms % 1000, 'Z'),
    ];
    let mut text = String::with_capacity("2026-07-28T00:00:00.000Z".len());
    for (digits, value, separator) in fields {
        for place in (0..digits).rev() {
            let digit = value / 10_u64.pow(place) % 10;
            text.push(char::from(b'0' + digit as u8));
        }
        text.push(separator);
    }
    text
}

/// Returns the year, month and day of a number of days since 1970-01-01.
///
/// Years begin on March 1, so that leap days come last, and are counted from the year 0.
fn date(days: u64) -> (u64, u64, u64) {
    /// The days of 400 years.
    const CYCLE: u64 = 146_097;
    /// The days from 0000-03-01 to 1970-01-01.
    const EPOCH: u64 = 719_468;
    let days = days + EPOCH;
    let (cycle, day) = (days / CYCLE, days % CYCLE);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, carry) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (cycle * 400 + year + carry, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    // TSK-11
    #[test]
    fn timestamps_are_rfc_3339() {
        for (unix_ms, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (951_868_799_999, "2000-02-29T23:59:59.999Z"),
            (951_868_800_000, "2000-03-01T00:00:00.000Z"),
            (1_785_196_800_123, "2026-07-28T00:00:00.123Z"),
            (4_107_542_399_000, "2100-02-28T23:59:59.000Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (UNIX_MS_MAX, "9999-12-31T23:59:59.999Z"),
            (u64::MAX, "9999-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(timestamp(unix_ms), text);
        }
    }

    #[test]
    fn dates_follow_the_calendar() {
        let lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
        let mut days = 0;
        for year in 1970..2500 {
            let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            for (month, length) in (1..).zip(lengths) {
                for day in 1..=length + u64::from(leap && month == 2) {
                    assert_eq!(date(days), (year, month, day));
                    days += 1;
                }
            }
        }
    }
}
