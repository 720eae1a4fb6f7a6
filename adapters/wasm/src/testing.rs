//! Servers and clients joined in memory, on one thread.
//!
//! `pair` runs both sides on the thread of the test, in virtual time; [`connect`] runs them on the
//! host.

pub use mcp_adapter::connect_in_memory as connect;
pub use mcp_adapter::testing::{PairError, TestPair, pair, pair_as};
