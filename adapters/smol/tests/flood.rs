//! A peer that never stops talking: it does not keep the connection from seeing the time and its
//! own end.
#![cfg(unix)]
#![allow(clippy::expect_used, reason = "a story fails by panicking")]

use std::process::Command;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use mcp_smol::proto::Limits;
use mcp_smol::{Client, Connect, Error};

#[test]
fn a_server_that_floods_is_given_up_and_ended() {
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
    let outcome = outcome.recv_timeout(Duration::from_secs(20)).expect("it has no end");
    assert!(matches!(&outcome, Err(Error::Start { status: Some(_), .. })), "{outcome:?}");
}
