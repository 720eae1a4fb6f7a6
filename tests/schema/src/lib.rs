//! Checks of mcp-proto's types and wire against the published schemas: what is covered, how, and
//! what is not.
//!
//! It knows JSON Schema and the core's public surface, and nothing of the core's inside. The
//! schemas are not part of the project: they are read from `MCP_SPEC_DIR`. The checks themselves
//! are in `tests/`.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "a check may stop where it stands, and prints what it counted"
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
