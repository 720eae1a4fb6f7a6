//! The settings of a client for tasks.

use mcp_proto::tasks::{PollLimits, TaskLimits};

/// The extension of [tasks](crate::tasks), for [`Client::extension`](crate::Client::extension).
///
/// With the [tasks extension], servers of revision 2026-07-28 may create a task for any tool call.
///
/// [`Call::task`](crate::Call::task) then returns the handle of such a task. All other calls poll
/// such a task to its end and return its result. They do so within the [maximum
/// time](crate::Call::timeout_max) of the call, and cancel the task when that time is over or the
/// call is dropped. Hooks of [`Client::on_call`](crate::Client::on_call) see the end of the call
/// when the task is created.
///
/// The tasks of revision 2025-11-25 need no declaration: [`Call::task`](crate::Call::task) asks
/// for them.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::{Client, ClientTasks};
///
/// let client = Client::new("demo", "1.0.0").extension(ClientTasks::new());
/// # drop(client);
/// ```
///
/// [tasks extension]: https://modelcontextprotocol.io/extensions/tasks/overview
#[derive(Clone, Debug)]
#[must_use = "settings have no effect until they are set"]
pub struct ClientTasks {
    pub(crate) is_declared: bool,
    pub(crate) limits: PollLimits,
    pub(crate) count_max: usize,
    pub(crate) served: Option<TaskLimits>,
}

impl Default for ClientTasks {
    fn default() -> Self {
        Self::new()
    }
}

impl ClientTasks {
    /// Creates the default settings.
    pub fn new() -> Self {
        Self { is_declared: true, ..Self::undeclared() }
    }

    /// Returns the settings of a client that does not declare tasks.
    pub(crate) fn undeclared() -> Self {
        Self { is_declared: false, limits: PollLimits::default(), count_max: 256, served: None }
    }

    /// Sets the bounds of each task: its poll interval, its time and its input requests. Default:
    /// [`PollLimits::default`].
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use std::time::Duration;
    ///
    /// use mcp_tokio::proto::tasks::PollLimits;
    /// use mcp_tokio::{Client, ClientTasks};
    ///
    /// let day = Duration::from_secs(24 * 3600);
    /// let limits = PollLimits { time_max: 7 * day, ..PollLimits::default() };
    /// let client = Client::new("demo", "1.0.0").extension(ClientTasks::new().limits(limits));
    /// # drop(client);
    /// ```
    pub const fn limits(mut self, limits: PollLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the maximum number of tasks that a connection polls at a time. Default: 256.
    ///
    /// The handle of a task counts until it is dropped or the task is over, and so does a call that
    /// waits for a task. A call whose task would exceed the maximum fails, and the task is
    /// cancelled.
    pub const fn tasks_max(mut self, tasks_max: usize) -> Self {
        self.count_max = tasks_max;
        self
    }

    /// Lets servers of revision 2025-11-25 send sampling and elicitation requests as [tasks].
    ///
    /// Use this if a user may take minutes to answer. The client responds to such a request with a
    /// task while its handler continues, and the server fetches the result later. Handlers need no
    /// change: their [context](crate::ClientCx) also reports that the task was cancelled or that
    /// its time is over. Tasks end with their connection. `limits` apply to each connection
    /// separately.
    ///
    /// The client declares task support for the requests that have handlers. The setting has no
    /// effect in other revisions. A server sends such a request with
    /// [`ClientHandle::request_task`](crate::ClientHandle).
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::{Client, ClientTasks};
    /// use mcp_tokio::proto::schema::ElicitResult;
    /// use mcp_tokio::proto::tasks::TaskLimits;
    ///
    /// let client = Client::new("demo", "1.0.0")
    ///     .on_elicitation(ElicitResult::decline)
    ///     .extension(ClientTasks::new().answer_as_tasks(TaskLimits::default()));
    /// # drop(client);
    /// ```
    ///
    /// [tasks]: https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
    // TSK-01
    pub fn answer_as_tasks(mut self, limits: TaskLimits) -> Self {
        self.served = Some(limits);
        self
    }
}
