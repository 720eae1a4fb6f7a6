//! Pings that keep a connection alive, and find out when it is not. (TMO-08, TMO-09)

use super::context::Env;
use crate::method::MethodId;
use crate::time::{Instant, PERIOD_MIN};

/// When the next ping is due, and how many in a row were not answered.
#[derive(Debug, Default)]
pub(crate) struct KeepAlive {
    due: Option<Instant>,
    missed: u32,
}

impl KeepAlive {
    /// Sets the timer for the next ping, if pings are wanted.
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

    /// Returns whether a ping is to be sent now.
    pub(crate) fn take_due(&mut self, env: &Env) -> bool {
        let is_due = self.due.take_if(|due| *due <= env.now).is_some();
        is_due && env.allows().pings && MethodId::Ping.rule(env.revision()).is_some()
    }

    /// A ping was not answered. Returns whether it was one too many.
    pub(crate) fn on_missed(&mut self, env: &Env) -> bool {
        self.missed += 1;
        self.missed >= env.limits().pings_missed_max
    }

    /// The peer showed that it is there.
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
            // There are no pings.
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
    fn there_is_no_timer_unless_pings_are_wanted_and_none_that_spins() {
        let mut pings = KeepAlive::default();
        pings.arm(&env(None, Revision::V2025_11_25));
        assert_eq!(pings.next_deadline(), None);
        pings.arm(&env(Some(Duration::ZERO), Revision::V2025_11_25));
        assert_eq!(pings.next_deadline(), Some(Instant::ZERO + PERIOD_MIN));
        pings.disarm();
        assert_eq!(pings.next_deadline(), None);
    }

    #[test]
    fn a_peer_is_given_up_after_so_many_pings_in_a_row_tmo_09() {
        let env = env(EVERY, Revision::V2025_11_25);
        let mut pings = KeepAlive::default();
        assert!(!pings.on_missed(&env));
        pings.on_sign_of_life();
        assert!(!pings.on_missed(&env));
        assert!(pings.on_missed(&env));
    }
}
