//! [`TaskPolicy`]: which calls of a tool become tasks.

use std::time::Duration;

use mcp_proto::schema::TaskSupport;

/// Which calls of a tool become tasks.
///
/// | client | [`optional`](Self::optional) | [`required`](Self::required) |
/// |---|---|---|
/// | 2026-07-28 with the tasks extension | a task | a task |
/// | 2026-07-28 without it | a plain call | refused with `-32021` |
/// | 2025-11-25, asks for a task | a task | a task |
/// | 2025-11-25, does not ask for one | a plain call | refused with `-32601` |
/// | earlier revisions, which have no tasks | a plain call | a plain call |
///
/// ```
/// use mcp_adapter::tasks::TaskPolicy;
///
/// let slow = TaskPolicy::required().poll_interval(std::time::Duration::from_secs(30));
/// # drop(slow);
/// ```
#[derive(Clone, Debug)]
pub struct TaskPolicy {
    pub(crate) is_required: bool,
    pub(crate) asks_first: bool,
    pub(crate) poll_interval: Option<Duration>,
    pub(crate) restarts_max: u32,
}

impl TaskPolicy {
    /// Calls become tasks if the client supports that, and are plain calls otherwise.
    #[must_use]
    pub const fn optional() -> Self {
        Self { is_required: false, asks_first: false, poll_interval: None, restarts_max: 0 }
    }

    /// Calls of clients that have no tasks are refused.
    #[must_use]
    pub const fn required() -> Self {
        Self { is_required: true, ..Self::optional() }
    }

    /// Creates the task of a modern client only after the first round of input requests.
    ///
    /// The handler first runs as that of a plain call. If it [asks](crate::Cx::ask) for input, its
    /// next run is a task; otherwise, its result answers the call. The user is then asked before
    /// there is a task to poll. Default: off, and the task itself asks. No effect in 2025-11-25.
    // TSK-40: rounds of input come before the creation of a task.
    #[must_use]
    pub const fn asks_first(mut self) -> Self {
        self.asks_first = true;
        self
    }

    /// Sets the time between two status requests that clients are asked to keep.
    ///
    /// Default: 1 s, see
    /// [`TaskLimits::poll_interval`](mcp_proto::tasks::TaskLimits::poll_interval).
    #[must_use]
    pub const fn poll_interval(mut self, interval: Duration) -> Self {
        self.poll_interval = Some(interval);
        self
    }

    /// Sets how often the handler of a task is started again because the server was restarted
    /// while the task ran. Default: 0, and such a task fails.
    ///
    /// Applies to servers whose tasks are kept in a [store](crate::tasks::Tasks::store). The
    /// handler starts with the arguments, the principal and the client of the call, the answers so
    /// far, and its latest [state](crate::Cx::state). An earlier run may have stopped at any point,
    /// or even have completed if the server was killed before the result was saved. The handler
    /// must therefore be idempotent, or protect actions that must not be repeated with
    /// [`Cx::once`](crate::Cx::once). [`Cx::restarts`](crate::Cx::restarts) tells the runs apart. A
    /// task never has two runs at a time. The scopes of the caller's access token are not checked
    /// again.
    ///
    /// In revision 2025-11-25, a client without authentication finds its tasks after a restart only
    /// over stdin and stdout. The handler then asks for input once the client waits for the result.
    ///
    /// The task fails if it exceeds this number, or if the server then has no such tool or policy.
    /// The arguments of the call count for
    /// [`TaskLimits::bytes_max`](mcp_proto::tasks::TaskLimits::bytes_max) while the task runs.
    ///
    /// ```
    /// use mcp_adapter::tasks::TaskPolicy;
    ///
    /// let index = TaskPolicy::optional().restarts_max(3);
    /// # drop(index);
    /// ```
    #[must_use]
    pub const fn restarts_max(mut self, restarts: u32) -> Self {
        self.restarts_max = restarts;
        self
    }

    // TSK-03.
    pub(crate) const fn support(&self) -> TaskSupport {
        if self.is_required { TaskSupport::Required } else { TaskSupport::Optional }
    }
}
