//! What a session tells its application, for either role, and the queue it waits in.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::sync::Arc;

use super::calls::CallId;
use super::filter::Filter;
use super::guard::Violation;
use super::incoming::IncomingId;
use super::outcome::{CallError, Close, Progress};
use super::peer::{Context, Method, Peer, Request, identity_cost};
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
            Self::Completed { outcome: Err(CallError::Invalid(why)), .. } => why.len(),
            Self::Completed { outcome: Err(_), .. } => 0,
            Self::Listening { filter, .. } => filter.bytes(),
            Self::Notification { method, params, .. } => method.len() + raw(params),
            Self::Progress { progress, .. } => progress.message.as_ref().map_or(0, |message| message.len()),
            Self::Request { request, context, .. } => {
                let answers = context.answers.as_ref().map_or(0, |answers| {
                    answers.iter().map(|(key, answer)| key.len() + answer.as_bytes().len()).sum()
                });
                let state = context.state.as_ref().map_or(0, |state| state.len());
                let peer = context.meta.as_ref().map_or(0, identity_cost);
                request.method.len() + raw(&request.params) + raw(&context.meta) + answers + state + peer
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
    /// Each with its weight.
    queue: VecDeque<(Event, usize)>,
    bytes: usize,
}

impl Events {
    pub(crate) fn push(&mut self, event: Event) {
        let weight = event.weight();
        self.bytes += weight;
        self.queue.push_back((event, weight));
    }

    pub(crate) fn pop(&mut self) -> Option<Event> {
        let (event, weight) = self.queue.pop_front()?;
        self.bytes -= weight;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::{CALL_BYTES, EVENT_BYTES, REQUEST_BYTES};

    /// A node of a tree can be half empty.
    const TREE: usize = 2;

    #[test]
    fn the_ceiling_knows_how_large_things_are() {
        assert!(2 * size_of::<(Event, usize)>() + 128 <= EVENT_BYTES, "{}", size_of::<(Event, usize)>());
        let request =
            size_of::<crate::session::incoming::Open>() + size_of::<Request>() + size_of::<Context>();
        assert!(TREE * (request + 64) <= REQUEST_BYTES, "{request}");
        let call = size_of::<crate::session::calls::Call>();
        assert!(TREE * (call + 5 * 32) <= CALL_BYTES, "{call}");
    }
}
