//! The tasks of a client: requests of the server that outlive their response. (2025-11-25)
//!
//! ```text
//!  sampling/createMessage ──▶ begin ──▶ table ──▶ response: the task
//!  elicitation/create           │
//!                               └─▶ handler ──▶ deliver ──▶ table ──▶ tasks/get, tasks/result
//! ```

use std::collections::HashMap;
use std::sync::Arc;

use event_listener::Event;
use futures_lite::future::or;
use mcp_proto::client::{Client as Machine, Command};
use mcp_proto::schema::{
    CancelTask, ClientRequest as _, Decode, GetTask, GetTaskPayload, ListTasks, TaskRequest,
};
use mcp_proto::tasks::{
    NewTask, Requestor, TaskError, TaskEvent, TaskId, TaskLimits, TaskListener, TaskProtocol,
    TaskTable,
};
use mcp_proto::{ErrorObject, IncomingId, Instant, Payload, Raw, Request};

use crate::client::context::ClientCx;
use crate::client::request_handler::{Answer, handler_of, has_handler, run_handler};
use crate::exec::cancellation::Cancellation;
use crate::tasks::{random_id, task_time};
use crate::transport::link::{BoxedTransport, Link, State};

/// The tasks of one connection, whose server is their only requestor.
pub(crate) struct ServedTasks {
    table: TaskTable,
    /// The handlers that run.
    runs: HashMap<TaskId, ServedRun>,
    /// The requests for the result of a task that runs, by the number of their listener.
    waiting: HashMap<u64, IncomingId>,
    last_listener: u64,
    /// Stops the handlers of tasks whose time is over.
    timer: ExpiryTimer,
}

/// The timer of all tasks of a connection. It runs while handlers do.
enum ExpiryTimer {
    Stopped,
    /// Notified when a deadline may have moved.
    Running(Arc<Event>),
}

impl ExpiryTimer {
    /// Makes the timer of the tasks read their deadlines again.
    fn wake(&self) {
        if let Self::Running(moved) = self {
            moved.notify(1);
        }
    }
}

/// The handler of a task.
pub(crate) struct ServedRun {
    /// Set when the task is over.
    over: Arc<Cancellation>,
    /// The id of the handler, which is not that of the request.
    handler: IncomingId,
}

// TSK-21: each connection has its own table.
const SERVER: Requestor<'static> = Requestor { principal: None, protocol: TaskProtocol::Core };

impl ServedTasks {
    pub(crate) fn new(limits: &TaskLimits) -> Self {
        Self {
            table: TaskTable::new(limits.clone()),
            runs: HashMap::new(),
            waiting: HashMap::new(),
            last_listener: 0,
            timer: ExpiryTimer::Stopped,
        }
    }

    /// Forgets a request for a result that was cancelled. The task continues.
    pub(crate) fn stop_waiting(&mut self, incoming: IncomingId) {
        let found = self.waiting.iter().find(|(_, waits)| **waits == incoming);
        if let Some(request) = found.map(|(request, _)| *request) {
            self.waiting.remove(&request);
            self.table.stop_waiting(listener(request));
        }
    }

    /// Stops all handlers: the connection has ended.
    pub(crate) fn stop(self, link: &Link<Machine>) {
        self.timer.wake();
        stop_all(link, self.runs.into_values());
    }

    /// Returns the response to a request about tasks; `None` if it waits for a result.
    fn answer(
        &mut self,
        now: Instant,
        incoming: IncomingId,
        request: &Request,
    ) -> Option<Result<Raw, ErrorObject>> {
        let time = task_time(now);
        let table = &mut self.table;
        Some(match &*request.method {
            GetTask::METHOD => {
                decode(request).and_then(|get: GetTask| table.get(time, SERVER, &get.task_id))
            }
            CancelTask::METHOD => decode(request)
                .and_then(|cancel: CancelTask| table.cancel(time, SERVER, &cancel.task_id)),
            ListTasks::METHOD => decode(request)
                .and_then(|list: ListTasks| table.list(time, SERVER, list.cursor.as_deref())),
            GetTaskPayload::METHOD => {
                self.last_listener += 1;
                let request_number = self.last_listener;
                let result = decode(request).and_then(|get: GetTaskPayload| {
                    table.result(time, SERVER, &get.task_id, listener(request_number))
                });
                match result.transpose() {
                    Some(response) => response,
                    None => {
                        self.waiting.insert(request_number, incoming);
                        return None;
                    }
                }
            }
            method => Err(ErrorObject::method_not_found(method)),
        })
    }
}

const fn listener(request: u64) -> TaskListener {
    TaskListener { connection: 0, request }
}

fn decode<T: Decode>(request: &Request) -> Result<T, ErrorObject> {
    request.decode().map_err(|error| ErrorObject::invalid_params(error.to_string()))
}

/// Serves a request about tasks, or one that asks for a task. Returns any other request.
// TSK-07: without the declaration, `task` is ignored.
pub(crate) fn serve(
    link: &Arc<Link<Machine>>,
    incoming: IncomingId,
    request: Request,
) -> Option<Request> {
    let Some(limits) = &link.shared.tasks.served else { return Some(request) };
    let revision = link.inspect(|state| state.role.peer.as_ref().map(|peer| peer.revision));
    if revision.and_then(TaskProtocol::of) != Some(TaskProtocol::Core) {
        return Some(request);
    }
    if TaskProtocol::Core.serves(&request.method) {
        link.with(|state, now| {
            let served = state.role.served_tasks(limits);
            let response = served.answer(now, incoming, &request);
            settle(state, now);
            // TSK-18: a cancelled task has changed by now.
            if let Some(response) = response {
                respond(&mut state.connection, now, incoming, response);
            }
        });
        after_change(link);
        return None;
    }
    let task = request.params.as_ref().and_then(|params| params.member("task"));
    let is_offered = is_offered(&request.method) && has_handler(link, &request);
    match task.filter(|task| is_offered && task.is_object()) {
        Some(task) => {
            begin(link, limits, incoming, request, &task);
            None
        }
        None => Some(request),
    }
}

/// Returns whether a request with this method may become a task.
fn is_offered(method: &str) -> bool {
    matches!(method, "elicitation/create" | "sampling/createMessage")
}

/// Creates the task of a request, responds with it, and starts the handler.
fn begin(
    link: &Arc<Link<Machine>>,
    limits: &TaskLimits,
    incoming: IncomingId,
    request: Request,
    task: &Raw,
) {
    let over = Arc::new(Cancellation::default());
    let id = random_id();
    let created = link.with(|state, now| {
        let handler = state.role.next_input();
        let served = state.role.served_tasks(limits);
        let created = id.map_err(|error| ErrorObject::internal(format!("no task: {error}")));
        let created = created.and_then(|id| {
            let new = NewTask {
                requested_ttl_ms: TaskRequest::decode(task).ok().and_then(|task| task.ttl),
                request_bytes: request.params.as_ref().map_or(0, |it| it.as_bytes().len()),
                ..NewTask::default()
            };
            let created = served.table.create(task_time(now), SERVER, id, new);
            Ok((id, created.map_err(TaskError::to_error)?))
        });
        let (id, created) = match created {
            Ok(created) => created,
            Err(error) => {
                respond(&mut state.connection, now, incoming, Err(error));
                return None;
            }
        };
        // TSK-28: known before the response.
        served.runs.insert(id, ServedRun { over: Arc::clone(&over), handler });
        let response = Command::respond(incoming, &created);
        if state.connection.run(now, response).is_err() {
            // The server has cancelled the request.
            let served = state.role.served_tasks(limits);
            served.runs.remove(&id);
            served.table.withdraw(task_time(now), id);
            settle(state, now);
            return None;
        }
        Some((id, handler))
    });
    let Some((id, handler)) = created else { return };
    let delivering = Arc::clone(link);
    let cx = ClientCx::of_request(Arc::clone(link), &request, None, over);
    let function = handler_of(link, &request);
    run_handler(function, handler, request, cx, move |answer| deliver(&delivering, id, answer));
    expire_in_time(link);
}

/// Starts the timer of the tasks, unless it runs.
fn expire_in_time(link: &Arc<Link<Machine>>) {
    let moved = Arc::new(Event::new());
    {
        let mut state = link.lock();
        let Some(served) = &mut state.role.served else { return };
        if matches!(served.timer, ExpiryTimer::Running(_)) || served.runs.is_empty() {
            return served.timer.wake();
        }
        served.timer = ExpiryTimer::Running(Arc::clone(&moved));
    }
    link.shared.workers.spawn_on_runtime(Box::pin(expire(Arc::clone(link), moved)));
}

/// Stops the handlers of tasks whose time is over, until none runs.
// TSK-12. Tasks that are over are deleted with the next request.
async fn expire(link: Arc<Link<Machine>>, moved: Arc<Event>) {
    loop {
        let has_moved = moved.listen();
        let next = link.with(|state, now| {
            let served = state.role.served.as_mut()?;
            served.table.handle_timeout(now);
            settle(state, now);
            let served = state.role.served.as_mut()?;
            let next = served.table.poll_timeout().filter(|_| !served.runs.is_empty());
            if next.is_none() {
                served.timer = ExpiryTimer::Stopped;
            }
            next
        });
        after_change(&link);
        let Some(next) = next else { return };
        or(link.sleep_until(next), has_moved).await;
    }
}

/// Takes the answer of a task's handler; `None` if it panicked.
fn deliver(link: &Arc<Link<Machine>>, id: TaskId, answer: Option<Answer>) {
    let answer = answer.unwrap_or_else(|| Err(ErrorObject::internal("the handler failed")));
    let over = link.with(|state, now| {
        let revision = state.role.peer.as_ref().map(|peer| peer.revision);
        let encoded = answer.and_then(|answer| {
            let encoded = revision.and_then(|revision| answer.to_raw(revision).ok());
            encoded.ok_or_else(|| ErrorObject::internal("the result cannot be encoded as JSON"))
        });
        let served = state.role.served.as_mut()?;
        let time = task_time(now);
        // A task that is over stays as it is; a result that is too large fails the task.
        let _over = match encoded {
            Ok(result) => served.table.complete(time, id, result),
            Err(error) => served.table.fail(time, id, error),
        };
        let run = served.runs.remove(&id);
        if served.runs.is_empty() {
            served.timer.wake();
        }
        settle(state, now);
        run
    });
    if let Some(run) = over {
        run.over.set();
    }
    after_change(link);
}

/// Does what follows from a change of the table, under the lock of the connection.
fn settle(state: &mut State<Machine>, now: Instant) {
    let State { connection, role, .. } = state;
    let Some(served) = &mut role.served else { return };
    while let Some(event) = served.table.poll_event() {
        match event {
            TaskEvent::Response { listener, response } => {
                if let Some(incoming) = served.waiting.remove(&listener.request) {
                    respond(connection, now, incoming, response);
                }
            }
            TaskEvent::Changed { task } => {
                // TSK-17: a notification may be lost.
                if let Some((method, params)) = served.table.notification(task) {
                    let params = Payload::Value(&params);
                    let _no_room = connection.run(now, Command::Notify { method, params });
                }
            }
            TaskEvent::Stop { task } => role.stopped.extend(served.runs.remove(&task)),
            _ => {}
        }
    }
}

/// Stops the handlers of tasks that are over, without the lock of the connection.
fn after_change(link: &Link<Machine>) {
    let stopped = std::mem::take(&mut link.lock().role.stopped);
    stop_all(link, stopped);
}

fn stop_all(link: &Link<Machine>, runs: impl IntoIterator<Item = ServedRun>) {
    for run in runs {
        run.over.set();
        link.shared.workers.cancel(run.handler);
    }
}

fn respond(
    connection: &mut BoxedTransport<Machine>,
    now: Instant,
    incoming: IncomingId,
    response: Result<Raw, ErrorObject>,
) {
    let _gone = match &response {
        Ok(result) => connection.run(now, Command::respond(incoming, result)),
        Err(error) => connection.run(now, Command::RespondError { incoming, error }),
    };
}
