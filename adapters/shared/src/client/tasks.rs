//! The settings of a client for tasks, as a method of its builder.

use super::Client;
use crate::client::task::settings::{ClientTasks, tasks_extension};

impl<R> Client<R> {
    /// Declares the [tasks extension], so that servers of revision 2026-07-28 may create a task for
    /// any tool call.
    ///
    /// [`Call::task`](crate::Call::task) then returns the handle of such a task. All other calls
    /// end well too: they poll the task to its end and return its result. They do so for the
    /// [time](crate::Call::timeout_max) of the call, and cancel the task when that is over or when
    /// the call is dropped. Hooks of [`on_call`](Self::on_call) see the end of the call when the
    /// task is created.
    ///
    /// The tasks of revision 2025-11-25 need no declaration: [`Call::task`](crate::Call::task) asks
    /// for them.
    ///
    /// If the client declares an extension with this identifier already, this has no effect.
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::Client;
    ///
    /// let client = Client::new("demo", "1.0.0").tasks();
    /// # drop(client);
    /// ```
    ///
    /// [tasks extension]: https://modelcontextprotocol.io/extensions/tasks/overview
    // TSK-23, TSK-26
    pub fn tasks(mut self, settings: ClientTasks) -> Self {
        if self.settings.tasks.is_declared {
            self.settings.tasks = settings;
        } else if let Ok(config) = self.settings.config.clone().extension(tasks_extension()) {
            self.settings.config = config;
            self.settings.tasks = settings;
        }
        self
    }
}
