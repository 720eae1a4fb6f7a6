//! Exponential backoff with jitter for reconnections.

use core::time::Duration;

use super::config::HttpConfig;

/// A backoff that doubles with each attempt and adds jitter.
// T-86: reconnections are spread.
#[derive(Debug)]
pub(super) struct Backoff {
    min: Duration,
    max: Duration,
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
        Self { min, max: config.reconnect_max.max(min), state: config.seed }
    }

    /// Returns the delay before the next connection. `attempts` counts the preceding connections
    /// without a message, `retry` is the time set by the server, and `was_open` tells whether the
    /// last connection carried the stream.
    pub(super) fn delay(
        &mut self,
        attempts: u32,
        retry: Option<Duration>,
        was_open: bool,
    ) -> Duration {
        match retry {
            Some(retry) if was_open => {
                let retry = retry.max(DELAY_MIN);
                retry.saturating_add(self.random_up_to((retry / 10).min(JITTER_MAX)))
            }
            _ => {
                let doubled = self.min.saturating_mul(1 << attempts.min(20)).min(self.max);
                let base = doubled.max(retry.unwrap_or_default());
                base.saturating_add(self.random_up_to(doubled / 2))
            }
        }
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

    // HTTP-17
    #[test]
    fn the_retry_time_of_the_server_is_respected_with_little_jitter_http_17_t_86() {
        for seed in 0..1000 {
            let mut backoff = Backoff::new(&HttpConfig::new(seed));
            let delay = backoff.delay(0, Some(Duration::from_millis(500)), true);
            assert!((500..=650).contains(&delay.as_millis()), "{delay:?}");
            assert!(backoff.delay(3, Some(Duration::MAX), true) >= Duration::from_secs(1));
            assert!(backoff.delay(0, Some(Duration::ZERO), true) >= DELAY_MIN);
            assert!(
                backoff.delay(0, Some(Duration::from_secs(90)), false) >= Duration::from_secs(90)
            );
        }
    }

    #[test]
    fn without_a_retry_time_the_delay_doubles_t_86() {
        let mut backoff = Backoff::new(&HttpConfig::new(7));
        let delays: [_; 9] =
            core::array::from_fn(|attempts| backoff.delay(attempts as u32, None, false));
        for (attempts, delay) in delays.into_iter().enumerate() {
            let base = Duration::from_secs((1 << attempts).min(30));
            assert!((base..=base + base / 2).contains(&delay), "{attempts}: {delay:?}");
        }
        assert_ne!(delays[6] - delays[5], Duration::ZERO, "delays have jitter");
        assert!(backoff.delay(u32::MAX, None, true) <= Duration::from_secs(45));
    }
}
