//! The two queues of a connection: messages to send, and events to poll.

mod events;
mod outbound;

pub(crate) use events::Events;
pub(crate) use outbound::{Draft, Outbound};
