//! Event handling for client connections: answers requests, forwards notifications and results.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use mcp_proto::client::{Client as Machine, Command, Event};
use mcp_proto::schema::{Decode as _, Level, LogMessage, ServerNotification as _};
use mcp_proto::tasks::TaskLimits;
use mcp_proto::{
    CallId, CallOptions, Capability, CloseReason, ErrorObject, IncomingId, Method, Misuse, Peer,
    Raw, Request, Violation,
};

use crate::client::cache_owner::CacheOwner;
use crate::client::call_hooks::CallHook;
use crate::client::context::ClientCx;
use crate::client::feed::{Feed, LinkOwner};
use crate::client::in_flight::{CallSlot, cancel_task, created_task_id};
use crate::client::question_routing::route;
use crate::client::recovery::state::StateHandler;
use crate::client::request_handler::{Answer, Handlers, RequestHandler, run_handler};
use crate::client::task::mailbox::Mailbox;
use crate::client::task::served_tasks::{self, ServedRun, ServedTasks};
use crate::client::task::settings::ClientTasks;
use crate::exec::callbacks::Callbacks;
use crate::exec::cancellation::Cancellation;
use crate::exec::pace::Pace;
use crate::exec::workers::Workers;
use crate::trace::{EventSummary, close_reason};
use crate::transport::link::{Link, LinkRole};

type NotificationHandler = Arc<Mutex<dyn FnMut(&str, Option<&Raw>, &ClientCx) + Send>>;
type LogHandler = Arc<dyn Fn(&LogMessage, &ClientCx) + Send + Sync>;
type ViolationHandler = Arc<dyn Fn(&Violation, &ClientCx) + Send + Sync>;

/// The callbacks of the application, which all connections of a client share.
#[derive(Clone, Default)]
pub(crate) struct ClientCallbacks {
    /// Without it, notifications are dropped.
    pub(crate) on_notification: Option<NotificationHandler>,
    pub(crate) on_log: Option<LogHandler>,
    pub(crate) on_violation: Option<ViolationHandler>,
    pub(crate) on_connection_state: Option<StateHandler>,
}

/// The log level that a client requests in each session; `None` to request none.
pub(crate) type LogLevel = Arc<Mutex<Option<Level>>>;

/// The configuration of a client's connection: its handlers, callbacks and threads.
#[expect(unnameable_types, reason = "the state of a connection is internal")]
pub struct ClientShared {
    pub(crate) handlers: Handlers,
    pub(crate) workers: Workers,
    /// Shared by all handlers of server requests, which wait for people and models.
    pub(crate) pace: Arc<Pace>,
    pub(crate) callbacks: ClientCallbacks,
    pub(crate) callback_threads: Callbacks,
    pub(crate) label: Option<Arc<str>>,
    pub(crate) on_call: Arc<[CallHook]>,
    pub(crate) log_level: LogLevel,
    pub(crate) tasks: ClientTasks,
    /// Set when the connection has ended.
    pub(crate) ended: Arc<Cancellation>,
}

opaque_debug!(ClientShared);

/// The state of a client's connection: its open calls, subscriptions and running handlers.
#[derive(Default)]
#[expect(unnameable_types, reason = "the state of a connection is internal")]
pub struct ClientState {
    pub(super) calls: HashMap<CallId, Arc<CallSlot>>,
    feeds: HashMap<CallId, Arc<Feed>>,
    /// The cancellation flags of handlers.
    running: HashMap<IncomingId, Arc<Cancellation>>,
    /// Subscriptions to resume in the next session.
    pub(super) waiting: Vec<Arc<Feed>>,
    /// The tasks that are polled, by id.
    tasks: Vec<(Box<str>, Arc<Mailbox>)>,
    /// The calls that ask for a task and its progress, and what receives it.
    task_calls: HashMap<CallId, Arc<Mailbox>>,
    /// The number of handlers so far that run for a task.
    inputs: u32,
    /// The tasks that the requests of the server have become. Boxed: most clients have none.
    pub(super) served: Option<Box<ServedTasks>>,
    /// The handlers of tasks that are to be stopped once the lock is released.
    pub(super) stopped: Vec<ServedRun>,
    /// Whose results the cache holds, if the application returns the credentials.
    pub(crate) cache_owner: Option<Weak<dyn CacheOwner>>,
    pub(crate) peer: Option<Arc<Peer>>,
    /// The first violations before the peer was known, to explain a connection that does not open.
    pub(crate) early_violations: Vec<Violation>,
    pub(crate) closed: Option<CloseReason>,
    /// What handles the end of the connection.
    pub(super) owner: Option<Weak<dyn LinkOwner>>,
}

opaque_debug!(ClientState);

/// The maximum number of violations that are kept to explain a connection that does not open.
const EARLY_VIOLATIONS_MAX: usize = 8;

impl ClientState {
    pub(super) fn owner(&self) -> Option<Arc<dyn LinkOwner>> {
        self.owner.as_ref().and_then(Weak::upgrade)
    }

    pub(crate) fn insert_call(&mut self, call: CallId, slot: Arc<CallSlot>) {
        self.calls.insert(call, slot);
    }

    /// Keeps a violation that may explain why the connection does not open.
    fn keep_early(&mut self, violation: &Violation) {
        if self.peer.is_none() && self.early_violations.len() < EARLY_VIOLATIONS_MAX {
            self.early_violations.push(violation.clone());
        }
    }

    pub(crate) fn insert_feed(&mut self, call: CallId, feed: Arc<Feed>) {
        self.feeds.insert(call, feed);
    }

    /// Adds a polled task, unless there are `max` already. Returns whether it was added.
    pub(crate) fn add_task(&mut self, id: &str, mailbox: &Arc<Mailbox>, max: usize) -> bool {
        let has_room = self.tasks.len() < max;
        if has_room {
            self.tasks.push((id.into(), Arc::clone(mailbox)));
        }
        has_room
    }

    pub(crate) fn remove_task(&mut self, mailbox: &Arc<Mailbox>) {
        self.tasks.retain(|(_, other)| !Arc::ptr_eq(other, mailbox));
        self.remove_task_call(mailbox);
    }

    /// Directs the progress of the task that a call may create to a mailbox.
    // PRG-11: the progress may follow the response immediately.
    pub(crate) fn insert_task_call(&mut self, call: CallId, mailbox: &Arc<Mailbox>) {
        self.task_calls.insert(call, Arc::clone(mailbox));
    }

    pub(crate) fn remove_task_call(&mut self, mailbox: &Arc<Mailbox>) {
        self.task_calls.retain(|_, other| !Arc::ptr_eq(other, mailbox));
    }

    /// Returns the tasks that the requests of the server have become.
    pub(super) fn served_tasks(&mut self, limits: &TaskLimits) -> &mut ServedTasks {
        self.served.get_or_insert_with(|| Box::new(ServedTasks::new(limits)))
    }

    /// Returns the id of the next handler that runs for a task.
    pub(crate) fn next_input(&mut self) -> IncomingId {
        self.inputs = self.inputs.wrapping_add(1);
        IncomingId::reserved(self.inputs)
    }

    /// Passes a status notification to the handles of its task.
    // TSK-17: it is only a hint.
    fn notify_tasks(&self, method: &str, params: Option<&Raw>) {
        if !matches!(method, "notifications/tasks" | "notifications/tasks/status") {
            return;
        }
        let id = params.and_then(|params| params.member("taskId"));
        let id = id.as_ref().and_then(Raw::to_text);
        if let Some((params, id)) = params.zip(id) {
            let mailboxes = self.tasks.iter().filter(|(task, _)| **task == *id);
            mailboxes.for_each(|(_, mailbox)| mailbox.notify(params.clone()));
        }
    }
}

impl LinkRole for Machine {
    type Open = ClientState;
    type Shared = ClientShared;

    /// Responses that a server sent before it stopped reading may still arrive.
    const LAST_INPUT: Duration = Duration::from_millis(500);

    /// A server that has closed its stdout answers nothing.
    const ANSWERS_AFTER_EOF: bool = false;

    fn callbacks(shared: &ClientShared) -> &Callbacks {
        &shared.callback_threads
    }

    fn dispatch(link: &Arc<Link<Self>>, event: Event) {
        match event {
            Event::Completed { call, outcome } => {
                let (slot, feed) = {
                    let state = &mut link.lock().role;
                    (state.calls.remove(&call), state.feeds.remove(&call))
                };
                if let Some(feed) = feed {
                    feed.handle_end(link, call, outcome.map(drop));
                } else if let Some(slot) = slot {
                    slot.complete(outcome);
                }
            }
            Event::Progress { call, progress } => {
                let slot = link.inspect(|state| state.role.calls.get(&call).cloned());
                if let Some(slot) = slot {
                    slot.progress(progress);
                }
            }
            Event::TaskProgress { call, progress } => {
                let mailbox = link.inspect(|state| state.role.task_calls.get(&call).cloned());
                if let Some(mailbox) = mailbox {
                    mailbox.progress(progress);
                }
            }
            Event::Request { incoming, call, request } => {
                let request = served_tasks::serve(link, incoming, request);
                let routed = request.and_then(|request| route(link, incoming, call, request));
                if let Some((request, handler)) = routed {
                    run_question(link, incoming, call, handler, request);
                }
            }
            Event::RequestCancelled { incoming, .. } => {
                link.shared.workers.cancel(incoming);
                let cancelled = {
                    let role = &mut link.lock().role;
                    if let Some(served) = &mut role.served {
                        served.stop_waiting(incoming);
                    }
                    role.running.remove(&incoming)
                };
                if let Some(cancelled) = cancelled {
                    cancelled.set();
                }
            }
            Event::Subscribed { call, filter } => {
                if let Some(feed) = link.inspect(|state| state.role.feeds.get(&call).cloned()) {
                    feed.acknowledge(filter);
                }
            }
            Event::Notification { call, method, params } => {
                let feed = |call| link.inspect(|state| state.role.feeds.get(&call).cloned());
                let feed = call.and_then(feed);
                if !feed.is_some_and(|feed| feed.push(&method, params.as_ref())) {
                    link.inspect(|state| state.role.notify_tasks(&method, params.as_ref()));
                    notify(link, method, params);
                }
            }
            // CAN-10, TSK-34: nothing waits for the task.
            Event::LateTask(created) => {
                if let Some(task_id) = created_task_id(&created) {
                    cancel_task(link, &task_id);
                }
            }
            Event::Violation(violation) => {
                link.with(|state, _| state.role.keep_early(&violation));
                if let Some(callback) = link.shared.callbacks.on_violation.clone() {
                    let cx = ClientCx::of_connection(link, None);
                    link.call_back(0, move || callback(&violation, &cx));
                }
            }
            Event::Ready(peer) => {
                let has_logs = peer.capabilities.has(Capability::Logging);
                let waiting = {
                    let state = &mut link.lock().role;
                    state.peer = Some(peer);
                    state.early_violations = Vec::new();
                    std::mem::take(&mut state.waiting)
                };
                if has_logs {
                    request_logs(link);
                }
                waiting.into_iter().for_each(|feed| feed.resume_in_session(link));
            }
            Event::Closed(why) => {
                let (waiting, served, owner) = {
                    let state = &mut link.lock().role;
                    state.closed = Some(why.clone());
                    let waiting = std::mem::take(&mut state.waiting);
                    (waiting, state.served.take(), state.owner())
                };
                link.shared.ended.set();
                if let Some(served) = served {
                    served.stop(link);
                }
                if !owner.is_some_and(|owner| owner.on_closed(link, &why)) {
                    waiting.iter().for_each(|feed| feed.lost());
                }
            }
            _ => {}
        }
    }

    fn about(event: &Event) -> EventSummary<'_> {
        let (name, detail) = match event {
            Event::Ready(peer) => ("ready", peer.revision.name()),
            Event::Completed { outcome, .. } => {
                ("call ended", if outcome.is_ok() { "result" } else { "error" })
            }
            Event::Progress { .. } => ("progress", ""),
            Event::TaskProgress { .. } => ("task progress", ""),
            Event::Request { request, .. } => ("request", &*request.method),
            Event::RequestCancelled { .. } => ("request cancelled", ""),
            Event::Notification { method, .. } => ("notification", &**method),
            Event::LateTask(_) => ("late task", ""),
            Event::Subscribed { .. } => ("listening", ""),
            Event::Violation(_) => ("violation", "the server broke a rule"),
            Event::Closed(why) => ("closed", close_reason(why)),
            _ => ("event", ""),
        };
        EventSummary { name, detail }
    }

    /// Handles exist only while a session is open. `NotReady` thus means that the server forgot the
    /// session, and that the next one is being opened.
    fn may_pass(misuse: Misuse) -> bool {
        matches!(misuse, Misuse::Blocked | Misuse::NotReady)
    }
}

/// Requests the log level of the application. A server that refuses it sends no logs.
fn request_logs(link: &Arc<Link<Machine>>) {
    let level = *link.shared.log_level.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(level) = level {
        let set = Command::SetLogLevel { level, options: CallOptions::default() };
        let _no_logs = link.with(|state, now| state.connection.call(now, set));
    }
}

/// Passes a notification to the application.
fn notify(link: &Arc<Link<Machine>>, method: Method, params: Option<Raw>) {
    let ClientCallbacks { on_notification, on_log, .. } = &link.shared.callbacks;
    let on_log = on_log.clone().filter(|_| method == LogMessage::METHOD);
    if on_notification.is_none() && on_log.is_none() {
        return;
    }
    let on_notification = on_notification.clone();
    let bytes = params.as_ref().map_or(0, |params| params.as_bytes().len());
    let cx = ClientCx::of_connection(link, params.clone());
    link.call_back(bytes, move || {
        let log = params.as_ref().zip(on_log);
        let log = log.and_then(|(params, on_log)| Some((LogMessage::decode(params).ok()?, on_log)));
        if let Some((log, on_log)) = log {
            on_log(&log, &cx);
        } else if let Some(handler) = on_notification {
            let mut handler = handler.lock().unwrap_or_else(PoisonError::into_inner);
            handler(&method, params.as_ref(), &cx);
        }
    });
}

/// Answers a request of the server about `call`, if that is known, with a handler.
fn run_question(
    link: &Arc<Link<Machine>>,
    incoming: IncomingId,
    call: Option<CallId>,
    handler: Option<RequestHandler>,
    request: Request,
) {
    let cancelled = Arc::new(Cancellation::default());
    link.lock().role.running.insert(incoming, Arc::clone(&cancelled));
    let answering = Arc::clone(link);
    let cx = ClientCx::of_request(Arc::clone(link), &request, call, cancelled);
    run_handler(handler, incoming, request, cx, move |answer| {
        respond(&answering, incoming, answer);
    });
}

/// Sends the answer of a handler; `None` if it panicked.
fn respond(link: &Arc<Link<Machine>>, incoming: IncomingId, answer: Option<Answer>) {
    let answer = answer.unwrap_or_else(|| Err(ErrorObject::internal("the handler failed")));
    link.with(|state, now| {
        state.role.running.remove(&incoming);
        let sent = match &answer {
            Ok(result) => state.connection.run(now, Command::respond(incoming, &**result)),
            Err(error) => state.connection.run(now, Command::RespondError { incoming, error }),
        };
        if sent == Err(Misuse::Unencodable) {
            let error = &ErrorObject::internal("the result cannot be encoded as JSON");
            let _gone = state.connection.run(now, Command::RespondError { incoming, error });
        }
    });
}
