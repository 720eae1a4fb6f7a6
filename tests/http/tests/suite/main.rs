//! One suite over real sockets, written once and run on each runtime.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod authorized;
mod checked;
mod crowds;
mod early_refusals;
mod ended_principals;
mod ending;
mod floods;
mod http2;
mod http2_limits;
mod ids;
mod limits;
mod notified;
mod operators;
mod principals;
mod refused;
mod resumed;
mod scope_order;
mod scopes;
mod sessions;
mod sse;
mod task_floods;
mod task_scopes;
mod tower_service;
#[cfg(unix)]
mod unix_sockets;
mod visibility;
mod waiting;
mod withdrawn;
