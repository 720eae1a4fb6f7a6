//! Tests of clients over HTTP, on each runtime, against scripted servers and our own.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod authorized;
mod both_eras;
mod bounds;
mod brought;
mod callbacks;
mod ends;
mod eras;
mod fields;
mod http2;
mod identities;
mod limits;
mod logins;
mod proxied;
mod recovery;
mod resuming;
mod reuse;
mod sessions;
mod sse;
mod strangers;
mod tls;
#[cfg(unix)]
mod unix;

use std::time::Duration;

use mcp_adapter::proto::{CallError, Limits, Revision};
use mcp_adapter::{Client, Error, Recovery};
use mcp_adapter_tests::client;

/// Builds a legacy client.
fn legacy_client() -> Client {
    client().revisions(&Revision::LEGACY)
}

/// Builds a legacy client whose lost connections stay lost.
fn lossy_client() -> Client {
    legacy_client().recovery(Recovery::off())
}

/// Builds a modern client.
fn modern_client() -> Client {
    client().revisions(&[Revision::V2026_07_28])
}

/// Returns timeouts short enough for a test.
fn quick() -> Limits {
    Limits {
        probe_timeout: Duration::from_millis(300),
        handshake_timeout: Duration::from_millis(600),
        ..Limits::default()
    }
}

/// How long an immediate operation may take on a busy machine.
const SOON: Duration = Duration::from_secs(40);

/// Returns the error a call failed with.
fn failed<T: std::fmt::Debug>(outcome: Result<T, Error>) -> CallError {
    match outcome {
        Err(Error::Call(error)) => error,
        other => panic!("the call did not fail: {other:?}"),
    }
}
