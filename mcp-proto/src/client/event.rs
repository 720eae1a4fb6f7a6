//! The events of a client and their one-line summaries.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::fmt;

use crate::command::summary::{closed, completed, name, request};
use crate::json::Raw;
use crate::method::Method;
use crate::vocabulary;
use crate::vocabulary::{
    CallError, CallId, CloseReason, Filter, IncomingId, Peer, Progress, Request, Violation,
};

/// A client event for the application.
///
/// Each event is delivered exactly once, in the order in which the events occurred.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event {
    /// The connection is closed. This is the last event.
    Closed(CloseReason),
    /// A call has completed. No later event refers to it, except
    /// [`TaskProgress`](Self::TaskProgress).
    Completed {
        /// The completed call.
        call: CallId,
        /// The result, or the error with which the call failed.
        outcome: Result<Raw, CallError>,
    },
    /// The server confirmed a subscription that was started with
    /// [`Client::subscribe`](crate::client::Client::subscribe).
    Subscribed {
        /// The call that [`Client::subscribe`](crate::client::Client::subscribe) returned.
        call: CallId,
        /// The changes that the server will report, possibly fewer than requested.
        filter: Filter,
    },
    /// A call that has ended, for example because it was cancelled or timed out, has created a task
    /// nevertheless: here is its result.
    ///
    /// Cancel the task with `tasks/cancel`, since nothing else will.
    LateTask(Raw),
    /// The server sent a notification.
    Notification {
        /// The call that the notification belongs to, if known.
        call: Option<CallId>,
        /// The method.
        method: Method,
        /// The params, an object; `None` if the notification has none.
        params: Option<Raw>,
    },
    /// The server reported progress on a call.
    Progress {
        /// The call that is making progress.
        call: CallId,
        /// The progress so far.
        progress: Progress,
    },
    /// The connection is established and calls can be made.
    ///
    /// Over HTTP, if the server drops the session, this event occurs again when a new session is
    /// open.
    Ready(Arc<Peer>),
    /// The server sent a request.
    ///
    /// Respond with [`Client::respond`](crate::client::Client::respond) or
    /// [`Client::respond_error`](crate::client::Client::respond_error).
    Request {
        /// The id to respond with.
        incoming: IncomingId,
        /// The call that the request belongs to, if known.
        ///
        /// It is known in the modern era, and over HTTP if the server sends the request on the
        /// stream of the call. Legacy requests over other transports name no call.
        call: Option<CallId>,
        /// The method and its params.
        request: Request,
    },
    /// The server cancelled a request that it had sent.
    ///
    /// Responding to the request fails with [`Misuse::Stale`](crate::Misuse::Stale).
    RequestCancelled {
        /// The cancelled request.
        incoming: IncomingId,
        /// The reason, if the server gave one.
        reason: Option<Box<str>>,
    },
    /// The server reported progress under the token of a call that has ended, as it does for the
    /// task that such a call has created. (2025-11-25)
    ///
    /// Pass it to [`TaskPoller::on_progress`](crate::tasks::TaskPoller::on_progress). Ignore it for
    /// a call without a task, and for one that did not ask for
    /// [progress](crate::CallOptions::progress).
    TaskProgress {
        /// The call that has created the task.
        call: CallId,
        /// The progress so far. Later values may be smaller.
        progress: Progress,
    },
    /// The server violated the protocol. By default, the connection continues; see [`Violation`].
    Violation(Violation),
}

impl Event {
    /// Converts an internal event. Returns `None` for events that only servers have.
    pub(super) fn from_connection(event: vocabulary::Event) -> Option<Self> {
        Some(match event {
            vocabulary::Event::Closed(why) => Self::Closed(why),
            vocabulary::Event::Completed { call, outcome } => Self::Completed { call, outcome },
            vocabulary::Event::Subscribed { call, filter } => Self::Subscribed { call, filter },
            vocabulary::Event::LateTask(created) => Self::LateTask(created),
            vocabulary::Event::Notification { call, method, params } => {
                Self::Notification { call, method, params }
            }
            vocabulary::Event::Progress { call, progress } => Self::Progress { call, progress },
            vocabulary::Event::TaskProgress { call, progress } => {
                Self::TaskProgress { call, progress }
            }
            vocabulary::Event::Ready(peer) => Self::Ready(peer),
            vocabulary::Event::Request { incoming, call, request, .. } => {
                Self::Request { incoming, call, request }
            }
            vocabulary::Event::RequestCancelled { incoming, reason } => Self::RequestCancelled {
                incoming,
                reason: reason.and_then(|reason| reason.to_text().map(Into::into)),
            },
            vocabulary::Event::Violation(violation) => Self::Violation(violation),
            vocabulary::Event::Unwatched { .. } | vocabulary::Event::Watched { .. } => return None,
        })
    }
}

/// Writes a one-line summary: ids, methods and codes, but no payloads.
impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed(why) => f.write_str(&closed(why)),
            Self::Completed { call, outcome } => f.write_str(&completed(*call, outcome)),
            Self::Subscribed { call, .. } => write!(f, "{call} listens"),
            Self::LateTask(_) => f.write_str("late task"),
            Self::Notification { call: Some(call), method, .. } => {
                write!(f, "{call}: {}", name(method))
            }
            Self::Notification { call: None, method, .. } => name(method).fmt(f),
            Self::Progress { call, .. } => write!(f, "{call} progress"),
            Self::TaskProgress { call, .. } => write!(f, "{call} task progress"),
            Self::Ready(peer) => write!(f, "ready {}", peer.revision),
            Self::Request { incoming, request: what, .. } => {
                f.write_str(&request(*incoming, &what.method))
            }
            Self::RequestCancelled { incoming, .. } => write!(f, "{incoming} cancelled"),
            Self::Violation(violation) => write!(f, "violation {:?}", violation.kind),
        }
    }
}
