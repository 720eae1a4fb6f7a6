//! One suite over real sockets, written once and run on each runtime.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod checked;
mod crowds;
mod ending;
mod ids;
mod limits;
mod notified;
mod principals;
mod refused;
mod resumed;
mod sessions;
mod visibility;
mod waiting;
mod withdrawn;
