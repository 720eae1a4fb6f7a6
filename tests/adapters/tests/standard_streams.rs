//! Servers on stdin and stdout, on each runtime: streams that are non-blocking, fail, or are
//! inherited by child processes.

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
use std::process::{Command, Stdio};

use mcp_adapter_tests::{Hand, Process, Runtime, adapter_server, eventually, start_on_pipes};
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use serde_json::json;

mcp_adapter_tests::rows!(
    non_blocking_pipes_are_waited_for,
    non_blocking_sockets_are_waited_for,
    a_stdin_that_cannot_be_read_is_an_error,
    a_stdout_that_cannot_be_written_is_an_error,
    child_processes_take_no_requests_away,
    child_processes_inherit_stdin_on_request,
    child_processes_do_not_keep_stdin_open,
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
    let mut process = Process::start(server::<R>().stdin(stdin).stdout(stdout));
    let mut hand = Hand::new(reader, writer);
    serves(&mut hand);
    drop(hand);
    assert_eq!(process.wait().code(), Some(0), "{}", R::NAME);
}

async fn non_blocking_sockets_are_waited_for<R: Runtime>() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    theirs.set_nonblocking(true).unwrap();
    let mut command = server::<R>();
    command.stdin(OwnedFd::from(theirs.try_clone().unwrap())).stdout(OwnedFd::from(theirs));
    let mut process = Process::start(&mut command);
    // The command keeps its ends of the socket.
    drop(command);
    let mut hand = Hand::of(ours.try_clone().unwrap());
    serves(&mut hand);
    ours.shutdown(Shutdown::Write).unwrap();
    assert_eq!(process.wait().code(), Some(0), "{}", R::NAME);
}

fn fails_with<R: Runtime>(mut command: Command, message: &str) {
    let mut process = Process::start(command.stderr(Stdio::piped()));
    let output = std::io::read_to_string(process.stderr.take().unwrap()).unwrap();
    assert_eq!(process.wait().code(), Some(1), "{} {output}", R::NAME);
    assert!(output.contains(message), "{} {output}", R::NAME);
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

/// Calls a tool whose child reads the inherited stdin, and returns the name of that stdin.
fn read_in_child(hand: &mut Hand<impl Read, impl Write>) -> String {
    hand.greet(&json!({}));
    hand.call_tool(1, "read_in_child", &json!({}));
    let log = hand.hear_notification("notifications/message");
    log["data"].as_str().unwrap().to_owned()
}

// FRM-03: only messages travel over stdin, and all of them reach the server.
async fn child_processes_take_no_requests_away<R: Runtime>() {
    // Two at a time: the second does not restore stdin while the first still runs.
    for children in 1..=2 {
        let (mut process, mut hand) = start_on_pipes(&mut server::<R>());
        assert_eq!(read_in_child(&mut hand), "/dev/null", "{}", R::NAME);
        if children > 1 {
            hand.call_tool(2, "read_in_child", &json!({}));
            hand.hear_notification("notifications/message");
        }
        for id in 10..20 {
            hand.request(id, "ping", &json!({}));
            assert_eq!(hand.hear()["id"], id, "{}", R::NAME);
        }
        for _ in 0..children {
            assert_eq!(hand.hear()["result"]["content"][0]["text"], "", "{}", R::NAME);
        }
        drop(hand);
        assert_eq!(process.wait().code(), Some(0), "{}", R::NAME);
    }
}

async fn child_processes_inherit_stdin_on_request<R: Runtime>() {
    let (mut process, mut hand) = start_on_pipes(server::<R>().env("STDIN", "kept"));
    let name = read_in_child(&mut hand);
    assert!(name.starts_with("pipe:"), "{}: {name}", R::NAME);
    drop(hand);
    assert_eq!(process.wait().code(), Some(0), "{}", R::NAME);
}

async fn child_processes_do_not_keep_stdin_open<R: Runtime>() {
    let (mut process, mut hand) = start_on_pipes(&mut server::<R>());
    hand.greet(&json!({}));
    hand.call_tool(1, "start", &json!({}));
    assert_eq!(hand.hear()["id"], 1, "{}", R::NAME);
    process.kill().unwrap();
    process.wait();
    // The child continues, and a pipe that it holds would have a reader. (Another process that is
    // being started may hold it for a moment.)
    eventually("stdin is closed", || writeln!(hand.writer).is_err()).await;
}
