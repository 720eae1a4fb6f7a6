//! Attacks on an HTTP server with default limits, each against its own process:
//! `cargo build --release -p mcp-fixtures && cargo run --release -p mcp-http-tests --bin attacks`.
//!
//! Options: `--runtime R` (default: all three), `--server PATH` (default: `fixture-server` beside
//! this program), `--attacker ADDRESS` (default: 127.0.0.1), and names of attacks. While one client
//! attacks, another calls a tool over new connections from 127.0.0.1. All loopback addresses count
//! as one client: the attacks that fill the places of an address need the address of another
//! interface of this machine, such as one of a network namespace. Prints the memory of the server
//! before, at most and after, and how long the other client waited. Fails if the server takes more
//! memory than the attack may cost it, or if the other client is refused or not served in time.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "fails by panicking")]
#![allow(clippy::print_stdout, reason = "prints a report")]

mod attacks;
mod target;

use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use mcp_http_tests::{Session, modern};
use serde_json::json;

use crate::attacks::{ATTACKS, Attack};
use crate::target::Target;

/// What the other client measured.
#[derive(Default)]
struct Client {
    waits: Vec<Duration>,
    failures: u32,
}

/// The longest that a call of the other client may take, on a machine that is busy attacking.
const PATIENCE: Duration = Duration::from_secs(3);

fn main() -> ExitCode {
    let mut server = std::env::current_exe().unwrap().with_file_name("fixture-server");
    let (mut runtimes, mut names) = (Vec::new(), Vec::new());
    let mut attacker = IpAddr::from(Ipv4Addr::LOCALHOST);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--runtime" => runtimes.push(arguments.next().expect("a runtime")),
            "--attacker" => attacker = arguments.next().unwrap().parse().expect("an address"),
            "--server" => server = PathBuf::from(arguments.next().expect("a path")),
            _ => names.push(argument),
        }
    }
    if runtimes.is_empty() {
        runtimes = ["blocking", "tokio", "smol"].map(String::from).to_vec();
    }
    let columns = "| runtime | attack | memory before | most | after (MiB) | may grow | calls";
    println!("{columns} | failed | p99 | longest (ms) | |");
    println!("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|---|");
    let mut is_good = true;
    for runtime in runtimes {
        for attack in ATTACKS {
            if names.is_empty() || names.iter().any(|name| name == attack.name) {
                is_good &= run(&server, &runtime, attacker, attack);
            }
        }
    }
    if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs one attack and prints its line; returns whether the server withstood it.
fn run(server: &Path, runtime: &str, attacker: IpAddr, attack: &Attack) -> bool {
    let target = Target::start(server, runtime, attacker);
    // The server has all of its threads and buffers before the measurement.
    (0..50).for_each(|_| assert!(call(&target), "the server works"));
    let before = target.memory();
    let (most, is_over) = (AtomicU64::new(before), AtomicBool::new(false));
    let client = thread::scope(|scope| {
        let client = scope.spawn(|| watch(&target, &is_over));
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                most.fetch_max(target.memory(), Ordering::Relaxed);
                thread::sleep(Duration::from_millis(10));
            }
        });
        (attack.run)(&target);
        is_over.store(true, Ordering::Relaxed);
        client.join().expect("the other client is served")
    });
    let session = Session::try_open(target.address);
    let (most, after) = (most.into_inner(), target.memory());
    let Client { mut waits, failures } = client;
    waits.sort_unstable();
    let at = |share: usize| waits.get(waits.len() * share / 100).or_else(|| waits.last()).copied();
    let (p99, longest) = (at(99).unwrap_or_default(), at(100).unwrap_or_default());
    let grew = most.saturating_sub(before);
    let verdict = if grew > attack.memory_max {
        "too much memory".to_owned()
    } else if failures > 0 || waits.is_empty() {
        "the other client was refused".to_owned()
    } else if longest > PATIENCE {
        "the other client waited too long".to_owned()
    } else if let Err(status) = session {
        format!("no session afterwards: {status}")
    } else {
        "withstood".to_owned()
    };
    println!(
        "| {runtime} | {} | {before} | {most} | {after} | {} | {} | {failures} | {:.1} | {:.1} \
         | {verdict} |",
        attack.name,
        attack.memory_max,
        waits.len(),
        p99.as_secs_f64() * 1e3,
        longest.as_secs_f64() * 1e3,
    );
    verdict == "withstood"
}

/// Calls a tool every few milliseconds until the attack is over.
fn watch(target: &Target, is_over: &AtomicBool) -> Client {
    let mut client = Client::default();
    while !is_over.load(Ordering::Relaxed) {
        let start = Instant::now();
        if call(target) {
            client.waits.push(start.elapsed());
        } else {
            client.failures += 1;
        }
        thread::sleep(Duration::from_millis(5));
    }
    client
}

/// Calls a tool over a new connection; returns whether it was answered.
fn call(target: &Target) -> bool {
    let params = json!({"name": "echo", "arguments": {"text": "x"}});
    let sent = modern("tools/call", params).start(target.address);
    let Some(mut reply) = sent.reply_or_end() else { return false };
    reply.status == 200 && reply.text().contains("\"x\"")
}
