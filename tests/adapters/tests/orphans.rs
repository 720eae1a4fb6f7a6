//! Server processes whose parent is killed, on each runtime: neither they nor what they have
//! started stays behind.

#![cfg(target_os = "linux")]
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use mcp_adapter::proto::Limits;
use mcp_adapter_tests::{
    Hand, Process, Runtime, adapter_server, eventually, scratch_path, start_on_pipes,
};
use serde_json::json;

mcp_adapter_tests::rows!(
    nothing_stays_behind_when_a_client_is_killed,
    a_program_cleans_up_after_its_client_was_killed_although_it_handles_signals,
    a_server_exits_with_its_parent_although_its_input_stays_open,
    a_server_exits_with_its_parent_while_it_waits_for_calls_after_the_end_of_input,
    a_server_exits_with_its_parent_while_it_waits_for_a_reader_after_the_end_of_input,
    a_server_outlives_its_parent_on_request,
    a_server_outlives_its_parent_below_nohup,
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

/// Kills the client of a server with these environment variables, and returns the process ids of
/// the server and of a process that it has started.
fn kill_client<R: Runtime>(variables: &[String]) -> Vec<u32> {
    let server = server::<R>();
    let mut client = Command::new(env!("CARGO_BIN_EXE_adapter-client"));
    client.arg("env").args(variables).arg(server.get_program()).args(server.get_args());
    let mut client = Process::start(client.stdin(Stdio::null()).stdout(Stdio::piped()));
    let lines = BufReader::new(client.stdout.take().unwrap()).lines();
    let started: Vec<u32> = lines.take(2).map(|line| line.unwrap().parse().unwrap()).collect();
    assert!(started.iter().copied().all(is_running), "{} {started:?}", R::NAME);
    // Sends SIGKILL.
    client.kill().unwrap();
    started
}

async fn nothing_stays_behind_when_a_client_is_killed<R: Runtime>() {
    let began = Instant::now();
    let started = kill_client::<R>(&[]);
    eventually("all processes have ended", || !started.iter().copied().any(is_running)).await;
    let took = began.elapsed();
    assert!(took < Duration::from_secs(2), "{} {took:?}", R::NAME);
}

async fn a_program_cleans_up_after_its_client_was_killed_although_it_handles_signals<R: Runtime>() {
    let path = scratch_path(&format!("orphan-{}", R::NAME));
    let variables = ["SIGINT=own".to_owned(), format!("CLEANED_UP={}", path.display())];
    let started = kill_client::<R>(&variables);
    let server = started[0];
    eventually("the server has ended", || !is_running(server)).await;
    let cleaned_up = path.exists();
    let _removed = std::fs::remove_file(&path);
    assert!(cleaned_up, "{}", R::NAME);
    eventually("all processes have ended", || !started.iter().copied().any(is_running)).await;
}

/// Starts a server below a shell that keeps the server's input open, and opens a session.
fn below_a_shell<R: Runtime>(parent: &str) -> (Process, Hand<ChildStdout, ChildStdin>) {
    let server = server::<R>();
    let mut shell = Command::new("sh");
    let trap = if parent == "nohup" { "trap '' HUP; " } else { "" };
    shell.arg("-c").arg(format!("{trap}exec 3<&0; \"$0\" \"$@\" <&3 & wait"));
    shell.arg(server.get_program()).args(server.get_args()).env("PARENT", parent);
    let (shell, mut hand) = start_on_pipes(&mut shell);
    hand.greet(&json!({}));
    (shell, hand)
}

async fn a_server_exits_with_its_parent_although_its_input_stays_open<R: Runtime>() {
    let (mut shell, mut hand) = below_a_shell::<R>("followed");
    kill(&mut shell);
    // Its stdout ends with the process.
    assert_eq!(hand.hear_or_end(), None, "{}", R::NAME);
}

async fn a_server_exits_with_its_parent_while_it_waits_for_calls_after_the_end_of_input<
    R: Runtime,
>() {
    let (mut shell, mut hand) = below_a_shell::<R>("followed");
    hand.call_tool(1, "hang", &json!({}));
    hand.call_tool(2, "hang_plain", &json!({}));
    // The server handles the messages in order, so both calls have begun.
    hand.request(3, "ping", &json!({}));
    assert_eq!(hand.hear()["id"], 3, "{}", R::NAME);
    let Hand { mut reader, writer } = hand;
    drop(writer);
    let began = kill(&mut shell);
    reader.read_to_end(&mut Vec::new()).unwrap();
    assert_in_time::<R>(began);
}

async fn a_server_exits_with_its_parent_while_it_waits_for_a_reader_after_the_end_of_input<
    R: Runtime,
>() {
    let (mut shell, mut hand) = below_a_shell::<R>("followed");
    hand.call_tool(1, "pid", &json!({}));
    let text = hand.hear()["result"]["content"][0]["text"].clone();
    let server: u32 = text.as_str().unwrap().parse().unwrap();
    // More than a pipe holds.
    hand.call_tool(2, "echo", &json!({"text": "x".repeat(1_500_000)}));
    let Hand { mut reader, writer } = hand;
    drop(writer);
    // The response is being written, and no one reads the rest.
    assert!(!reader.fill_buf().unwrap().is_empty());
    let began = kill(&mut shell);
    eventually("the server has ended", || !is_running(server)).await;
    assert_in_time::<R>(began);
}

fn kill(shell: &mut Process) -> Instant {
    shell.kill().unwrap();
    shell.wait();
    Instant::now()
}

/// Asserts that it took less than the server would have waited with its parent alive.
fn assert_in_time<R: Runtime>(began: Instant) {
    let took = began.elapsed();
    assert!(took < Limits::default().eof_drain_timeout, "{} {took:?}", R::NAME);
}

async fn a_server_outlives_its_parent_on_request<R: Runtime>() {
    outlives_its_parent::<R>("outlived");
}

async fn a_server_outlives_its_parent_below_nohup<R: Runtime>() {
    outlives_its_parent::<R>("nohup");
}

fn outlives_its_parent<R: Runtime>(parent: &str) {
    let (mut shell, mut hand) = below_a_shell::<R>(parent);
    kill(&mut shell);
    // Together they take longer than a server needs to miss its parent.
    for id in 0..4 {
        hand.call_tool(id, "slow", &json!({}));
        assert_eq!(hand.hear()["id"], id, "{}", R::NAME);
    }
}
