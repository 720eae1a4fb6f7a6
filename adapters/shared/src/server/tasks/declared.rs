//! The settings of tasks.

use crate::Server;
use crate::tasks::Tasks;

/// Tasks.
impl Server {
    /// Sets the limits and the store of this server's tasks. Default: [`Tasks::new`].
    ///
    /// [`Tool::as_task`](crate::Tool::as_task) lets calls become tasks.
    pub fn tasks(mut self, tasks: Tasks) -> Self {
        self.tasks = super::TaskCell::new(tasks);
        self
    }
}
