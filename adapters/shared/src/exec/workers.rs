//! Where handlers run: on the thread that drives their connection, on the runtime, or on the pool.
//!
//! | handler | `mcp-tokio`, `mcp-smol` | `mcp-blocking` |
//! |---|---|---|
//! | function measured to be quick | driver | driver |
//! | other function | pool | pool |
//! | future, until it first waits | driver | like a function |
//! | future, after that | runtime | pool |
//! | function with layers, until one waits | like a function | like a function |
//! | function with layers, after that | pool | pool |
//! | check of long arguments, before the handler | pool | pool |
//!
//! The driver is the thread or task that reads the requests of a connection and sends the
//! responses. Running a handler there saves two context switches. [`Pace`] decides which handlers
//! are quick; [`ThreadPool`] runs the others.

mod on_pool;
mod task;

use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures_lite::FutureExt as _;
use mcp_proto::IncomingId;

use crate::box_future::BoxFuture;
use crate::exec::clock::Clock;
use crate::exec::pace::{Pace, QUICK_MAX};
use crate::exec::sole_driver::SoleDriver;
use crate::exec::thread_pool::ThreadPool;
use crate::trace::Trace;

pub(crate) use task::Ended;
pub(crate) use task::JobKey;
use task::{Lane, Ran, Stage, Stopwatch, Task, Work};

/// The part of a runtime that runs futures in the background.
pub trait Spawn: Send + Sync + 'static {
    /// Starts a future in the background.
    ///
    /// The future runs to completion, unless the runtime shuts down first.
    ///
    /// # Errors
    /// Fails if the future cannot be started.
    fn spawn(&self, future: BoxFuture<'static, ()>) -> io::Result<()>;

    /// Waits for `duration`.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;

    /// Returns whether asynchronous handlers must run like blocking functions. Default: false.
    ///
    /// If true, the future of a handler moves to a thread of the pool when it first waits, and
    /// occupies that thread to its end. Otherwise, it moves to the runtime.
    fn is_plain(&self) -> bool {
        false
    }

    /// Returns whether the current thread, when it drops the last handle of a connection, waits
    /// until the connection has ended. Default: false.
    ///
    /// A thread that drives connections must not: it would wait for itself.
    fn waits_for_ends(&self) -> bool {
        false
    }

    /// Runs `job` on the current thread, within the runtime's context.
    ///
    /// The job can thus spawn tasks even though the thread does not belong to the runtime.
    fn enter(&self, job: Box<dyn FnOnce() + Send>) {
        job();
    }
}

/// The thread pool that all connections of one server or client share.
pub(crate) type HandlerThreads = Arc<ThreadPool<Lane, JobKey>>;

pub(crate) fn handler_threads(threads_max: usize) -> HandlerThreads {
    Arc::new(ThreadPool::new(threads_max))
}

/// The maximum number of threads in the pool of a server or client, by default. A thread costs
/// about 20 KiB of memory while it runs a handler, besides what the handler needs.
pub(crate) const THREADS_MAX: usize = 512;

/// How long the driver runs handlers before it hands the rest of those just read to the pool, so
/// that a connection which sends many together delays others only this much.
const TURN_MAX: Duration = Duration::from_millis(1);

/// The workers that run the handlers of one connection.
#[expect(unnameable_types, reason = "the state of a connection is internal")]
pub struct Workers {
    threads: HandlerThreads,
    /// Distinguishes this connection from others that share the thread pool.
    connection: u64,
    /// The connection serves a single request, as HTTP without sessions has it. All such requests
    /// share a lane for each handler: with their own lanes, many would count as many clients.
    is_single: bool,
    /// The program drives the connection by hand: handlers are tasks of the runtime.
    is_manual: bool,
    runtime: Arc<dyn Spawn>,
    inline: Arc<Mutex<InlineQueue>>,
}

opaque_debug!(Workers);

/// Handlers that the driver is about to start on its own thread.
#[derive(Default)]
struct InlineQueue {
    /// The driver will call [`Workers::help`], so new tasks wait for it here.
    is_open: bool,
    tasks: VecDeque<Task>,
    /// The handlers that replaceable drivers run.
    running: Vec<(IncomingId, Arc<Pace>)>,
}

/// The driver of a connection, while it runs handlers.
pub(crate) enum Driver<'a> {
    /// Another thread takes over if a handler takes too long. Called before each handler; returns
    /// false once that has happened.
    Replaceable(&'a mut dyn FnMut() -> bool),
    /// No other thread takes over: all work of this thread waits for the handler.
    Sole,
}

impl Workers {
    pub(crate) fn new(threads: HandlerThreads, runtime: Arc<dyn Spawn>) -> Self {
        static CONNECTIONS: AtomicU64 = AtomicU64::new(0);
        let connection = CONNECTIONS.fetch_add(1, Ordering::Relaxed);
        let inline = Arc::default();
        Self { threads, connection, is_single: false, is_manual: false, runtime, inline }
    }

    /// Declares whether the program drives the connection by hand.
    pub(crate) fn manual(self, is_manual: bool) -> Self {
        Self { is_manual, ..self }
    }

    /// Declares that the connection serves a single request.
    pub(crate) fn for_single_request(self, is_single: bool) -> Self {
        Self { is_single, ..self }
    }

    /// Runs a function, and then `send` with its result: on the driver's thread if the function
    /// proved quick, otherwise on the pool.
    ///
    /// Only the function counts for its pace: `send` can wake another thread, which may take the
    /// processor of this one immediately.
    pub(crate) fn run<T>(
        &self,
        incoming: IncomingId,
        pace: &Arc<Pace>,
        function: impl FnOnce() -> T + Send + 'static,
        send: impl FnOnce(T) + Send + 'static,
    ) {
        let job = move |run: &Stopwatch<'_>| {
            let result = function();
            let took = run.elapsed();
            send(result);
            Ran { took, has_run: true, rest: None }
        };
        self.run_task(incoming, pace, Work::Function(Box::new(job)));
    }

    /// Runs a future whose polls may block, and then `send` with its result: first where a function
    /// would run, and on the pool once it waits.
    ///
    /// Only the first poll counts for the pace. A quick one proves nothing unless the handler has
    /// run to its end in it.
    pub(crate) fn run_future<T>(
        &self,
        incoming: IncomingId,
        pace: &Arc<Pace>,
        future: impl Future<Output = Ended<T>> + Send + 'static,
        send: impl FnOnce(T) + Send + 'static,
    ) {
        let mut future = Box::pin(future);
        let job = move |run: &Stopwatch<'_>| {
            // The pool polls it again with a real waker.
            let polled = future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            let took = run.elapsed();
            match polled {
                Poll::Ready(Ended { result, has_run }) => {
                    send(result);
                    Ran { took, has_run, rest: None }
                }
                Poll::Pending => {
                    let rest = async move { send(future.await.result) };
                    Ran { took, has_run: false, rest: Some(Box::pin(rest)) }
                }
            }
        };
        self.run_task(incoming, pace, Work::FirstPoll(Box::new(job)));
    }

    /// Runs a long check of a request, which comes before its handler, on the pool.
    ///
    /// With one thread, it runs immediately: functions begin in the order of their requests.
    pub(crate) fn check(
        &self,
        incoming: IncomingId,
        pace: &Arc<Pace>,
        check: impl FnOnce() + Send + 'static,
    ) {
        if self.is_manual {
            let job = move |run: &Stopwatch<'_>| {
                check();
                Ran { took: run.elapsed(), has_run: true, rest: None }
            };
            let work = Work::Function(Box::new(job));
            self.run_manually(Task { incoming, pace: Arc::clone(pace), work });
        } else if self.threads.is_serial() {
            check();
        } else {
            let key = self.key(incoming, Stage::Check);
            self.threads.queue(self.lane(pace), key, Box::new(check));
            self.threads.start();
        }
    }

    fn run_task(&self, incoming: IncomingId, pace: &Arc<Pace>, work: Work) {
        let task = Task { incoming, pace: Arc::clone(pace), work };
        if self.is_manual {
            return self.run_manually(task);
        }
        let mut inline = self.lock();
        // With one thread, functions run one at a time and in order, also those of two connections.
        if inline.is_open && pace.is_quick() && !self.threads.is_serial() {
            inline.tasks.push_back(task);
        } else {
            drop(inline);
            self.queue(task);
            self.threads.start();
        }
    }

    /// Runs a future: first on the driver's thread, and on the runtime once it waits.
    pub(crate) fn spawn(
        &self,
        incoming: IncomingId,
        pace: &Arc<Pace>,
        future: impl Future<Output = ()> + Send + 'static,
    ) {
        if self.runtime.is_plain() {
            let run = async move { Ended { result: future.await, has_run: true } };
            return self.run_future(incoming, pace, run, |()| {});
        }
        let mut inline = self.lock();
        if inline.is_open && !self.is_manual {
            let work = Work::Future(Box::pin(future));
            inline.tasks.push_back(Task { incoming, pace: Arc::clone(pace), work });
        } else {
            drop(inline);
            self.spawn_on_runtime(Box::pin(future));
        }
    }

    /// Queues a function, and spawns a task that runs the first queued one.
    ///
    /// Until then, [`cancel`](Self::cancel) can remove it.
    fn run_manually(&self, task: Task) {
        self.lock().tasks.push_back(task);
        let inline = Arc::clone(&self.inline);
        self.spawn_on_runtime(Box::pin(async move {
            let first = lock(&inline).tasks.pop_front();
            let Some(Task { work: Work::Function(job) | Work::FirstPoll(job), .. }) = first else {
                return;
            };
            let clock = Clock::new();
            let ran = catch_unwind(AssertUnwindSafe(|| job(&Stopwatch::start(&clock))));
            if let Ok(Ran { rest: Some(rest), .. }) = ran {
                rest.await;
            }
        }));
    }

    /// Returns the number of the connection, unique in this process.
    pub(crate) const fn id(&self) -> u64 {
        self.connection
    }

    /// Returns whether the runtime runs futures like blocking functions.
    pub(crate) fn is_plain(&self) -> bool {
        self.runtime.is_plain()
    }

    /// Returns whether this thread waits for the end of a connection whose last handle it drops.
    pub(crate) fn waits_for_ends(&self) -> bool {
        self.runtime.waits_for_ends()
    }

    /// Removes a handler that has not started, or gives the place of a running one in the pool to
    /// others: its request was cancelled.
    pub(crate) fn cancel(&self, incoming: IncomingId) {
        let removed = {
            let tasks = &mut self.lock().tasks;
            let index = tasks.iter().position(|task| task.incoming == incoming);
            index.and_then(|index| tasks.remove(index))
        };
        if removed.is_none() {
            self.threads.cancel(&self.key(incoming, Stage::Check));
            self.threads.cancel(&self.key(incoming, Stage::Handler));
        }
    }

    /// Collects the tasks that follow for [`help`](Self::help).
    pub(crate) fn collect_tasks(&self) {
        self.lock().is_open = true;
    }

    /// Runs the tasks collected since [`collect_tasks`](Self::collect_tasks): functions to their
    /// end, futures to their first wait.
    ///
    /// Hands the rest to other threads after a task that was not quick, after [`TURN_MAX`], and
    /// when the driver was replaced.
    pub(crate) fn help(&self, clock: &Clock, trace: &Trace, mut driver: Driver<'_>) {
        let mut start = None;
        loop {
            let mut inline = self.lock();
            let Some(task) = inline.tasks.pop_front() else {
                inline.is_open = false;
                return;
            };
            drop(inline);
            let is_sole = matches!(driver, Driver::Sole);
            if let Driver::Replaceable(may_continue) = &mut driver {
                if !may_continue() {
                    return self.hand_over(Some(task));
                }
                self.lock().running.push((task.incoming, Arc::clone(&task.pace)));
            }
            let run = Stopwatch::start(clock);
            let Task { incoming, pace, work } = task;
            let declared = SoleDriver::declare(is_sole);
            let ran = match work {
                Work::Function(job) | Work::FirstPoll(job) => {
                    catch_unwind(AssertUnwindSafe(|| job(&run))).ok()
                }
                Work::Future(future) => {
                    self.begin(future);
                    None
                }
            };
            drop(declared);
            if !is_sole {
                self.finish(incoming);
            }
            let whole = || Ran { took: run.elapsed(), has_run: true, rest: None };
            let ran = ran.unwrap_or_else(whole);
            let (took, recorded) = (ran.took, ran.recorded());
            if let Some(rest) = ran.rest {
                // Only now: until its end was recorded, the handler may count as one of the pool.
                self.wait_on_pool(incoming, &pace, rest);
            }
            if recorded.is_some_and(|took| pace.record_inline(took)) {
                trace.held(pace.name(), took);
            }
            let turn = (run.began + took).duration_since(*start.get_or_insert(run.began));
            if took > QUICK_MAX || turn > TURN_MAX {
                return self.hand_over(None);
            }
        }
    }

    /// Records the end of a handler that a replaceable driver ran.
    fn finish(&self, incoming: IncomingId) {
        let running = &mut self.lock().running;
        if let Some(index) = running.iter().position(|(running, _)| *running == incoming) {
            running.swap_remove(index);
        } else {
            self.threads.finish(&self.key(incoming, Stage::Handler));
        }
    }

    /// Runs a future in the background.
    pub(crate) fn spawn_on_runtime(&self, future: BoxFuture<'static, ()>) {
        // A runtime that rejects futures is shutting down, and the connection with it.
        drop(self.runtime.spawn(future));
    }

    /// Counts the driver's thread as one of the pool, because its handler is stuck, and hands the
    /// collected tasks to other threads.
    pub(crate) fn release(&self) {
        let mut inline = self.lock();
        // Under the lock: before the driver can record the end of the handler.
        for (incoming, pace) in inline.running.drain(..) {
            pace.record_stuck();
            self.threads.adopt(self.lane(&pace), self.key(incoming, Stage::Handler));
        }
        drop(inline);
        self.hand_over(None);
    }

    /// Hands `first` and the collected tasks to the pool and the runtime.
    fn hand_over(&self, first: Option<Task>) {
        let mut inline = self.lock();
        inline.is_open = false;
        let mut futures = Vec::new();
        // Queued under the lock: tasks that arrive later keep their place behind these.
        for task in first.into_iter().chain(inline.tasks.drain(..)) {
            match task.work {
                Work::Function(_) | Work::FirstPoll(_) => self.queue(task),
                Work::Future(future) => futures.push(future),
            }
        }
        drop(inline);
        self.threads.start();
        for future in futures {
            self.spawn_on_runtime(future);
        }
    }

    /// Polls a future once on this thread, and leaves it to the runtime unless it completes.
    fn begin(&self, mut future: BoxFuture<'static, ()>) {
        // The runtime polls it again with a real waker.
        let first = |future: &mut BoxFuture<'static, ()>| {
            future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready()
        };
        let done = catch_unwind(AssertUnwindSafe(|| first(&mut future)));
        if matches!(done, Ok(false)) {
            self.spawn_on_runtime(future);
        }
    }

    fn lock(&self) -> MutexGuard<'_, InlineQueue> {
        lock(&self.inline)
    }
}

fn lock(inline: &Mutex<InlineQueue>) -> MutexGuard<'_, InlineQueue> {
    inline.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a future; returns `None` if it panics. The panic message must not reach the peer.
pub(crate) async fn catch_panic<T>(future: impl Future<Output = T>) -> Option<T> {
    AssertUnwindSafe(future).catch_unwind().await.ok()
}

#[cfg(test)]
mod tests;
