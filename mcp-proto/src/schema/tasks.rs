//! Tasks: requests whose results are fetched later, in revision 2025-11-25 and as an extension.

use alloc::string::String;

use super::common::ResultType;
use super::containers::{AnyObject, List, Map};
use super::input::InputRequest;
use super::lifecycle::EmptyResult;
use super::macros::{message, object, string_enum};
use super::members::ExtraMembers;
use super::meta::Meta;
use crate::json::Raw;
use crate::revision::R5;

object! {
    /// The `task` member of a request that the receiver should run as a task. (2025-11-25 only)
    ///
    /// See <https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks>.
    pub struct TaskRequest {
        /// Requested time to retain the task after its creation, in milliseconds.
        optional ttl: i64 = "ttl",
    }
}

string_enum! {
    /// The status of a task. (2025-11-25 and tasks extension)
    pub enum TaskStatus {
        /// The task was cancelled. This status is final.
        Cancelled = "cancelled",
        /// The result is available. This status is final.
        Completed = "completed",
        /// The task failed. This status is final.
        Failed = "failed",
        /// The task needs input from the side that requested the task.
        InputRequired = "input_required",
        /// The task is running.
        Working = "working",
    }
}

impl TaskStatus {
    /// Returns whether the status is final, that is, never changes again.
    // TSK-10: a final status never changes.
    #[must_use]
    pub const fn is_final(&self) -> bool {
        matches!(self, Self::Cancelled | Self::Completed | Self::Failed)
    }
}

object! {
    /// A task and its status. (2025-11-25 only)
    ///
    /// This type is the result of `tasks/get` and `tasks/cancel` requests. The params of a
    /// `notifications/tasks/status` notification also have this type.
    pub struct Task {
        /// The task's id.
        required task_id: String = "taskId",
        /// Current status.
        required status: TaskStatus = "status",
        /// Status message for display.
        optional status_message: String = "statusMessage",
        /// Creation time, in ISO 8601.
        required created_at: String = "createdAt",
        /// Time of the last change, in ISO 8601.
        required last_updated_at: String = "lastUpdatedAt",
        /// How long the task is retained after its creation, in milliseconds; `None` if unlimited.
        // Required, but the official Python SDK leaves out a `null`.
        stamped ttl: Option<i64> = "ttl",
        /// Suggested polling interval, in milliseconds.
        optional poll_interval: i64 = "pollInterval",
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

object! {
    /// The immediate result of a request that runs as a task. (2025-11-25 only)
    pub struct CreateTaskResult {
        /// The task that was created.
        required task: Task = "task",
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

object! {
    /// The params of a `tasks/get` request for a task's status. (2025-11-25 and tasks extension)
    ///
    /// The result is a [`Task`] in revision 2025-11-25, and a [`DetailedTask`] in the extension.
    pub struct GetTask {
        /// The task's id.
        required task_id: String = "taskId",
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

message!(ClientRequest "tasks/get": GetTask => Task);
message!(ServerRequest "tasks/get": GetTask => Task);

object! {
    /// The params of a `tasks/result` request. (2025-11-25 only)
    ///
    /// When the task ends, the receiver responds with the result or error of the original request.
    // TSK-13: exactly the result or error of the task's request.
    pub struct GetTaskPayload {
        /// The task's id.
        required task_id: String = "taskId",
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

message!(ClientRequest "tasks/result": GetTaskPayload => ExtraMembers);
message!(ServerRequest "tasks/result": GetTaskPayload => ExtraMembers);

object! {
    /// The params of a `tasks/list` request for one page of the list. (2025-11-25 only)
    pub struct ListTasks {
        /// The previous page's `next_cursor`, verbatim; `None` for the first page.
        // PAG-01: cursors are opaque and are echoed verbatim.
        optional cursor: String = "cursor",
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

object! {
    /// The result of a `tasks/list` request: one page of the list. (2025-11-25 only)
    pub struct ListTasksResult {
        /// The tasks on this page.
        required tasks: List<Task> = "tasks",
        /// Cursor of the next page; `None` on the last page. An empty string is a valid cursor.
        // PAG-04: only an absent cursor ends the list.
        strict next_cursor: String = "nextCursor",
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

message!(ClientRequest "tasks/list": ListTasks => ListTasksResult);
message!(ServerRequest "tasks/list": ListTasks => ListTasksResult);

object! {
    /// The params of a `tasks/cancel` request. (2025-11-25 and tasks extension)
    pub struct CancelTask {
        /// The task's id.
        required task_id: String = "taskId",
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

message!(ClientRequest "tasks/cancel": CancelTask => Task);
message!(ServerRequest "tasks/cancel": CancelTask => Task);
message!(ClientNotification "notifications/tasks/status": Task);
message!(ServerNotification "notifications/tasks/status": Task);

object! {
    /// A task with its status, input requests and outcome. (tasks extension)
    ///
    /// This type is the result of a `tasks/get` request, and of a request for which the server
    /// creates a task. The params of a `notifications/tasks` notification also have this type.
    pub struct DetailedTask {
        /// The task's id.
        required task_id: String = "taskId",
        /// Current status.
        required status: TaskStatus = "status",
        /// Status message for display.
        optional status_message: String = "statusMessage",
        /// Creation time, in ISO 8601.
        required created_at: String = "createdAt",
        /// Time of the last change, in ISO 8601.
        required last_updated_at: String = "lastUpdatedAt",
        /// How long the task is retained after its creation, in milliseconds; `None` if unlimited.
        required ttl_ms: Option<i64> = "ttlMs",
        /// Suggested polling interval, in milliseconds.
        optional poll_interval_ms: i64 = "pollIntervalMs",
        /// Pending input requests, by key, if the status is `input_required`.
        // TSK-29: all outstanding input requests.
        optional input_requests: Map<InputRequest> = "inputRequests",
        /// The original request's result, if the status is `completed`.
        strict result: AnyObject = "result",
        /// The original request's error object, if the status is `failed`.
        optional error: Raw = "error",
        /// `task` if this result creates the task, otherwise `complete`. (since 2026-07-28)
        // TSK-27: `task` only in the result that creates a task.
        stamped result_type: ResultType = "resultType" in R5..=R5,
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

message!(ServerNotification "notifications/tasks": DetailedTask);

object! {
    /// The params of a `tasks/update` request: responses to input requests. (tasks extension)
    pub struct UpdateTask {
        /// The task's id.
        required task_id: String = "taskId",
        /// The responses, each under the key of its input request.
        required input_responses: ExtraMembers = "inputResponses",
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

message!(ClientRequest "tasks/update": UpdateTask => EmptyResult);
