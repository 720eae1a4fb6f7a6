//! Servers on stdin and stdout, on each runtime: streams that are non-blocking or fail, and
//! handlers that print to stdout.

#![cfg(target_os = "linux")]
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use std::fs::File;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Output, Stdio};

use mcp_adapter_tests::{Hand, Process, Runtime, adapter_server};
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use serde_json::{Value, json};

mcp_adapter_tests::rows!(
    non_blocking_pipes_are_waited_for,
    non_blocking_sockets_are_waited_for,
    a_stdin_that_cannot_be_read_is_an_error,
    a_stdout_that_cannot_be_written_is_an_error,
    what_handlers_print_goes_to_stderr,
    stdout_is_restored_once_the_server_has_ended,
    stdout_is_kept_on_request,
);

fn server<R: Runtime>() -> Command {
    adapter_server::<R>(env!("CARGO_BIN_EXE_adapter-server"))
}

/// Asserts that a server waits for its input and sends large output whole.
fn serves(hand: &mut Hand<impl Read, impl Write>) {
    hand.greet(&json!({}));
    for id in 1..4 {
        let text = "x".repeat(400_000);
        hand.call_tool(id, "echo", &json!({"text": text}));
        let answer = hand.hear();
        assert_eq!(answer["id"], id);
        assert_eq!(answer["result"]["content"][0]["text"].as_str(), Some(&*text));
    }
}

async fn non_blocking_pipes_are_waited_for<R: Runtime>() {
    let (stdin, writer) = std::io::pipe().unwrap();
    let (reader, stdout) = std::io::pipe().unwrap();
    fcntl(&stdin, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).unwrap();
    fcntl(&stdout, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).unwrap();
    let mut process = Process(server::<R>().stdin(stdin).stdout(stdout).spawn().unwrap());
    let mut hand = Hand::new(reader, writer);
    serves(&mut hand);
    drop(hand);
    assert_eq!(process.0.wait().unwrap().code(), Some(0), "{}", R::NAME);
}

async fn non_blocking_sockets_are_waited_for<R: Runtime>() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    theirs.set_nonblocking(true).unwrap();
    let mut command = server::<R>();
    command.stdin(OwnedFd::from(theirs.try_clone().unwrap())).stdout(OwnedFd::from(theirs));
    let mut process = Process(command.spawn().unwrap());
    // The command keeps its ends of the socket.
    drop(command);
    let mut hand = Hand::of(ours.try_clone().unwrap());
    serves(&mut hand);
    ours.shutdown(Shutdown::Write).unwrap();
    assert_eq!(process.0.wait().unwrap().code(), Some(0), "{}", R::NAME);
}

fn fails_with<R: Runtime>(mut command: Command, message: &str) {
    let Output { status, stderr, .. } = command.stderr(Stdio::piped()).output().unwrap();
    let said = String::from_utf8(stderr).unwrap();
    assert_eq!(status.code(), Some(1), "{} {said}", R::NAME);
    assert!(said.contains(message), "{} {said}", R::NAME);
}

async fn a_stdin_that_cannot_be_read_is_an_error<R: Runtime>() {
    let mut command = server::<R>();
    command.stdin(File::open("/").unwrap()).stdout(Stdio::piped());
    fails_with::<R>(command, "cannot read");
}

async fn a_stdout_that_cannot_be_written_is_an_error<R: Runtime>() {
    let mut command = server::<R>();
    let (stdin, mut writer) = std::io::pipe().unwrap();
    writeln!(writer, "{}", json!({"jsonrpc": "2.0", "id": 1, "method": "ping"})).unwrap();
    drop(writer);
    command.stdin(stdin).stdout(File::options().write(true).open("/dev/full").unwrap());
    fails_with::<R>(command, "cannot write");
}

/// Starts a server with pipes on its three standard streams, and opens a session.
fn start(mut command: Command) -> (Process, Hand<ChildStdout, ChildStdin>, ChildStderr) {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let Child { stdin, stdout, stderr, .. } = &mut child;
    let mut hand = Hand::new(stdout.take().unwrap(), stdin.take().unwrap());
    let stderr = stderr.take().unwrap();
    hand.greet(&json!({}));
    (Process(child), hand, stderr)
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
    let status = process.0.wait().unwrap();
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
