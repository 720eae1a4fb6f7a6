//! [`Tool::as_task`], which alone brings tasks into a program.

use super::table::ServerTasks;
use crate::server::catalog::entries::tool::Tool;
use crate::tasks::TaskPolicy;

impl Tool {
    /// Lets calls of the tool become [tasks](crate::tasks).
    ///
    /// The server responds to such a call with the task while the handler continues. The context of
    /// the handler works as in a plain call, except that
    /// - the handler continues after the end of its connection;
    /// - it is cancelled when the client cancels the task or the time of the task is over;
    /// - [progress](crate::Cx::progress) also sets the status message of the task, and is sent in
    ///   revision 2025-11-25 only; log messages are dropped: the extension has neither.
    ///
    /// [Layers](crate::Server::layer) surround each run of the handler, and do not see the requests
    /// about tasks (`tasks/*`). The scopes that the tool [requires](Self::requires) are kept with
    /// the task: requests for its status and result, and answers to its input requests, need them
    /// too.
    ///
    /// A client finds only the tasks of its own principal. Without authentication, tasks of
    /// 2025-11-25 belong to their connection or HTTP session, and those of 2026-07-28 to every
    /// client that knows their id, which has 128 random bits.
    ///
    /// See the specification on tasks [in 2025-11-25] and as an [extension].
    ///
    /// [in 2025-11-25]:
    ///     https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
    /// [extension]: https://modelcontextprotocol.io/extensions/tasks/overview
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::tasks::TaskPolicy;
    /// use mcp_tokio::{Server, Tool};
    ///
    /// let index = Tool::new("index", || "3 documents").description("Indexes all documents");
    /// let server = Server::new("search", "1.0.0").add(index.as_task(TaskPolicy::optional()));
    /// # drop(server);
    /// ```
    pub fn as_task(mut self, policy: TaskPolicy) -> Self {
        self.definition.execution.get_or_insert_default().task_support = Some(policy.support());
        self.handler = self.handler.with_task(policy);
        self.tasks = Some(ServerTasks::open);
        self
    }
}
