//! Signals that end a server process, and those that were ignored when it started, on each runtime.

#![cfg(target_os = "linux")]
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use std::io::{Write as _, read_to_string};
use std::process::{ChildStdin, ChildStdout, Command};
use std::sync::atomic::{AtomicUsize, Ordering};

use mcp_adapter_tests::{
    Hand, Process, Runtime, adapter_server, eventually, scratch_path, start_on_pipes,
};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

mcp_adapter_tests::rows!(
    each_signal_closes_a_server,
    ignored_signals_stay_ignored_and_others_close,
    a_signal_ends_a_program_whose_server_has_closed,
    a_signal_that_the_program_has_received_too_does_not_end_it,
    stdin_is_restored_once_the_server_has_ended,
);

/// Starts a server that ignores these signals, as a shell names them, and is busy.
fn start<R: Runtime>(ignored: &str) -> (Process, Hand<ChildStdout, ChildStdin>) {
    start_with::<R>(ignored, &[])
}

fn start_with<R: Runtime>(
    ignored: &str,
    variables: &[(&str, &str)],
) -> (Process, Hand<ChildStdout, ChildStdin>) {
    let server = adapter_server::<R>(env!("CARGO_BIN_EXE_adapter-server"));
    let mut command = Command::new("sh");
    let trap = if ignored.is_empty() { String::new() } else { format!("trap '' {ignored}; ") };
    command.arg("-c").arg(format!("{trap}exec \"$0\" \"$@\""));
    command.arg(server.get_program()).args(server.get_args()).envs(variables.iter().copied());
    let (process, mut hand) = start_on_pipes(&mut command);
    hand.greet(&json!({}));
    hand.call_tool(1, "hang_plain", &json!({}));
    (process, hand)
}

fn send(process: &Process, signal: Signal) {
    kill(Pid::from_raw(process.id().cast_signed()), signal).unwrap();
}

async fn each_signal_closes_a_server<R: Runtime>() {
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        let (mut process, _hand) = start::<R>("");
        send(&process, signal);
        let status = process.wait();
        assert_eq!(status.code(), Some(0), "{} {signal}: {status}", R::NAME);
    }
}

async fn ignored_signals_stay_ignored_and_others_close<R: Runtime>() {
    for (ignored, signals) in [
        ("HUP", &[Signal::SIGHUP][..]),
        ("INT QUIT", &[Signal::SIGINT]),
        ("INT HUP", &[Signal::SIGINT, Signal::SIGHUP]),
    ] {
        let (mut process, mut hand) = start::<R>(ignored);
        for signal in signals {
            send(&process, *signal);
        }
        hand.request(2, "ping", &json!({}));
        assert_eq!(hand.hear()["id"], 2, "{} ignores {ignored}", R::NAME);
        send(&process, Signal::SIGTERM);
        let status = process.wait();
        assert_eq!(status.code(), Some(0), "{} ignores {ignored}: {status}", R::NAME);
    }
}

/// Starts a program, and returns it once a signal has ended its server and it waits for a line.
async fn terminate<R: Runtime>(
    variables: &[(&str, &str)],
) -> (Process, Hand<ChildStdout, ChildStdin>) {
    static STARTED: AtomicUsize = AtomicUsize::new(0);
    let number = STARTED.fetch_add(1, Ordering::Relaxed);
    let path = scratch_path(&format!("ended-{number}"));
    let ended = [("NEXT", "line"), ("CLEANED_UP", path.to_str().unwrap())];
    let (process, mut hand) = start_with::<R>("", &[variables, &ended].concat());
    // Once this is answered, the server has read all that was sent.
    hand.request(2, "ping", &json!({}));
    assert_eq!(hand.hear()["id"], 2);
    send(&process, Signal::SIGTERM);
    eventually("the server has ended", || path.exists()).await;
    std::fs::remove_file(&path).unwrap();
    (process, hand)
}

async fn a_signal_ends_a_program_whose_server_has_closed<R: Runtime>() {
    // Tokio receives signals for as long as its runtime runs, and the program has ended that.
    if R::NAME.starts_with("tokio") {
        return;
    }
    // The program waits for a line that never comes.
    let (mut process, _hand) = terminate::<R>(&[]).await;
    send(&process, Signal::SIGTERM);
    let status = process.wait();
    assert_eq!(status.code(), Some(130), "{}: {status}", R::NAME);
}

async fn a_signal_that_the_program_has_received_too_does_not_end_it<R: Runtime>() {
    // On other runtimes, serving cannot be dropped, or signals end with their runtime.
    if R::NAME != "smol" {
        return;
    }
    for _ in 0..10 {
        let (mut process, mut hand) = terminate::<R>(&[("SIGTERM", "raced")]).await;
        writeln!(hand.writer, "for the program").unwrap();
        let status = process.wait();
        assert_eq!(status.code(), Some(0), "{status}");
    }
}

async fn stdin_is_restored_once_the_server_has_ended<R: Runtime>() {
    // On plain threads, one stays blocked on stdin, and takes what follows.
    if !R::IS_ASYNC {
        return;
    }
    let (mut process, mut hand) = terminate::<R>(&[]).await;
    writeln!(hand.writer, "for the program").unwrap();
    let output = read_to_string(hand.reader).unwrap();
    assert!(output.ends_with("next: for the program\n"), "{}: {output}", R::NAME);
    assert_eq!(process.wait().code(), Some(0), "{}", R::NAME);
}
