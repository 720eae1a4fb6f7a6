//! Timers of connections that a program drives by hand.

use std::sync::Arc;

use mcp_proto::Instant;

use super::{Link, LinkRole, State};

impl<R: LinkRole> Link<R> {
    /// Advances the clock to `now` and fires all timers that are due.
    pub(crate) fn run_timers(self: &Arc<Self>, now: Instant) {
        self.clock.advance_to(now);
        drop(self.handle_time());
    }

    /// Returns when the next timer of the connection or of its tasks is due.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.inspect(State::next_deadline)
    }
}
