//! Stresses the adapters: many tasks call, cancel, drop, time out, ask, subscribe and reconnect at
//! random, over each transport, on each runtime.
//!
//! Fails if an operation hangs, if an answer does not belong to its call, or if threads, files,
//! tasks or processes are left over at the end.

#![cfg(unix)]
#![allow(clippy::print_stdout, reason = "prints a report")]
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod cell;
mod levels;
mod operation;
mod random;
mod run;
mod server;
mod watchdog;

use std::io;
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use mcp_adapter_tests::{Blocking, Runtime, Smol, Tokio, TokioThreads};

use crate::cell::{StressRuntime, Transport};
use crate::levels::Levels;
use crate::random::Random;

const USAGE: &str = "usage: mcp-stress [--runtime blocking|smol|tokio|tokio-threads|all]
                  [--transport pipe|child|http|all] [--seconds N] [--seed S]";

/// The parsed command line.
struct Order {
    runtime: String,
    transport: String,
    /// The time for all runs together.
    seconds: u64,
    seed: u64,
}

/// A runtime by its name.
type Row = (&'static str, fn(Transport, Duration, u64) -> Result<u64, String>);

const ROWS: [Row; 4] = [
    (Blocking::NAME, on::<Blocking>),
    (Smol::NAME, on::<Smol>),
    (TokioThreads::NAME, on::<TokioThreads>),
    (Tokio::NAME, on::<Tokio>),
];

/// How long each run takes first, so that threads that live as long as the process are started.
const WARM_UP: Duration = Duration::from_millis(100);

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [serve, runtime] = &words[..]
        && serve == "--serve"
    {
        return serve_on(runtime).map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS);
    }
    let Some(order) = order(words.into_iter()) else {
        println!("{USAGE}");
        return ExitCode::from(2);
    };
    // The handlers that panic on purpose would fill the output.
    std::panic::set_hook(Box::new(|panic| {
        let why = panic.payload().downcast_ref::<&str>();
        if why != Some(&"asked to") {
            println!("{panic}");
        }
    }));
    stress(&order)
}

fn order(mut words: impl Iterator<Item = String>) -> Option<Order> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    let mut order =
        Order { runtime: "all".into(), transport: "all".into(), seconds: 20, seed: now.as_secs() };
    while let Some(name) = words.next() {
        let value = words.next()?;
        match &*name {
            "--runtime" => order.runtime = value,
            "--transport" => order.transport = value,
            "--seconds" => order.seconds = value.parse().ok()?,
            "--seed" => order.seed = value.parse().ok()?,
            _ => return None,
        }
    }
    Some(order)
}

fn stress(order: &Order) -> ExitCode {
    let rows = ROWS.iter().filter(|(name, _)| {
        // One tokio of two suffices, unless the other one is named.
        order.runtime == *name || order.runtime == "all" && *name != Tokio::NAME
    });
    let transports = Transport::ALL
        .iter()
        .filter(|one| order.transport == one.name() || order.transport == "all");
    let cells: Vec<(&Row, Transport)> =
        rows.flat_map(|row| transports.clone().map(move |transport| (row, *transport))).collect();
    if cells.is_empty() {
        println!("{USAGE}");
        return ExitCode::from(2);
    }
    println!("seed {}", order.seed);
    let mut random = Random::new(order.seed);
    let share = Duration::from_secs(order.seconds) / u32::try_from(cells.len()).unwrap_or(1);
    let mut has_failed = false;
    for ((name, run), transport) in cells {
        let began = Instant::now();
        let outcome = checked(*run, transport, share, random.next());
        let seconds = began.elapsed().as_secs_f64();
        let cell = format!("{name} over {}", transport.name());
        match outcome {
            Ok(count) => println!("{cell}: {count} operations in {seconds:.1} s"),
            Err(why) => {
                has_failed = true;
                println!("{cell}: FAILED after {seconds:.1} s, seed {}: {why}", order.seed);
            }
        }
    }
    if has_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Runs a cell, and checks that everything it started has ended.
fn checked(
    run: fn(Transport, Duration, u64) -> Result<u64, String>,
    transport: Transport,
    duration: Duration,
    seed: u64,
) -> Result<u64, String> {
    run(transport, WARM_UP, seed)?;
    let before = settled();
    let count = run(transport, duration, seed)?;
    before.are_back()?;
    Ok(count)
}

/// Returns the levels once they no longer fall.
fn settled() -> Levels {
    let mut levels = Levels::now();
    loop {
        std::thread::sleep(Duration::from_millis(300));
        let now = Levels::now();
        if now == levels {
            return now;
        }
        levels = now;
    }
}

fn on<R: StressRuntime>(
    transport: Transport,
    duration: Duration,
    seed: u64,
) -> Result<u64, String> {
    let name = format!("{} over {}, seed {seed}", R::NAME, transport.name());
    R::block_on(run::run::<R>(transport, duration, seed, &name))
}

/// Serves on stdin and stdout.
fn serve_on(runtime: &str) -> io::Result<()> {
    fn serve<R: Runtime>() -> io::Result<()> {
        std::panic::set_hook(Box::new(|_| {}));
        R::block_on(R::serve_stdio(server::server()))
    }
    match runtime {
        Blocking::NAME => serve::<Blocking>(),
        Smol::NAME => serve::<Smol>(),
        Tokio::NAME => serve::<Tokio>(),
        TokioThreads::NAME => serve::<TokioThreads>(),
        _ => Err(io::Error::other("unknown runtime")),
    }
}
