//! Bytes on a stream: lines in, lines out; event streams and header field values; knows nothing of JSON and nothing
//! of MCP.

#[cfg(feature = "http")]
pub mod field;
mod line;
mod outbox;
#[cfg(feature = "http")]
pub mod sse;

pub(crate) use line::{Line, LineReader};
pub(crate) use outbox::To;
pub use outbox::{Outbox, StreamId};
