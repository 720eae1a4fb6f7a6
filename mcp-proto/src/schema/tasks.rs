//! Tasks: requests whose answers are fetched later, as 2025-11-25 has them and as the extension has
//! them.

use alloc::string::String;

use super::common::ResultType;
use super::containers::{AnyObject, List, Map};
use super::input::InputRequest;
use super::lifecycle::Empty;
use super::macros::{message, object, string_enum};
use super::members::Members;
use super::meta::Meta;
use crate::json::Raw;
use crate::revision::R5;

object! {
    /// Asks for a request to be run as a task. (2025-11-25)
    pub struct TaskRequest {
        /// For how many milliseconds to keep its result.
        optional ttl: i64 = "ttl",
    }
}

string_enum! {
    /// Where a task stands.
    pub enum TaskStatus {
        /// It was given up. Final.
        Cancelled = "cancelled",
        /// Its answer is there. Final.
        Completed = "completed",
        /// It failed. Final.
        Failed = "failed",
        /// It waits for input.
        InputRequired = "input_required",
        /// It goes on.
        Working = "working",
    }
}

impl TaskStatus {
    /// Whether nothing comes after it. (TSK-10)
    #[must_use]
    pub const fn is_final(&self) -> bool {
        matches!(self, Self::Cancelled | Self::Completed | Self::Failed)
    }
}

object! {
    /// A task, as 2025-11-25 has it; also the result of getting and of cancelling one, and the notification of its
    /// status. (2025-11-25)
    pub struct Task {
        /// What it is told by.
        required task_id: String = "taskId",
        /// Where it stands.
        required status: TaskStatus = "status",
        /// The same in words.
        optional status_message: String = "statusMessage",
        /// When it began, in ISO 8601.
        required created_at: String = "createdAt",
        /// When it last changed, in ISO 8601.
        required last_updated_at: String = "lastUpdatedAt",
        /// For how many milliseconds from its creation it is kept; `None` for good.
        required ttl: Option<i64> = "ttl",
        /// How many milliseconds to wait between looking at it.
        optional poll_interval: i64 = "pollInterval",
        /// What travels along.
        optional meta: Meta = "_meta",
    }
}

object! {
    /// The request runs as a task. (2025-11-25)
    pub struct CreateTaskResult {
        /// The task.
        required task: Task = "task",
        /// What travels along.
        optional meta: Meta = "_meta",
    }
}

object! {
    /// Asks where a task stands.
    pub struct GetTask {
        /// Which one.
        required task_id: String = "taskId",
        /// What travels along.
        optional meta: Meta = "_meta",
    }
}

message!(ClientRequest "tasks/get": GetTask => Task);
message!(ServerRequest "tasks/get": GetTask => Task);

object! {
    /// Waits for the answer to a task's request, and gets just that. (2025-11-25, TSK-13)
    pub struct GetTaskPayload {
        /// Which one.
        required task_id: String = "taskId",
        /// What travels along.
        optional meta: Meta = "_meta",
    }
}

message!(ClientRequest "tasks/result": GetTaskPayload => Members);
message!(ServerRequest "tasks/result": GetTaskPayload => Members);

object! {
    /// Asks for a page of the tasks. (2025-11-25)
    pub struct ListTasks {
        /// Where to go on: what the page before said, to the letter. (PAG-01)
        optional cursor: String = "cursor",
        /// What travels along.
        optional meta: Meta = "_meta",
    }
}

object! {
    /// A page of the tasks. (2025-11-25)
    pub struct ListTasksResult {
        /// The tasks of this page.
        required tasks: List<Task> = "tasks",
        /// Where the next page begins; `None` on the last one, while an empty string goes on. (PAG-04)
        strict next_cursor: String = "nextCursor",
        /// What travels along.
        optional meta: Meta = "_meta",
    }
}

message!(ClientRequest "tasks/list": ListTasks => ListTasksResult);
message!(ServerRequest "tasks/list": ListTasks => ListTasksResult);

object! {
    /// Gives a task up.
    pub struct CancelTask {
        /// Which one.
        required task_id: String = "taskId",
        /// What travels along.
        optional meta: Meta = "_meta",
    }
}

message!(ClientRequest "tasks/cancel": CancelTask => Task);
message!(ServerRequest "tasks/cancel": CancelTask => Task);
message!(ClientNotification "notifications/tasks/status": Task);
message!(ServerNotification "notifications/tasks/status": Task);

object! {
    /// A task, as the extension has it: the result of getting one, and the notification of its status.
    pub struct DetailedTask {
        /// What it is told by.
        required task_id: String = "taskId",
        /// Where it stands.
        required status: TaskStatus = "status",
        /// The same in words.
        optional status_message: String = "statusMessage",
        /// When it began, in ISO 8601.
        required created_at: String = "createdAt",
        /// When it last changed, in ISO 8601.
        required last_updated_at: String = "lastUpdatedAt",
        /// For how many milliseconds from its creation it is kept; `None` for good.
        required ttl_ms: Option<i64> = "ttlMs",
        /// How many milliseconds to wait between looking at it.
        optional poll_interval_ms: i64 = "pollIntervalMs",
        /// What it asks, when it waits for input. (TSK-29)
        optional input_requests: Map<InputRequest> = "inputRequests",
        /// Its answer, when it is completed.
        strict result: AnyObject = "result",
        /// How it failed, when it did: an error object.
        optional error: Raw = "error",
        /// How this result came about: `task` where it is the answer to the request that it runs. (TSK-27)
        stamped result_type: ResultType = "resultType" in R5..=R5,
        /// What travels along.
        optional meta: Meta = "_meta",
    }
}

message!(ServerNotification "notifications/tasks": DetailedTask);

object! {
    /// Answers what a task asks. (extension)
    pub struct UpdateTask {
        /// Which one.
        required task_id: String = "taskId",
        /// The answers, by the keys of the questions.
        required input_responses: Members = "inputResponses",
        /// What travels along.
        optional meta: Meta = "_meta",
    }
}

message!(ClientRequest "tasks/update": UpdateTask => Empty);
