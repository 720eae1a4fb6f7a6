//! Servers on stdin and stdout, on each runtime: streams that are non-blocking or fail.

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
use std::process::{Command, Output, Stdio};

use mcp_adapter_tests::{Hand, Process, Runtime, adapter_server};
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use serde_json::json;

mcp_adapter_tests::rows!(
    non_blocking_pipes_are_waited_for,
    non_blocking_sockets_are_waited_for,
    a_stdin_that_cannot_be_read_is_an_error,
    a_stdout_that_cannot_be_written_is_an_error,
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
