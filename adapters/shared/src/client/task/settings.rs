//! The settings of a client for tasks, and the declaration of the tasks extension.

use mcp_proto::tasks::{PollLimits, TaskLimits};
use mcp_proto::{Extension, ExtensionMethod, Revision, Side};

/// The settings of a client for tasks.
#[derive(Clone, Debug)]
pub(crate) struct TaskSettings {
    /// Whether the client declares the tasks extension.
    pub(crate) is_declared: bool,
    pub(crate) limits: PollLimits,
    /// The maximum number of tasks of a connection that are polled at a time.
    pub(crate) count_max: usize,
    /// The limits of the tasks that requests of the server become; `None` if they become none.
    pub(crate) served: Option<TaskLimits>,
}

impl Default for TaskSettings {
    fn default() -> Self {
        Self { is_declared: false, limits: PollLimits::default(), count_max: 256, served: None }
    }
}

/// Returns the tasks extension, as a client declares it.
// TSK-23, TSK-36: HTTP requests repeat the id in `Mcp-Name`.
pub(crate) fn tasks_extension() -> Extension {
    let request = |name| ExtensionMethod::request(Side::Client, name).named_by("taskId");
    Extension::new("io.modelcontextprotocol/tasks")
        .revisions(Revision::V2026_07_28..=Revision::V2026_07_28)
        .method(request("tasks/get"))
        .method(request("tasks/update"))
        .method(request("tasks/cancel"))
        .method(ExtensionMethod::notification(Side::Server, "notifications/tasks"))
        .result_type("tools/call", "task")
        .listen_key("taskIds")
}
