//! [`TaskError`]: why an operation on a task is refused.

use core::fmt;

use crate::rpc::ErrorObject;

/// Why the table refuses an operation of a handler, or a new task.
///
/// ```
/// use mcp_proto::tasks::TaskError;
///
/// let error = TaskError::TasksFull;
/// assert_eq!(error.to_string(), "the server runs too many tasks (`TaskLimits::tasks_max`)");
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum TaskError {
    /// The task does not exist: it was never created, or was deleted after its time.
    Unknown,
    /// The task is over. A cancelled task stays cancelled, whatever its handler does.
    Final,
    /// The id is taken: draw another one.
    IdTaken,
    /// The table has [`TaskLimits::tasks_max`](super::TaskLimits::tasks_max) tasks.
    TasksFull,
    /// The principal has
    /// [`TaskLimits::tasks_per_principal_max`](super::TaskLimits::tasks_per_principal_max) tasks.
    PrincipalFull,
    /// [`TaskLimits::bytes_max`](super::TaskLimits::bytes_max) would be exceeded, or
    /// [`TaskLimits::bytes_per_principal_max`](super::TaskLimits::bytes_per_principal_max).
    BytesFull,
    /// [`TaskLimits::inputs_max`](super::TaskLimits::inputs_max) would be exceeded.
    InputsFull,
    /// The result is not a JSON object.
    NotAnObject,
}

impl TaskError {
    /// Returns the error that a requestor receives.
    #[must_use]
    pub fn to_error(self) -> ErrorObject {
        ErrorObject::internal(alloc::format!("{self}"))
    }
}

impl fmt::Display for TaskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unknown => "task not found",
            Self::Final => "the task is over",
            Self::IdTaken => "the task id is taken: draw another one",
            Self::TasksFull => "the server runs too many tasks (`TaskLimits::tasks_max`)",
            Self::PrincipalFull => {
                "too many tasks: wait until some expire, or retrieve their results \
                 (`TaskLimits::tasks_per_principal_max`)"
            }
            Self::BytesFull => {
                "the results of tasks take too much memory (`TaskLimits::bytes_max`, \
                 `TaskLimits::bytes_per_principal_max`)"
            }
            Self::InputsFull => "the task requires too many inputs (`TaskLimits::inputs_max`)",
            Self::NotAnObject => "the result of the task is not a JSON object",
        })
    }
}

impl core::error::Error for TaskError {}

/// The answer for a task that does not exist, or belongs to another requestor or protocol.
// TSK-19, TSK-21: requestors cannot tell these apart.
pub(super) fn not_found() -> ErrorObject {
    ErrorObject::invalid_params("task not found: it does not exist or has expired")
}
