//! The events of a server and their one-line summaries.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::fmt;

use crate::command::summary::{closed, completed, name, request};
use crate::json::Raw;
use crate::method::Method;
use crate::vocabulary;
use crate::vocabulary::{
    CallError, CallId, CloseReason, Context, IncomingId, Peer, Principal, Progress, Request,
    Violation,
};

/// A server event for the application.
///
/// Each event is delivered exactly once, in the order in which the events occurred.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event {
    /// The connection is closed. This is the last event.
    Closed(CloseReason),
    /// A call has completed. No later event refers to it.
    Completed {
        /// The completed call.
        call: CallId,
        /// The result, or the error with which the call failed.
        outcome: Result<Raw, CallError>,
    },
    /// A call that has ended, for example because it was cancelled or timed out, has created a task
    /// nevertheless: here is its result. (2025-11-25)
    ///
    /// Cancel the task with `tasks/cancel`, since nothing else will.
    LateTask(Raw),
    /// The client sent a notification.
    Notification {
        /// The method.
        method: Method,
        /// The params, an object; `None` if the notification has none.
        params: Option<Raw>,
    },
    /// The client reported progress on a call.
    Progress {
        /// The call that is making progress.
        call: CallId,
        /// The progress so far.
        progress: Progress,
    },
    /// The client completed the handshake of a legacy session.
    ///
    /// The server may now send requests and notifications. Modern clients have no handshake and
    /// never cause this event.
    Ready(Arc<Peer>),
    /// The client sent a request.
    ///
    /// Respond with [`Server::respond`](crate::server::Server::respond),
    /// [`Server::respond_error`](crate::server::Server::respond_error) or
    /// [`Server::request_input`](crate::server::Server::request_input).
    Request {
        /// The id to respond with.
        incoming: IncomingId,
        /// The method and its params.
        request: Request,
        /// The client, its options, and its responses to earlier input requests.
        context: Context,
    },
    /// The client cancelled its request.
    ///
    /// Responding to the request fails with [`Misuse::Stale`](crate::Misuse::Stale).
    ///
    /// In a legacy session, this event also ends a request whose questions the client should answer
    /// (see [`Server::request_input`](crate::server::Server::request_input)): because the client
    /// cancelled the request, or answered a question with an error, or not in time. The request is
    /// then not delivered again.
    RequestCancelled {
        /// The cancelled request.
        incoming: IncomingId,
        /// The reason, if the client gave one.
        reason: Option<Box<str>>,
    },
    /// The last subscription of a principal to a resource ended.
    ///
    /// Its changes no longer need to be reported to this principal over this connection.
    Unwatched {
        /// The URI of the resource.
        uri: Box<str>,
        /// The sender of the subscription; `None` if it is not authenticated.
        principal: Option<Principal>,
    },
    /// The client violated the protocol. By default, the connection continues; see [`Violation`].
    Violation(Violation),
    /// The first subscription of a principal to a resource began.
    ///
    /// Report changes to the resource with
    /// [`Server::notify_changed`](crate::server::Server::notify_changed).
    Watched {
        /// The URI of the resource.
        uri: Box<str>,
        /// The sender of the subscription; `None` if it is not authenticated.
        principal: Option<Principal>,
    },
}

impl Event {
    /// Converts an internal event. Returns `None` for events that only clients have.
    pub(super) fn from_connection(event: vocabulary::Event) -> Option<Self> {
        Some(match event {
            vocabulary::Event::Closed(why) => Self::Closed(why),
            vocabulary::Event::Completed { call, outcome } => Self::Completed { call, outcome },
            vocabulary::Event::Notification { method, params, .. } => {
                Self::Notification { method, params }
            }
            vocabulary::Event::Progress { call, progress } => Self::Progress { call, progress },
            vocabulary::Event::Ready(peer) => Self::Ready(peer),
            vocabulary::Event::Request { incoming, request, context, .. } => {
                Self::Request { incoming, request, context }
            }
            vocabulary::Event::RequestCancelled { incoming, reason } => Self::RequestCancelled {
                incoming,
                reason: reason.and_then(|reason| reason.to_text().map(Into::into)),
            },
            vocabulary::Event::Violation(violation) => Self::Violation(violation),
            vocabulary::Event::Unwatched { uri, principal } => Self::Unwatched { uri, principal },
            vocabulary::Event::Watched { uri, principal } => Self::Watched { uri, principal },
            vocabulary::Event::LateTask(created) => Self::LateTask(created),
            vocabulary::Event::Subscribed { .. } | vocabulary::Event::TaskProgress { .. } => {
                return None;
            }
        })
    }
}

/// Writes a one-line summary: ids, methods and codes, but no payloads.
impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed(why) => f.write_str(&closed(why)),
            Self::Completed { call, outcome } => f.write_str(&completed(*call, outcome)),
            Self::LateTask(_) => f.write_str("late task"),
            Self::Notification { method, .. } => name(method).fmt(f),
            Self::Progress { call, .. } => write!(f, "{call} progress"),
            Self::Ready(peer) => write!(f, "ready {}", peer.revision),
            Self::Request { incoming, request: what, .. } => {
                f.write_str(&request(*incoming, &what.method))
            }
            Self::RequestCancelled { incoming, .. } => write!(f, "{incoming} cancelled"),
            Self::Unwatched { .. } => f.write_str("unwatched"),
            Self::Violation(violation) => write!(f, "violation {:?}", violation.kind),
            Self::Watched { .. } => f.write_str("watched"),
        }
    }
}
