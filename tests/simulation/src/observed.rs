//! The events of both roles in one form.

use mcp_harness::Witness;
use mcp_proto::{CallError, CloseReason, Raw, Request, Revision, ViolationKind, client, server};

/// An event of either role.
#[derive(Debug)]
pub(crate) enum Observed {
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
pub(crate) trait Observe: Witness {
    /// Converts the event.
    fn into_observed(self) -> Observed;
}

impl Observe for client::Event {
    fn into_observed(self) -> Observed {
        match self {
            Self::Closed(why) => Observed::Closed(why),
            Self::Completed { call, outcome } => Observed::Completed { call: call.into(), outcome },
            Self::Notification { .. } => Observed::Notification,
            Self::Progress { call, progress } => {
                Observed::Progress { call: call.into(), progress: progress.progress }
            }
            Self::Ready(peer) => Observed::Ready(peer.revision),
            Self::Request { incoming, call, request } => Observed::Request {
                incoming: incoming.into(),
                call: call.map(Into::into),
                request,
                is_answered: false,
            },
            Self::RequestCancelled { incoming, .. } => Observed::Cancelled(incoming.into()),
            Self::Violation(violation) => {
                Observed::Violation(violation.kind, violation.detail.into_owned())
            }
            _ => Observed::Subscribed,
        }
    }
}

impl Observe for server::Event {
    fn into_observed(self) -> Observed {
        match self {
            Self::Closed(why) => Observed::Closed(why),
            Self::Completed { call, outcome } => Observed::Completed { call: call.into(), outcome },
            Self::Progress { call, progress } => {
                Observed::Progress { call: call.into(), progress: progress.progress }
            }
            Self::Ready(peer) => Observed::Ready(peer.revision),
            Self::Request { incoming, request, context } => Observed::Request {
                incoming: incoming.into(),
                call: None,
                request,
                is_answered: context.input_responses.is_some() || context.state.is_some(),
            },
            Self::RequestCancelled { incoming, .. } => Observed::Cancelled(incoming.into()),
            Self::Unwatched { .. } => Observed::Unwatched,
            Self::Violation(violation) => {
                Observed::Violation(violation.kind, violation.detail.into_owned())
            }
            Self::Watched { .. } => Observed::Watched,
            _ => Observed::Notification,
        }
    }
}

/// Returns the name of a value's variant, with that of its content where useful.
#[must_use]
pub(crate) fn variant(value: &impl std::fmt::Debug) -> String {
    let shown = format!("{value:?}");
    shown.split(['(', ' ', '{']).next().unwrap_or_default().to_owned()
}
