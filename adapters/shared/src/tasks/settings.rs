//! [`Tasks`]: the settings of a server's tasks.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mcp_proto::tasks::TaskLimits;

use super::store::TaskStore;

/// The settings of the tasks of a server, for [`Server::tasks`](crate::Server::tasks).
///
/// ```
/// use mcp_adapter::tasks::Tasks;
/// use mcp_adapter::proto::tasks::TaskLimits;
///
/// let tasks = Tasks::new().limits(TaskLimits { tasks_max: 1000, ..TaskLimits::default() });
/// # drop(tasks);
/// ```
#[derive(Clone, Default)]
pub struct Tasks {
    pub(crate) limits: TaskLimits,
    pub(crate) store: Option<Arc<dyn TaskStore>>,
}

impl Tasks {
    /// Creates the default settings: [`TaskLimits::default`], in memory.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the limits of all tasks together and of those of each client: of each principal, and of
    /// each client address without one. Over HTTP without authentication, tasks are kept for at
    /// most [`TaskLimits::ttl_anonymous_max`].
    #[must_use]
    pub fn limits(mut self, limits: TaskLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets for how long a task is kept after its creation, running or not, if its client does not
    /// say. Default: 1 h. [`TaskLimits::ttl_max`] and [`TaskLimits::ttl_anonymous_max`] are raised
    /// to it.
    #[must_use]
    pub fn result_time(mut self, time: Duration) -> Self {
        self.limits.ttl_default = time;
        self.limits.ttl_max = self.limits.ttl_max.max(time);
        self.limits.ttl_anonymous_max = self.limits.ttl_anonymous_max.max(time);
        self
    }

    /// Keeps tasks in a store, so that they survive a restart of the server. Default: in memory.
    ///
    /// A task that was running when the server ended fails at the next start, or its handler starts
    /// again, as [`TaskPolicy::restarts_max`](crate::tasks::TaskPolicy::restarts_max) says. The
    /// server does not start if the store cannot be read.
    #[must_use]
    pub fn store(mut self, store: impl TaskStore) -> Self {
        self.store = Some(Arc::new(store));
        self
    }
}

impl fmt::Debug for Tasks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tasks")
            .field("limits", &self.limits)
            .field("has_store", &self.store.is_some())
            .finish()
    }
}
