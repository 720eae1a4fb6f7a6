//! Spans and events for `tracing`: a span for each connection and each handler, an event for each
//! protocol event.
//!
//! Without the `tracing` feature, [`Trace`] does nothing.

#[cfg(not(feature = "tracing"))]
mod disabled;
#[cfg(feature = "tracing")]
mod enabled;

use mcp_proto::CloseReason;

#[cfg(all(feature = "auth", not(feature = "tracing")))]
pub(crate) use disabled::not_verifiable;
#[cfg(all(feature = "http", not(feature = "tracing")))]
pub(crate) use disabled::refused;
#[cfg(all(feature = "task-store", not(feature = "tracing")))]
pub(crate) use disabled::unreadable_task;
#[cfg(all(feature = "schemars", not(feature = "tracing")))]
pub(crate) use disabled::unserializable;
#[cfg(not(feature = "tracing"))]
pub(crate) use disabled::{Trace, undeclared_logging, unsaved_task, unusual_tool_name};
#[cfg(all(feature = "auth", feature = "tracing"))]
pub(crate) use enabled::not_verifiable;
#[cfg(all(feature = "http", feature = "tracing"))]
pub(crate) use enabled::refused;
#[cfg(all(feature = "task-store", feature = "tracing"))]
pub(crate) use enabled::unreadable_task;
#[cfg(all(feature = "schemars", feature = "tracing"))]
pub(crate) use enabled::unserializable;
#[cfg(feature = "tracing")]
pub(crate) use enabled::{
    Trace, undeclared_logging, unreadable_schema, unsaved_task, unusual_tool_name,
};

/// The target of all spans and events.
#[cfg(feature = "tracing")]
pub(crate) const TARGET: &str = "mcp";

/// A summary of a protocol event, for `tracing`.
#[derive(Clone, Copy, Debug)]
#[expect(unnameable_types, reason = "the summaries of events are internal")]
#[cfg_attr(not(feature = "tracing"), allow(dead_code, reason = "read by `tracing` only"))]
pub struct EventSummary<'a> {
    pub(crate) name: &'static str,
    /// The method, revision or outcome concerned; may be empty.
    pub(crate) detail: &'a str,
}

/// Describes how a connection ended.
pub(crate) const fn close_reason(why: &CloseReason) -> &'static str {
    match why {
        CloseReason::Local => "by us",
        CloseReason::Peer => "by the peer",
        CloseReason::Fault(_) => "by a fault",
    }
}
