//! wip
mod client;
mod drive;
mod runtime;
mod streams;
pub use client::Connect;
pub use mcp_adapter::{Call, Changed, Client, Connection, Error, Listening, Pending, proto};
