//! Bytes on a stream: lines in, lines out; knows nothing of JSON and nothing of MCP.

mod line;
mod outbox;

pub(crate) use line::{Line, LineReader};
pub use outbox::Outbox;
