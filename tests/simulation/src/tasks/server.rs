//! The server of a world of tasks: a task table and its store, and a connection for each client.

use std::collections::BTreeMap;
use std::time::Duration;

use mcp_proto::schema::{
    CancelTask, Decode as _, EmptyResult, Encode, GetTask, GetTaskPayload, InputRequest, UpdateTask,
};
use mcp_proto::server::{Event, Server};
use mcp_proto::stdio::Stdio;
use mcp_proto::tasks::{
    NewTask, OnRestart, Requestor, TaskEvent, TaskId, TaskLimits, TaskListener, TaskProtocol,
    TaskRecord, TaskTable, TaskTime,
};
use mcp_proto::{
    CallId, CallOptions, ErrorObject, IncomingId, Instant, OwnedCommand, Raw, Request, Revision,
    RoleEndpoint as _,
};

use super::setup::{accept, principal};
use super::truth::{End, Truth};

/// A server, and what survives it.
#[derive(Debug)]
pub(super) struct TasksServer {
    protocol: TaskProtocol,
    revision: Revision,
    table: TaskTable,
    store: BTreeMap<TaskId, Raw>,
    /// The connections of both clients, and their numbers.
    pub(super) connections: [(Stdio<Server>, u64); 2],
    last_connection: u64,
    /// The input requests of tasks, and the calls that ask them. (2025-11-25)
    questions: Vec<Question>,
    pub(super) truths: Vec<Truth>,
    /// Whether the first handler starts again after a restart; the next one does not, and so on.
    starts_again: bool,
}

/// The task, the key, and the connection and the call that ask, if they do.
type Question = (TaskId, Box<str>, Option<(u64, CallId)>);

/// How long tasks are kept, in milliseconds.
pub(super) const TTL_MS: u64 = 100_000;

impl TasksServer {
    pub(super) fn new(revision: Revision, protocol: TaskProtocol, starts_again: bool) -> Self {
        let machine = |client| (accept(Instant::ZERO, revision, client), client as u64);
        Self {
            protocol,
            revision,
            table: TaskTable::new(limits()),
            store: BTreeMap::new(),
            connections: [machine(0), machine(1)],
            last_connection: 1,
            questions: Vec::new(),
            truths: Vec::new(),
            starts_again,
        }
    }

    /// Ends a connection, and accepts the next one of the client.
    pub(super) fn disconnect(&mut self, time: TaskTime, client: usize) {
        let gone = self.connections[client].1;
        self.table.disconnect(gone);
        for (_, _, call) in &mut self.questions {
            *call = call.filter(|(connection, _)| *connection != gone);
        }
        self.last_connection += 1;
        self.connections[client] = (accept(time.now, self.revision, client), self.last_connection);
        self.act(time);
    }

    /// Kills the server, and starts another one.
    pub(super) fn restart(&mut self, time: TaskTime) {
        self.table = TaskTable::new(limits());
        self.questions.clear();
        for truth in self.truths.iter_mut().filter(|truth| truth.end.is_none()) {
            truth.runs = false;
            if time.now >= Instant::from_millis(truth.expires) {
                truth.end(End::Expired);
            } else if !truth.starts_again {
                truth.end(End::Restarted);
            }
        }
        let record = |stored| TaskRecord::parse(stored).unwrap_or_else(|error| panic!("{error}"));
        let records: Vec<TaskRecord> = self.store.values().map(record).collect();
        self.table.restore(time, records);
        for client in [0, 1] {
            self.disconnect(time, client);
        }
        for truth in self.truths.iter().filter(|truth| truth.end.is_none()) {
            assert!(truth.runs, "a task is lost at a restart: {truth:?}");
        }
    }

    /// Reacts to everything that has arrived.
    pub(super) fn act(&mut self, time: TaskTime) {
        self.table.handle_timeout(time.now);
        self.act_on_tasks(time);
        for client in [0, 1] {
            while let Some(event) = self.connections[client].0.poll_event() {
                match event {
                    Event::Request { incoming, request, .. } => {
                        let response = self.serve(time, client, incoming, &request);
                        self.respond(time, client, incoming, response);
                    }
                    Event::RequestCancelled { incoming, .. } => {
                        let listener = self.listener(client, incoming);
                        self.table.stop_waiting(listener);
                    }
                    Event::Completed { call, outcome } => {
                        let connection = self.connections[client].1;
                        let is_it = |(_, _, of): &Question| *of == Some((connection, call));
                        if let Some(at) = self.questions.iter().position(is_it) {
                            let (task, key, _) = self.questions.remove(at);
                            if outcome.is_ok() {
                                // It may be over.
                                let _over = self.table.answer(time, task, &key);
                            } else {
                                self.questions.push((task, key, None));
                            }
                        }
                    }
                    Event::Violation(violation) => panic!("{violation:?}"),
                    _ => {}
                }
                self.act_on_tasks(time);
            }
        }
    }

    /// Serves a request; `None` if its response comes later.
    fn serve(
        &mut self,
        time: TaskTime,
        client: usize,
        incoming: IncomingId,
        request: &Request,
    ) -> Option<Result<Raw, ErrorObject>> {
        let owner = principal(client);
        let requestor = Requestor { principal: Some(&owner), protocol: self.protocol };
        let id = request.params.as_ref().and_then(|params| params.member("taskId"));
        let id = id.and_then(|id| id.to_text().map(String::from)).unwrap_or_default();
        let listener = self.listener(client, incoming);
        Some(match &*request.method {
            "tools/call" => Ok(self.create(time, client)),
            "tasks/get" if GetTask::decode(&params(request)).is_ok() => {
                self.table.get(time, requestor, &id)
            }
            "tasks/list" => self.table.list(time, requestor, None),
            "tasks/result" if GetTaskPayload::decode(&params(request)).is_ok() => {
                match self.table.result(time, requestor, &id, listener).transpose() {
                    Some(response) => response,
                    None => {
                        self.ask_missed(time, client, &id);
                        return None;
                    }
                }
            }
            "tasks/cancel" if CancelTask::decode(&params(request)).is_ok() => {
                let response = self.table.cancel(time, requestor, &id);
                let truth = self.truths.iter_mut().find(|truth| truth.id.to_text() == id);
                if let (Ok(_), Some(truth)) = (&response, truth) {
                    assert_eq!(truth.client, client, "a task of another client is cancelled");
                    if truth.end.is_none() {
                        truth.end(End::Cancelled);
                    }
                }
                response
            }
            "tasks/update" => match UpdateTask::decode(&params(request)) {
                Ok(update) => self
                    .table
                    .update(time, requestor, &id, &update.input_responses)
                    .map(|_| encoded(&EmptyResult::new(), self.revision)),
                Err(error) => Err(ErrorObject::invalid_params(error.to_string())),
            },
            method => Err(ErrorObject::method_not_found(method)),
        })
    }

    fn create(&mut self, time: TaskTime, client: usize) -> Raw {
        let number = self.truths.len();
        let id = TaskId::from_random([number as u8 + 1; 16]);
        let starts_again = self.starts_again == number.is_multiple_of(2);
        let checkpoint = OnRestart::Run(Raw::empty_object());
        let restart = if starts_again { checkpoint } else { OnRestart::Fail };
        let owner = principal(client);
        let requestor = Requestor { principal: Some(&owner), protocol: self.protocol };
        let created =
            self.table.create(time, requestor, id, NewTask { restart, ..NewTask::default() });
        let created = created.unwrap_or_else(|error| panic!("{error}"));
        self.save(id);
        let expires = millis(time.now) + TTL_MS;
        let mut truth = Truth { id, client, runs: false, starts_again, end: None, expires };
        truth.start();
        self.truths.push(truth);
        created
    }

    fn act_on_tasks(&mut self, time: TaskTime) {
        while let Some(event) = self.table.poll_event() {
            match event {
                TaskEvent::Response { listener, response } => {
                    let found =
                        self.connections.iter().position(|(_, it)| *it == listener.connection);
                    let client = found.unwrap_or_else(|| panic!("a response without a connection"));
                    self.respond(time, client, listener.request.into(), Some(response));
                }
                TaskEvent::Changed { task } => {
                    self.save(task);
                    self.notify(time, task);
                }
                TaskEvent::Checkpoint { task } => self.save(task),
                TaskEvent::Run { task, .. } => self.truth(task).start(),
                TaskEvent::Stop { task } => self.truth(task).runs = false,
                TaskEvent::Removed { task } => {
                    self.store.remove(&task);
                    let truth = self.truth(task);
                    assert!(
                        time.now >= Instant::from_millis(truth.expires),
                        "a task is lost: {truth:?}"
                    );
                    if truth.end.is_none() {
                        truth.end(End::Expired);
                    }
                }
                event => panic!("{event:?}"),
            }
        }
        let truths = &self.truths;
        let is_over = |id| truths.iter().any(|truth| truth.id == id && truth.end.is_some());
        self.questions.retain(|(task, ..)| !is_over(*task));
    }

    fn notify(&mut self, time: TaskTime, task: TaskId) {
        let client = self.truth(task).client;
        let Some((method, params)) = self.table.notification(task) else { return };
        if self.protocol == TaskProtocol::Core {
            let command = OwnedCommand::Notify { method: method.into(), params: Some(params) };
            // The client may not be connected yet.
            let _lost = self.connections[client].0.apply_owned(time.now, &command);
        }
    }

    fn respond(
        &mut self,
        time: TaskTime,
        client: usize,
        incoming: IncomingId,
        response: Option<Result<Raw, ErrorObject>>,
    ) {
        let command = match response {
            Some(Ok(result)) => OwnedCommand::Respond { incoming, result: Some(result) },
            Some(Err(error)) => OwnedCommand::RespondError { incoming, error },
            None => return,
        };
        // The client may have cancelled it.
        let _gone = self.connections[client].0.apply_owned(time.now, &command);
    }

    /// The handler of a task asks for input. Returns whether it runs and does not wait for input.
    pub(super) fn ask(&mut self, time: TaskTime, task: usize) -> bool {
        let Some(truth) = self.truths.get(task).filter(|truth| truth.runs).cloned() else {
            return false;
        };
        let status = self.table.record(truth.id).map(|record| record.to_json());
        let status = status.and_then(|record| record.member("status"));
        if status.is_none_or(|status| status.as_str() != r#""working""#) {
            return false;
        }
        let mut request = InputRequest::new("elicitation/create");
        request.params = Raw::from_text(ELICIT).ok().map(Into::into);
        let keys = self.table.ask(time, truth.id, vec![request]);
        let keys = keys.unwrap_or_else(|error| panic!("{error}"));
        if self.protocol == TaskProtocol::Core {
            self.questions.extend(keys.into_iter().map(|key| (truth.id, key, None)));
            self.ask_missed(time, truth.client, &truth.id.to_text());
        }
        self.act(time);
        true
    }

    /// Sends the questions of a task that no client has received.
    fn ask_missed(&mut self, time: TaskTime, client: usize, id: &str) {
        let (machine, connection) = &mut self.connections[client];
        for (task, _, call) in &mut self.questions {
            if task.to_text() != id || call.is_some() {
                continue;
            }
            let meta = TaskTable::related_task(*task);
            let params = ELICIT.strip_suffix('}').unwrap_or_default();
            let params = format!(r#"{params},"_meta":{{"{RELATED_TASK}":{}}}}}"#, meta.as_str());
            let (method, options) = ("elicitation/create".into(), CallOptions::default());
            let params = Raw::from_text(&params).ok();
            let command = OwnedCommand::Call { method, params, options };
            let sent = machine.apply_owned(time.now, &command).ok();
            *call = sent.and_then(|sent| sent.call()).map(|call| (*connection, call));
        }
    }

    /// The handler of a task ends. Returns whether it ran.
    pub(super) fn finish(&mut self, time: TaskTime, task: usize, completes: bool) -> bool {
        let Some(truth) = self.truths.get_mut(task).filter(|truth| truth.runs) else {
            return false;
        };
        let (id, text) = (truth.id, truth.text());
        truth.end(if completes { End::Completed } else { End::Failed });
        let ended = if completes {
            let result = format!(r#"{{"content":[],"x":"{text}"}}"#);
            let result = Raw::from_text(&result).unwrap_or_else(|_| Raw::empty_object());
            self.table.complete(time, id, result)
        } else {
            self.table.fail(time, id, ErrorObject::internal(text))
        };
        assert_eq!(ended, Ok(()), "a handler runs whose task is over");
        self.act(time);
        true
    }

    fn truth(&mut self, id: TaskId) -> &mut Truth {
        let truth = self.truths.iter_mut().find(|truth| truth.id == id);
        truth.unwrap_or_else(|| panic!("an unknown task"))
    }

    fn save(&mut self, task: TaskId) {
        if let Some(record) = self.table.record(task) {
            self.store.insert(task, record.to_json());
        }
    }

    /// Checks that the store has what the table has.
    pub(super) fn check_store(&self) {
        assert_eq!(self.store.len(), self.table.len(), "the store differs from the table");
        for (id, stored) in &self.store {
            let record = self.table.record(*id).map(|record| record.to_json());
            assert_eq!(record.as_ref(), Some(stored), "the store differs from the table");
        }
    }

    fn listener(&self, client: usize, incoming: IncomingId) -> TaskListener {
        TaskListener { connection: self.connections[client].1, request: incoming.into() }
    }
}

const ELICIT: &str = r#"{"message":"m","requestedSchema":{"type":"object","properties":{}}}"#;

const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";

fn params(request: &Request) -> Raw {
    request.params.clone().unwrap_or_else(Raw::empty_object)
}

fn encoded(value: &dyn Encode, revision: Revision) -> Raw {
    value.to_raw(revision).unwrap_or_else(|_| Raw::empty_object())
}

fn limits() -> TaskLimits {
    let ttl = Duration::from_millis(TTL_MS);
    TaskLimits { ttl_default: ttl, ttl_max: ttl, ..TaskLimits::default() }
}

pub(super) fn millis(now: Instant) -> u64 {
    now.as_nanos() / 1_000_000
}
