//! Simulates whole worlds drawn from one seed: two peers, or one and a hostile one, over links that
//! are slow, split, full and cut, with late clocks.
//!
//! Each seed first draws which [`Feature`]s are on and their weights (swarm testing), then what
//! happens step by step. The checkers are those of `mcp_harness` and a small model of both sides. A
//! failing case is shrunk by leaving out features and steps, and reported with the command that
//! runs it again:
//!
//! `cargo run --release -p mcp-simulation -- --seconds 60 [--seed 1] [--threads 2] [--http]
//! [--streams] [--auth] [--tasks]`
//!
//! A seed yields two worlds: one over streams and one over HTTP. With `--auth`, it yields a world
//! of one authorization among hostile authorization servers; with `--tasks`, a world of tasks.

#![allow(clippy::panic, reason = "a test kit reports by panicking")]

mod application;
mod auth;
mod bounds;
mod case;
mod commands;
mod coverage;
mod hostile;
mod http;
mod model;
mod node;
mod observed;
mod party;
mod phrases;
mod plan;
mod replay;
mod rest;
mod run;
mod tasks;
mod wire;
mod world;

pub use auth::{AuthFailure, AuthTally, run_auth};
pub use case::{Case, Feature, Kind};
pub use coverage::Coverage;
pub use run::{Failure, run, shrink};
pub use tasks::{TaskFailure, TaskStep, TaskTally, TasksWorld, run_tasks};
