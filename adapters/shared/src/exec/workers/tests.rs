//! Tests of where handlers run.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use futures_lite::future::yield_now;
use mcp_proto::IncomingId;
use mcp_proto::server::{Config, Event, Server};
use mcp_proto::stdio::Stdio;
use mcp_proto::{Capability, Endpoint, Instant};

use super::{Driver, Ended, Spawn, Workers, handler_threads};
use crate::box_future::BoxFuture;
use crate::exec::cancellation::Cancellation;
use crate::exec::clock::Clock;
use crate::exec::pace::{LONG, Pace, QUICK_MAX};
use crate::exec::sole_driver::is_sole_driver;
use crate::trace::Trace;

struct BlockingRuntime;

impl Spawn for BlockingRuntime {
    fn spawn(&self, _: BoxFuture<'static, ()>) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn sleep(&self, _: Duration) -> BoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }

    fn is_plain(&self) -> bool {
        true
    }
}

/// Returns ids of incoming requests, which only a connection can create.
fn ids<const N: usize>() -> [IncomingId; N] {
    let mut server =
        Stdio::new(Server::new(Instant::ZERO, Config::new("s", "1").capability(Capability::Tools)));
    let hello = concat!(
        r#"{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"#,
        r#""protocolVersion":"2025-11-25","capabilities":{},"#,
        r#""clientInfo":{"name":"c","version":"1"}}}"#,
    );
    let mut input =
        format!("{hello}\n{}\n", r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    for id in 0..N {
        let params = r#"{"name":"x"}"#;
        input +=
            &format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#);
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

/// Returns the pace of a handler that has proved quick.
fn quick() -> Arc<Pace> {
    let pace = Arc::new(Pace::default());
    while !pace.is_quick() {
        pace.record(QUICK_MAX);
    }
    pace
}

fn help(workers: &Workers) {
    workers.help(&Clock::new(), &Trace::new("server", false), Driver::Sole);
}

#[test]
fn quick_handlers_run_on_the_drivers_thread_and_others_on_the_pool() {
    let (workers, [first, second, third]) = (workers(2), ids());
    let (sender, receiver) = channel();
    let here = thread::current().id();
    let run = |id, pace: &Arc<Pace>, name| {
        let sender = sender.clone();
        workers.run(id, pace, move || sender.send((name, thread::current().id())).unwrap(), drop);
    };
    workers.collect_tasks();
    run(first, &quick(), "quick");
    assert!(receiver.try_recv().is_err(), "`help` was not called yet");
    run(second, &Arc::default(), "unproven");
    let (name, there) = receiver.recv().unwrap();
    assert!(name == "unproven" && there != here);
    help(&workers);
    assert_eq!(receiver.try_recv().unwrap(), ("quick", here));
    run(third, &quick(), "not read by a driver");
    assert_ne!(receiver.recv().unwrap().1, here);
}

#[test]
fn with_one_thread_quick_handlers_stay_on_the_pool() {
    let (workers, [id]) = (workers(1), ids());
    let (sender, receiver) = channel();
    workers.collect_tasks();
    workers.run(id, &quick(), move || sender.send(thread::current().id()).unwrap(), drop);
    assert_ne!(receiver.recv().unwrap(), thread::current().id());
}

#[test]
fn a_handler_proves_itself_on_the_pool() {
    let (workers, [id]) = (workers(1), ids());
    let pace = Arc::new(Pace::default());
    let mut runs = 0;
    while !pace.is_quick() {
        let (sender, receiver) = channel();
        workers.run(id, &pace, move || sender.send(()).unwrap(), drop);
        receiver.recv().unwrap();
        runs += 1;
        assert!(runs < 10_000, "an empty handler is quick");
    }
    assert!(runs >= 16);
}

#[test]
fn after_a_slow_handler_the_rest_goes_to_the_pool() {
    let (workers, [slow, next]) = (workers(2), ids());
    let pace = quick();
    workers.collect_tasks();
    workers.run(slow, &pace, || thread::sleep(LONG * 2), drop);
    let (sender, receiver) = channel();
    workers.run(next, &pace, move || sender.send(thread::current().id()).unwrap(), drop);
    help(&workers);
    assert!(!pace.is_quick());
    assert_ne!(receiver.recv().unwrap(), thread::current().id());
}

#[test]
fn only_the_function_counts_for_its_pace() {
    let (workers, [inline, pooled], pace) = (workers(2), ids(), quick());
    workers.collect_tasks();
    workers.run(inline, &pace, || {}, |()| thread::sleep(LONG * 2));
    help(&workers);
    assert!(pace.is_quick());
    let (sender, receiver) = channel();
    // Dropped after the run was recorded.
    let recorded = Arc::clone(&pace);
    let end = move |()| {
        thread::sleep(LONG * 2);
        sender.send(recorded).unwrap();
    };
    workers.run(pooled, &pace, || {}, end);
    drop(receiver.recv().unwrap());
    while Arc::strong_count(&pace) > 1 {
        thread::yield_now();
    }
    assert!(pace.is_quick());
}

#[test]
fn a_replaced_driver_hands_over_its_tasks_and_cancelled_ones_never_run() {
    let (workers, [first, second, third]) = (workers(2), ids());
    let (sender, receiver) = channel();
    workers.collect_tasks();
    for id in [first, second, third] {
        let sender = sender.clone();
        workers.run(id, &quick(), move || sender.send((id, thread::current().id())).unwrap(), drop);
    }
    drop(sender);
    workers.cancel(second);
    let mut calls = 0;
    let mut may_continue = || {
        calls += 1;
        false
    };
    let driver = Driver::Replaceable(&mut may_continue);
    workers.help(&Clock::new(), &Trace::new("server", false), driver);
    assert_eq!(calls, 1);
    let here = thread::current().id();
    let mut ran: Vec<_> = receiver.iter().inspect(|(_, there)| assert_ne!(*there, here)).collect();
    ran.sort_unstable_by_key(|(id, _)| *id);
    assert_eq!(ran.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [first, third]);
}

#[test]
fn a_handler_knows_that_its_thread_is_not_replaced() {
    let (workers, [first, second]) = (workers(2), ids());
    for (id, is_sole) in [(first, true), (second, false)] {
        let (sender, receiver) = channel();
        workers.collect_tasks();
        workers.run(id, &quick(), move || sender.send(is_sole_driver()).unwrap(), drop);
        let mut always = || true;
        let driver = if is_sole { Driver::Sole } else { Driver::Replaceable(&mut always) };
        workers.help(&Clock::new(), &Trace::new("server", false), driver);
        assert_eq!(receiver.recv().unwrap(), is_sole);
        assert!(!is_sole_driver(), "only while the handler runs");
    }
}

#[test]
fn with_one_thread_tasks_keep_their_order() {
    let (workers, ids, pace) = (Arc::new(workers(1)), ids::<64>(), quick());
    let (sender, receiver) = channel();
    let (releasing, over) = (Arc::clone(&workers), Arc::new(AtomicBool::new(false)));
    let is_over = Arc::clone(&over);
    let watcher = thread::spawn(move || {
        while !is_over.load(Ordering::SeqCst) {
            releasing.release();
            thread::yield_now();
        }
    });
    for round in 0..100 {
        for (at, id) in ids.into_iter().enumerate() {
            if at % 8 == 0 {
                workers.collect_tasks();
            }
            let sender = sender.clone();
            workers.run(id, &pace, move || sender.send((round, at)).unwrap(), drop);
        }
        workers.release();
        let ran: Vec<_> = receiver.iter().take(ids.len()).collect();
        assert_eq!(ran, (0..ids.len()).map(|at| (round, at)).collect::<Vec<_>>());
    }
    over.store(true, Ordering::SeqCst);
    watcher.join().unwrap();
}

#[test]
fn a_stuck_handler_counts_as_one_of_the_pool_and_is_not_quick() {
    let (workers, [stuck, first, second], pace) = (Arc::new(workers(2)), ids(), quick());
    let (release, released) = channel::<()>();
    let (sender, receiver) = channel();
    let began = sender.clone();
    workers.collect_tasks();
    workers.run(
        stuck,
        &pace,
        move || {
            began.send("stuck").unwrap();
            released.recv().unwrap();
        },
        drop,
    );
    let driving = Arc::clone(&workers);
    let driver = thread::spawn(move || {
        let trace = Trace::new("server", false);
        driving.help(&Clock::new(), &trace, Driver::Replaceable(&mut || true));
    });
    assert_eq!(receiver.recv().unwrap(), "stuck");
    workers.release();
    assert!(!pace.is_quick(), "while the handler still runs");
    // Of two threads one is left, so these run one after the other.
    let (proceed, waits) = channel::<()>();
    let (began, ended) = (sender.clone(), sender.clone());
    workers.run(
        first,
        &pace,
        move || {
            began.send("first").unwrap();
            waits.recv().unwrap();
        },
        drop,
    );
    workers.run(second, &pace, move || ended.send("second").unwrap(), drop);
    assert_eq!(receiver.recv().unwrap(), "first");
    assert_eq!(workers.threads.free(), 0);
    release.send(()).unwrap();
    driver.join().unwrap();
    assert_eq!(receiver.recv().unwrap(), "second", "the thread of the pool is free again");
    proceed.send(()).unwrap();
}

#[test]
fn a_stuck_handler_that_was_cancelled_gives_its_place_back() {
    let (workers, [stuck, next, last], pace) = (Arc::new(workers(1)), ids(), quick());
    workers.inline.lock().unwrap().running.push((stuck, Arc::clone(&pace)));
    workers.release();
    let (sender, receiver) = channel();
    let again = sender.clone();
    workers.run(next, &pace, move || sender.send(next).unwrap(), drop);
    assert_eq!(workers.threads.free(), 0);
    workers.cancel(stuck);
    assert_eq!(receiver.recv().unwrap(), next);
    workers.finish(stuck);
    workers.run(last, &pace, move || again.send(last).unwrap(), drop);
    assert_eq!(receiver.recv().unwrap(), last);
}

#[test]
fn a_future_that_may_block_begins_like_a_function_and_waits_on_the_pool() {
    let (workers, [quick_one, other]) = (workers(2), ids());
    let here = thread::current().id();
    for (id, pace, is_here) in [(quick_one, quick(), true), (other, Arc::default(), false)] {
        let (begins, begun) = channel();
        let (ends, ended) = channel();
        let gate = Arc::new(Cancellation::default());
        let closed = Arc::clone(&gate);
        let future = async move {
            begins.send(thread::current().id()).unwrap();
            closed.wait().await;
            Ended { result: thread::current().id(), has_run: true }
        };
        workers.collect_tasks();
        workers.run_future(id, &pace, future, move |thread| ends.send(thread).unwrap());
        // Returns although the future waits.
        help(&workers);
        assert_eq!(begun.recv().unwrap() == here, is_here);
        assert!(ended.try_recv().is_err());
        gate.set();
        assert_ne!(ended.recv().unwrap(), here);
        assert!(begun.recv().is_err(), "the future began once");
    }
}

/// Runs futures of one handler, and returns whether it counts as quick then.
fn proves_quick<F: Future<Output = Ended<()>> + Send + 'static>(future: impl Fn() -> F) -> bool {
    let (workers, [id], pace) = (workers(2), ids(), Arc::default());
    (0..1000).any(|_| {
        let (ends, ended) = channel();
        workers.run_future(id, &pace, future(), move |()| ends.send(()).unwrap());
        ended.recv().unwrap();
        // The run is recorded before its thread is free again.
        while workers.threads.free() < 2 {
            thread::yield_now();
        }
        pace.is_quick()
    })
}

#[test]
fn only_polls_in_which_the_handler_ran_prove_it_quick() {
    let ended = |has_run| async move { Ended { result: (), has_run } };
    assert!(proves_quick(|| ended(true)));
    assert!(!proves_quick(|| ended(false)), "layers answered");
    let waits = || async {
        yield_now().await;
        Ended { result: (), has_run: true }
    };
    assert!(!proves_quick(waits), "the handler did not end in the first poll");
}

#[test]
fn slow_polls_count_although_the_handler_did_not_run() {
    let (workers, [id], pace) = (workers(2), ids(), quick());
    let slow = async {
        thread::sleep(LONG * 2);
        Ended { result: (), has_run: false }
    };
    workers.collect_tasks();
    workers.run_future(id, &pace, slow, |()| {});
    help(&workers);
    assert!(!pace.is_quick());
}

#[test]
fn a_plain_runtime_leaves_a_quick_future_that_waits_to_the_pool() {
    let (workers, [id]) = (workers(2), ids());
    let gate = Arc::new(Cancellation::default());
    let (closed, (ends, ended)) = (Arc::clone(&gate), channel());
    workers.collect_tasks();
    workers.spawn(id, &quick(), async move {
        closed.wait().await;
        ends.send(thread::current().id()).unwrap();
    });
    let (returns, returned) = channel();
    let driver = thread::spawn(move || {
        help(&workers);
        returns.send(thread::current().id()).unwrap();
    });
    let there = returned.recv_timeout(Duration::from_secs(30)).expect("the driver continues");
    gate.set();
    assert_ne!(ended.recv().unwrap(), there);
    driver.join().unwrap();
}

#[test]
fn a_future_that_may_block_and_does_not_wait_ends_where_it_began() {
    let (workers, [id]) = (workers(2), ids());
    let (sender, receiver) = channel();
    workers.collect_tasks();
    let send = move |thread| sender.send((thread, thread::current().id())).unwrap();
    let future = async { Ended { result: thread::current().id(), has_run: true } };
    workers.run_future(id, &quick(), future, send);
    help(&workers);
    let here = thread::current().id();
    assert_eq!(receiver.try_recv().unwrap(), (here, here));
}

/// The driver was replaced while it polled the future, and thus counts as a thread of the pool.
#[test]
fn a_replaced_driver_leaves_the_rest_of_a_future_to_another_thread() {
    let (workers, [id]) = (Arc::new(workers(2)), ids());
    let gate = Arc::new(Cancellation::default());
    let (ends, ended) = channel();
    let (closed, stuck) = (Arc::clone(&gate), Arc::clone(&workers));
    workers.collect_tasks();
    let future = async move {
        stuck.release();
        closed.wait().await;
        Ended { result: (), has_run: true }
    };
    workers.run_future(id, &quick(), future, move |()| ends.send(thread::current().id()).unwrap());
    workers.help(&Clock::new(), &Trace::new("server", false), Driver::Replaceable(&mut || true));
    gate.set();
    assert_ne!(ended.recv().unwrap(), thread::current().id());
    while workers.threads.free() < 2 {
        thread::yield_now();
    }
}
