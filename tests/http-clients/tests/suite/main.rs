//! Clients over HTTP, each row on each runtime, against servers that are played by hand and our
//! own.

#![cfg(unix)]
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a row fails by panicking"
)]

mod both_eras;
mod bounds;
mod ends;
mod eras;
mod fields;
mod resuming;
mod reuse;
mod sessions;
mod strangers;
mod tls;

use std::time::Duration;

use mcp_adapter::proto::{CallError, Limits, Revision};
use mcp_adapter::{Client, Error};
use mcp_adapter_tests::client;

/// A client of the legacy era.
fn legacy_client() -> Client {
    client().revisions(&Revision::LEGACY)
}

/// A client of the modern era.
fn modern_client() -> Client {
    client().revisions(&[Revision::V2026_07_28])
}

/// Bounds of time that a row can wait for.
fn quick() -> Limits {
    Limits {
        probe_timeout: Duration::from_millis(300),
        handshake_timeout: Duration::from_millis(600),
        ..Limits::default()
    }
}

/// How long what ends at once may take on a machine that is busy with other things.
const SOON: Duration = Duration::from_secs(40);

/// How a call failed.
fn failed<T: std::fmt::Debug>(outcome: Result<T, Error>) -> CallError {
    match outcome {
        Err(Error::Call(error)) => error,
        other => panic!("the call did not fail: {other:?}"),
    }
}
