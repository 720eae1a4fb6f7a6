//! Line framing: incoming lines and the queue of outgoing bytes.

mod line;
mod outbox;

pub(crate) use line::{Line, LineReader};
pub use outbox::Outbox;
