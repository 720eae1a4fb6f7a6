//! The events of both roles in one form.

use mcp_harness::Witness;
use mcp_proto::{CallError, CloseReason, Raw, Request, Revision, ViolationKind, client, server};

/// An event of either role.
#[derive(Debug)]
pub(crate) enum Told {
    Cancelled(u64),
    Closed(CloseReason),
    Completed { call: u64, outcome: Result<Raw, CallError> },
    Subscribed,
    Notification,
    Progress { call: u64, progress: f64 },
    Ready(Revision),
    Request { incoming: u64, call: Option<u64>, request: Request, is_answered: bool },
    Unwatched,
    Violation(ViolationKind, String),
    Watched,
}

/// Conversion of a role's events.
pub(crate) trait Tell: Witness {
    /// Converts the event.
    fn into_told(self) -> Told;
}

impl Tell for client::Event {
    fn into_told(self) -> Told {
        match self {
            Self::Closed(why) => Told::Closed(why),
            Self::Completed { call, outcome } => Told::Completed { call: call.into(), outcome },
            Self::Notification { .. } => Told::Notification,
            Self::Progress { call, progress } => {
                Told::Progress { call: call.into(), progress: progress.progress }
            }
            Self::Ready(peer) => Told::Ready(peer.revision),
            Self::Request { incoming, call, request } => Told::Request {
                incoming: incoming.into(),
                call: call.map(Into::into),
                request,
                is_answered: false,
            },
            Self::RequestCancelled { incoming, .. } => Told::Cancelled(incoming.into()),
            Self::Violation(violation) => {
                Told::Violation(violation.kind, violation.detail.into_owned())
            }
            _ => Told::Subscribed,
        }
    }
}

impl Tell for server::Event {
    fn into_told(self) -> Told {
        match self {
            Self::Closed(why) => Told::Closed(why),
            Self::Completed { call, outcome } => Told::Completed { call: call.into(), outcome },
            Self::Progress { call, progress } => {
                Told::Progress { call: call.into(), progress: progress.progress }
            }
            Self::Ready(peer) => Told::Ready(peer.revision),
            Self::Request { incoming, request, context } => Told::Request {
                incoming: incoming.into(),
                call: None,
                request,
                is_answered: context.input_responses.is_some() || context.state.is_some(),
            },
            Self::RequestCancelled { incoming, .. } => Told::Cancelled(incoming.into()),
            Self::Unwatched { .. } => Told::Unwatched,
            Self::Violation(violation) => {
                Told::Violation(violation.kind, violation.detail.into_owned())
            }
            Self::Watched { .. } => Told::Watched,
            _ => Told::Notification,
        }
    }
}

/// Returns the name of a value's variant, with that of its content where useful.
#[must_use]
pub(crate) fn variant(value: &impl std::fmt::Debug) -> String {
    let shown = format!("{value:?}");
    shown.split(['(', ' ', '{']).next().unwrap_or_default().to_owned()
}
