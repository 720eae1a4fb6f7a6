//! The queues of a connection: outgoing messages and events.

mod events;
mod outbound;

pub(crate) use events::Events;
pub(crate) use outbound::{Draft, Outbound};
