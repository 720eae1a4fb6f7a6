//! Execution of handlers: on the driver's thread while they are quick, otherwise on a thread pool
//! or the runtime.
//!
//! Blocking functions run on a bounded pool of threads, futures on the adapter's runtime.

use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Waker};
use std::time::Duration;

use futures_lite::FutureExt as _;
use futures_lite::future::block_on;
use mcp_proto::{IncomingId, Instant};

use crate::BoxFuture;
use crate::exec::clock::Clock;
use crate::exec::thread_pool::ThreadPool;

/// The runtime operation that runs futures in the background.
pub trait Spawn: Send + Sync + 'static {
    /// Runs a future to completion in the background, unless the runtime shuts down first.
    ///
    /// # Errors
    /// Fails if the future cannot be spawned.
    fn spawn(&self, future: BoxFuture<'static, ()>) -> io::Result<()>;

    /// Returns whether asynchronous handlers run to completion on a thread of the handler pool.
    ///
    /// This is the case if there is no async runtime. The default implementation returns false.
    fn is_plain(&self) -> bool {
        false
    }
}

/// The thread pool that all connections of one server or client share.
pub(crate) type HandlerThreads = Arc<ThreadPool<(u64, IncomingId)>>;

pub(crate) fn handler_threads(threads_max: usize) -> HandlerThreads {
    Arc::new(ThreadPool::new(threads_max))
}

/// Runs the handlers of one connection.
#[expect(
    missing_debug_implementations,
    unnameable_types,
    reason = "the state of a connection is internal"
)]
pub struct Workers {
    threads: HandlerThreads,
    /// Distinguishes this connection from others that share the thread pool.
    connection: u64,
    runtime: Arc<dyn Spawn>,
    inline: Mutex<InlineQueue>,
}

/// Tasks that the driver is about to start on its own thread.
#[derive(Default)]
struct InlineQueue {
    /// The driver will call [`Workers::help`], so new tasks wait for it here.
    is_open: bool,
    tasks: VecDeque<(IncomingId, HandlerTask)>,
    /// Handlers were slow recently: until then, all tasks go to the pool or the runtime.
    slow_until: Option<Instant>,
    pace: Pace,
}

enum HandlerTask {
    Future(BoxFuture<'static, ()>),
    Blocking(Box<dyn FnOnce() + Send>),
}

/// The longest run of a handler that counts as quick.
const QUICK_MAX: Duration = Duration::from_micros(500);

/// Handlers are slow once two of this many consecutive ones were not quick: a single one may have
/// been preempted by the system.
const SLOW_WINDOW: u32 = 8;

/// Handlers are slow after a single one that took longer than this.
const LONG: Duration = Duration::from_millis(10);

/// How long tasks bypass the driver after a slow handler, at least. It is ten times the handler's
/// run time if that is longer, so that handlers that compute occupy the driver for a small part of
/// its time.
const SLOW_PERIOD: Duration = Duration::from_millis(25);

/// Detects slow handlers.
#[derive(Default)]
struct Pace {
    /// Quick handlers since the last one that was not quick.
    quick_in_a_row: Option<u32>,
}

impl Pace {
    /// Records a handler that ran for `took`; returns whether handlers are slow.
    fn is_slow(&mut self, took: Duration) -> bool {
        if took <= QUICK_MAX {
            self.quick_in_a_row = self.quick_in_a_row.map(|count| count.saturating_add(1));
            return false;
        }
        let before = self.quick_in_a_row.replace(0);
        took > LONG || before.is_some_and(|count| count < SLOW_WINDOW)
    }
}

impl Workers {
    pub(crate) fn new(threads: HandlerThreads, runtime: Arc<dyn Spawn>) -> Self {
        static CONNECTIONS: AtomicU64 = AtomicU64::new(0);
        let connection = CONNECTIONS.fetch_add(1, Ordering::Relaxed);
        Self { threads, connection, runtime, inline: Mutex::default() }
    }

    /// Returns whether all handlers may block the thread that runs them.
    pub(crate) fn is_blocking(&self) -> bool {
        self.runtime.is_plain()
    }

    /// Runs a blocking function.
    pub(crate) fn run(&self, incoming: IncomingId, job: impl FnOnce() + Send + 'static) {
        if self.is_blocking() {
            self.submit(incoming, HandlerTask::Blocking(Box::new(job)));
        } else {
            self.threads.run((self.connection, incoming), Box::new(job));
        }
    }

    /// Runs a future.
    pub(crate) fn spawn(
        &self,
        incoming: IncomingId,
        future: impl Future<Output = ()> + Send + 'static,
    ) {
        if self.is_blocking() {
            self.run(incoming, move || block_on(future));
        } else {
            self.submit(incoming, HandlerTask::Future(Box::pin(future)));
        }
    }

    /// Removes a handler that has not started.
    pub(crate) fn withdraw(&self, incoming: IncomingId) {
        let removed = {
            let tasks = &mut self.lock().tasks;
            let index = tasks.iter().position(|(queued, _)| *queued == incoming);
            index.and_then(|index| tasks.remove(index))
        };
        if removed.is_none() {
            self.threads.withdraw(&(self.connection, incoming));
        }
    }

    /// Collects the following tasks for [`help`](Self::help), unless handlers are slow.
    pub(crate) fn collect_tasks(&self, clock: &Clock) {
        let mut inline = self.lock();
        if inline.slow_until.is_some_and(|until| clock.now() < until) {
            return;
        }
        inline.slow_until = None;
        inline.is_open = true;
    }

    /// Runs the tasks collected since [`collect_tasks`](Self::collect_tasks): functions to
    /// completion, futures to their first wait.
    ///
    /// Stops, and hands the rest to other threads, when `may_continue`, called before each task,
    /// returns false.
    pub(crate) fn help(&self, clock: &Clock, mut may_continue: impl FnMut() -> bool) {
        let mut began = None;
        loop {
            let mut inline = self.lock();
            if began.is_none() && inline.tasks.is_empty() {
                inline.is_open = false;
                return;
            }
            let now = clock.now();
            if let Some(took) = began.map(|began| now.duration_since(began))
                && inline.pace.is_slow(took)
            {
                return self
                    .hand_over(inline, Some(now + SLOW_PERIOD.max(took.saturating_mul(10))));
            }
            let Some((incoming, task)) = inline.tasks.pop_front() else {
                inline.is_open = false;
                return;
            };
            if !may_continue() {
                inline.tasks.push_front((incoming, task));
                return self.hand_over(inline, Some(now + SLOW_PERIOD));
            }
            began = Some(now);
            match task {
                HandlerTask::Blocking(job) => {
                    let Some(_entered) = self.threads.enter() else {
                        inline.tasks.push_front((incoming, HandlerTask::Blocking(job)));
                        return self.hand_over(inline, None);
                    };
                    drop(inline);
                    drop(catch_unwind(AssertUnwindSafe(job)));
                }
                HandlerTask::Future(future) => {
                    drop(inline);
                    self.start(future);
                }
            }
        }
    }

    /// Hands the collected tasks to other threads, because the driver is stuck, and bypasses it for
    /// a while.
    pub(crate) fn release(&self, clock: &Clock) {
        self.hand_over(self.lock(), Some(clock.now() + SLOW_PERIOD));
    }

    fn submit(&self, incoming: IncomingId, task: HandlerTask) {
        let mut inline = self.lock();
        inline.tasks.push_back((incoming, task));
        if !inline.is_open {
            self.hand_over(inline, None);
        }
    }

    /// Hands the collected tasks, and all further ones until `slow_until`, to the pool or the
    /// runtime.
    fn hand_over(&self, mut inline: MutexGuard<'_, InlineQueue>, slow_until: Option<Instant>) {
        inline.is_open = false;
        inline.slow_until = inline.slow_until.max(slow_until);
        let mut futures = Vec::new();
        // Queued under the lock: tasks submitted meanwhile keep their place behind these.
        for (incoming, task) in inline.tasks.drain(..) {
            match task {
                HandlerTask::Blocking(job) => self.threads.queue((self.connection, incoming), job),
                HandlerTask::Future(future) => futures.push(future),
            }
        }
        drop(inline);
        self.threads.start_threads();
        for future in futures {
            self.spawn_on_runtime(future);
        }
    }

    /// Polls a future once on this thread, and leaves it to the runtime unless it completes.
    fn start(&self, mut future: BoxFuture<'static, ()>) {
        // The runtime polls it again with a real waker.
        let first = |future: &mut BoxFuture<'static, ()>| {
            future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready()
        };
        let done = catch_unwind(AssertUnwindSafe(|| first(&mut future)));
        if matches!(done, Ok(false)) {
            self.spawn_on_runtime(future);
        }
    }

    fn spawn_on_runtime(&self, future: BoxFuture<'static, ()>) {
        // A runtime that rejects futures is shutting down, and the connection with it.
        drop(self.runtime.spawn(future));
    }

    fn lock(&self) -> MutexGuard<'_, InlineQueue> {
        self.inline.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs a future; returns `None` if it panics. The panic message must not reach the peer.
pub(crate) async fn catch_panic<T>(future: impl Future<Output = T>) -> Option<T> {
    AssertUnwindSafe(future).catch_unwind().await.ok()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::io;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::Duration;

    use mcp_proto::IncomingId;
    use mcp_proto::server::{Config, Event, Server};
    use mcp_proto::stdio::Stdio;
    use mcp_proto::{Capability, Endpoint, Instant};

    use super::{LONG, Pace, QUICK_MAX, SLOW_WINDOW, Spawn, Workers, handler_threads};
    use crate::BoxFuture;
    use crate::exec::clock::Clock;

    struct BlockingRuntime;

    impl Spawn for BlockingRuntime {
        fn spawn(&self, _: BoxFuture<'static, ()>) -> io::Result<()> {
            Err(io::ErrorKind::Unsupported.into())
        }

        fn is_plain(&self) -> bool {
            true
        }
    }

    /// Returns ids of incoming requests, which only a connection can create.
    fn ids<const N: usize>() -> [IncomingId; N] {
        let mut server = Stdio::new(Server::new(
            Instant::ZERO,
            Config::new("s", "1").capability(Capability::Tools),
        ));
        let hello = concat!(
            r#"{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"#,
            r#""protocolVersion":"2025-11-25","capabilities":{},"#,
            r#""clientInfo":{"name":"c","version":"1"}}}"#,
        );
        let mut input =
            format!("{hello}\n{}\n", r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        for id in 0..N {
            let params = r#"{"name":"x"}"#;
            input += &format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#
            );
            input.push('\n');
        }
        server.handle_input(Instant::ZERO, input.as_bytes());
        let mut ids = Vec::new();
        while let Some(event) = server.poll_event() {
            if let Event::Request { incoming, .. } = event {
                ids.push(incoming);
            }
        }
        ids.try_into().unwrap()
    }

    fn workers(threads_max: usize) -> Workers {
        Workers::new(handler_threads(threads_max), Arc::new(BlockingRuntime))
    }

    #[test]
    fn collected_tasks_run_on_this_thread_and_later_ones_on_the_pool() {
        let (workers, clock, [first, second]) = (workers(2), Clock::new(), ids());
        let (sender, receiver) = channel();
        let run = |id, name| {
            let sender = sender.clone();
            workers.run(id, move || sender.send((name, thread::current().id())).unwrap());
        };
        workers.collect_tasks(&clock);
        run(first, "first");
        assert!(receiver.try_recv().is_err(), "`help` was not called yet");
        workers.help(&clock, || true);
        let here = thread::current().id();
        assert_eq!(receiver.try_recv().unwrap(), ("first", here));
        run(second, "second");
        let (name, there) = receiver.recv().unwrap();
        assert!(name == "second" && there != here);
    }

    #[test]
    fn a_replaced_leader_hands_over_its_tasks_and_withdrawn_ones_never_run() {
        let (workers, clock, [first, second, third]) = (workers(2), Clock::new(), ids());
        let (sender, receiver) = channel();
        workers.collect_tasks(&clock);
        for id in [first, second, third] {
            let sender = sender.clone();
            workers.run(id, move || sender.send((id, thread::current().id())).unwrap());
        }
        drop(sender);
        workers.withdraw(second);
        let calls = Cell::new(0);
        workers.help(&clock, || {
            calls.set(calls.get() + 1);
            false
        });
        assert_eq!(calls.get(), 1);
        let here = thread::current().id();
        let mut ran: Vec<_> =
            receiver.iter().inspect(|(_, there)| assert_ne!(*there, here)).collect();
        ran.sort_unstable_by_key(|(id, _)| *id);
        assert_eq!(ran.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [first, third]);
    }

    #[test]
    fn after_a_slow_handler_the_pool_runs_the_next_ones() {
        let (workers, clock, [slow, next]) = (workers(2), Clock::new(), ids());
        workers.collect_tasks(&clock);
        workers.run(slow, || thread::sleep(QUICK_MAX * 100));
        workers.help(&clock, || true);
        let until = workers.lock().slow_until.unwrap();
        assert!(clock.until(until) > QUICK_MAX * 200, "longer than the handler took");
        let (sender, receiver) = channel();
        workers.collect_tasks(&clock);
        workers.run(next, move || sender.send(thread::current().id()).unwrap());
        assert_ne!(receiver.recv().unwrap(), thread::current().id());
    }

    #[test]
    fn tasks_handed_over_keep_their_order() {
        let (workers, clock, ids) = (Arc::new(workers(1)), Clock::new(), ids::<64>());
        let (sender, receiver) = channel();
        let (releasing, over) = (Arc::clone(&workers), Arc::new(AtomicBool::new(false)));
        let is_over = Arc::clone(&over);
        let watcher = thread::spawn(move || {
            while !is_over.load(Ordering::SeqCst) {
                // Pretends that handlers are quick again.
                releasing.release(&Clock::new());
                releasing.lock().slow_until = None;
            }
        });
        for round in 0..500 {
            for (at, id) in ids.into_iter().enumerate() {
                if at % 8 == 0 {
                    workers.collect_tasks(&clock);
                }
                let sender = sender.clone();
                workers.run(id, move || sender.send((round, at)).unwrap());
                if at % 8 == 6 {
                    workers.help(&clock, || at != 30);
                }
            }
            workers.help(&clock, || true);
            let ran: Vec<_> = receiver.iter().take(ids.len()).collect();
            assert_eq!(ran, (0..ids.len()).map(|at| (round, at)).collect::<Vec<_>>());
        }
        over.store(true, Ordering::SeqCst);
        watcher.join().unwrap();
    }

    #[test]
    fn handlers_are_slow_after_two_that_were_not_quick_or_a_long_one() {
        let (quick, unlucky) = (QUICK_MAX, QUICK_MAX * 2);
        let verdicts = |times: &[Duration]| {
            let mut pace = Pace::default();
            times.iter().map(|took| pace.is_slow(*took)).collect::<Vec<_>>()
        };
        assert_eq!(verdicts(&[unlucky, unlucky, quick]), [false, true, false]);
        assert_eq!(verdicts(&[LONG + QUICK_MAX, quick]), [true, false]);
        let apart = |count| {
            let times: Vec<_> = [&[unlucky], &vec![quick; count][..], &[unlucky]].concat();
            verdicts(&times).ends_with(&[true])
        };
        assert!(apart(SLOW_WINDOW as usize - 1));
        assert!(!apart(SLOW_WINDOW as usize));
    }

    #[test]
    fn the_maximum_includes_the_task_on_this_thread() {
        let (workers, clock, [first, second]) = (Arc::new(workers(1)), Clock::new(), ids());
        let (sender, receiver) = channel();
        workers.collect_tasks(&clock);
        let (inner, later) = (Arc::clone(&workers), sender.clone());
        let within = move || {
            inner.release(&Clock::new());
            inner.run(second, move || later.send("second").unwrap());
            // The second task has a thread by now, but must wait.
            thread::sleep(QUICK_MAX);
            sender.send("first").unwrap();
        };
        workers.run(first, within);
        workers.help(&clock, || true);
        assert_eq!([receiver.recv().unwrap(), receiver.recv().unwrap()], ["first", "second"]);
    }
}
