//! The events of a server's connection: requests become jobs, and their outcomes replies.

use std::collections::BTreeMap;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_lite::future::or;
use mcp_proto::schema::{
    ClientNotification as _, ClientRequest as _, ListResources, RootsListChanged,
};
use mcp_proto::server::{Command, Event, Server as Machine};
use mcp_proto::{
    CallId, Change, CloseReason, Context, ErrorObject, IncomingId, Instant, Method, Misuse,
    OwnedCommand, Principal, Raw, Request, Violation,
};

use crate::BoxFuture;
use crate::exec::callbacks::Callbacks;
use crate::exec::cancellation::Cancellation;
use crate::exec::clock::unix_seconds;
use crate::exec::pace::Pace;
use crate::exec::workers::{Workers, catch_panic};
use crate::process::signals::{self, Closeable};
use crate::server::changes::Changes;
use crate::server::client_handle::{ClientHandle, OpenCall};
use crate::server::handler::context::{AsyncCx, Cx, HandlerLink, RequestState};
use crate::server::handler::extensions::Extensions;
use crate::server::handler::reply::HandlerReply;
use crate::server::handler::round_state::{RoundState, StateSealing};
use crate::server::handler::{Job, Resolution};
use crate::server::id_hasher::IncomingMap;
use crate::server::layers::{self, Layers};
use crate::server::list_handler::{ResourceLister, list_resources};
use crate::server::pending_changes::PendingChanges;
use crate::server::replies::{
    encode, handler_failed, reply_now, send_reply_async, send_reply_blocking,
};
use crate::server::subscriptions::{SubscriptionChange, UriCheck, accept_subscription};
use crate::server::visibility::{EntryFilter, with_view};
use crate::trace::{EventSummary, close_reason};
use crate::transport::http_types::ServerHttp;
use crate::transport::link::{Link, LinkRole, OnTransport, State, Transport};
use crate::validation::ToolChecks;

/// A callback of the application.
type Callback<T> = Arc<dyn Fn(&T) + Send + Sync>;

/// The callback for notifications.
type NotificationCallback = Arc<dyn Fn(&str, Option<&Raw>, &ClientHandle) + Send + Sync>;

/// The callbacks of the application, which all connections of a server share.
#[derive(Clone, Default)]
pub(crate) struct ServerCallbacks {
    /// Without it, notifications are dropped.
    pub(crate) on_notification: Option<NotificationCallback>,
    pub(crate) on_roots_changed: Option<Callback<ClientHandle>>,
    pub(crate) on_session: Option<Callback<ClientHandle>>,
    pub(crate) on_violation: Option<Callback<Violation>>,
    pub(crate) on_watch: Option<Callback<SubscriptionChange>>,
    /// Decides on subscriptions; `None` accepts the resources of the catalog.
    pub(crate) accept_subscription: Option<UriCheck>,
}

/// The parts of a server's configuration that each of its connections holds.
#[expect(
    missing_debug_implementations,
    unnameable_types,
    reason = "the state of a connection is internal"
)]
pub struct ServerShared {
    pub(crate) changes: Changes,
    pub(crate) sealing: StateSealing,
    pub(crate) checks: ToolChecks,
    pub(crate) workers: Workers,
    pub(crate) callback_threads: Callbacks,
    pub(crate) callbacks: Arc<ServerCallbacks>,
    /// The middleware around requests; `None` if there is none.
    pub(crate) layers: Option<Arc<Layers>>,
    /// Lists resources after the registered ones.
    pub(crate) resource_lister: Option<ResourceLister>,
    /// Decides which entries a caller sees; `None` shows all.
    pub(crate) entry_filter: Option<EntryFilter>,
}

/// The state of a server's connection: its running handlers and the change notifications waiting to
/// be sent.
#[derive(Default)]
#[expect(
    missing_debug_implementations,
    unnameable_types,
    reason = "the state of a connection is internal"
)]
pub struct ServerState {
    /// The cancellation flags of running handlers.
    pub(super) running: IncomingMap<Arc<Cancellation>>,
    pending_changes: PendingChanges,
    /// The client, if it is authenticated. All messages of a connection have one sender.
    pub(crate) principal: Option<Principal>,
    /// The requests to the client that are not part of a request from it.
    calls: BTreeMap<CallId, Arc<OpenCall>>,
}

/// The connection of a server to one client.
///
/// An adapter drives the connection: the adapter reads, writes and runs the timers.
#[derive(Debug)]
pub struct Serving {
    link: Arc<Link<Machine>>,
    /// Keeps the subscription to [`Changes`] and to signals, which end with this value.
    #[expect(clippy::redundant_allocation, reason = "the link may outlive the subscription")]
    subscription: Arc<Arc<Link<Machine>>>,
    exit_with_parent: bool,
}

impl Serving {
    /// All requests of the connection come from `principal`.
    pub(crate) fn new(
        link: Arc<Link<Machine>>,
        principal: Option<Principal>,
        exit_with_parent: bool,
    ) -> Self {
        let subscription = Arc::new(Arc::clone(&link));
        let joined: Arc<dyn HandlerLink> = Arc::clone(&subscription) as _;
        link.shared.changes.join(&joined, principal);
        Self { link, subscription, exit_with_parent }
    }

    /// Closes the connection when the process receives SIGINT, SIGTERM or SIGHUP.
    ///
    /// Use this method if the adapter's runtime does not receive signals; otherwise use
    /// [`close_on_signal`](Self::close_on_signal). A thread of this crate receives the signals. If
    /// the program itself handles one of the three signals, none of them closes the connection.
    ///
    /// If [`Server::exit_with_parent`](crate::Server::exit_with_parent) is set, the parent
    /// process's exit also closes the connection.
    ///
    /// Call this method before driving the connection: a client may send a signal as soon as it
    /// receives output.
    ///
    /// # Errors
    /// Fails if the thread that watches the parent cannot be started.
    pub fn close_with_process(&self) -> io::Result<()> {
        self.close_on_signal()?;
        signals::receive_signals();
        Ok(())
    }

    /// Makes a later call of `close_on_received_signal` close the connection.
    ///
    /// If [`Server::exit_with_parent`](crate::Server::exit_with_parent) is set, the parent
    /// process's exit also closes the connection.
    ///
    /// Call this before driving the connection: a client may send a signal as soon as it receives
    /// output.
    ///
    /// # Errors
    /// Fails if the thread that watches the parent cannot be started.
    pub fn close_on_signal(&self) -> io::Result<()> {
        let closeable: Arc<dyn Closeable> = Arc::clone(&self.subscription) as _;
        signals::close_on_signal(Arc::downgrade(&closeable));
        if self.exit_with_parent {
            signals::close_with_parent(Arc::downgrade(&closeable))?;
        }
        Ok(())
    }

    /// Waits until it is time to abandon output that has not reached stdout yet.
    ///
    /// Call this after the driver has finished. `sleep` is the runtime's timer.
    pub async fn gives_up<S: Future>(&self, sleep: impl Fn(Duration) -> S) {
        if let Some(patience) = self.link.output_patience() {
            let slow = async { drop(sleep(patience).await) };
            or(slow, self.link.stopped()).await;
        }
        sleep(FLUSH_TIMEOUT).await;
    }

    /// Returns the outcome of the connection. Call this after its driver has finished.
    ///
    /// # Errors
    /// Fails if the connection was closed because of a protocol fault, or because reading or
    /// writing failed for a reason other than the client's disconnection.
    pub fn outcome(self) -> io::Result<()> {
        match self.link.inspect(|state| state.connection.close_reason().cloned()) {
            Some(CloseReason::Fault(fault)) => Err(io::Error::other(fault)),
            Some(CloseReason::Local | CloseReason::Peer) | None => {
                self.link.take_stream_error().map_or(Ok(()), Err)
            }
        }
    }
}

impl Cx {
    /// Returns a handle that edits the lists of this server and notifies clients of changes.
    #[must_use]
    pub fn changes(&self) -> &Changes {
        &self.request.link.shared.changes
    }
}

impl Closeable for Arc<Link<Machine>> {
    fn close(&self) {
        self.stop();
    }
}

impl HandlerLink for Arc<Link<Machine>> {
    fn apply(&self, command: Command<'_>) -> Result<(), Misuse> {
        self.with(|state, now| state.connection.run(now, command))
    }

    fn apply_within(
        &self,
        patience: Duration,
        command: OwnedCommand,
    ) -> BoxFuture<'_, Result<(), Misuse>> {
        Box::pin(self.with_room(patience, move |state, now| {
            state.connection.run(now, (&command).try_into()?)
        }))
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'_, ()> {
        Box::pin(self.sleep_until(self.clock.now() + duration))
    }

    #[cfg(feature = "http")]
    fn session_id(&self) -> Option<String> {
        self.lock().session_id()
    }

    fn send_change(&self, change: Change<'_>) -> Result<(), Misuse> {
        self.with(|State { connection, role, .. }, now| {
            role.pending_changes.send(connection, now, change)
        })
    }
}

impl ServerState {
    pub(crate) fn insert_call(&mut self, call: CallId, open: Arc<OpenCall>) {
        self.calls.insert(call, open);
    }
}

impl OnTransport for Machine {
    type Http = ServerHttp;
}

impl LinkRole for Machine {
    type Open = ServerState;
    type Shared = ServerShared;

    /// Requests of a client that stopped reading cannot be answered.
    const LAST_INPUT: Duration = Duration::ZERO;

    const ANSWERS_AFTER_EOF: bool = true;

    fn workers(shared: &ServerShared) -> Option<&Workers> {
        Some(&shared.workers)
    }

    fn callbacks(shared: &ServerShared) -> &Callbacks {
        &shared.callback_threads
    }

    fn dispatch(link: &Arc<Link<Self>>, event: Event) {
        match event {
            Event::Request { incoming, request, context } => {
                serve(link, incoming, request, context);
            }
            Event::RequestCancelled { incoming, .. } => {
                link.shared.workers.cancel(incoming);
                let cancelled = link.lock().role.running.remove(&incoming);
                if let Some(cancelled) = cancelled {
                    cancelled.set();
                }
            }
            Event::Completed { call, outcome } => {
                let open = link.lock().role.calls.remove(&call);
                if let Some(open) = open {
                    open.change(|result| *result = Some(outcome));
                }
            }
            Event::Notification { method, params } if link.shared.callback_threads.has_room() => {
                notified(link, method, params);
            }
            Event::Ready(_) => {
                if let Some(callback) = &link.shared.callbacks.on_session {
                    notify(link, Some(callback), ClientHandle::of_connection(link));
                }
            }
            Event::Violation(violation) if link.shared.callback_threads.has_room() => {
                notify(link, link.shared.callbacks.on_violation.as_ref(), violation);
            }
            Event::Watched { uri, principal } => {
                let change = SubscriptionChange::Began { uri: uri.into(), principal };
                notify(link, link.shared.callbacks.on_watch.as_ref(), change);
            }
            Event::Unwatched { uri, principal } => {
                let change = SubscriptionChange::Ended { uri: uri.into(), principal };
                notify(link, link.shared.callbacks.on_watch.as_ref(), change);
            }
            _ => {}
        }
    }

    fn about(event: &Event) -> EventSummary<'_> {
        let (name, detail) = match event {
            Event::Ready(peer) => ("ready", peer.revision.name()),
            Event::Request { request, .. } => ("request", &*request.method),
            Event::RequestCancelled { .. } => ("request cancelled", ""),
            Event::Completed { outcome, .. } => {
                ("call ended", if outcome.is_ok() { "result" } else { "error" })
            }
            Event::Progress { .. } => ("progress", ""),
            Event::Notification { method, .. } => ("notification", &**method),
            Event::Watched { .. } => ("watched", ""),
            Event::Unwatched { .. } => ("unwatched", ""),
            Event::Violation(_) => ("violation", "the client broke a rule"),
            Event::Closed(why) => ("closed", close_reason(why)),
            _ => ("event", ""),
        };
        EventSummary { name, detail }
    }

    fn retry(
        connection: &mut Transport<Self>,
        state: &mut ServerState,
        now: impl FnOnce() -> Instant,
    ) {
        if !state.pending_changes.is_empty() {
            state.pending_changes.retry(connection, now());
        }
    }
}

fn notify<T: Send + 'static>(link: &Arc<Link<Machine>>, callback: Option<&Callback<T>>, event: T) {
    if let Some(callback) = callback.cloned() {
        link.call_back(0, move || callback(&event));
    }
}

/// Passes a notification to the application.
fn notified(link: &Arc<Link<Machine>>, method: Method, params: Option<Raw>) {
    let callbacks = &link.shared.callbacks;
    if method == RootsListChanged::METHOD && callbacks.on_roots_changed.is_some() {
        let client = ClientHandle::of_connection(link);
        return notify(link, callbacks.on_roots_changed.as_ref(), client);
    }
    let Some(callback) = callbacks.on_notification.clone() else { return };
    let client = ClientHandle::of_connection(link);
    let bytes = params.as_ref().map_or(0, |params| params.as_bytes().len());
    link.call_back(bytes, move || callback(&method, params.as_ref(), &client));
}

/// Answers a request from the catalog, or starts its handler.
fn serve(link: &Arc<Link<Machine>>, incoming: IncomingId, request: Request, context: Context) {
    let find = || {
        if let Some(acknowledged) = accept_subscription(link, &request, &context) {
            return Ok(Resolution::Answer(Box::new(acknowledged)));
        }
        let is_resource_list = request.method == ListResources::METHOD;
        let ServerShared { changes, checks, entry_filter, resource_lister, .. } = &link.shared;
        with_view(&changes.catalog(), entry_filter.as_ref(), context.caller.as_deref(), |view| {
            if let Some(lister) = resource_lister.as_ref().filter(|_| is_resource_list) {
                return list_resources(lister, view, &request, context.peer.revision);
            }
            let found = view.lookup(&request, context.peer.revision)?;
            Ok(Resolution::new(found, checks))
        })
    };
    // The checks of arguments, of subscriptions and of entries belong to the application and may
    // panic.
    let resolution =
        catch_unwind(AssertUnwindSafe(find)).unwrap_or_else(|_panic| Err(handler_failed()));
    let ready = resolution.and_then(|resolution| {
        Ok((resolution, read_rounds(&link.shared.sealing, &request, &context)?))
    });
    if let Some(layers) = &link.shared.layers {
        let (job, pace, rounds) = layers.job(ready, &request.method);
        let cx = open_request(link, incoming, request, context, rounds, &pace);
        return layers::start(layers, cx, job, &pace);
    }
    match ready {
        Ok((Resolution::Run(job, pace), rounds)) => {
            let cx = open_request(link, incoming, request, context, rounds, &pace);
            start(link, cx, job, &pace);
        }
        Ok((Resolution::Answer(answer), _)) => {
            reply_now(link, incoming, HandlerReply::Result(answer));
        }
        Ok((Resolution::Unknown, _)) => {
            let error = ErrorObject::method_not_found(&request.method);
            reply_now(link, incoming, HandlerReply::Error(error));
        }
        Err(error) => reply_now(link, incoming, HandlerReply::Error(error)),
    }
}

/// Reads the request state left by earlier rounds of input requests.
fn read_rounds(
    sealing: &StateSealing,
    request: &Request,
    context: &Context,
) -> Result<RoundState, ErrorObject> {
    let text = match &context.state {
        Some(state) => Some(sealing.open(state, request, context.principal(), unix_seconds())?),
        None => None,
    };
    RoundState::read(text.as_deref(), context.input_responses.as_ref())
}

/// Creates the context of a request whose handler is about to start.
fn open_request(
    link: &Arc<Link<Machine>>,
    incoming: IncomingId,
    request: Request,
    context: Context,
    rounds: RoundState,
    pace: &Arc<Pace>,
) -> Cx {
    let cancelled = Arc::new(Cancellation::default());
    link.lock().role.running.insert(incoming, Arc::clone(&cancelled));
    let request = RequestState {
        link: Arc::clone(link),
        incoming,
        request,
        context,
        rounds: Mutex::new(rounds),
        cancelled,
        pace: Arc::clone(pace),
        has_run: AtomicBool::new(false),
        extensions: Extensions::default(),
    };
    Cx { request: Arc::new(request) }
}

fn start(link: &Arc<Link<Machine>>, cx: Cx, job: Job, pace: &Arc<Pace>) {
    let incoming = cx.request.incoming;
    let serving = Arc::clone(link);
    match job {
        Job::Sync(job) => {
            let run = move || {
                let (trace, method) = (&serving.trace, &cx.request.request.method);
                let run = || trace.run_handler(method, || job(cx.clone()));
                let reply = encode(&cx, catch_unwind(AssertUnwindSafe(run)).ok());
                (serving, reply)
            };
            let send = move |(link, reply): (Arc<Link<Machine>>, HandlerReply)| {
                send_reply_blocking(&link, incoming, reply);
            };
            link.shared.workers.run(incoming, pace, run, send);
        }
        Job::Async(job) => link.shared.workers.spawn(incoming, pace, async move {
            let served = async { job(AsyncCx(cx.clone())).await };
            let done =
                catch_panic(serving.trace.instrument_handler(&cx.request.request.method, served));
            let Some(outcome) = cx.request.cancelled.run_until_set(done).await else { return };
            send_reply_async(&serving, incoming, encode(&cx, outcome)).await;
        }),
    }
}

/// How long output may take to arrive at stdout once the server was stopped.
const FLUSH_TIMEOUT: Duration = Duration::from_millis(500);
