//! The events of a connection, for either role, and the queue they wait in.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::sync::Arc;

use super::ids::{CallId, IncomingId};
use super::outcome::{CallError, Close, Progress};
use super::peer::{Context, Peer, Request, identity_cost};
use super::subscriptions::filter::Filter;
use super::violations::Violation;
use crate::json::Raw;
use crate::method::Method;

/// All events of either role; each role's public events are a part of these.
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
            Self::Progress { progress, .. } => {
                progress.message.as_ref().map_or(0, |message| message.len())
            }
            Self::Request { request, context, .. } => {
                let answers = context.answers.as_ref().map_or(0, |answers| {
                    answers.iter().map(|(key, answer)| key.len() + answer.as_bytes().len()).sum()
                });
                let state = context.state.as_ref().map_or(0, |state| state.len());
                let peer = context.meta.as_ref().map_or(0, identity_cost);
                request.method.len()
                    + raw(&request.params)
                    + raw(&context.meta)
                    + answers
                    + state
                    + peer
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
    #[inline]
    pub(crate) fn push(&mut self, event: Event) {
        let weight = event.weight();
        self.bytes += weight;
        self.queue.push_back((event, weight));
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Event> {
        let (event, weight) = self.queue.pop_front()?;
        self.bytes -= weight;
        if self.queue.is_empty() {
            self.queue.shrink_to(KEPT_EVENTS_MAX);
        }
        Some(event)
    }

    /// Releases unused capacity while idle.
    pub(crate) fn shrink(&mut self) {
        if self.queue.is_empty() {
            self.queue = VecDeque::new();
        }
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
    use alloc::vec::Vec;

    use super::*;
    use crate::ErrorObject;
    use crate::connection::Answers;
    use crate::limits::{CALL_BYTES, EVENT_BYTES, REQUEST_BYTES};

    /// The last one in a group of a table holds the room of all.
    const GROUP: usize = 8;

    /// A place in a list of them, or of deadlines, which can have room for four times what is
    /// there.
    const LISTED: usize = 4 * 16;

    #[test]
    fn the_ceiling_knows_how_large_things_are() {
        assert!(
            2 * size_of::<(Event, usize)>() + 128 <= EVENT_BYTES,
            "{}",
            size_of::<(Event, usize)>()
        );
        let open = size_of::<crate::connection::inbound::Open>();
        let rare = size_of::<crate::connection::inbound::RareRequest>();
        let request = size_of::<Request>() + size_of::<Context>();
        assert!(
            GROUP * (open + 8) + rare + request + 2 * LISTED + 64 <= REQUEST_BYTES,
            "{open} {rare}"
        );
        let call = size_of::<crate::connection::pending_calls::Call>();
        assert!(
            GROUP * call
                + size_of::<crate::connection::pending_calls::RareCall>()
                + 2 * LISTED
                + 64
                <= CALL_BYTES,
            "{call}"
        );
    }

    fn raw(text: &str) -> Raw {
        Raw::from_text(text).unwrap()
    }

    #[test]
    fn an_event_weighs_what_it_holds_of_the_peers_sec_19() {
        let mut answers = Vec::new();
        for (key, answer) in [("a", "[1]"), ("bc", "{}")] {
            answers.push((Box::from(key), raw(answer)));
        }
        let peer = Peer {
            revision: crate::Revision::V2025_11_25,
            info: crate::schema::Implementation::new("c", "1"),
            capabilities: crate::schema::Capabilities::none(),
            instructions: None,
        };
        // Long enough for who asks to cost something beyond its text.
        let name = "n".repeat(8192);
        let meta =
            raw(&alloc::format!(r#"{{"io.modelcontextprotocol/clientInfo":{{"name":"{name}"}}}}"#));
        let identity = identity_cost(&meta);
        assert!(identity > 0);
        let context = Context {
            answers: Some(Answers::new(answers)),
            state: Some("state".into()),
            meta: Some(meta.clone()),
            ..Context::new(Arc::new(peer))
        };
        let request = Request { method: Method::other("x/y"), params: Some(raw(r#"{"a":1}"#)) };
        let whole = "x/y".len() + r#"{"a":1}"#.len() + meta.as_bytes().len() + "a[1]bc{}".len();
        let event = Event::Request { incoming: IncomingId(1), call: None, request, context };
        assert_eq!(event.weight(), whole + "state".len() + identity);

        let method = Method::other("x/y");
        let event = Event::Notification { call: None, method, params: Some(raw("{}")) };
        assert_eq!(event.weight(), "x/y{}".len());
        let error = ErrorObject::new(1, "no").with_data(raw("[1]"));
        let event = Event::Completed { call: CallId(1), outcome: Err(CallError::Refused(error)) };
        assert_eq!(event.weight(), "no[1]".len());
    }
}
