//! Exponential backoff with jitter for reconnections.

use core::time::Duration;

use super::config::HttpConfig;
use super::event_stream::StreamEnd;

/// A backoff that doubles with each attempt and adds jitter.
// T-86: reconnections are spread.
#[derive(Debug)]
pub(super) struct Backoff {
    min: Duration,
    max: Duration,
    /// The maximum of the delays that the server sets.
    server_max: Duration,
    /// The state of the random number generator.
    state: u64,
}

/// The minimum delay, even if the server sends `retry: 0`.
const DELAY_MIN: Duration = Duration::from_millis(50);

/// The maximum jitter on a delay set by the server; at most a tenth of that delay is added.
// HTTP-17: the client respects `retry`.
const JITTER_MAX: Duration = Duration::from_millis(100);

impl Backoff {
    pub(super) fn new(config: &HttpConfig) -> Self {
        let min = config.reconnect_min.max(DELAY_MIN);
        let max = config.reconnect_max.max(min);
        Self { min, max, server_max: config.retry_max.max(DELAY_MIN), state: config.seed }
    }

    /// Returns the delay before the next connection.
    pub(super) fn delay(&mut self, after: StreamEnd) -> Duration {
        let StreamEnd { attempts, was_open, .. } = after;
        let retry = after.retry.map(|retry| retry.min(self.server_max));
        let retry_after = after.retry_after.unwrap_or_default().min(self.server_max);
        let doubled = |first: Duration| first.saturating_mul(1 << attempts.min(20));
        let (base, jitter) = match retry {
            Some(retry) if was_open => {
                // A server that ends one stream after the other is not polled ever faster.
                let base = retry.max(doubled(DELAY_MIN).min(self.min));
                (base, (base / 10).min(JITTER_MAX))
            }
            _ => {
                let doubled = doubled(self.min).min(self.max);
                (doubled.max(retry.unwrap_or_default()), doubled / 2)
            }
        };
        base.max(retry_after).saturating_add(self.random_up_to(jitter))
    }

    /// Returns a random duration of at most `most`.
    fn random_up_to(&mut self, most: Duration) -> Duration {
        let most = u64::try_from(most.as_nanos()).unwrap_or(u64::MAX);
        Duration::from_nanos(self.next() % most.saturating_add(1).max(1))
    }

    /// Returns the next random number (SplitMix64).
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn opened(attempts: u32, retry: Duration) -> StreamEnd {
        StreamEnd { attempts, retry: Some(retry), was_open: true, ..StreamEnd::default() }
    }

    fn refused(attempts: u32) -> StreamEnd {
        StreamEnd { attempts, ..StreamEnd::default() }
    }

    // HTTP-17
    #[test]
    fn the_retry_time_of_the_server_is_respected_with_little_jitter_http_17_t_86() {
        for seed in 0..1000 {
            let mut backoff = Backoff::new(&HttpConfig::new(seed));
            for attempts in 0..4 {
                let delay = backoff.delay(opened(attempts, Duration::from_millis(500)));
                assert!((500..=550).contains(&delay.as_millis()), "{delay:?}");
            }
            let later = StreamEnd { was_open: false, ..opened(0, 90 * SECOND) };
            assert!(backoff.delay(later) >= 90 * SECOND);
        }
    }

    #[test]
    fn a_server_that_ends_every_stream_immediately_is_not_polled_without_pause_t_86() {
        let mut backoff = Backoff::new(&HttpConfig::new(7));
        for attempts in 0..1000 {
            let delay = backoff.delay(opened(attempts, Duration::ZERO));
            let base = Duration::from_millis(50 << attempts.min(10)).min(SECOND);
            assert!((base..=base + base / 10).contains(&delay), "{attempts}: {delay:?}");
        }
    }

    #[test]
    fn the_times_of_the_server_are_limited_t_86() {
        let max = 300 * SECOND;
        for (config, max) in
            [(HttpConfig::new(7), max), (HttpConfig::new(7).retry_max(SECOND), SECOND)]
        {
            let mut backoff = Backoff::new(&config);
            let most = max + JITTER_MAX;
            for retry in [max, max + SECOND, Duration::MAX] {
                let delay = backoff.delay(opened(3, retry));
                assert!((max..=most).contains(&delay), "{delay:?}");
                let delay = backoff.delay(StreamEnd { retry_after: Some(retry), ..refused(0) });
                assert!((max..=max + SECOND).contains(&delay), "{delay:?}");
            }
        }
    }

    #[test]
    fn without_a_retry_time_the_delay_doubles_t_86() {
        let mut backoff = Backoff::new(&HttpConfig::new(7));
        let delays: [_; 9] =
            core::array::from_fn(|attempts| backoff.delay(refused(attempts as u32)));
        for (attempts, delay) in delays.into_iter().enumerate() {
            let base = Duration::from_secs((1 << attempts).min(30));
            assert!((base..=base + base / 2).contains(&delay), "{attempts}: {delay:?}");
        }
        assert_ne!(delays[6] - delays[5], Duration::ZERO, "delays have jitter");
        let opened = StreamEnd { was_open: true, ..refused(u32::MAX) };
        assert!(backoff.delay(opened) <= Duration::from_secs(45));
    }
}
