//! What a server process still does after the end of its input, on each runtime: it answers what is
//! in flight, waits for a slow reader, and ends immediately on a signal.

#![cfg(unix)]
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use std::io::{self, BufRead, BufReader, Read, Seek, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{ChildStdin, ChildStdout, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use mcp_adapter_tests::{Hand, Process, Runtime, adapter_server, start_on_pipes};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

mcp_adapter_tests::rows!(
    requests_in_flight_at_the_end_of_input_are_answered,
    a_reader_may_pause_after_the_end_of_input,
    a_client_that_has_closed_both_streams_is_not_waited_for,
    a_signal_ends_the_wait_for_handlers,
    a_signal_ends_the_wait_for_a_reader,
);

fn start<R: Runtime>() -> (Process, Hand<ChildStdout, ChildStdin>) {
    let mut command = adapter_server::<R>(env!("CARGO_BIN_EXE_adapter-server"));
    start_on_pipes(&mut command)
}

/// Returns the ids of the requests that were answered with a result.
fn answered(output: &str) -> Vec<u64> {
    let answers = output.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let answered = answers.filter(|answer| answer["result"].is_object());
    let mut ids: Vec<u64> = answered.map(|answer| answer["id"].as_u64().unwrap()).collect();
    ids.sort_unstable();
    ids
}

/// A handler that takes hundreds of milliseconds: `server < requests` must not lose its response.
async fn requests_in_flight_at_the_end_of_input_are_answered<R: Runtime>() {
    let mut input = tempfile();
    let mut hand = Hand::new(io::empty(), &input);
    hand.request(0, "initialize", &hello());
    hand.notify("notifications/initialized", &json!({}));
    hand.call_tool(1, "slow", &json!({}));
    hand.call_tool(2, "slow_plain", &json!({}));
    input.rewind().unwrap();
    let mut command = adapter_server::<R>(env!("CARGO_BIN_EXE_adapter-server"));
    let mut process = Process::start(command.stdin(input).stdout(Stdio::piped()));
    let output = io::read_to_string(process.stdout.take().unwrap()).unwrap();
    assert_eq!(answered(&output), [0, 1, 2], "{output}");
    assert_eq!(process.wait().code(), Some(0));
}

fn hello() -> Value {
    let info = json!({"name": "file", "version": "1"});
    json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info})
}

fn tempfile() -> std::fs::File {
    let name = format!("mcp-input-{}-{:?}", std::process::id(), thread::current().id());
    let path = std::env::temp_dir().join(name);
    let mut options = std::fs::File::options();
    let file = options.read(true).write(true).create(true).truncate(true).open(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    file
}

/// Calls `echo` with more than a pipe holds, ends the input, and returns the rest to read.
fn leave_much_to_read<R: Runtime>() -> (Process, BufReader<ChildStdout>) {
    let (process, mut hand) = start::<R>();
    hand.greet(&json!({}));
    hand.call_tool(1, "echo", &json!({"text": "x".repeat(LENGTH)}));
    let Hand { mut reader, writer } = hand;
    drop(writer);
    // The response is being written.
    assert!(!reader.fill_buf().unwrap().is_empty());
    (process, reader)
}

const LENGTH: usize = 1_500_000;

async fn a_reader_may_pause_after_the_end_of_input<R: Runtime>() {
    let (mut process, mut reader) = leave_much_to_read::<R>();
    // Pauses are what this test is about; each is longer than a stopped server waits.
    let mut begin = [0; 3000];
    for piece in begin.chunks_mut(1000) {
        thread::sleep(Duration::from_millis(150));
        reader.read_exact(piece).unwrap();
    }
    let rest = io::read_to_string(reader).unwrap();
    assert!(begin.len() + rest.len() > LENGTH, "cut off after {} bytes", rest.len());
    assert!(rest.ends_with('\n'));
    assert_eq!(process.wait().code(), Some(0));
}

/// As a host does that ends: it closes both streams and may wait for the server.
async fn a_client_that_has_closed_both_streams_is_not_waited_for<R: Runtime>() {
    let (process, hand) = start::<R>();
    is_not_waited_for::<R>(process, hand);

    let (ours, theirs) = UnixStream::pair().unwrap();
    let mut command = adapter_server::<R>(env!("CARGO_BIN_EXE_adapter-server"));
    command.stdin(OwnedFd::from(theirs.try_clone().unwrap())).stdout(OwnedFd::from(theirs));
    let process = Process::start(&mut command);
    // The command keeps its ends of the socket.
    drop(command);
    is_not_waited_for::<R>(process, Hand::of(ours));
}

fn is_not_waited_for<R: Runtime>(mut process: Process, mut hand: Hand<impl Read, impl Write>) {
    hand.greet(&json!({}));
    hand.call_tool(1, "hang", &json!({}));
    hand.call_tool(2, "hang_plain", &json!({}));
    // The server handles the messages in order, so both calls have begun.
    hand.request(3, "ping", &json!({}));
    assert_eq!(hand.hear()["id"], 3);
    let began = Instant::now();
    drop(hand);
    assert_eq!(process.wait().code(), Some(0), "{}", R::NAME);
    let took = began.elapsed();
    assert!(took < Duration::from_secs(2), "{} {took:?}", R::NAME);
}

/// Asserts that SIGTERM ends a server in well under the seconds that it would wait otherwise.
fn ends_on_sigterm(mut process: Process) {
    let began = Instant::now();
    kill(Pid::from_raw(process.id().cast_signed()), Signal::SIGTERM).unwrap();
    assert_eq!(process.wait().code(), Some(0));
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
}

async fn a_signal_ends_the_wait_for_handlers<R: Runtime>() {
    for tool in ["hang", "hang_plain"] {
        let (process, mut hand) = start::<R>();
        hand.greet(&json!({}));
        hand.call_tool(1, tool, &json!({}));
        // A message whose last line has no end is answered at the end of the input.
        hand.writer.write_all(br#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#).unwrap();
        let Hand { reader, writer } = hand;
        drop(writer);
        let mut hand = Hand::new(reader, io::sink());
        assert_eq!(hand.hear()["id"], 2);
        ends_on_sigterm(process);
    }
}

async fn a_signal_ends_the_wait_for_a_reader<R: Runtime>() {
    let (process, _reader) = leave_much_to_read::<R>();
    ends_on_sigterm(process);
}
