//! Whole worlds drawn from one number: two peers, or one and somebody hostile, on links that are
//! slow, chopped, full and cut, under clocks that are late; knows the public surface of `mcp_proto`
//! and what it promises.
//!
//! Each seed first draws which [`Feature`]s there are and how much each weighs (swarm testing),
//! then what happens step by step. The checkers are those of `mcp_harness`, and a small model of
//! both sides. What fails is made smaller by leaving out features and steps, and told with the
//! command that plays it again:
//!
//! ```text
//! cargo run --release -p mcp-simulation -- --seconds 60 [--seed 1] [--threads 2] [--http] [--streams]
//! ```
//!
//! A seed is two worlds: one on streams, and one on HTTP, which has its own room.

#![allow(clippy::panic, reason = "a test kit reports by panicking")]

mod application;
mod books;
mod bounds;
mod case;
mod commands;
mod coverage;
mod hostile;
mod http;
mod node;
mod party;
mod phrases;
mod plan;
mod replay;
mod rest;
mod run;
mod told;
mod wire;
mod world;

pub use case::{Case, Feature, Kind};
pub use coverage::Coverage;
pub use run::{Failure, run, shrink};
