//! [`TaskPoller`]: a requestor's side of one task.

mod event;
mod inputs;
mod limits;
mod phase;
mod record;
mod status;

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use core::time::Duration;

use super::clock::TaskTime;
use super::protocol::{Form, TaskProtocol};
use crate::error::code;
use crate::json::Raw;
use crate::rpc::ErrorObject;
use crate::schema::{
    CancelTask, CreateTaskResult, Decode, DecodeError, DetailedTask, GetTask, GetTaskPayload, Task,
    TaskStatus, UpdateTask,
};
use crate::time::Instant;
use crate::vocabulary::Progress;
pub use event::{TaskOutcome, TaskPollEvent, TaskPollRequest, TaskPollRequestKind};
use inputs::Inputs;
pub use limits::PollLimits;
use phase::{Phase, Trigger, next};
use status::Status;

/// A requestor's side of one task: decides which request to send, and when.
///
/// The poller does no IO. Send what [`poll_request`](Self::poll_request) returns, and report each
/// response, or that there is none. At [`poll_timeout`](Self::poll_timeout), and after each call,
/// poll again.
///
/// ```text
///             Due            Running, Lost
///  Waiting ─────────▶ Polling ────────────▶ Waiting ◀───────┐
///                        │ Finished                         │ Lost
///                        ├───────────▶ Ready ── Due ──▶ Fetching
///                        │ Ended                            │ Ended
///                        ▼                                  │
///                       Over ◀──────────────────────────────┘
///
///  any but Over ── Cancel ──▶ Stopping ── Due ──▶ Cancelling ── Ended, Lost ──▶ Over
/// ```
///
/// ```
/// use mcp_proto::Raw;
/// use mcp_proto::tasks::*;
///
/// let created = r#"{"resultType":"task","taskId":"786512e2","status":"working",
///     "createdAt":"2026-07-28T10:30:00Z","lastUpdatedAt":"2026-07-28T10:30:00Z",
///     "ttlMs":60000,"pollIntervalMs":5000}"#;
/// let created = Raw::from_text(created).unwrap();
/// let mut time = TaskTime::default(); // read from both clocks
/// let mut poller =
///     TaskPoller::new(time, TaskProtocol::Extension, &created, PollLimits::default()).unwrap();
/// assert_eq!(poller.poll_request(time), None);
///
/// time.now = poller.poll_timeout().unwrap(); // 5 s later
/// assert!(matches!(poller.poll_request(time), Some(TaskPollRequest::Get(_))));
/// let status = Raw::from_text(&created.as_str().replace("working", "cancelled")).unwrap();
/// poller.on_result(time, TaskPollRequestKind::Get, &status);
/// let mut events = std::iter::from_fn(|| poller.poll_event());
/// assert_eq!(events.last(), Some(TaskPollEvent::Over(TaskOutcome::Cancelled)));
/// ```
#[derive(Debug)]
pub struct TaskPoller {
    protocol: TaskProtocol,
    task_id: Box<str>,
    limits: PollLimits,
    phase: Phase,
    /// When to poll next, in the phase `Waiting`.
    due: Instant,
    /// When the time of the task is over for this side.
    expires: Instant,
    /// When this poller began, at which time the task had this age.
    started: Instant,
    age: Duration,
    interval_ms: Option<i64>,
    /// Requests in a row that were not answered.
    lost: u32,
    inputs: Inputs,
    /// The last status that was reported.
    seen: Option<(TaskStatus, Option<Box<str>>)>,
    /// The latest progress.
    progress: f64,
    events: VecDeque<TaskPollEvent>,
    /// What a cancelled task ends with.
    verdict: TaskOutcome,
}

/// Longer keys are ignored.
const KEY_BYTES_MAX: usize = 256;

impl TaskPoller {
    /// Creates a poller from the result that created the task.
    ///
    /// # Errors
    /// Fails if `created` is not such a result.
    pub fn new(
        time: TaskTime,
        protocol: TaskProtocol,
        created: &Raw,
        limits: PollLimits,
    ) -> Result<Self, DecodeError> {
        let (task_id, status) = match protocol.rules().form {
            Form::Nested => {
                let task = CreateTaskResult::decode(created)?.task;
                (task.task_id.clone(), Status::nested(task))
            }
            Form::Flat => {
                let task = DetailedTask::decode(created)?;
                (task.task_id.clone(), Status::flat(task))
            }
        };
        let mut poller = Self::begin(time.now, protocol, task_id.into(), limits);
        poller.adopt(&status);
        let interval = poller.limits.interval(poller.interval_ms, 0);
        poller.due = time.now + if status.status.is_final() { Duration::ZERO } else { interval };
        Ok(poller)
    }

    /// Creates a poller from the id of a task, for example one that an earlier run stored. It polls
    /// immediately.
    ///
    /// The age of the task is unknown, so [`PollLimits::time_max`] counts from this call, and
    /// [`TaskOutcome::Expired`] can be late by the age of the task. If the server has deleted the
    /// task by then, the outcome is [`TaskOutcome::NotFound`]. Input requests that wait for an
    /// answer are reported, also those that an earlier run reported. To keep the age and the
    /// answered requests, store a [`record`](Self::record) instead of the id.
    // TSK-39: ids are kept.
    #[must_use]
    pub fn resume(time: TaskTime, protocol: TaskProtocol, id: &str, limits: PollLimits) -> Self {
        Self::begin(time.now, protocol, id.into(), limits)
    }

    fn begin(now: Instant, protocol: TaskProtocol, task_id: Box<str>, limits: PollLimits) -> Self {
        Self {
            protocol,
            task_id,
            phase: Phase::Waiting,
            due: now,
            expires: now + limits.time_max,
            limits,
            started: now,
            age: Duration::ZERO,
            interval_ms: None,
            lost: 0,
            inputs: Inputs::default(),
            seen: None,
            progress: f64::NEG_INFINITY,
            events: VecDeque::new(),
            verdict: TaskOutcome::Cancelled,
        }
    }

    /// Returns the id of the task.
    #[must_use]
    pub fn task_id(&self) -> &str {
        &self.task_id
    }

    /// Returns whether the task is over for this side.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Over)
    }

    /// Returns the next request to send now, if there is one.
    ///
    /// Report its end with [`on_result`](Self::on_result), [`on_error`](Self::on_error) or
    /// [`on_lost`](Self::on_lost).
    pub fn poll_request(&mut self, time: TaskTime) -> Option<TaskPollRequest> {
        let task_id = || alloc::string::String::from(&*self.task_id);
        let request = match self.phase {
            Phase::Stopping => TaskPollRequest::Cancel(CancelTask::new(task_id())),
            Phase::Ready => TaskPollRequest::Result(GetTaskPayload::new(task_id())),
            Phase::Waiting if self.due <= time.now => TaskPollRequest::Get(GetTask::new(task_id())),
            Phase::Waiting | Phase::Polling | Phase::Fetching => {
                let responses = self.inputs.send(time.now)?;
                return Some(TaskPollRequest::Update(UpdateTask::new(task_id(), responses)));
            }
            Phase::Cancelling | Phase::Over => return None,
        };
        self.phase = next(self.phase, Trigger::Due)?;
        Some(request)
    }

    /// Returns when to call [`poll_request`](Self::poll_request) again, if nothing happens before.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        match self.phase {
            Phase::Waiting => Some(self.inputs.due().map_or(self.due, |due| due.min(self.due))),
            Phase::Polling | Phase::Fetching => self.inputs.due(),
            Phase::Ready | Phase::Stopping | Phase::Cancelling | Phase::Over => None,
        }
    }

    /// Returns the next event.
    pub fn poll_event(&mut self) -> Option<TaskPollEvent> {
        self.events.pop_front()
    }

    /// Takes the result of a request. A result that cannot be decoded counts as lost.
    pub fn on_result(&mut self, time: TaskTime, kind: TaskPollRequestKind, result: &Raw) {
        match kind {
            TaskPollRequestKind::Get if self.phase == Phase::Polling => {
                match self.read_status(result) {
                    Ok(status) => self.on_status(time.now, status),
                    Err(_) => self.on_lost(time, kind),
                }
            }
            TaskPollRequestKind::Result if self.phase == Phase::Fetching => {
                self.end(self.outcome_of(result));
            }
            TaskPollRequestKind::Cancel if self.phase == Phase::Cancelling => {
                self.end(self.verdict.clone());
            }
            TaskPollRequestKind::Update => self.inputs.on_settled(),
            // The response to a request of an earlier phase.
            TaskPollRequestKind::Get
            | TaskPollRequestKind::Result
            | TaskPollRequestKind::Cancel => {}
        }
    }

    /// Takes the error that the server responded with.
    ///
    /// An error is final if it says that there is no such task, or if it is the error of a task
    /// that failed. All others, such as that of a server which is overloaded, count as
    /// [lost](Self::on_lost).
    pub fn on_error(&mut self, time: TaskTime, kind: TaskPollRequestKind, error: &ErrorObject) {
        let is_unknown = error.code == code::INVALID_PARAMS;
        match kind {
            TaskPollRequestKind::Get if self.phase == Phase::Polling && is_unknown => {
                self.end(TaskOutcome::NotFound(error.clone()));
            }
            // TSK-13: only of a failed task is it known to be the error of the task's request.
            TaskPollRequestKind::Result if self.phase == Phase::Fetching && self.has_failed() => {
                self.end(TaskOutcome::Failed(error.clone()));
            }
            // Polling finds out what became of the task.
            TaskPollRequestKind::Update if is_unknown || error.code == code::METHOD_NOT_FOUND => {
                self.inputs.on_settled();
            }
            // A cancellation too: the task is over, or unknown, and nothing is left to stop.
            TaskPollRequestKind::Get
            | TaskPollRequestKind::Result
            | TaskPollRequestKind::Update
            | TaskPollRequestKind::Cancel => self.on_lost(time, kind),
        }
    }

    /// Returns the outcome of a task with this result.
    // TSK-22: the result of a failed task says so; otherwise, the error of the request is lost.
    fn outcome_of(&self, result: &Raw) -> TaskOutcome {
        let says_so = || result.member("isError").is_some_and(|it| it.as_str() == "true");
        match &self.seen {
            Some((TaskStatus::Failed, message)) if !says_so() => {
                let why = message.as_deref().unwrap_or("the task failed without a result");
                TaskOutcome::Failed(ErrorObject::internal(why))
            }
            _ => TaskOutcome::Completed(result.clone()),
        }
    }

    fn has_failed(&self) -> bool {
        matches!(&self.seen, Some((TaskStatus::Failed, _)))
    }

    /// Notes that a request will not be answered: it timed out, or the connection is gone.
    ///
    /// The request is sent again, after a time that doubles with each loss. A lost cancellation is
    /// final for this side: the server deletes the task when its time is over.
    pub fn on_lost(&mut self, time: TaskTime, kind: TaskPollRequestKind) {
        match (kind, self.phase) {
            (TaskPollRequestKind::Update, _) => {
                let (limits, interval) = (&self.limits, self.interval_ms);
                self.inputs.on_lost(|lost| time.now + limits.interval(interval, lost));
            }
            (TaskPollRequestKind::Get, Phase::Polling)
            | (TaskPollRequestKind::Result, Phase::Fetching) => {
                self.lost = self.lost.saturating_add(1);
                self.wait(time.now, Trigger::Lost);
            }
            (TaskPollRequestKind::Cancel, Phase::Cancelling) => self.end(self.verdict.clone()),
            _ => {}
        }
    }

    /// Takes the params of a status notification for this task.
    ///
    /// Returns whether they belong to this task. Notifications only save time: without them,
    /// polling finds everything.
    // TSK-17.
    pub fn on_notification(&mut self, time: TaskTime, params: &Raw) -> bool {
        let id = params.member("taskId");
        if id.as_ref().and_then(Raw::to_text).is_none_or(|id| id != *self.task_id) {
            return false;
        }
        if let (Phase::Waiting | Phase::Polling, Ok(status)) =
            (self.phase, self.read_status(params))
        {
            self.on_status(time.now, status);
        }
        true
    }

    /// Takes the progress of the task, as [`Event::TaskProgress`](crate::client::Event) reports it.
    ///
    /// Progress that does not increase is dropped, and so is progress after the end of the task.
    // PRG-12, PRG-16.
    pub fn on_progress(&mut self, progress: Progress) {
        let is_known_to_be_over = self.seen.as_ref().is_some_and(|(status, _)| status.is_final());
        if self.is_over() || is_known_to_be_over || progress.progress <= self.progress {
            return;
        }
        self.progress = progress.progress;
        // The latest one replaces an earlier one.
        if let Some(TaskPollEvent::Progress(_)) = self.events.back() {
            self.events.pop_back();
        }
        self.events.push_back(TaskPollEvent::Progress(progress));
    }

    /// Answers an input request. Returns false if the key has an answer already, or is unknown.
    // TSK-32: each is answered once.
    pub fn answer(&mut self, key: &str, response: Raw) -> bool {
        self.inputs.answer(key, response)
    }

    /// Cancels the task. The outcome is [`TaskOutcome::Cancelled`], unless the task is over.
    pub fn cancel(&mut self) {
        if let Some(phase) = next(self.phase, Trigger::Cancel) {
            self.phase = phase;
        }
    }

    fn read_status(&self, status: &Raw) -> Result<Status, DecodeError> {
        Ok(match self.protocol.rules().form {
            Form::Nested => Status::nested(Task::decode(status)?),
            Form::Flat => Status::flat(DetailedTask::decode(status)?),
        })
    }

    fn on_status(&mut self, now: Instant, status: Status) {
        self.lost = 0;
        self.adopt(&status);
        for (key, request) in status.inputs {
            if key.len() > KEY_BYTES_MAX || !self.inputs.is_new(&key) {
                continue;
            }
            if self.inputs.len() > self.limits.inputs_max {
                self.verdict = TaskOutcome::TooManyInputs;
                self.cancel();
                return;
            }
            self.events.push_back(TaskPollEvent::Input { key, request });
        }
        if let Some(outcome) = status.outcome {
            self.end(outcome);
            return;
        }
        let fetches = self.protocol.serves("tasks/result")
            && (status.status.is_final() || status.status == TaskStatus::InputRequired);
        if fetches {
            // TSK-14: `tasks/result` brings the result, and the requests for input.
            self.phase = next(self.phase, Trigger::Finished).unwrap_or(self.phase);
        } else {
            self.wait(now, Trigger::Running);
        }
    }

    /// Waits for the next poll, unless the time of the task is over.
    fn wait(&mut self, now: Instant, trigger: Trigger) {
        if now >= self.expires {
            self.end(TaskOutcome::Expired);
            return;
        }
        if let Some(phase) = next(self.phase, trigger) {
            self.phase = phase;
            self.due = now + self.limits.interval(self.interval_ms, self.lost);
        }
    }

    /// Takes over what a status says about the task, and reports what is new.
    fn adopt(&mut self, status: &Status) {
        self.interval_ms = status.interval_ms;
        let ttl = status.ttl_ms.and_then(|ms| u64::try_from(ms).ok()).map(Duration::from_millis);
        let time_max = self.limits.time_max;
        let ttl = ttl.map_or(time_max, |ttl| ttl.min(time_max));
        self.expires = self.started + ttl.saturating_sub(self.age);
        let seen = Some((status.status.clone(), status.message.clone()));
        if self.seen != seen {
            self.seen = seen;
            let (status, message) = (status.status.clone(), status.message.clone());
            self.events.push_back(TaskPollEvent::Status { status, message });
        }
    }

    fn end(&mut self, outcome: TaskOutcome) {
        if let Some(phase) = next(self.phase, Trigger::Ended) {
            self.phase = phase;
            self.events.push_back(TaskPollEvent::Over(outcome));
        }
    }
}
