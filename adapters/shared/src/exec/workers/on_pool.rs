//! Handlers that run on the thread pool, each in the lane of its connection and handler.

use std::ptr;
use std::sync::Arc;

use futures_lite::future::block_on;
use mcp_proto::IncomingId;

use super::Workers;
use super::task::{JobKey, Lane, Stage, Stopwatch, Task, Work};
use crate::box_future::BoxFuture;
use crate::exec::clock::Clock;
use crate::exec::pace::Pace;
use crate::exec::thread_pool::Job;

impl Workers {
    /// Queues a task, for threads that the caller starts.
    pub(super) fn queue(&self, task: Task) {
        let Task { incoming, pace, work } = task;
        let lane = self.lane(&pace);
        let job: Job = match work {
            Work::Future(_) => return,
            Work::Function(job) => Box::new(move || {
                let clock = Clock::new();
                pace.record(job(&Stopwatch::start(&clock)).took);
            }),
            Work::FirstPoll(job) => self.in_runtime(move || {
                let clock = Clock::new();
                let ran = job(&Stopwatch::start(&clock));
                if let Some(took) = ran.recorded() {
                    pace.record(took);
                }
                if let Some(rest) = ran.rest {
                    block_on(rest);
                }
            }),
        };
        self.threads.queue(lane, self.key(incoming, Stage::Handler), job);
    }

    /// Blocks a thread of the pool on the rest of a future.
    pub(super) fn wait_on_pool(
        &self,
        incoming: IncomingId,
        pace: &Pace,
        rest: BoxFuture<'static, ()>,
    ) {
        let job = self.in_runtime(move || block_on(rest));
        self.threads.queue(self.lane(pace), self.key(incoming, Stage::Handler), job);
        self.threads.start();
    }

    fn in_runtime(&self, job: impl FnOnce() + Send + 'static) -> Job {
        let runtime = Arc::clone(&self.runtime);
        Box::new(move || runtime.enter(Box::new(job)))
    }

    pub(super) const fn key(&self, incoming: IncomingId, stage: Stage) -> JobKey {
        (self.connection, Some((incoming, stage)))
    }

    pub(super) fn lane(&self, pace: &Pace) -> Lane {
        ((!self.is_single).then_some(self.connection), ptr::from_ref(pace).addr())
    }
}
