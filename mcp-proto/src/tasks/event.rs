//! [`TaskEvent`]: what a driver does after a change of the table.

use super::id::TaskId;
use super::links::TaskListener;
use crate::json::Raw;
use crate::rpc::ErrorObject;

/// Something for the driver to do, in order.
///
/// See [`TaskTable::poll_event`](super::TaskTable::poll_event).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TaskEvent {
    /// Respond to a `tasks/result` request that waited.
    Response {
        /// The request.
        listener: TaskListener,
        /// The result or error to respond with, verbatim.
        response: Result<Raw, ErrorObject>,
    },
    /// The task changed: save its [`record`](super::TaskTable::record), and send its
    /// [`notification`](super::TaskTable::notification) to its
    /// [`watchers`](super::TaskTable::watchers).
    ///
    /// Several changes in quick succession are one event.
    Changed {
        /// The task.
        task: TaskId,
    },
    /// The checkpoint of the task changed: save its [`record`](super::TaskTable::record).
    Checkpoint {
        /// The task.
        task: TaskId,
    },
    /// Run the handler again: the server was restarted while the task ran.
    ///
    /// Reported once for each task and call of [`restore`](super::TaskTable::restore).
    Run {
        /// The task.
        task: TaskId,
        /// The checkpoint of [`OnRestart::Run`](super::OnRestart::Run).
        checkpoint: Raw,
    },
    /// Stop the handler: the task was cancelled or has expired. Its result will be ignored.
    Stop {
        /// The task.
        task: TaskId,
    },
    /// The task is deleted: delete its record.
    Removed {
        /// The task.
        task: TaskId,
    },
}
