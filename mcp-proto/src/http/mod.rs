//! Streamable HTTP without IO: what a client does with exchanges, and the two languages that it speaks below JSON, event
//! streams and header field values.
//!
//! The languages are usable alone and know nothing of MCP.

pub mod client;
pub mod fields;
pub mod mirror;

pub use crate::wire::{field, sse};
