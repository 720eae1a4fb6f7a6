//! A handler that is about to run, its lane, the measurement of its run, and what came of it.

use std::sync::Arc;
use std::time::Duration;

use mcp_proto::{IncomingId, Instant};

use crate::box_future::BoxFuture;
use crate::exec::clock::Clock;
use crate::exec::pace::{Pace, QUICK_MAX};

/// The lane of a handler's jobs in the pool: the connection, if it is one of many requests, and the
/// address of the [`Pace`]. The lanes of callbacks have no connection.
pub(crate) type Lane = (Option<u64>, usize);

/// The key of a job in a pool: its connection, its request and its stage, or the number of a
/// callback. One type for all pools: each further one would compile their code again.
pub(crate) type JobKey = (u64, Option<(IncomingId, Stage)>);

/// The stage of a request that a job performs.
#[derive(Clone, Copy, Eq, Hash, PartialEq)]
pub(crate) enum Stage {
    /// Finds the handler of the request, and then starts it.
    Check,
    Handler,
}

/// A handler with its request.
pub(super) struct Task {
    pub(super) incoming: IncomingId,
    pub(super) pace: Arc<Pace>,
    pub(super) work: Work,
}

pub(super) enum Work {
    Future(BoxFuture<'static, ()>),
    Function(Box<dyn FnOnce(&Stopwatch<'_>) -> Ran + Send>),
    /// The first poll of a future that may block, which needs the runtime's context.
    FirstPoll(Box<dyn FnOnce(&Stopwatch<'_>) -> Ran + Send>),
}

/// Measures a run of a handler from its start.
pub(super) struct Stopwatch<'c> {
    clock: &'c Clock,
    pub(super) began: Instant,
}

impl<'c> Stopwatch<'c> {
    pub(super) fn start(clock: &'c Clock) -> Self {
        Self { clock, began: clock.now() }
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.clock.now().duration_since(self.began)
    }
}

/// The outcome of a function, or of the first poll of a future.
pub(super) struct Ran {
    /// How long it took.
    pub(super) took: Duration,
    /// The handler has run to its end.
    pub(super) has_run: bool,
    /// The rest of a future that waits.
    pub(super) rest: Option<BoxFuture<'static, ()>>,
}

/// The end of a future that may block.
pub(crate) struct Ended<T> {
    pub(crate) result: T,
    /// The handler has run. Otherwise, layers answered, or the request was cancelled.
    pub(crate) has_run: bool,
}

impl Ran {
    /// Returns the time to record for the handler's pace. A poll in which the handler did not run
    /// is only recorded if it was slow.
    pub(super) fn recorded(&self) -> Option<Duration> {
        (self.has_run || self.took > QUICK_MAX).then_some(self.took)
    }
}
