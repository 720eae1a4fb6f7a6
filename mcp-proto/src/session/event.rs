//! What a session tells its application, for either role, and the queue it waits in.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::sync::Arc;

use super::calls::CallId;
use super::filter::Filter;
use super::guard::Violation;
use super::incoming::IncomingId;
use super::outcome::{CallError, Close, Progress};
use super::peer::{Context, Method, Peer, Request};
use crate::json::Raw;

/// All that either role can hear; each role's public events are a part of these.
#[derive(Debug)]
pub(crate) enum Event {
    Closed(Close),
    Completed { call: CallId, outcome: Result<Raw, CallError> },
    Listening { call: CallId, filter: Filter },
    Notification { call: Option<CallId>, method: Method, params: Option<Raw> },
    Progress { call: CallId, progress: Progress },
    Ready(Arc<Peer>),
    Request { incoming: IncomingId, call: Option<CallId>, request: Request, context: Context },
    RequestCancelled { incoming: IncomingId, reason: Option<Raw> },
    Unwatched { uri: Box<str> },
    Violation(Violation),
    Watched { uri: Box<str> },
}

impl Event {
    /// Bytes of the peer's that the event holds.
    fn weight(&self) -> usize {
        let raw = |raw: &Option<Raw>| raw.as_ref().map_or(0, |raw| raw.as_bytes().len());
        match self {
            Self::Closed(_) | Self::Ready(_) => 0,
            Self::Completed { outcome: Ok(result), .. } => result.as_bytes().len(),
            Self::Completed { outcome: Err(CallError::Refused(error)), .. } => {
                error.message.len() + raw(&error.data)
            }
            Self::Completed { outcome: Err(_), .. } => 0,
            Self::Listening { filter, .. } => filter.bytes(),
            Self::Notification { method, params, .. } => method.len() + raw(params),
            Self::Progress { progress, .. } => progress.message.as_ref().map_or(0, |message| message.len()),
            Self::Request { request, context, .. } => {
                let answers = context.answers.as_ref().map_or(0, |answers| {
                    answers.iter().map(|(key, answer)| key.len() + answer.as_bytes().len()).sum()
                });
                let state = context.state.as_ref().map_or(0, |state| state.len());
                request.method.len() + raw(&request.params) + raw(&context.meta) + answers + state
            }
            Self::RequestCancelled { reason, .. } => raw(reason),
            Self::Unwatched { uri } | Self::Watched { uri } => uri.len(),
            Self::Violation(violation) => violation.detail.len(),
        }
    }
}

/// Events that wait to be polled, in the order in which what caused them came.
#[derive(Debug, Default)]
pub(crate) struct Events {
    queue: VecDeque<Event>,
    bytes: usize,
}

impl Events {
    pub(crate) fn push(&mut self, event: Event) {
        self.bytes += event.weight();
        self.queue.push_back(event);
    }

    pub(crate) fn pop(&mut self) -> Option<Event> {
        let event = self.queue.pop_front()?;
        self.bytes -= event.weight();
        if self.queue.is_empty() {
            self.queue.shrink_to(KEPT_EVENTS_MAX);
        }
        Some(event)
    }

    pub(crate) fn len(&self) -> usize {
        self.queue.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

/// What an empty queue keeps room for.
const KEPT_EVENTS_MAX: usize = 64;
