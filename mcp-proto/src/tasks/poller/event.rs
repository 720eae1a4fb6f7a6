//! The requests that a poller sends, and its events.

use alloc::boxed::Box;

use crate::json::Raw;
use crate::rpc::ErrorObject;
use crate::schema::{CancelTask, GetTask, GetTaskPayload, InputRequest, TaskStatus, UpdateTask};
use crate::vocabulary::Progress;

/// A request that a [`TaskPoller`](super::TaskPoller) wants to send.
#[derive(Clone, Debug, PartialEq)]
pub enum TaskPollRequest {
    /// `tasks/get`.
    Get(GetTask),
    /// `tasks/result`, which is answered when the task is over. (2025-11-25 only)
    ///
    /// During the call, the server may send requests for input that name the task. Give this
    /// request a long timeout; after a timeout, the poller polls again.
    // TMO-12.
    Result(GetTaskPayload),
    /// `tasks/update`. (tasks extension)
    Update(UpdateTask),
    /// `tasks/cancel`. Never `notifications/cancelled`.
    // CAN-10, TSK-34.
    Cancel(CancelTask),
}

/// Which request a response belongs to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TaskPollRequestKind {
    /// `tasks/get`.
    Get,
    /// `tasks/result`.
    Result,
    /// `tasks/update`.
    Update,
    /// `tasks/cancel`.
    Cancel,
}

/// An event of a task, from [`TaskPoller::poll_event`](super::TaskPoller::poll_event).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TaskPollEvent {
    /// The status or its message changed.
    Status {
        /// The status.
        status: TaskStatus,
        /// A message for display.
        message: Option<Box<str>>,
    },
    /// The task made progress. (2025-11-25 only)
    Progress(Progress),
    /// The task asks for input: call [`answer`](super::TaskPoller::answer). (tasks extension)
    ///
    /// Reported once for each key. Treat the request like one that the server sends directly.
    Input {
        /// The key.
        key: Box<str>,
        /// The request.
        request: InputRequest,
    },
    /// The task is over. This is the last event.
    Over(TaskOutcome),
}

/// How a task ended for its requestor.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TaskOutcome {
    /// The result of the request, which may be a tool result with `isError`.
    Completed(Raw),
    /// The error of the request.
    Failed(ErrorObject),
    /// The task was cancelled.
    Cancelled,
    /// The server does not know the task, or has deleted it.
    NotFound(ErrorObject),
    /// The time of the task is over, and it has no outcome.
    Expired,
    /// The task asked for more input than [`PollLimits`](super::PollLimits::inputs_max) allows,
    /// and was cancelled.
    TooManyInputs,
}
