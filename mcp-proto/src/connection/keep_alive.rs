//! Sends periodic pings and detects an unresponsive peer.
// TMO-08, TMO-09: pings are optional; several misses in a row close the connection.

use super::context::Env;
use crate::method::MethodId;
use crate::time::{Instant, PERIOD_MIN};

/// The ping timer, and the number of consecutive unanswered pings.
#[derive(Debug, Default)]
pub(crate) struct KeepAlive {
    due: Option<Instant>,
    missed: u32,
}

impl KeepAlive {
    /// Starts the timer for the next ping, if pings are enabled.
    pub(crate) fn arm(&mut self, env: &Env) {
        if let Some(every) = env.limits().ping_every {
            self.due = Some(env.now + every.max(PERIOD_MIN));
        }
    }

    pub(crate) fn disarm(&mut self) {
        self.due = None;
    }

    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.due
    }

    /// Clears an expired timer. Returns whether to send a ping now.
    pub(crate) fn take_due(&mut self, env: &Env) -> bool {
        let is_due = self.due.take_if(|due| *due <= env.now).is_some();
        is_due && env.allows().pings && MethodId::Ping.rule(env.revision()).is_some()
    }

    /// Counts an unanswered ping. Returns whether the limit is reached.
    pub(crate) fn on_missed(&mut self, env: &Env) -> bool {
        self.missed += 1;
        self.missed >= env.limits().pings_missed_max
    }

    /// Resets the count after a message from the peer.
    pub(crate) fn on_sign_of_life(&mut self) {
        self.missed = 0;
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;
    use crate::connection::lifecycle::phase::Phase;
    use crate::limits::Limits;
    use crate::revision::{Revision, Side};

    fn env(ping_every: Option<Duration>, revision: Revision) -> Env {
        let limits = Limits { ping_every, pings_missed_max: 2, ..Limits::default() };
        Env::for_test(Side::Client, limits, revision)
    }

    const EVERY: Option<Duration> = Some(Duration::from_secs(10));

    #[test]
    fn a_ping_is_due_once_per_period_while_it_may_be_sent_tmo_08() {
        for (revision, phase, is_sent) in [
            (Revision::V2025_11_25, Phase::Ready, true),
            (Revision::V2025_11_25, Phase::Opening, true),
            (Revision::V2025_11_25, Phase::Draining, false),
            // This revision has no pings.
            (Revision::V2026_07_28, Phase::Ready, false),
        ] {
            let mut env = env(EVERY, revision);
            env.terms.phase = phase;
            let mut pings = KeepAlive::default();
            pings.arm(&env);
            assert_eq!(pings.next_deadline(), Some(Instant::from_millis(10_000)));
            env.at(9999);
            assert!(!pings.take_due(&env));
            env.at(10_000);
            assert_eq!(pings.take_due(&env), is_sent, "{revision} {phase:?}");
            assert!(!pings.take_due(&env) && pings.next_deadline().is_none());
        }
    }

    #[test]
    fn the_timer_runs_only_if_pings_are_enabled_and_never_spins() {
        let mut pings = KeepAlive::default();
        pings.arm(&env(None, Revision::V2025_11_25));
        assert_eq!(pings.next_deadline(), None);
        pings.arm(&env(Some(Duration::ZERO), Revision::V2025_11_25));
        assert_eq!(pings.next_deadline(), Some(Instant::ZERO + PERIOD_MIN));
        pings.disarm();
        assert_eq!(pings.next_deadline(), None);
    }

    #[test]
    fn a_peer_is_unresponsive_after_consecutive_missed_pings_tmo_09() {
        let env = env(EVERY, Revision::V2025_11_25);
        let mut pings = KeepAlive::default();
        assert!(!pings.on_missed(&env));
        pings.on_sign_of_life();
        assert!(!pings.on_missed(&env));
        assert!(pings.on_missed(&env));
    }
}
