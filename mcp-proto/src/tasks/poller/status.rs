//! The status of a task, as a requestor receives it in either protocol.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::event::TaskOutcome;
use crate::json::Raw;
use crate::rpc::ErrorObject;
use crate::schema::{DetailedTask, InputRequest, Task, TaskStatus};

/// The parts of a status that both protocols have.
pub(super) struct Status {
    pub(super) status: TaskStatus,
    pub(super) message: Option<Box<str>>,
    pub(super) ttl_ms: Option<i64>,
    pub(super) interval_ms: Option<i64>,
    pub(super) outcome: Option<TaskOutcome>,
    pub(super) inputs: Vec<(Box<str>, InputRequest)>,
}

impl Status {
    pub(super) fn nested(task: Task) -> Self {
        // TSK-14: a cancelled task has no result to fetch.
        let outcome = (task.status == TaskStatus::Cancelled).then_some(TaskOutcome::Cancelled);
        Self {
            status: task.status,
            message: task.status_message.map(Into::into),
            ttl_ms: task.ttl,
            interval_ms: task.poll_interval,
            outcome,
            inputs: Vec::new(),
        }
    }

    pub(super) fn flat(task: DetailedTask) -> Self {
        let outcome = match (&task.status, task.result, task.error) {
            (TaskStatus::Completed, Some(result), _) => Some(TaskOutcome::Completed(result.0)),
            (TaskStatus::Completed, None, _) => Some(TaskOutcome::Failed(ErrorObject::internal(
                "the server completed the task without a result",
            ))),
            (TaskStatus::Failed, _, error) => Some(TaskOutcome::Failed(read_error(error))),
            (TaskStatus::Cancelled, ..) => Some(TaskOutcome::Cancelled),
            _ => None,
        };
        Self {
            status: task.status,
            message: task.status_message.map(Into::into),
            ttl_ms: task.ttl_ms,
            interval_ms: task.poll_interval_ms,
            outcome,
            inputs: task.input_requests.map(|inputs| inputs.items).unwrap_or_default(),
        }
    }
}

/// Reads the error of a failed task; a malformed one is replaced.
fn read_error(error: Option<Raw>) -> ErrorObject {
    let read = error.and_then(|error| {
        let code = error.member("code")?.parse().ok()?;
        let message = error.member("message")?;
        let mut read = ErrorObject::new(code, message.to_text()?);
        read.data = error.member("data");
        Some(read)
    });
    read.unwrap_or_else(|| ErrorObject::internal("the task failed with a malformed error"))
}
