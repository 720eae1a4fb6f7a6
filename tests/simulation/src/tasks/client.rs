//! The client of a world of tasks: its calls, and the handles of its tasks.

use mcp_proto::client::{Client, Config, Event};
use mcp_proto::schema::Encode;
use mcp_proto::stdio::Stdio;
use mcp_proto::tasks::{
    PollLimits, TaskOutcome, TaskPollEvent, TaskPollRequest, TaskPollRequestKind, TaskPoller,
    TaskProtocol, TaskTime,
};
use mcp_proto::{
    CallError, CallId, CallOptions, Capability, ErrorObject, IncomingId, Instant, OwnedCommand,
    Raw, Revision, RoleEndpoint as _,
};

use super::setup::tasks_extension;

/// A client, whose connection may be replaced.
#[derive(Debug)]
pub(super) struct TasksClient {
    pub(super) machine: Stdio<Client>,
    protocol: TaskProtocol,
    /// The calls that create tasks.
    creating: Vec<CallId>,
    pub(super) handles: Vec<Handle>,
    /// The questions of the server that are not answered, with their tasks. (2025-11-25)
    asked: Vec<(IncomingId, String)>,
    /// The responses to other requests.
    pub(super) responses: Vec<Result<Raw, CallError>>,
}

/// A task as its client knows it.
#[derive(Debug)]
pub(super) struct Handle {
    pub(super) poller: TaskPoller,
    in_flight: Vec<(CallId, TaskPollRequestKind)>,
    inputs: Vec<Box<str>>,
    pub(super) has_cancelled: bool,
    pub(super) learned: Option<TaskOutcome>,
}

impl TasksClient {
    pub(super) fn new(now: Instant, revision: Revision, protocol: TaskProtocol) -> Self {
        Self {
            machine: connect(now, revision),
            protocol,
            creating: Vec::new(),
            handles: Vec::new(),
            asked: Vec::new(),
            responses: Vec::new(),
        }
    }

    /// Connects again. What was in flight is lost.
    pub(super) fn reconnect(&mut self, time: TaskTime, revision: Revision) {
        self.machine = connect(time.now, revision);
        self.creating.clear();
        self.asked.clear();
        for handle in &mut self.handles {
            for (_, kind) in std::mem::take(&mut handle.in_flight) {
                handle.poller.on_lost(time, kind);
            }
        }
        self.act(time);
    }

    pub(super) fn call_tool(&mut self, now: Instant) {
        let params = match self.protocol {
            TaskProtocol::Core => r#"{"name":"t","task":{"ttl":100000}}"#,
            TaskProtocol::Extension => r#"{"name":"t"}"#,
        };
        let call = self.call(now, "tools/call", params);
        self.creating.extend(call);
    }

    pub(super) fn call(&mut self, now: Instant, method: &str, params: &str) -> Option<CallId> {
        let params = Raw::from_text(params).ok();
        let options = CallOptions::default();
        let command = OwnedCommand::Call { method: method.into(), params, options };
        self.machine.apply_owned(now, &command).ok()?.call()
    }

    /// Reacts to everything that has arrived, and sends what is due.
    pub(super) fn act(&mut self, time: TaskTime) {
        while let Some(event) = self.machine.poll_event() {
            match event {
                Event::Completed { call, outcome } => self.completed(time, call, outcome),
                Event::Notification { params: Some(params), .. } => {
                    let mut handles = self.handles.iter_mut();
                    handles.any(|handle| handle.poller.on_notification(time, &params));
                }
                Event::Request { incoming, request, .. } => {
                    let task = request.params.and_then(|params| {
                        let related = params.member("_meta")?.member(RELATED_TASK)?;
                        related.member("taskId")?.to_text().map(Into::into)
                    });
                    let task = task.unwrap_or_else(|| panic!("a question without its task"));
                    self.asked.push((incoming, task));
                }
                Event::Violation(violation) => panic!("{violation:?}"),
                _ => {}
            }
        }
        for handle in &mut self.handles {
            handle.act(&mut self.machine, time);
        }
    }

    fn completed(&mut self, time: TaskTime, call: CallId, outcome: Result<Raw, CallError>) {
        if let Some(at) = self.creating.iter().position(|creating| *creating == call) {
            self.creating.remove(at);
            if let Ok(created) = outcome {
                let limits = PollLimits::default();
                let poller = TaskPoller::new(time, self.protocol, &created, limits);
                let poller = poller.unwrap_or_else(|error| panic!("{error}: {created:?}"));
                self.handles.push(Handle {
                    poller,
                    in_flight: Vec::new(),
                    inputs: Vec::new(),
                    has_cancelled: false,
                    learned: None,
                });
            }
            return;
        }
        for handle in &mut self.handles {
            let is_it = |(in_flight, _): &(CallId, _)| *in_flight == call;
            let Some(at) = handle.in_flight.iter().position(is_it) else { continue };
            let (_, kind) = handle.in_flight.remove(at);
            return match outcome {
                Ok(result) => handle.poller.on_result(time, kind, &result),
                Err(CallError::Refused(error)) => handle.poller.on_error(time, kind, &error),
                Err(_) => handle.poller.on_lost(time, kind),
            };
        }
        self.responses.push(outcome);
    }

    /// Answers all input requests of a task. Returns whether there were any.
    pub(super) fn answer(&mut self, time: TaskTime, task: &str) -> bool {
        let answer = || Raw::from_text(r#"{"action":"accept","content":{}}"#);
        let (asked, others) =
            std::mem::take(&mut self.asked).into_iter().partition(|it| it.1 == task);
        self.asked = others;
        let asked: Vec<(IncomingId, String)> = asked;
        for (incoming, _) in &asked {
            let command = OwnedCommand::Respond { incoming: *incoming, result: answer().ok() };
            // The server may have withdrawn it.
            let _gone = self.machine.apply_owned(time.now, &command);
        }
        let mut inputs = Vec::new();
        if let Some(handle) = self.handle(task) {
            inputs = std::mem::take(&mut handle.inputs);
            for key in &inputs {
                handle.poller.answer(key, answer().unwrap_or_else(|_| Raw::empty_object()));
            }
        }
        self.act(time);
        !asked.is_empty() || !inputs.is_empty()
    }

    /// Cancels a task. Returns whether the client knows it, as one that runs.
    pub(super) fn cancel(&mut self, time: TaskTime, task: &str) -> bool {
        let Some(handle) = self.handle(task).filter(|it| !it.has_cancelled && it.learned.is_none())
        else {
            return false;
        };
        handle.has_cancelled = true;
        handle.poller.cancel();
        self.act(time);
        true
    }

    pub(super) fn handle(&mut self, task: &str) -> Option<&mut Handle> {
        self.handles.iter_mut().find(|handle| handle.poller.task_id() == task)
    }

    /// Returns when the next poll is due.
    pub(super) fn due(&self) -> Option<Instant> {
        self.handles.iter().filter_map(|handle| handle.poller.poll_timeout()).min()
    }
}

impl Handle {
    fn act(&mut self, machine: &mut Stdio<Client>, time: TaskTime) {
        loop {
            while let Some(event) = self.poller.poll_event() {
                match event {
                    TaskPollEvent::Input { key, .. } => self.inputs.push(key),
                    TaskPollEvent::Over(outcome) => {
                        let earlier = self.learned.replace(outcome);
                        assert_eq!(earlier, None, "a task ends twice for its client");
                    }
                    _ => {}
                }
            }
            let Some(request) = self.poller.poll_request(time) else { return };
            let (method, params, kind): (_, &dyn Encode, _) = match &request {
                TaskPollRequest::Get(it) => ("tasks/get", it, TaskPollRequestKind::Get),
                TaskPollRequest::Result(it) => ("tasks/result", it, TaskPollRequestKind::Result),
                TaskPollRequest::Update(it) => ("tasks/update", it, TaskPollRequestKind::Update),
                TaskPollRequest::Cancel(it) => ("tasks/cancel", it, TaskPollRequestKind::Cancel),
            };
            let params = params.to_raw(Revision::V2026_07_28).ok();
            assert!(params.is_some());
            let options = CallOptions::default();
            let command = OwnedCommand::Call { method: method.into(), params, options };
            match machine.apply_owned(time.now, &command) {
                Ok(sent) => self.in_flight.extend(sent.call().map(|call| (call, kind))),
                Err(_) => self.poller.on_lost(time, kind),
            }
        }
    }
}

/// Returns a client that is about to connect.
fn connect(now: Instant, revision: Revision) -> Stdio<Client> {
    let config =
        Config::new("c", "1").revisions(&[revision]).capability(Capability::ElicitationForm);
    let config = config.clone().extension(tasks_extension()).unwrap_or(config);
    Stdio::new(Client::new(now, config))
}

const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";

/// Returns whether a response says that there is no such task.
pub(super) fn is_not_found(response: &Result<Raw, CallError>) -> bool {
    matches!(response, Err(CallError::Refused(ErrorObject { code: -32602, .. })))
}
