//! Where handlers run: at once by whoever drives the connection, for as long as they are quick;
//! otherwise plain functions on a bounded pool of threads, and futures on the runtime. Knows
//! nothing of what they do.

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
use crate::exec::thread_pool::Pool;

/// Runs futures in the background.
pub trait Spawn: Send + Sync + 'static {
    /// Runs a future to its end, unless the runtime ends before.
    ///
    /// # Errors
    /// When it cannot be run.
    fn spawn(&self, future: BoxFuture<'static, ()>) -> io::Result<()>;

    /// Whether handlers that are futures are to run on the threads of plain functions, each until
    /// its end.
    fn is_plain(&self) -> bool {
        false
    }
}

/// Threads for plain functions, shared by all connections of one server or client.
pub(crate) type Threads = Arc<Pool<(u64, IncomingId)>>;

pub(crate) fn threads(threads_max: usize) -> Threads {
    Arc::new(Pool::new(threads_max))
}

/// The handlers of one connection.
#[expect(
    missing_debug_implementations,
    unnameable_types,
    reason = "what a connection keeps is its own"
)]
pub struct Workers {
    threads: Threads,
    /// Tells this connection from others that use the same threads.
    connection: u64,
    runtime: Arc<dyn Spawn>,
    fresh: Mutex<Fresh>,
}

/// What has not begun, while the driver is about to begin it.
#[derive(Default)]
struct Fresh {
    /// The driver will look for more.
    is_awaited: bool,
    works: VecDeque<(IncomingId, Work)>,
    /// Handlers were slow a moment ago: until then, the driver leaves them to others.
    slow_until: Option<Instant>,
    pace: Pace,
}

enum Work {
    Future(BoxFuture<'static, ()>),
    Plain(Box<dyn FnOnce() + Send>),
}

/// A handler that takes longer than this is not quick.
const QUICK: Duration = Duration::from_micros(500);

/// One that is not quick says little: it may have been the system that had other things to do. A
/// second one among so many does, or one that takes as `LONG`.
const AMONG: u32 = 8;
const LONG: Duration = Duration::from_millis(10);

/// For how long the driver leaves handlers to others after one that was not quick, at least: ten
/// times as long as that one took, so that handlers that compute hold it up for a small part of its
/// time.
const SLOW: Duration = Duration::from_millis(25);

/// How quick handlers have been.
#[derive(Default)]
struct Pace {
    /// Handlers since one that was not quick.
    since: Option<u32>,
}

impl Pace {
    /// Whether handlers are slow, after one that took so long.
    fn is_slow(&mut self, took: Duration) -> bool {
        if took <= QUICK {
            self.since = self.since.map(|count| count.saturating_add(1));
            return false;
        }
        let before = self.since.replace(0);
        took > LONG || before.is_some_and(|count| count < AMONG)
    }
}

impl Workers {
    pub(crate) fn new(threads: Threads, runtime: Arc<dyn Spawn>) -> Self {
        static CONNECTIONS: AtomicU64 = AtomicU64::new(0);
        let connection = CONNECTIONS.fetch_add(1, Ordering::Relaxed);
        Self { threads, connection, runtime, fresh: Mutex::default() }
    }

    /// Whether all handlers may block, whoever runs them.
    #[cfg(feature = "http")]
    pub(crate) fn are_plain(&self) -> bool {
        self.runtime.is_plain()
    }

    /// Runs a plain function, soon.
    pub(crate) fn run(&self, incoming: IncomingId, job: impl FnOnce() + Send + 'static) {
        if self.runtime.is_plain() {
            self.submit(incoming, Work::Plain(Box::new(job)));
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
        if self.runtime.is_plain() {
            self.run(incoming, move || block_on(future));
        } else {
            self.submit(incoming, Work::Future(Box::pin(future)));
        }
    }

    /// Forgets a handler that has not begun.
    pub(crate) fn withdraw(&self, incoming: IncomingId) {
        let forgotten = {
            let works = &mut self.lock().works;
            let place = works.iter().position(|(fresh, _)| *fresh == incoming);
            place.and_then(|place| works.remove(place))
        };
        if forgotten.is_none() {
            self.threads.withdraw(&(self.connection, incoming));
        }
    }

    /// The driver is about to [`help`](Self::help), unless handlers are slow.
    pub(crate) fn await_fresh(&self, clock: &Clock) {
        let mut fresh = self.lock();
        if fresh.slow_until.is_some_and(|until| clock.now() < until) {
            return;
        }
        fresh.slow_until = None;
        fresh.is_awaited = true;
    }

    /// Runs what came since [`await_fresh`](Self::await_fresh): functions to their end, futures to
    /// where they first wait. `goes_on` is asked before each whether this thread is still the
    /// one to do so; nothing else comes or goes meanwhile.
    pub(crate) fn help(&self, clock: &Clock, mut goes_on: impl FnMut() -> bool) {
        let mut began = None;
        loop {
            let mut fresh = self.lock();
            if began.is_none() && fresh.works.is_empty() {
                fresh.is_awaited = false;
                return;
            }
            let now = clock.now();
            if let Some(took) = began.map(|began| now.duration_since(began))
                && fresh.pace.is_slow(took)
            {
                return self.leave_all(fresh, Some(now + SLOW.max(took.saturating_mul(10))));
            }
            let Some((incoming, work)) = fresh.works.pop_front() else {
                fresh.is_awaited = false;
                return;
            };
            if !goes_on() {
                fresh.works.push_front((incoming, work));
                return self.leave_all(fresh, Some(now + SLOW));
            }
            began = Some(now);
            match work {
                Work::Plain(job) => {
                    let Some(_entered) = self.threads.enter() else {
                        fresh.works.push_front((incoming, Work::Plain(job)));
                        return self.leave_all(fresh, None);
                    };
                    drop(fresh);
                    drop(catch_unwind(AssertUnwindSafe(job)));
                }
                Work::Future(future) => {
                    drop(fresh);
                    self.begin(future);
                }
            }
        }
    }

    /// The driver is held up: what it was to begin is begun by others, and so is what comes next.
    pub(crate) fn release(&self, clock: &Clock) {
        self.leave_all(self.lock(), Some(clock.now() + SLOW));
    }

    fn submit(&self, incoming: IncomingId, work: Work) {
        let mut fresh = self.lock();
        fresh.works.push_back((incoming, work));
        if !fresh.is_awaited {
            self.leave_all(fresh, None);
        }
    }

    /// Leaves what has not begun to others, and what comes `until` then. What comes meanwhile comes
    /// after it.
    fn leave_all(&self, mut fresh: MutexGuard<'_, Fresh>, until: Option<Instant>) {
        fresh.is_awaited = false;
        fresh.slow_until = fresh.slow_until.max(until);
        let mut futures = Vec::new();
        for (incoming, work) in fresh.works.drain(..) {
            match work {
                Work::Plain(job) => self.threads.queue((self.connection, incoming), job),
                Work::Future(future) => futures.push(future),
            }
        }
        drop(fresh);
        self.threads.staff();
        for future in futures {
            self.leave(future);
        }
    }

    /// Polls it once here.
    fn begin(&self, mut future: BoxFuture<'static, ()>) {
        // Whoever runs it next asks anew when to come back.
        let first = |future: &mut BoxFuture<'static, ()>| {
            future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready()
        };
        let done = catch_unwind(AssertUnwindSafe(|| first(&mut future)));
        if matches!(done, Ok(false)) {
            self.leave(future);
        }
    }

    /// Leaves it to the runtime.
    fn leave(&self, future: BoxFuture<'static, ()>) {
        // A runtime that takes no more futures is ending, and the connection with it.
        drop(self.runtime.spawn(future));
    }

    fn lock(&self) -> MutexGuard<'_, Fresh> {
        self.fresh.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a future gives; `None` when it panics. What the panic says is not for the peer.
pub(crate) async fn unpanicked<T>(future: impl Future<Output = T>) -> Option<T> {
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

    use super::{AMONG, LONG, Pace, QUICK, Spawn, Workers, threads};
    use crate::BoxFuture;
    use crate::exec::clock::Clock;

    struct Plain;

    impl Spawn for Plain {
        fn spawn(&self, _: BoxFuture<'static, ()>) -> io::Result<()> {
            Err(io::ErrorKind::Unsupported.into())
        }

        fn is_plain(&self) -> bool {
            true
        }
    }

    /// Ids are given by sessions alone.
    fn ids<const N: usize>() -> [IncomingId; N] {
        let mut server = Stdio::new(Server::new(
            Instant::ZERO,
            Config::new("s", "1").capability(Capability::Tools),
        ));
        let hello = r#"{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
        let mut input =
            format!("{hello}\n{}\n", r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        for id in 0..N {
            input += &format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"x\"}}}}\n"
            );
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
        Workers::new(threads(threads_max), Arc::new(Plain))
    }

    #[test]
    fn what_came_while_it_was_awaited_runs_here_and_the_rest_elsewhere() {
        let (workers, clock, [first, second]) = (workers(2), Clock::new(), ids());
        let (say, said) = channel();
        let run = |id, name| {
            let say = say.clone();
            workers.run(id, move || say.send((name, thread::current().id())).unwrap());
        };
        workers.await_fresh(&clock);
        run(first, "first");
        assert!(said.try_recv().is_err(), "nobody helped yet");
        workers.help(&clock, || true);
        let here = thread::current().id();
        assert_eq!(said.try_recv().unwrap(), ("first", here));
        run(second, "second");
        let (name, there) = said.recv().unwrap();
        assert!(name == "second" && there != here);
    }

    #[test]
    fn who_no_longer_leads_leaves_the_rest_to_others_and_what_was_withdrawn_to_nobody() {
        let (workers, clock, [first, second, third]) = (workers(2), Clock::new(), ids());
        let (say, said) = channel();
        workers.await_fresh(&clock);
        for id in [first, second, third] {
            let say = say.clone();
            workers.run(id, move || say.send((id, thread::current().id())).unwrap());
        }
        drop(say);
        workers.withdraw(second);
        let beats = Cell::new(0);
        workers.help(&clock, || {
            beats.set(beats.get() + 1);
            false
        });
        assert_eq!(beats.get(), 1);
        let here = thread::current().id();
        let mut ran: Vec<_> = said.iter().inspect(|(_, there)| assert_ne!(*there, here)).collect();
        ran.sort_unstable_by_key(|(id, _)| *id);
        assert_eq!(ran.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [first, third]);
    }

    #[test]
    fn after_a_handler_that_is_slow_others_run_the_next_ones() {
        let (workers, clock, [slow, next]) = (workers(2), Clock::new(), ids());
        workers.await_fresh(&clock);
        workers.run(slow, || thread::sleep(QUICK * 100));
        workers.help(&clock, || true);
        let until = workers.lock().slow_until.unwrap();
        assert!(clock.until(until) > QUICK * 200, "for much longer than it took");
        let (say, said) = channel();
        workers.await_fresh(&clock);
        workers.run(next, move || say.send(thread::current().id()).unwrap());
        assert_ne!(said.recv().unwrap(), thread::current().id());
    }

    #[test]
    fn what_is_left_to_others_keeps_its_order_while_more_comes() {
        let (workers, clock, ids) = (Arc::new(workers(1)), Clock::new(), ids::<64>());
        let (say, said) = channel();
        let (releasing, over) = (Arc::clone(&workers), Arc::new(AtomicBool::new(false)));
        let is_over = Arc::clone(&over);
        let watcher = thread::spawn(move || {
            while !is_over.load(Ordering::SeqCst) {
                // As if all had been quick again at once.
                releasing.release(&Clock::new());
                releasing.lock().slow_until = None;
            }
        });
        for round in 0..500 {
            for (at, id) in ids.into_iter().enumerate() {
                if at % 8 == 0 {
                    workers.await_fresh(&clock);
                }
                let say = say.clone();
                workers.run(id, move || say.send((round, at)).unwrap());
                if at % 8 == 6 {
                    workers.help(&clock, || at != 30);
                }
            }
            workers.help(&clock, || true);
            let told: Vec<_> = said.iter().take(ids.len()).collect();
            assert_eq!(told, (0..ids.len()).map(|at| (round, at)).collect::<Vec<_>>());
        }
        over.store(true, Ordering::SeqCst);
        watcher.join().unwrap();
    }

    #[test]
    fn one_handler_that_is_not_quick_may_have_been_unlucky_and_two_are_slow() {
        let (quick, unlucky) = (QUICK, QUICK * 2);
        let verdicts = |times: &[Duration]| {
            let mut pace = Pace::default();
            times.iter().map(|took| pace.is_slow(*took)).collect::<Vec<_>>()
        };
        assert_eq!(verdicts(&[unlucky, unlucky, quick]), [false, true, false]);
        assert_eq!(verdicts(&[LONG + QUICK, quick]), [true, false]);
        let apart = |count| {
            let times: Vec<_> = [&[unlucky], &vec![quick; count][..], &[unlucky]].concat();
            verdicts(&times).ends_with(&[true])
        };
        assert!(apart(AMONG as usize - 1));
        assert!(!apart(AMONG as usize));
    }

    #[test]
    fn no_more_run_at_a_time_than_may_even_with_one_that_runs_here() {
        let (workers, clock, [first, second]) = (Arc::new(workers(1)), Clock::new(), ids());
        let (say, said) = channel();
        workers.await_fresh(&clock);
        let (inner, later) = (Arc::clone(&workers), say.clone());
        let within = move || {
            inner.release(&Clock::new());
            inner.run(second, move || later.send("second").unwrap());
            // It has a thread by now, and waits for its turn all the same.
            thread::sleep(QUICK);
            say.send("first").unwrap();
        };
        workers.run(first, within);
        workers.help(&clock, || true);
        assert_eq!([said.recv().unwrap(), said.recv().unwrap()], ["first", "second"]);
    }
}
