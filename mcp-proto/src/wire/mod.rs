//! Bytes on a stream: lines in, lines out; event streams and header field values; knows nothing of JSON and nothing
//! of MCP.

mod few;
#[cfg(feature = "http")]
pub mod field;
mod line;
mod outbox;
#[cfg(feature = "http")]
pub mod sse;

#[cfg(feature = "http")]
pub(crate) use few::Few;
pub(crate) use line::{Line, LineReader};
pub(crate) use outbox::To;
pub use outbox::{Outbox, StreamId};
