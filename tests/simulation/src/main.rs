//! Runs worlds for a given time, and reports how many ran, what they reached and what failed.

#![allow(clippy::print_stdout, reason = "prints a report")]

use std::collections::BTreeMap;
use std::fmt::Display;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use mcp_simulation::{
    AuthTally, Case, Coverage, Failure, Kind, TaskTally, run, run_auth, run_tasks, shrink,
};

const USAGE: &str =
    "usage: mcp-simulation [--seconds N] [--seed S] [--threads T] [--all] [--http] [--streams]
       mcp-simulation --auth|--tasks [--once] [--seconds N] [--seed S]
       mcp-simulation --once [--http] --seed S [--steps N] [--skip N,N] [--without Feature,…]";

/// The parsed command line.
struct Order {
    case: Case,
    /// The kinds of worlds to run; both by default.
    kinds: Vec<Kind>,
    is_once: bool,
    /// Whether to run worlds of authorization, and nothing else.
    is_auth: bool,
    /// Whether to run worlds of tasks, and nothing else.
    is_tasks: bool,
    /// Whether to continue after a failure, reporting each kind once.
    is_all: bool,
    seconds: u64,
    threads: usize,
}

fn main() -> ExitCode {
    let Some(order) = order(std::env::args().skip(1)) else {
        println!("{USAGE}");
        return ExitCode::from(2);
    };
    let mut authorizations = AuthTally::default();
    let mut tasks = TaskTally::default();
    match (order.is_auth, order.is_tasks, order.is_once) {
        (true, ..) => one_by_one(&order, &mut authorizations, run_auth),
        (_, true, _) => one_by_one(&order, &mut tasks, run_tasks),
        (_, _, true) => once(&order.case),
        (..) => many(&order),
    }
}

/// Runs worlds of a separate kind, one seed after the other.
fn one_by_one<T: Display, F: Display>(
    order: &Order,
    tally: &mut T,
    run: impl Fn(u64, &mut T) -> Result<(), Box<F>>,
) -> ExitCode {
    let until = Instant::now() + Duration::from_secs(order.seconds);
    for seed in order.case.seed.. {
        if let Err(failure) = run(seed, tally) {
            println!("{failure}");
            return ExitCode::FAILURE;
        }
        if order.is_once || Instant::now() >= until {
            break;
        }
    }
    println!("{tally}from seed {}", order.case.seed);
    ExitCode::SUCCESS
}

fn order(mut words: impl Iterator<Item = String>) -> Option<Order> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut order = Order {
        case: Case::default(),
        kinds: Vec::new(),
        is_once: false,
        is_auth: false,
        is_tasks: false,
        is_all: false,
        seconds: 10,
        threads,
    };
    while let Some(name) = words.next() {
        match &*name {
            "--once" => order.is_once = true,
            "--auth" => order.is_auth = true,
            "--tasks" => order.is_tasks = true,
            "--all" => order.is_all = true,
            "--http" => order.kinds.push(Kind::Http),
            "--streams" => order.kinds.push(Kind::Streams),
            "--seconds" => order.seconds = words.next()?.parse().ok()?,
            "--threads" => order.threads = words.next()?.parse().ok()?,
            _ => order.case.option(&name, &words.next()?)?,
        }
    }
    if order.is_once {
        order.case.kind = order.kinds.pop().unwrap_or_default();
    } else if order.kinds.is_empty() {
        order.kinds = vec![Kind::Streams, Kind::Http];
    }
    Some(order)
}

/// Runs one case unchanged.
fn once(case: &Case) -> ExitCode {
    match run(case, &mut Coverage::default()) {
        Ok(()) => {
            println!("{case} keeps all promises");
            ExitCode::SUCCESS
        }
        Err(failure) => {
            println!("{failure}");
            ExitCode::FAILURE
        }
    }
}

/// Runs one seed after the other.
fn many(order: &Order) -> ExitCode {
    let start = Instant::now();
    let until = start + Duration::from_secs(order.seconds);
    let next = AtomicU64::new(order.case.seed);
    let is_over = AtomicBool::new(false);
    let found: Mutex<BTreeMap<String, Failure>> = Mutex::default();
    let all = Mutex::new(Coverage::default());
    std::thread::scope(|scope| {
        for _ in 0..order.threads.max(1) {
            scope.spawn(|| {
                let mut coverage = Coverage::default();
                while Instant::now() < until && !is_over.load(Ordering::Relaxed) {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    for kind in &order.kinds {
                        let case = Case { seed, kind: *kind, ..order.case.clone() };
                        if let Err(failure) = run(&case, &mut coverage) {
                            is_over.store(!order.is_all, Ordering::Relaxed);
                            lock(&found).entry(failure.kind()).or_insert(*failure);
                        }
                    }
                }
                lock(&all).merge(&coverage);
            });
        }
    });
    let count = (next.load(Ordering::Relaxed) - order.case.seed) * order.kinds.len() as u64;
    let seconds = start.elapsed().as_secs_f64();
    println!("{}", lock(&all));
    println!(
        "{count} worlds in {seconds:.1} s: {:.0} a second, from seed {}",
        count as f64 / seconds,
        order.case.seed
    );
    let found = std::mem::take(&mut *lock(&found));
    for failure in found.values() {
        println!("seed {} failed within {seconds:.1} s; making it smaller", failure.case.seed);
        println!("{}\n", shrink(failure));
    }
    if found.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
