//! What a client does with what its server says: answers its questions, hands its news on; knows
//! nothing of how the connection came about.

use std::collections::HashMap;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mcp_proto::client::{Client as Machine, Command, Event};
use mcp_proto::schema::Encode;
use mcp_proto::{CallError, CallId, Close, ErrorObject, IncomingId, Misuse, Peer, Raw, Request};

use crate::BoxFuture;
use crate::client::call::Slot;
use crate::client::listening::Feed;
use crate::client::notification_queue::Notices;
use crate::exec::cancellation::Cancelled;
use crate::exec::workers::{Workers, unpanicked};
use crate::trace::{About, how};
use crate::transport::link::{Link, OnTransport, Role, State};

pub(crate) type Answer = Result<Box<dyn Encode + Send>, ErrorObject>;
pub(crate) type Answering = BoxFuture<'static, Answer>;
pub(crate) type Handlers = Arc<HashMap<&'static str, Handler>>;
pub(crate) type Notified = Arc<Mutex<dyn FnMut(&str, Option<&Raw>) + Send>>;
pub(crate) type ViolationHandler = Arc<dyn Fn(&mcp_proto::Violation) + Send + Sync>;

/// Answers what a server asks.
#[derive(Clone)]
pub(crate) enum Handler {
    Future(Arc<dyn Fn(&Request) -> Answering + Send + Sync>),
    Plain(Arc<dyn Fn(&Request) -> Answer + Send + Sync>),
}

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

#[expect(
    missing_debug_implementations,
    unnameable_types,
    reason = "what a connection keeps is its own"
)]
pub struct Shared {
    pub(crate) handlers: Handlers,
    pub(crate) workers: Workers,
    /// Somebody hears notifications.
    pub(crate) is_heard: bool,
    pub(crate) on_violation: Option<ViolationHandler>,
}

/// What is open on the application's side.
#[derive(Default)]
#[expect(
    missing_debug_implementations,
    unnameable_types,
    reason = "what a connection keeps is its own"
)]
pub struct Open {
    calls: HashMap<CallId, Arc<Slot>>,
    feeds: HashMap<CallId, Arc<Feed>>,
    /// Handlers that are futures.
    running: HashMap<IncomingId, Arc<Cancelled>>,
    /// What goes on in the next session.
    waiting: Vec<Arc<Feed>>,
    notices: Notices,
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

impl OnTransport for Machine {
    #[cfg(feature = "http")]
    type Http = crate::http::ClientOverHttp;
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
                let (slot, feed) = {
                    let open = &mut link.lock().open;
                    (open.calls.remove(&call), open.feeds.remove(&call))
                };
                if let Some(feed) = feed {
                    if outcome == Err(CallError::Lost) && feed.outlives(link, call) {
                        go_on(link, feed);
                    } else {
                        feed.end(link, call, outcome.map(drop));
                    }
                } else if let Some(slot) = slot {
                    slot.complete(outcome);
                }
            }
            Event::Progress { call, progress } => {
                let slot = link.look(|state| state.open.calls.get(&call).cloned());
                if let Some(slot) = slot {
                    slot.progress(progress);
                }
            }
            Event::Request { incoming, request, .. } => answer(link, incoming, request),
            Event::RequestCancelled { incoming, .. } => {
                link.shared.workers.withdraw(incoming);
                let cancelled = link.lock().open.running.remove(&incoming);
                if let Some(cancelled) = cancelled {
                    cancelled.set();
                }
            }
            Event::Listening { call, filter } => {
                if let Some(feed) = link.look(|state| state.open.feeds.get(&call).cloned()) {
                    feed.open(filter);
                }
            }
            Event::Notification { call, method, params } => {
                let feed = |call| link.look(|state| state.open.feeds.get(&call).cloned());
                if let Some(feed) = call.and_then(feed) {
                    feed.tell(&method, params.as_ref());
                } else if link.shared.is_heard {
                    link.lock().open.notices.push((method, params));
                }
            }
            Event::Violation(violation) => {
                if let Some(hear) = &link.shared.on_violation {
                    hear(&violation);
                }
            }
            Event::Ready(peer) => {
                let waiting = {
                    let open = &mut link.lock().open;
                    open.peer = Some(peer);
                    std::mem::take(&mut open.waiting)
                };
                waiting.into_iter().for_each(|feed| go_on(link, feed));
            }
            Event::Closed(why) => {
                let waiting = {
                    let open = &mut link.lock().open;
                    open.closed = Some(why);
                    std::mem::take(&mut open.waiting)
                };
                waiting.iter().for_each(|feed| feed.lost());
            }
            _ => {}
        }
    }

    fn about(event: &Event) -> About<'_> {
        let (name, of) = match event {
            Event::Ready(peer) => ("ready", peer.revision.name()),
            Event::Completed { outcome, .. } => {
                ("call ended", if outcome.is_ok() { "result" } else { "error" })
            }
            Event::Progress { .. } => ("progress", ""),
            Event::Request { request, .. } => ("request", &*request.method),
            Event::RequestCancelled { .. } => ("request cancelled", ""),
            Event::Notification { method, .. } => ("notification", &**method),
            Event::Listening { .. } => ("listening", ""),
            Event::Violation(_) => ("violation", "the server broke a rule"),
            Event::Closed(why) => ("closed", how(why)),
            _ => ("event", ""),
        };
        About { name, of }
    }

    /// A client is handed out once its session is open: if it is not, the server forgot it, and the
    /// next is being opened.
    fn may_pass(misuse: Misuse) -> bool {
        matches!(misuse, Misuse::Blocked | Misuse::NotReady)
    }
}

/// Has what was listened to in a session that the server forgot be listened to in the next one,
/// once that is open.
fn go_on(link: &Arc<Link<Machine>>, feed: Arc<Feed>) {
    link.with(|state, now| match feed.begin(link, state, now) {
        Err(Misuse::NotReady) => state.open.waiting.push(feed),
        Err(_) => feed.lost(),
        Ok(()) => {}
    });
}

/// Answers a request of the server.
fn answer(link: &Arc<Link<Machine>>, incoming: IncomingId, request: Request) {
    let answering = Arc::clone(link);
    match link.shared.handlers.get(handler_key(&request)).cloned() {
        Some(Handler::Plain(handler)) => link.shared.workers.run(incoming, move || {
            let run = || answering.trace.within(&request.method, || handler(&request));
            let answer = catch_unwind(AssertUnwindSafe(run));
            respond(&answering, incoming, answer.ok());
        }),
        Some(Handler::Future(handler)) => {
            let cancelled = Arc::new(Cancelled::default());
            link.lock().open.running.insert(incoming, Arc::clone(&cancelled));
            let (trace, method) = (link.trace.clone(), request.method.clone());
            let answer = trace.around(&method, async move { handler(&request).await });
            link.shared.workers.spawn(incoming, async move {
                if let Some(answer) = cancelled.run_until_set(unpanicked(answer)).await {
                    answering.lock().open.running.remove(&incoming);
                    respond(&answering, incoming, answer);
                }
            });
        }
        None => respond(link, incoming, Some(Err(ErrorObject::method_not_found(&request.method)))),
    }
}

/// Answers; `None` when the handler panicked.
fn respond(link: &Arc<Link<Machine>>, incoming: IncomingId, answer: Option<Answer>) {
    let answer = answer.unwrap_or_else(|| Err(ErrorObject::internal("the handler failed")));
    link.with(|state, now| {
        let sent = match &answer {
            Ok(result) => state.session.run(now, Command::respond(incoming, &**result)),
            Err(error) => state.session.run(now, Command::RespondError { incoming, error }),
        };
        if sent == Err(Misuse::Unencodable) {
            let error = &ErrorObject::internal("the answer cannot be written as JSON");
            let _gone = state.session.run(now, Command::RespondError { incoming, error });
        }
    });
}

/// Hands notifications to the application until the connection is over.
pub(crate) fn notify(link: Arc<Link<Machine>>, hear: Notified) -> impl Future<Output = ()> + Send {
    let next = |state: &mut State<Machine>| match state.open.notices.pop() {
        None if state.open.closed.is_none() => None,
        next => Some(next),
    };
    async move {
        while let Some((method, params)) = link.take(next).await {
            let mut hear = hear.lock().unwrap_or_else(PoisonError::into_inner);
            let _panicked = catch_unwind(AssertUnwindSafe(|| hear(&method, params.as_ref())));
        }
    }
}
