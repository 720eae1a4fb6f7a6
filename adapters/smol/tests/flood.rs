//! A peer that floods the connection must not block its timers or its shutdown.
#![cfg(unix)]
#![allow(clippy::expect_used, reason = "a test fails by panicking")]

use std::process::Command;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use mcp_smol::proto::Limits;
use mcp_smol::{Client, Error};

#[test]
fn a_server_that_floods_is_ended_after_the_timeout() {
    let (sender, outcome) = channel();
    thread::spawn(move || {
        let limits = Limits {
            probe_timeout: Duration::from_millis(200),
            handshake_timeout: Duration::from_millis(200),
            ..Limits::default()
        };
        let opened = Client::new("test", "1").limits(limits).spawn(Command::new("yes"));
        sender.send(smol::block_on(opened).map(drop))
    });
    let outcome =
        outcome.recv_timeout(Duration::from_secs(20)).expect("the connection attempt ends");
    assert!(matches!(&outcome, Err(Error::Start { status: Some(_), .. })), "{outcome:?}");
}
