//! The events of a server's connection: requests become jobs, and their outcomes replies.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use mcp_proto::server::{Command, Event, Server as Machine};
use mcp_proto::{
    CallId, Change, IncomingId, Instant, Method, Misuse, OwnedCommand, Principal, Raw, Violation,
};

use crate::box_future::BoxFuture;
use crate::exec::callbacks::Callbacks;
use crate::exec::cancellation::Cancellation;
use crate::exec::pace::Pace;
use crate::exec::workers::Workers;
use crate::server::catalog::changes::Changes;
use crate::server::catalog::unregistered::UnregisteredHandlers;
use crate::server::catalog::visibility::Visibility;
use crate::server::connection::id_hasher::NumberedMap;
use crate::server::connection::pending_changes::PendingChanges;
use crate::server::connection::serve::serve;
use crate::server::connection::subscriptions::{SubscriptionChange, SubscriptionSettings};
use crate::server::handler::client_handle::{ClientHandle, OpenCall, cancel_late, complete};
use crate::server::handler::context::{Cx, HandlerLink};
use crate::server::handler::kept::Kept;
use crate::server::handler::running_task::RunningTask;
use crate::server::handler::state::States;
use crate::server::handler::state_sealing::StateSealing;
use crate::server::handler::task_service::TaskService;
use crate::server::layers::Layers;
use crate::trace::{EventSummary, close_reason};
use crate::transport::link::{BoxedTransport, Link, LinkRole, State};
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
    pub(crate) on_session: Option<Callback<ClientHandle>>,
    pub(crate) on_violation: Option<Callback<Violation>>,
    pub(crate) subscriptions: SubscriptionSettings,
    /// The listen keys of all extensions.
    pub(crate) listen_keys: Vec<Box<str>>,
}

/// The data that all connections of a server on one runtime share.
#[derive(Clone)]
#[expect(unnameable_types, reason = "the state of a connection is internal")]
pub struct ServerParts {
    pub(crate) changes: Changes,
    pub(crate) sealing: StateSealing,
    pub(crate) checks: ToolChecks,
    /// The pace of the checks of long arguments; `None` if arguments are not checked.
    pub(crate) argument_checks: Option<Arc<Pace>>,
    pub(crate) callback_threads: Callbacks,
    pub(crate) callbacks: Arc<ServerCallbacks>,
    /// The middleware around requests; `None` if there is none.
    pub(crate) layers: Option<Arc<Layers>>,
    /// The states that handlers take.
    pub(crate) states: Arc<States>,
    /// Serves what is not in the catalog.
    pub(crate) unregistered: UnregisteredHandlers,
    /// Decides which entries a caller sees.
    pub(crate) visibility: Visibility,
    /// What is kept between the runs of handlers.
    pub(crate) kept: Arc<Kept>,
    /// The tasks; `None` if no tool call becomes one.
    pub(crate) tasks: Option<Arc<dyn TaskService>>,
}

opaque_debug!(ServerParts);

/// What a connection of a server holds beside its state.
#[expect(unnameable_types, reason = "the state of a connection is internal")]
pub struct ServerShared {
    pub(crate) parts: Arc<ServerParts>,
    pub(crate) workers: Workers,
}

opaque_debug!(ServerShared);

impl Deref for ServerShared {
    type Target = ServerParts;

    fn deref(&self) -> &ServerParts {
        &self.parts
    }
}

/// The state of a server's connection: its running handlers and the change notifications waiting to
/// be sent.
#[derive(Default)]
#[expect(unnameable_types, reason = "the state of a connection is internal")]
pub struct ServerState {
    /// The cancellation flags of running handlers.
    pub(in crate::server) running: NumberedMap<IncomingId, Arc<Cancellation>>,
    /// The cancellation flags of requests that wait for answers of the client, by number.
    asking: NumberedMap<u64, (IncomingId, Arc<Cancellation>)>,
    pending_changes: PendingChanges,
    /// The client, if it is authenticated. All messages of a connection have one sender.
    pub(crate) principal: Option<Principal>,
    /// The requests to the client that are not part of a request from it. Boxed: most servers have
    /// none.
    calls: Option<Box<NumberedMap<CallId, Arc<OpenCall>>>>,
    /// The tasks whose handlers run, by the requests that they were. Boxed: most servers have none.
    tasks: Option<Box<NumberedMap<IncomingId, Arc<dyn RunningTask>>>>,
}

opaque_debug!(ServerState);

impl Cx {
    /// Returns a handle that edits the lists of this server and notifies clients of changes.
    #[must_use]
    pub fn changes(&self) -> &Changes {
        &self.request.link.shared.changes
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

    fn send_change(&self, change: Change<'_>) -> Result<(), Misuse> {
        self.with(|State { connection, role, .. }, now| {
            role.pending_changes.send(connection, now, change)
        })
    }
}

impl ServerState {
    pub(crate) fn insert_call(&mut self, call: CallId, open: Arc<OpenCall>) {
        self.calls.get_or_insert_default().insert(call, open);
    }

    fn take_call(&mut self, call: CallId) -> Option<Arc<OpenCall>> {
        self.calls.as_mut()?.remove(&call)
    }

    /// Keeps the cancellation of a request that waits for answers of the client.
    pub(crate) fn insert_asking(
        &mut self,
        number: u64,
        incoming: IncomingId,
        cancelled: Arc<Cancellation>,
    ) {
        self.asking.insert(number, (incoming, cancelled));
    }

    /// Takes the cancellation of a request that has its answers, and registers it as that of its
    /// next run. A run that `was_registered` may have been cancelled since.
    pub(crate) fn continue_asking(
        &mut self,
        number: u64,
        incoming: IncomingId,
        was_registered: bool,
    ) -> Option<Arc<Cancellation>> {
        let (_, cancelled) = self.asking.remove(&number)?;
        if was_registered && !self.running.contains_key(&incoming) {
            return None;
        }
        self.running.insert(incoming, Arc::clone(&cancelled));
        Some(cancelled)
    }

    /// Takes the cancellation of a request that is over.
    fn take_cancellation(&mut self, incoming: IncomingId) -> Option<Arc<Cancellation>> {
        self.running.remove(&incoming).or_else(|| {
            let (number, _) = self.asking.iter().find(|(_, (asked, _))| *asked == incoming)?;
            let number = *number;
            self.asking.remove(&number).map(|(_, cancelled)| cancelled)
        })
    }

    pub(crate) fn insert_task(&mut self, incoming: IncomingId, run: Arc<dyn RunningTask>) {
        self.tasks.get_or_insert_default().insert(incoming, run);
    }

    /// Takes the task to which the reply of a request goes.
    pub(crate) fn take_task(&mut self, incoming: IncomingId) -> Option<Arc<dyn RunningTask>> {
        self.tasks.as_mut()?.remove(&incoming)
    }
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
                if let Some(tasks) = &link.shared.tasks {
                    tasks.stop_waiting(link, incoming);
                }
                let cancelled = link.lock().role.take_cancellation(incoming);
                if let Some(cancelled) = cancelled {
                    cancelled.set();
                }
            }
            Event::Completed { call, outcome } => {
                let open = link.lock().role.take_call(call);
                if let Some(open) = open {
                    complete(link, &open, outcome);
                }
            }
            Event::LateTask(created) => cancel_late(link, &created),
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
                notify(link, link.shared.callbacks.subscriptions.on_change.as_ref(), change);
            }
            Event::Unwatched { uri, principal } => {
                let change = SubscriptionChange::Ended { uri: uri.into(), principal };
                notify(link, link.shared.callbacks.subscriptions.on_change.as_ref(), change);
            }
            Event::Closed(_) => {
                if let Some(tasks) = &link.shared.tasks {
                    tasks.on_closed(link);
                }
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
            Event::LateTask(_) => ("late task", ""),
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
        connection: &mut BoxedTransport<Self>,
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
    let Some(callback) = callbacks.on_notification.clone() else { return };
    let client = ClientHandle::of_connection(link);
    let bytes = params.as_ref().map_or(0, |params| params.as_bytes().len());
    link.call_back(bytes, move || callback(&method, params.as_ref(), &client));
}
