//! One task of a table, and the JSON in which it is sent.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::clock::{TaskTime, timestamp};
use super::protocol::Form;
use super::record::{OnRestart, Outcome, TaskRecord};
use super::status::State;
use crate::json::{Object, Raw, TextWithMeta, with_meta};
use crate::revision::Revision;
use crate::rpc::{ErrorObject, RequestId};
use crate::schema::{
    CreateTaskResult, DetailedTask, Encode, InputRequest, Map, ResultType, Task, key,
};
use crate::time::Instant;

/// One task.
#[derive(Debug)]
pub(super) struct TaskEntry {
    pub(super) record: TaskRecord,
    /// When the task expires.
    pub(super) deadline: Instant,
    /// The outstanding input requests, by the number in their key.
    pub(super) inputs: Vec<(u64, InputRequest)>,
    /// The progress token of the request, until the task is over.
    pub(super) progress_token: Option<RequestId>,
    /// The latest progress.
    pub(super) progress: f64,
    /// The bytes that its handler holds.
    pub(super) request_bytes: usize,
    /// Whether the requestor retrieved the outcome.
    pub(super) is_retrieved: bool,
    /// Whether a change is queued that was not reported yet.
    pub(super) is_announced: bool,
    /// Whether the owner is gone: the task is deleted once it is over.
    pub(super) is_abandoned: bool,
    /// The bytes that are counted for this task, and its worth.
    pub(super) charged: (usize, Worth),
}

/// Which tasks of an account make room first.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Worth {
    /// The task is cancelled, or its result was retrieved.
    Spent,
    /// The task is over.
    Final,
    Running,
}

impl TaskEntry {
    pub(super) const fn new(
        record: TaskRecord,
        deadline: Instant,
        progress_token: Option<RequestId>,
    ) -> Self {
        Self {
            record,
            deadline,
            inputs: Vec::new(),
            progress_token,
            progress: f64::NEG_INFINITY,
            request_bytes: 0,
            is_retrieved: false,
            is_announced: false,
            is_abandoned: false,
            charged: (0, Worth::Running),
        }
    }

    pub(super) const fn is_final(&self) -> bool {
        self.record.state.is_final()
    }

    pub(super) fn worth(&self) -> Worth {
        match self.record.state {
            State::Cancelled => Worth::Spent,
            state if !state.is_final() => Worth::Running,
            _ if self.is_retrieved => Worth::Spent,
            _ => Worth::Final,
        }
    }

    /// Returns the size of everything that the table counts.
    pub(super) fn bytes(&self) -> usize {
        let inputs: usize = self.inputs.iter().map(|(_, input)| input_bytes(input)).sum();
        let scopes: usize = self.record.scopes.iter().map(String::len).sum();
        self.record.outcome.bytes() + self.request_bytes + self.checkpoint_bytes() + inputs + scopes
    }

    /// Returns the length of what starts the handler again.
    pub(super) fn checkpoint_bytes(&self) -> usize {
        match &self.record.restart {
            OnRestart::Fail => 0,
            OnRestart::Run(checkpoint) => checkpoint.as_bytes().len(),
        }
    }

    /// Notes a change at this time.
    pub(super) fn touch(&mut self, time: TaskTime) {
        self.record.updated_ms = self.record.updated_ms.max(time.unix_ms);
    }

    /// Sets the status message; cuts it off after `bytes_max` bytes.
    pub(super) fn set_message(&mut self, message: Option<&str>, bytes_max: usize) {
        self.record.message = message.map(|message| {
            let mut end = message.len().min(bytes_max);
            while !message.is_char_boundary(end) {
                end -= 1;
            }
            message.get(..end).unwrap_or_default().into()
        });
    }

    /// Removes the input request with this key. Returns whether it was outstanding.
    pub(super) fn take_input(&mut self, key: &str) -> bool {
        // TSK-33: keys that are not outstanding are ignored.
        let number = key.strip_prefix(INPUT).and_then(|number| number.parse().ok());
        let at = self.inputs.iter().position(|(of, _)| Some(*of) == number);
        match at.filter(|_| number.is_some_and(|number| *input_key(number) == *key)) {
            Some(at) => {
                self.inputs.remove(at);
                true
            }
            None => false,
        }
    }

    /// Returns the result of the request that created the task.
    pub(super) fn created(&self) -> Raw {
        let rules = self.record.protocol.rules();
        match rules.form {
            Form::Nested => encoded(&CreateTaskResult::new(self.task()), rules.revision),
            // TSK-27: `task` only here.
            Form::Flat => {
                let mut task = self.detailed();
                task.result_type = ResultType::Task;
                encoded(&task, rules.revision)
            }
        }
    }

    /// Returns the result of `tasks/get`.
    pub(super) fn status(&self) -> Raw {
        self.encoded_for(self.record.protocol.rules().revision)
    }

    /// Returns the params of a status notification.
    pub(super) fn notification(&self) -> Raw {
        self.encoded_for(self.record.protocol.rules().notification_revision)
    }

    // TSK-16: without `related-task`.
    fn encoded_for(&self, revision: Revision) -> Raw {
        match self.record.protocol.rules().form {
            Form::Nested => encoded(&self.task(), revision),
            Form::Flat => encoded(&self.detailed(), revision),
        }
    }

    // TSK-11: creation, last change and the actual ttl.
    pub(super) fn task(&self) -> Task {
        let record = &self.record;
        let (created, updated) = (timestamp(record.created_ms), timestamp(record.updated_ms));
        let (id, status) = (record.id.to_text(), record.state.status());
        let mut task = Task::new(id, status, created, updated);
        task.ttl = integer(record.ttl_ms);
        task.status_message = record.message.as_deref().map(String::from);
        task.poll_interval = integer(record.poll_ms);
        task
    }

    fn detailed(&self) -> DetailedTask {
        let record = &self.record;
        let (created, updated) = (timestamp(record.created_ms), timestamp(record.updated_ms));
        let (id, status) = (record.id.to_text(), record.state.status());
        let mut task = DetailedTask::new(id, status, created, updated, integer(record.ttl_ms));
        task.status_message = record.message.as_deref().map(String::from);
        task.poll_interval_ms = integer(record.poll_ms);
        // TSK-29: all outstanding input requests, or the outcome.
        if record.state == State::InputRequired {
            let inputs = self.inputs.iter();
            let inputs: Map<_> = inputs.map(|(n, input)| (input_key(*n), input.clone())).collect();
            task.input_requests = Some(inputs);
        }
        match &record.outcome {
            Outcome::None => {}
            Outcome::Result(result) => task.result = Some(result.clone().into()),
            Outcome::Error(error) => {
                let mut out = Vec::new();
                error.write(&mut out);
                task.error = Some(Raw::from_written(out));
            }
        }
        task
    }
}

/// The prefix of all keys.
const INPUT: &str = "input-";

/// Returns the key of an input request.
// TSK-31: numbers are never used twice in the life of a task, and neither are keys.
pub(super) fn input_key(number: u64) -> Box<str> {
    format!("{INPUT}{number}").into()
}

/// Returns the bytes that an input request counts.
pub(super) fn input_bytes(input: &InputRequest) -> usize {
    let params = input.params.as_ref().map_or(0, |params| params.as_bytes().len());
    input.method.len() + params
}

/// Returns the response to `tasks/result` for a task that is over.
// TSK-13, TSK-15: exactly the result or error of the request, and the id of the task.
pub(super) fn payload(task_id: &str, outcome: &Outcome) -> Result<Raw, ErrorObject> {
    match outcome {
        Outcome::None => Err(ErrorObject::invalid_params("the task was cancelled: no result")),
        Outcome::Error(error) => Err((**error).clone()),
        Outcome::Result(result) => {
            let mut out = Vec::with_capacity(result.as_bytes().len() + 128);
            let result = TextWithMeta::of(Some(result.as_bytes()));
            with_meta(&mut out, result, &[key::RELATED_TASK], |meta| {
                write_related(meta, task_id);
            });
            Ok(Raw::from_written(out))
        }
    }
}

/// Returns the `_meta` of a message about a task.
pub(super) fn related_meta(task_id: &str) -> Raw {
    let mut out = Vec::new();
    let mut meta = Object::begin(&mut out);
    write_related(&mut meta, task_id);
    meta.end();
    Raw::from_written(out)
}

fn write_related(meta: &mut Object<'_>, task_id: &str) {
    let mut related = Object::begin(meta.key(key::RELATED_TASK));
    related.str("taskId", task_id);
    related.end();
}

pub(super) fn encoded(value: &impl Encode, revision: Revision) -> Raw {
    let mut out = Vec::with_capacity(256);
    match value.encode(revision, &mut out) {
        Ok(()) => Raw::from_written(out),
        // Cannot happen: results and params were checked to be objects.
        Err(_) => Raw::empty_object(),
    }
}

fn integer(value: u64) -> Option<i64> {
    i64::try_from(value).ok()
}
