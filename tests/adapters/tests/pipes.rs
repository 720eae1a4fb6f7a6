//! The sizes of the pipes between a client and a server process, on each runtime.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::os::fd::AsFd;

use mcp_adapter_tests::{
    Blocking, Runtime, Smol, Tokio, TokioThreads, adapter_server, start_on_pipes, with_timeout,
};
use nix::fcntl::{FcntlArg, fcntl};
use serde_json::json;

const LARGE: i32 = 512 * 1024;

/// Starts a server, exchanges small and large messages with it, and returns the sizes of its pipes
/// before and after.
fn pipe_sizes<R: Runtime>(pipe_bytes: Option<i32>) -> [[i32; 2]; 2] {
    let mut command = adapter_server::<R>(env!("CARGO_BIN_EXE_adapter-server"));
    command.args(pipe_bytes.map(|bytes| bytes.to_string()));
    let (_process, mut hand) = start_on_pipes(&mut command);
    let ends = [
        hand.reader.get_ref().as_fd().try_clone_to_owned().unwrap(),
        hand.writer.as_fd().try_clone_to_owned().unwrap(),
    ];
    let sizes = || ends.each_ref().map(|end| fcntl(end, FcntlArg::F_GETPIPE_SZ).unwrap());
    let before = sizes();
    hand.greet(&json!({}));
    hand.call_tool(1, "echo", &json!({"text": "little"}));
    hand.hear_with_id();
    hand.call_tool(2, "echo", &json!({"text": "x".repeat(1 << 20)}));
    assert_eq!(hand.hear_with_id()["id"], 2);
    [before, sizes()]
}

fn pipes_keep_their_size<R: Runtime>() {
    let [before, after] = pipe_sizes::<R>(None);
    assert_eq!(after, before);
}

fn pipes_are_enlarged<R: Runtime>() {
    let [_, after] = pipe_sizes::<R>(Some(LARGE));
    // The total size of a user's pipes is limited.
    let (_reader, own) = std::io::pipe().unwrap();
    if fcntl(&own, FcntlArg::F_SETPIPE_SZ(LARGE)).is_ok() {
        assert!(after.iter().all(|bytes| *bytes >= LARGE), "{after:?}");
    }
}

#[test]
fn pipes_keep_their_size_by_default() {
    with_timeout(pipes_keep_their_size::<Blocking>);
    with_timeout(pipes_keep_their_size::<Tokio>);
    with_timeout(pipes_keep_their_size::<TokioThreads>);
    with_timeout(pipes_keep_their_size::<Smol>);
}

#[test]
fn pipes_are_enlarged_on_request() {
    with_timeout(pipes_are_enlarged::<Blocking>);
    with_timeout(pipes_are_enlarged::<Tokio>);
    with_timeout(pipes_are_enlarged::<TokioThreads>);
    with_timeout(pipes_are_enlarged::<Smol>);
}
