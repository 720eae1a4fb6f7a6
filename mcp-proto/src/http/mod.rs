//! Streamable HTTP without IO; as yet the two languages that it speaks below JSON: event streams and header field
//! values.
//!
//! Both are usable alone and know nothing of MCP.

pub use crate::wire::{field, sse};
