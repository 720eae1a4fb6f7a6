//! Bytes on a stream: lines in, whole messages out.

mod line;
mod outbox;

pub(crate) use line::{Line, LineReader};
pub use outbox::Outbox;
