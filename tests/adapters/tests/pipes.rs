//! How a server process resizes its pipes, on each runtime.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::os::fd::AsFd;
use std::process::Stdio;

use mcp_adapter_tests::{
    Blocking, Hand, Process, Runtime, Smol, Tokio, TokioThreads, adapter_server, story,
};
use nix::fcntl::{FcntlArg, fcntl};
use serde_json::json;

const WIDE: i32 = 512 * 1024;

fn large_payloads_enlarge_the_pipes<R: Runtime>() {
    let mut command = adapter_server::<R>(env!("CARGO_BIN_EXE_adapter-server"));
    let mut child = Process(command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap());
    let (reader, writer) = (child.0.stdout.take().unwrap(), child.0.stdin.take().unwrap());
    let ends = [
        reader.as_fd().try_clone_to_owned().unwrap(),
        writer.as_fd().try_clone_to_owned().unwrap(),
    ];
    let hold = || ends.each_ref().map(|end| fcntl(end, FcntlArg::F_GETPIPE_SZ).unwrap());
    let before = hold();
    let mut hand = Hand::new(reader, writer);
    hand.greet(&json!({}));
    hand.call_tool(1, "echo", &json!({"text": "little"}));
    hand.hear_with_id();
    assert_eq!(hold(), before, "little leaves them as they were");
    hand.call_tool(2, "echo", &json!({"text": "x".repeat(1 << 20)}));
    assert_eq!(hand.hear_with_id()["id"], 2);
    // The system limits the total size of a user's pipes.
    let (_reader, own) = std::io::pipe().unwrap();
    let is_allowed = fcntl(&own, FcntlArg::F_SETPIPE_SZ(WIDE)).is_ok();
    assert_eq!(hold(), before.map(|bytes| if is_allowed { bytes.max(WIDE) } else { bytes }));
}

#[test]
fn pipes_grow_with_large_payloads() {
    story(large_payloads_enlarge_the_pipes::<Blocking>);
    story(large_payloads_enlarge_the_pipes::<Tokio>);
    story(large_payloads_enlarge_the_pipes::<TokioThreads>);
    story(large_payloads_enlarge_the_pipes::<Smol>);
}
