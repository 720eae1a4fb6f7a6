//! A thousand concurrent calls over one connection, and a thousand connections in one process, on
//! each runtime.
//!
//! Prints time and memory: `cargo test -p mcp-adapter-tests --test crowds -- --nocapture`. Memory
//! is the peak of the process and its growth; earlier tests leave some of theirs behind.

#![cfg(unix)]
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]
#![allow(clippy::print_stdout, reason = "prints measurements")]

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use mcp_adapter_tests::{
    Blocking, Runtime, Smol, Tokio, TokioThreads, client, full_server, on, pair, resident_kib,
    success,
};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use serde_json::json;

const CROWD: usize = 1000;

/// Threads are expensive: a connection with both ends in this process takes six. Two hundred
/// connections take twelve hundred threads; `CROWD=1000` in the environment uses the full number.
fn crowd_of_threads() -> usize {
    std::env::var("CROWD").ok().and_then(|crowd| crowd.parse().ok()).unwrap_or(200)
}

/// Serializes the tests, so that each has the memory to itself.
static ALONE: Mutex<()> = Mutex::new(());

async fn calls<R: Runtime>() {
    let before = resident_kib("VmRSS");
    let began = Instant::now();
    let (connection, serving) = pair::<R>(client(), full_server()).await;
    // The handler asks for input: each call crosses the connection six times, and a thousand are
    // open.
    let mut open = Vec::new();
    for number in 0..CROWD {
        let tool = ["echo", "who", "echo_plain", "who_plain"][number % 4];
        open.push(connection.call_tool(tool, &json!({"text": "Ada"})).start().await.unwrap());
    }
    for pending in open {
        assert_eq!(success(pending.await), "Ada");
    }
    report::<R>("calls", CROWD, began, before);
    connection.clone().close().await.unwrap();
    serving.ends_well().await;
}

async fn connections<R: Runtime>() {
    // Each takes two sockets, and blocking ones twice that: more than many systems allow by
    // default.
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    setrlimit(Resource::RLIMIT_NOFILE, most, most).unwrap();
    let crowd = if R::IS_ASYNC { CROWD } else { crowd_of_threads() };
    let before = resident_kib("VmRSS");
    let began = Instant::now();
    let server = full_server();
    let mut all = Vec::new();
    for _ in 0..crowd {
        all.push(pair::<R>(client(), server.clone()).await);
    }
    let mut open = Vec::new();
    for (connection, _) in &all {
        open.push(connection.call_tool("echo", &json!({"text": "on"})).start().await.unwrap());
    }
    for pending in open {
        assert_eq!(success(pending.await), "on");
    }
    report::<R>("connections", crowd, began, before);
    let (connections, servings): (Vec<_>, Vec<_>) = all.into_iter().unzip();
    drop(connections);
    for serving in servings {
        serving.ends_well().await;
    }
}

fn report<R: Runtime>(what: &str, crowd: usize, began: Instant, before: u64) {
    let (now, most) = (resident_kib("VmRSS"), resident_kib("VmHWM"));
    println!(
        "{:<13} | {crowd:>4} {what:<11} | {:>6.0} ms | {:>6} KiB more | {now:>6} KiB VmRSS | \
                 {most:>6} KiB VmHWM",
        R::NAME,
        began.elapsed().as_secs_f64() * 1000.0,
        now.saturating_sub(before),
    );
}

macro_rules! crowds {
    ($($name:ident: $row:ident on $runtime:ty),* $(,)?) => {
        $(
            #[test]
            fn $name() {
                let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
                on::<$runtime, _>($row::<$runtime>);
            }
        )*
    };
}

crowds! {
    calls_on_blocking: calls on Blocking,
    calls_on_smol: calls on Smol,
    calls_on_tokio: calls on Tokio,
    calls_on_tokio_threads: calls on TokioThreads,
    connections_on_blocking: connections on Blocking,
    connections_on_smol: connections on Smol,
    connections_on_tokio: connections on Tokio,
    connections_on_tokio_threads: connections on TokioThreads,
}
