//! Declares which tools support tasks.

use crate::Server;
use crate::server::builder::Builder;
use crate::server::handler::Handler;
use crate::tasks::{TaskPolicy, Tasks};

/// Tasks.
impl Server {
    /// Lets calls of the tool that was added last become [tasks](crate::tasks).
    ///
    /// The response to such a call is the task, and the handler runs on. Its context works as that
    /// of a plain call, except that
    /// - the handler also runs on after the end of its connection;
    /// - it is cancelled when the client cancels the task or the time of the task is over;
    /// - [progress](crate::Cx::progress) also sets the status message of the task, and is sent in
    ///   revision 2025-11-25 only; log messages are dropped: the extension has neither.
    ///
    /// [Layers](Self::layer) surround each run of the handler, and do not see the requests about
    /// tasks (`tasks/*`). The scopes that the tool [requires](Self::requires) are kept with the
    /// task: requests for its status and result, and answers to its input requests, need them too.
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
    /// use mcp_tokio::Server;
    /// use mcp_tokio::tasks::TaskPolicy;
    ///
    /// let server = Server::new("search", "1.0.0")
    ///     .tool("index", "Indexes all documents", |(), _cx| Ok("3 documents"))
    ///     .as_task(TaskPolicy::optional());
    /// # drop(server);
    /// ```
    pub fn as_task(mut self, policy: TaskPolicy) -> Self {
        self.builder.make_task(policy);
        self
    }

    /// Sets the limits and the store of this server's tasks. Default: [`Tasks::new`].
    pub fn tasks(mut self, tasks: Tasks) -> Self {
        self.tasks = super::TaskCell::new(tasks);
        self
    }
}

impl Builder {
    fn make_task(&mut self, policy: TaskPolicy) {
        let last = self.last_entry().map(str::to_owned);
        let made = self.changes.with_catalog(|catalog| {
            let found = catalog
                .tools()
                .last()
                .filter(|(tool, _)| last == Some(format!("the tool `{}`", tool.name)))
                .map(|(tool, handler)| (tool.clone(), handler.clone()));
            let Some((mut tool, Handler::Tool(handler))) = found else { return false };
            tool.execution.get_or_insert_default().task_support = Some(policy.support());
            catalog.replace_tool(tool, Handler::Tool(handler.with_task(policy))).is_ok()
        });
        if made {
            self.has_tasks = true;
        } else {
            self.refuse("`Server::as_task` follows no tool: move it directly after a tool");
        }
    }
}
