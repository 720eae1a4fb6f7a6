//! Timers of connections that a program drives by hand, or the only thread of a system.

use std::sync::Arc;
use std::time::Duration;

use mcp_proto::Instant;

use super::{Link, LinkRole, State};

impl<R: LinkRole> Link<R> {
    /// Advances the clock to `now` and fires all timers that are due.
    pub(crate) fn run_timers(self: &Arc<Self>, now: Instant) {
        self.clock.advance_to(now);
        drop(self.handle_time());
    }

    /// Fires all timers that are due.
    pub fn fire_timers(self: &Arc<Self>) {
        drop(self.handle_time());
    }

    /// Returns the time until a handler or another task of the connection stops sleeping.
    pub fn sleeps_for(&self) -> Option<Duration> {
        self.inspect(|state| state.timers.first()).map(|at| self.clock.until(at))
    }

    /// Returns the time until the next timer of the connection or of its tasks is due.
    pub fn times_out_in(&self) -> Option<Duration> {
        self.next_deadline().map(|at| self.clock.until(at))
    }

    /// Returns whether the connection is closed.
    pub fn has_closed(&self) -> bool {
        self.inspect(|state| state.connection.is_closed())
    }

    /// Returns when the next timer of the connection or of its tasks is due.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.inspect(State::next_deadline)
    }
}
