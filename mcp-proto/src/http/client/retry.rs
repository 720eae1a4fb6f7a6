//! How long to wait before a stream is connected to again; knows no streams and no clock.

use core::time::Duration;

use super::config::Config;

/// Waits twice as long each time, and never quite as long as others do. (T-86)
#[derive(Debug)]
pub(super) struct Backoff {
    min: Duration,
    max: Duration,
    state: u64,
}

/// A server that says 0 is not asked as fast as the network goes.
const FLOOR: Duration = Duration::from_millis(50);

/// Where the server says how long, it means it: later by a tenth, and this much at the most.
/// (HTTP-17)
const SPREAD_MAX: Duration = Duration::from_millis(100);

impl Backoff {
    pub(super) fn new(config: &Config) -> Self {
        let min = config.reconnect_min.max(FLOOR);
        Self { min, max: config.reconnect_max.max(min), state: config.seed }
    }

    /// How long to wait after a connection that was there, or was not; `attempts` brought nothing
    /// before it.
    pub(super) fn delay(
        &mut self,
        attempts: u32,
        retry: Option<Duration>,
        was_open: bool,
    ) -> Duration {
        match retry {
            Some(retry) if was_open => {
                let retry = retry.max(FLOOR);
                retry.saturating_add(self.up_to((retry / 10).min(SPREAD_MAX)))
            }
            _ => {
                let doubled = self.min.saturating_mul(1 << attempts.min(20)).min(self.max);
                let base = doubled.max(retry.unwrap_or_default());
                base.saturating_add(self.up_to(doubled / 2))
            }
        }
    }

    fn up_to(&mut self, most: Duration) -> Duration {
        let most = u64::try_from(most.as_nanos()).unwrap_or(u64::MAX);
        Duration::from_nanos(self.next() % most.saturating_add(1).max(1))
    }

    /// SplitMix64.
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

    #[test]
    fn what_the_server_says_is_waited_for_and_hardly_longer_http_17_t_86() {
        for seed in 0..1000 {
            let mut backoff = Backoff::new(&Config::new(seed));
            let delay = backoff.delay(0, Some(Duration::from_millis(500)), true);
            assert!((500..=650).contains(&delay.as_millis()), "{delay:?}");
            assert!(backoff.delay(3, Some(Duration::MAX), true) >= Duration::from_secs(1));
            assert!(backoff.delay(0, Some(Duration::ZERO), true) >= FLOOR);
            assert!(
                backoff.delay(0, Some(Duration::from_secs(90)), false) >= Duration::from_secs(90)
            );
        }
    }

    #[test]
    fn without_a_word_of_the_server_it_waits_twice_as_long_each_time_t_86() {
        let mut backoff = Backoff::new(&Config::new(7));
        let delays: [_; 9] =
            core::array::from_fn(|attempts| backoff.delay(attempts as u32, None, false));
        for (attempts, delay) in delays.into_iter().enumerate() {
            let base = Duration::from_secs((1 << attempts).min(30));
            assert!((base..=base + base / 2).contains(&delay), "{attempts}: {delay:?}");
        }
        assert_ne!(delays[6] - delays[5], Duration::ZERO, "no two wait equally long");
        assert!(backoff.delay(u32::MAX, None, true) <= Duration::from_secs(45));
    }
}
