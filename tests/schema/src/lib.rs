//! Checks mcp-proto's types and messages against the published schemas.
//!
//! The schemas are not part of the project: they are read from `MCP_SPEC_DIR`. The checks
//! themselves are in `tests/`.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "a check may panic, and prints its counts"
)]

pub mod applications;
pub mod check;
pub mod codec;
pub mod compare;
pub mod envelope;
pub mod flat;
pub mod generate;
pub mod mutate;
pub mod pair;
pub mod random;
pub mod registry;
pub mod spec;
pub mod strict;
pub mod tape;
mod types;
