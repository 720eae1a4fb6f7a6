//! The events of a connection in either role.

use alloc::boxed::Box;
use alloc::sync::Arc;

use crate::json::Raw;
use crate::method::Method;
use crate::vocabulary::{
    CallError, CallId, CloseReason, Context, Filter, IncomingId, Peer, Principal, Progress,
    Request, Violation, identity_cost,
};

/// The events of both roles. The public event type of each role is a subset.
#[derive(Debug)]
pub(crate) enum Event {
    Closed(CloseReason),
    Completed { call: CallId, outcome: Result<Raw, CallError> },
    Subscribed { call: CallId, filter: Filter },
    LateTask(Raw),
    TaskProgress { call: CallId, progress: Progress },
    Notification { call: Option<CallId>, method: Method, params: Option<Raw> },
    Progress { call: CallId, progress: Progress },
    Ready(Arc<Peer>),
    Request { incoming: IncomingId, call: Option<CallId>, request: Request, context: Context },
    RequestCancelled { incoming: IncomingId, reason: Option<Raw> },
    Unwatched { uri: Box<str>, principal: Option<Principal> },
    Violation(Violation),
    Watched { uri: Box<str>, principal: Option<Principal> },
}

impl Event {
    /// Returns the number of bytes of peer data that the event holds.
    pub(crate) fn weight(&self) -> usize {
        let raw = |raw: &Option<Raw>| raw.as_ref().map_or(0, |raw| raw.as_bytes().len());
        match self {
            Self::Closed(_) | Self::Ready(_) => 0,
            Self::Completed { outcome: Ok(result), .. } | Self::LateTask(result) => {
                result.as_bytes().len()
            }
            Self::Completed { outcome: Err(CallError::Refused(error)), .. } => {
                error.message.len() + raw(&error.data)
            }
            Self::Completed { outcome: Err(CallError::Invalid(why)), .. } => why.len(),
            Self::Completed { outcome: Err(_), .. } => 0,
            Self::Subscribed { filter, .. } => filter.bytes(),
            Self::Notification { method, params, .. } => method.len() + raw(params),
            Self::Progress { progress, .. } | Self::TaskProgress { progress, .. } => {
                progress.message.as_ref().map_or(0, |message| message.len())
            }
            Self::Request { request, context, .. } => {
                let answers = context.input_responses.as_ref().map_or(0, |answers| {
                    answers.iter().map(|(key, answer)| key.len() + answer.as_bytes().len()).sum()
                });
                let state = context.state.as_ref().map_or(0, |state| state.len());
                let identity = |meta: &Raw| identity_cost(meta.as_bytes(), usize::MAX);
                let peer = context.meta.as_ref().map_or(0, identity);
                request.method.len()
                    + raw(&request.params)
                    + raw(&context.meta)
                    + answers
                    + state
                    + peer
            }
            Self::RequestCancelled { reason, .. } => raw(reason),
            Self::Unwatched { uri, .. } | Self::Watched { uri, .. } => uri.len(),
            Self::Violation(violation) => violation.detail.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::ErrorObject;
    use crate::vocabulary::InputResponses;

    fn raw(text: &str) -> Raw {
        Raw::from_text(text).unwrap()
    }

    #[test]
    fn the_weight_of_an_event_is_the_size_of_the_peers_data_sec_19() {
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
        // Long enough to be charged beyond its text.
        let name = "n".repeat(8192);
        let meta =
            raw(&alloc::format!(r#"{{"io.modelcontextprotocol/clientInfo":{{"name":"{name}"}}}}"#));
        let identity = identity_cost(meta.as_bytes(), usize::MAX);
        assert!(identity > 0);
        let context = Context {
            input_responses: Some(InputResponses::new(answers)),
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
