//! [`TaskUpdate`]: a new status of a task, or its progress.

use mcp_proto::Progress;
use mcp_proto::schema::TaskStatus;

/// A new status of a task, or its progress.
///
/// ```
/// use mcp_adapter::TaskUpdate;
///
/// fn show(update: &TaskUpdate) -> String {
///     let message = update.message.as_deref().unwrap_or("");
///     match &update.progress {
///         Some(progress) => format!("{} {message}", progress.progress),
///         None => format!("{}: {message}", update.status),
///     }
/// }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TaskUpdate {
    /// The status.
    pub status: TaskStatus,
    /// The server's message for display, if it sent one.
    pub message: Option<Box<str>>,
    /// The progress, if this update reports that: the status is then that of the update before.
    ///
    /// Only tasks of revision 2025-11-25 have it, on the connection of their call. If several
    /// arrive before the next update, the latest one is reported.
    pub progress: Option<Progress>,
}
