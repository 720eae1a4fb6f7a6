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
