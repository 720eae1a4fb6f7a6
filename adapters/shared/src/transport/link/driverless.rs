//! Operations of connections over HTTP, which have no driver.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use futures_lite::future::or;
use mcp_proto::Instant;

use super::timer_task::SpawnTimer;
use super::{Link, LinkRole, Phase, State};
use crate::exec::workers::Driver;

impl<R: LinkRole> Link<R> {
    /// Has `spawner` run a timer task whenever there is a deadline, or the connection has closed.
    /// The task must call [`run_timers_until_idle`](Self::run_timers_until_idle).
    pub(crate) fn spawn_timers_with(self: &Arc<Self>, spawner: Arc<dyn SpawnTimer<Self>>) {
        self.timer_task.set_spawner(spawner, Arc::downgrade(self));
        let wakes = self.lock().take_wakes();
        self.wake(wakes);
    }

    /// Like [`keep_time`](Self::keep_time), but only while there is a deadline. Returns false when
    /// there is none: the next one spawns another timer task. Returns true when the connection has
    /// closed.
    pub(crate) async fn run_timers_until_idle<S: Future>(
        self: &Arc<Self>,
        sleep: impl Fn(Duration) -> S,
    ) -> bool {
        while let Some((moved, delay)) = self.handle_time() {
            if self.inspect(|state| state.connection.is_closed()) {
                return true;
            }
            match delay {
                Some(delay) => or(moved, async { drop(sleep(delay).await) }).await,
                None if self.retire_timer_task() => return false,
                None => moved.await,
            }
        }
        true
    }

    /// Ends the timer task if there is no deadline; returns whether it did.
    fn retire_timer_task(&self) -> bool {
        let mut state = self.lock();
        let is_idle = state.next_deadline().is_none() && !state.connection.is_closed();
        if is_idle {
            self.timer_task.retire();
            state.deadline_moved = None;
            state.connection.rest();
        }
        is_idle
    }

    /// Like [`with`](Self::with), for a message that may be a request: its handler starts on this
    /// thread if it is quick or a future.
    pub(crate) fn with_request<T>(
        self: &Arc<Self>,
        act: impl FnOnce(&mut State<R>, Instant) -> T,
    ) -> T {
        let workers = R::workers(&self.shared);
        if let Some(workers) = workers {
            workers.collect_tasks();
        }
        let outcome = self.with(act);
        if let Some(workers) = workers {
            workers.help(&self.clock, &self.trace, Driver::Sole);
        }
        outcome
    }

    /// Declares that no writer waits for output: the tasks that answer requests fetch it.
    pub(crate) fn has_no_writer(&self) {
        self.lock().phase = Phase::ReaderFlushes;
    }

    /// Waits until `take` returns something for the driver to do.
    pub(crate) async fn next_action<T>(
        &self,
        mut take: impl FnMut(&mut State<R>) -> Option<T>,
    ) -> T {
        loop {
            let writable;
            {
                let mut state = self.lock();
                if let Some(found) = take(&mut state) {
                    let wakes = state.take_wakes();
                    drop(state);
                    self.wake(wakes);
                    return found;
                }
                writable = self.writable.listen();
            }
            writable.await;
        }
    }

    /// Waits until `take` returns output, then sends what was held back for lack of room.
    pub(crate) async fn take_sent<T>(
        self: &Arc<Self>,
        take: impl FnMut(&mut State<R>) -> Option<T>,
    ) -> T {
        let taken = self.when(take).await;
        self.with(|State { connection, role, .. }, now| R::retry(connection, role, || now));
        taken
    }
}
