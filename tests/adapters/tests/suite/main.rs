//! One behaviour suite, written once over the shared handles, and run on each runtime.

#![cfg(unix)]
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a row fails by panicking"
)]

mod asking;
mod calls;
mod cancelling;
mod checked;
mod children;
mod full;
mod listening;
mod recorded;
mod streams;
mod tokio_alone;

/// Where cargo has put the server of this package.
const SERVER: &str = env!("CARGO_BIN_EXE_adapter-server");
