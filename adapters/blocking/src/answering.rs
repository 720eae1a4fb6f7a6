//! What a client does with what its server says: answers its questions, hands its news on; knows nothing of how the
//! connection came about.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use mcp_proto::client::{Client as Machine, Event};
use mcp_proto::schema::Encode;
use mcp_proto::{CallId, Close, ErrorObject, IncomingId, Misuse, Peer, Raw, Request};

use crate::call::Slot;
use crate::link::{Link, Role, State};
use crate::listening::Feed;
use crate::notices::Notices;
use crate::pool::Pool;

pub(crate) type Handler = Box<dyn Fn(&Request) -> Result<Box<dyn Encode>, ErrorObject> + Send + Sync>;
pub(crate) type Handlers = Arc<HashMap<&'static str, Handler>>;
pub(crate) type Notified = Arc<Mutex<dyn FnMut(&str, Option<&Raw>) + Send>>;
pub(crate) type ViolationHandler = Arc<dyn Fn(&mcp_proto::Violation) + Send + Sync>;

/// What handlers are found by: the method, and for elicitations its mode. (SEC-08)
pub(crate) const FORM: &str = "elicitation/create";
pub(crate) const URL: &str = "elicitation/create url";

fn handler_key(request: &Request) -> &str {
    let mode = request.params.as_ref().and_then(|params| params.member("mode"));
    if request.method == FORM && mode.as_ref().and_then(Raw::to_text).as_deref() == Some("url") {
        return URL;
    }
    &request.method
}

pub(crate) struct Shared {
    pub(crate) handlers: Handlers,
    pub(crate) pool: Pool<IncomingId>,
    /// Somebody hears notifications: there may be one, or nothing ever again.
    pub(crate) heard: Option<Condvar>,
    pub(crate) on_violation: Option<ViolationHandler>,
}

/// What is open on the application's side.
#[derive(Default)]
pub(crate) struct Open {
    calls: HashMap<CallId, Arc<Slot>>,
    feeds: HashMap<CallId, Arc<Feed>>,
    pub(crate) notices: Notices,
    pub(crate) peer: Option<Arc<Peer>>,
    pub(crate) closed: Option<Close>,
}

impl Open {
    pub(crate) fn insert(&mut self, call: CallId, slot: Arc<Slot>) {
        self.calls.insert(call, slot);
    }

    pub(crate) fn listen(&mut self, call: CallId, feed: Arc<Feed>) {
        self.feeds.insert(call, feed);
    }
}

impl Role for Machine {
    type Open = Open;
    type Shared = Shared;

    /// The answers of a server that is gone.
    const LAST_INPUT: Duration = Duration::from_millis(500);

    fn has_room(open: &Open) -> bool {
        open.notices.has_room()
    }

    fn dispatch(link: &Arc<Link<Self>>, event: Event) {
        match event {
            Event::Completed { call, outcome } => {
                let (slot, feed) =
                    link.with(|state, _| (state.open.calls.remove(&call), state.open.feeds.remove(&call)));
                if let Some(feed) = feed {
                    feed.end(link, call, outcome.map(drop));
                } else if let Some(slot) = slot {
                    slot.complete(outcome);
                }
            }
            Event::Progress { call, progress } => {
                if let Some(slot) = link.with(|state, _| state.open.calls.get(&call).cloned()) {
                    slot.progress(progress);
                }
            }
            Event::Request { incoming, request, .. } => {
                let answering = Arc::clone(link);
                link.shared.pool.run(incoming, move || answer(&answering, incoming, &request));
            }
            Event::RequestCancelled { incoming, .. } => link.shared.pool.withdraw(&incoming),
            Event::Listening { call, filter } => {
                if let Some(feed) = link.with(|state, _| state.open.feeds.get(&call).cloned()) {
                    feed.open(filter);
                }
            }
            Event::Notification { call, method, params } => {
                let feed = |call| link.with(|state, _| state.open.feeds.get(&call).cloned());
                if let Some(feed) = call.and_then(feed) {
                    feed.tell(&method, params.as_ref());
                } else if let Some(heard) = &link.shared.heard {
                    link.with(|state, _| state.open.notices.push((method, params)));
                    heard.notify_one();
                }
            }
            Event::Violation(violation) => {
                if let Some(hear) = &link.shared.on_violation {
                    hear(&violation);
                }
            }
            Event::Ready(peer) => link.with(|state, _| state.open.peer = Some(peer)),
            Event::Closed(why) => {
                link.with(|state, _| state.open.closed = Some(why));
                if let Some(heard) = &link.shared.heard {
                    heard.notify_one();
                }
            }
            _ => {}
        }
    }
}

/// Answers a request of the server.
fn answer(link: &Arc<Link<Machine>>, incoming: IncomingId, request: &Request) {
    let answer = match link.shared.handlers.get(handler_key(request)) {
        Some(handler) => catch_unwind(AssertUnwindSafe(|| handler(request)))
            .unwrap_or_else(|_panic| Err(ErrorObject::internal("the handler failed"))),
        None => Err(ErrorObject::method_not_found(&request.method)),
    };
    link.with(|state, now| {
        let sent = match &answer {
            Ok(result) => state.session.respond(now, incoming, &**result),
            Err(error) => state.session.respond_error(now, incoming, error),
        };
        if sent == Err(Misuse::Unencodable) {
            let error = ErrorObject::internal("the answer cannot be written as JSON");
            let _gone = state.session.respond_error(now, incoming, &error);
        }
    });
}

/// Hands notifications to the application until the connection is over.
pub(crate) fn notify(link: &Arc<Link<Machine>>, heard: &Condvar, hear: &Notified) {
    let next = |state: &mut State<Machine>| match state.open.notices.pop() {
        None if state.open.closed.is_none() => None,
        next => Some(next),
    };
    while let Some((method, params)) = link.take(heard, next) {
        let mut hear = hear.lock().unwrap_or_else(PoisonError::into_inner);
        let _panicked = catch_unwind(AssertUnwindSafe(|| hear(&method, params.as_ref())));
    }
}
