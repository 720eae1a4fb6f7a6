//! Server processes whose parent is killed, on each runtime: neither they nor what they have
//! started stays behind.

#![cfg(target_os = "linux")]
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use mcp_adapter_tests::{Hand, Process, Runtime, adapter_server, eventually};
use serde_json::json;

mcp_adapter_tests::rows!(
    nothing_stays_behind_when_a_client_is_killed,
    a_server_exits_with_its_parent_although_its_input_stays_open,
    a_server_outlives_its_parent_on_request,
);

fn server<R: Runtime>() -> Command {
    adapter_server::<R>(env!("CARGO_BIN_EXE_adapter-server"))
}

/// Returns whether a process is running. A zombie is not.
fn is_running(process: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The state follows the name of the program, which is in parentheses.
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

async fn nothing_stays_behind_when_a_client_is_killed<R: Runtime>() {
    let server = server::<R>();
    let mut client = Command::new(env!("CARGO_BIN_EXE_adapter-client"));
    client.arg(server.get_program()).args(server.get_args());
    let mut client = Process(client.stdout(Stdio::piped()).spawn().unwrap());
    let lines = BufReader::new(client.0.stdout.take().unwrap()).lines();
    let started: Vec<u32> = lines.take(2).map(|line| line.unwrap().parse().unwrap()).collect();
    assert!(started.iter().copied().all(is_running), "{} {started:?}", R::NAME);
    let began = Instant::now();
    // Sends SIGKILL.
    client.0.kill().unwrap();
    eventually("all processes have ended", || !started.iter().copied().any(is_running)).await;
    let took = began.elapsed();
    assert!(took < Duration::from_secs(2), "{} {took:?}", R::NAME);
}

/// Starts a server below a shell that keeps the server's input open, and opens a session.
fn below_a_shell<R: Runtime>(parent: &str) -> (Process, Hand<ChildStdout, ChildStdin>) {
    let server = server::<R>();
    let mut shell = Command::new("sh");
    shell.args(["-c", "exec 3<&0; \"$0\" \"$@\" <&3 & wait"]);
    shell.arg(server.get_program()).args(server.get_args()).env("PARENT", parent);
    let mut shell = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let Child { stdin, stdout, .. } = &mut shell;
    let mut hand = Hand::new(stdout.take().unwrap(), stdin.take().unwrap());
    hand.greet(&json!({}));
    (Process(shell), hand)
}

async fn a_server_exits_with_its_parent_although_its_input_stays_open<R: Runtime>() {
    let (mut shell, mut hand) = below_a_shell::<R>("followed");
    shell.0.kill().unwrap();
    shell.0.wait().unwrap();
    // Its stdout ends with the process.
    assert_eq!(hand.hear_or_end(), None, "{}", R::NAME);
}

async fn a_server_outlives_its_parent_on_request<R: Runtime>() {
    let (mut shell, mut hand) = below_a_shell::<R>("outlived");
    shell.0.kill().unwrap();
    shell.0.wait().unwrap();
    // Together they take longer than a server needs to miss its parent.
    for id in 0..4 {
        hand.call_tool(id, "slow", &json!({}));
        assert_eq!(hand.hear()["id"], id, "{}", R::NAME);
    }
}
