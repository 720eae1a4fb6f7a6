//! The types that a connection exchanges with its application and its transport: ids, events,
//! errors, outgoing messages and the configuration.

mod call_options;
mod caller;
mod event;
mod filter;
#[cfg(test)]
pub(crate) mod for_test;
mod identity;
mod ids;
mod input;
mod outcome;
mod outgoing;
mod peer;
mod request;
pub(crate) mod uri;
mod violation;

pub use call_options::CallOptions;
pub(crate) use call_options::CallTimeouts;
pub use caller::{Caller, Principal};
pub(crate) use event::Event;
pub(crate) use filter::is_within_resource;
pub use filter::{Change, Filter};
pub(crate) use identity::Identity;
pub use ids::{CallId, IncomingId, StreamId};
pub use input::{InputResponses, NeededInput};
pub use outcome::{CallError, CloseReason, Fault, Progress};
pub use outgoing::{Outgoing, OutgoingKind, Route};
pub use peer::Peer;
pub(crate) use peer::identity_cost;
pub use request::{Context, Request};
pub use violation::{Violation, ViolationKind, ViolationPolicy};
