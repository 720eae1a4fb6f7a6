//! Handlers of servers on stdin and stdout that print, on each runtime.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use std::io::Read;
use std::process::{ChildStderr, ChildStdin, ChildStdout, Command, Stdio};

use mcp_adapter_tests::{Hand, Process, Runtime, adapter_server, start_on_pipes};
use serde_json::{Value, json};

mcp_adapter_tests::rows!(
    what_handlers_print_goes_to_stderr,
    what_child_processes_print_goes_to_stderr,
    stdout_is_restored_once_the_server_has_ended,
    stdout_is_kept_on_request,
);

fn server<R: Runtime>() -> Command {
    adapter_server::<R>(env!("CARGO_BIN_EXE_adapter-server"))
}

/// Starts a server with pipes on its three standard streams, and opens a session.
fn start(mut command: Command) -> (Process, Hand<ChildStdout, ChildStdin>, ChildStderr) {
    let (mut process, mut hand) = start_on_pipes(command.stderr(Stdio::piped()));
    let stderr = process.stderr.take().unwrap();
    hand.greet(&json!({}));
    (process, hand, stderr)
}

/// Ends the input of a server, which must exit successfully, and returns the rest of its output.
fn end(
    (mut process, hand, mut stderr): (Process, Hand<ChildStdout, ChildStdin>, ChildStderr),
) -> [String; 2] {
    let Hand { mut reader, writer } = hand;
    drop(writer);
    let [mut out, mut err] = [String::new(), String::new()];
    reader.read_to_string(&mut out).unwrap();
    stderr.read_to_string(&mut err).unwrap();
    let status = process.wait();
    assert_eq!(status.code(), Some(0), "{err}");
    [out, err]
}

const FORGED: &str = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/forged\"}\n";

// FRM-03: a print during an answer of 3 MB must not land in its frame; both must survive.
async fn what_handlers_print_goes_to_stderr<R: Runtime>() {
    let (process, mut hand, stderr) = start(server::<R>());
    let text = "x".repeat(3_000_000);
    hand.call_tool(1, "echo", &json!({"text": text}));
    // The first bytes have arrived, so the rest of the answer waits for this client.
    let mut all = vec![0; 10];
    hand.reader.read_exact(&mut all).unwrap();
    hand.call_tool(2, "print", &json!({}));
    hand.call_tool(3, "print_plain", &json!({}));
    let [out, err] = end((process, hand, stderr));
    all.extend_from_slice(out.as_bytes());
    let answers: Vec<Value> = all
        .split_inclusive(|byte| *byte == b'\n')
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect();
    let mut ids: Vec<_> = answers.iter().map(|answer| answer["id"].as_u64().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!(ids, [1, 2, 3], "{}", R::NAME);
    let long = answers.iter().find(|answer| answer["id"] == 1).unwrap();
    assert!(long["result"]["content"][0]["text"].as_str() == Some(&*text), "{}", R::NAME);
    assert_eq!(err.matches(FORGED.trim_end()).count(), 2, "{} {err}", R::NAME);
    assert_eq!(err.matches("the end of a handler").count(), 2, "{} {err}", R::NAME);
}

async fn what_child_processes_print_goes_to_stderr<R: Runtime>() {
    let (process, mut hand, stderr) = start(server::<R>());
    hand.call_tool(1, "print_in_child", &json!({}));
    assert_eq!(hand.hear()["id"], 1, "{}", R::NAME);
    let [out, err] = end((process, hand, stderr));
    assert_eq!(out, "", "{}", R::NAME);
    assert_eq!(err, format!("{FORGED}the end of a handler"), "{}", R::NAME);
}

async fn stdout_is_restored_once_the_server_has_ended<R: Runtime>() {
    let mut command = server::<R>();
    command.env("FAREWELL", "printed at last");
    let (process, mut hand, stderr) = start(command);
    hand.call_tool(1, "print_plain", &json!({}));
    assert_eq!(hand.hear()["id"], 1);
    let [out, err] = end((process, hand, stderr));
    assert_eq!(out, "printed at last", "{}", R::NAME);
    assert_eq!(err, format!("{FORGED}the end of a handler"), "{}", R::NAME);
}

async fn stdout_is_kept_on_request<R: Runtime>() {
    let mut command = server::<R>();
    command.env("STDOUT", "kept");
    let (process, mut hand, stderr) = start(command);
    hand.call_tool(1, "print_plain", &json!({}));
    hand.hear_notification("notifications/forged");
    let [_, err] = end((process, hand, stderr));
    assert_eq!(err, "", "{}", R::NAME);
}
