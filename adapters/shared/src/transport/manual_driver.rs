//! A connection over a byte stream that a program drives by hand, with its tasks.

use std::sync::Arc;

use mcp_proto::Instant;

use crate::exec::manual_tasks::ManualTasks;
use crate::transport::link::{Link, LinkRole};
use crate::transport::shutdown::DriverHandle;

/// The driver of a connection with a manual clock. Every method returns without waiting.
pub(crate) struct ManualDriver<R: LinkRole> {
    driving: DriverHandle<R>,
    tasks: Arc<ManualTasks>,
    /// Output that was taken from the connection.
    chunk: Vec<u8>,
    /// The number of bytes of the chunk that the program has sent.
    sent: usize,
}

impl<R: LinkRole> ManualDriver<R> {
    pub(crate) fn new(driving: DriverHandle<R>, tasks: Arc<ManualTasks>) -> Self {
        Self { driving, tasks, chunk: Vec::new(), sent: 0 }
    }

    pub(crate) const fn link(&self) -> &Arc<Link<R>> {
        self.driving.link()
    }

    /// Advances the clock, without handling the timeouts that have expired then.
    pub(crate) fn advance_clock(&self, now: Instant) {
        self.link().clock.advance_to(now);
    }

    pub(crate) fn handle_input(&self, now: Instant, input: &[u8]) {
        self.advance_clock(now);
        self.link().take_input(input);
    }

    pub(crate) fn handle_eof(&self, now: Instant) {
        self.advance_clock(now);
        self.link().handle_eof();
    }

    pub(crate) fn handle_timeout(&self, now: Instant) {
        self.link().run_timers(now);
    }

    pub(crate) fn close(&self, now: Instant) {
        self.advance_clock(now);
        self.link().stop();
    }

    /// Runs the next task that is ready; returns false if there is none.
    pub(crate) fn run_next(&self, now: Instant) -> bool {
        self.advance_clock(now);
        self.tasks.run_next()
    }

    pub(crate) fn has_ready(&self) -> bool {
        self.tasks.has_ready()
    }

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.link().next_deadline()
    }

    pub(crate) fn output(&mut self) -> &[u8] {
        if self.sent >= self.chunk.len() {
            self.sent = 0;
            let link = Arc::clone(self.link());
            link.take_output(&mut self.chunk);
        }
        self.chunk.get(self.sent..).unwrap_or_default()
    }

    pub(crate) fn advance(&mut self, count: usize) {
        let count = count.min(self.chunk.len() - self.sent);
        self.sent += count;
        self.link().wrote(count);
    }

    pub(crate) fn wants_input(&self) -> bool {
        self.link().wants_input_now()
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.link().inspect(|state| state.connection.is_closed())
    }
}

impl<R: LinkRole> Drop for ManualDriver<R> {
    fn drop(&mut self) {
        self.link().abandon();
        // Afterwards, because the end of the connection wakes tasks.
        self.tasks.close();
    }
}
