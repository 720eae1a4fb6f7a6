//! Tool calls that ask for a task.

use std::borrow::Cow;
use std::future::{Future, IntoFuture};
use std::sync::Arc;
use std::time::Duration;

use mcp_proto::client::Client as Machine;
use mcp_proto::schema::{CallToolResult, TaskRequest, TaskSupport, Tool};
use mcp_proto::{Capability, Revision};

use crate::box_future::BoxFuture;
use crate::client::call::Call;
use crate::client::connection::lists::list_tools;
use crate::client::in_flight::created_task_id;
use crate::client::task::driver::TaskDriver;
use crate::client::task::handle::TaskHandle;
use crate::client::task::mailbox::Mailbox;
use crate::error::Error;
use crate::exec::operation::Operation;
use crate::transport::link::Link;

/// A tool call that asks for a [task], and has not been sent yet. Await it, or wait for
/// [`start`](Self::start), for the [`TaskHandle`].
///
/// A task continues at the server if the connection is lost or the client ends.
///
/// In revision 2025-11-25, the call asks for a task if the server and the tool support that. In
/// revision 2026-07-28, the server decides, provided that the client declares
/// [`ClientTasks`](crate::ClientTasks). In all other cases, the call is a plain one, and the handle
/// holds its result, so that callers can treat all cases alike.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use std::time::Duration;
///
/// use mcp_tokio::{Connection, Error};
/// use serde_json::json;
///
/// async fn index(connection: &Connection) -> Result<(), Error> {
///     let call = connection.call_tool("index", &json!({"path": "/data"}));
///     let mut index = call.task().ttl(Duration::from_secs(3600)).await?;
///     println!("task {:?}", index.id());
///     let result = index.result().await?;
///     println!("{:?}", result.content);
///     Ok(())
/// }
/// ```
///
/// [task]: https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
#[must_use = "a call is sent by `.await` or `.start()`"]
pub struct TaskCall<'c> {
    call: Call<'c, CallToolResult>,
    ttl: Option<Duration>,
    /// `None` if it is unknown.
    support: Option<TaskSupport>,
}

impl<'c> Call<'c, CallToolResult> {
    /// Makes this a call that asks for a task.
    ///
    /// The timeouts and the progress callback of the call then apply to the response that creates
    /// the task, and not to the task, whose progress
    /// [`TaskHandle::next_update`](crate::TaskHandle::next_update) reports.
    pub fn task(self) -> TaskCall<'c> {
        TaskCall { call: self, ttl: None, support: None }
    }
}

impl<'c> TaskCall<'c> {
    /// Sets the time, since its creation, for which the server should keep the task and its result.
    ///
    /// The server may decide otherwise. Servers of revision 2026-07-28 decide alone. Default: the
    /// server's.
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = Some(ttl);
        self
    }

    /// Sets the tool that is called, as the server listed it.
    ///
    /// In revision 2025-11-25, the tool decides whether the call can ask for a task. Without this,
    /// the client lists the tools of such a server before the call, if the server supports tasks.
    pub fn tool(mut self, tool: &Tool) -> Self {
        self.support = Some(support_of(tool));
        self
    }

    /// Sends the call and waits for the response, which usually creates a task. Awaiting the call
    /// is equivalent.
    ///
    /// Dropping the future cancels the call, and the task if it is created nevertheless.
    ///
    /// # Errors
    /// Fails under the conditions listed for [`Call::wait`], and with [`Error::List`] or
    /// [`Error::Call`] if the tools cannot be listed. Fails with [`Error::Call`], and cancels the
    /// task, if the connection polls as many tasks as
    /// [`ClientTasks::tasks_max`](crate::ClientTasks::tasks_max) allows.
    pub fn start(self) -> Operation<'c, TaskHandle> {
        Operation::new(self.send())
    }

    async fn send(self) -> Result<TaskHandle, Error> {
        let asks = self.asks_for_task().await?;
        let link = self.call.connection().link();
        let ttl = self.ttl.map(|ttl| i64::try_from(ttl.as_millis()).unwrap_or(i64::MAX));
        let progress = TaskProgress::new(&link);
        let task = asks.then(|| {
            let mut task = TaskRequest::new();
            task.ttl = ttl;
            (task, Arc::clone(&progress.mailbox))
        });
        let (result, link) = self.call.respond(task).await?;
        let is_task = match asks {
            true => created_task_id(&result).is_some(),
            false => TaskDriver::is_created_by(&link, &result),
        };
        if is_task {
            let driver = TaskDriver::new(&link, &result, progress.into_mailbox())?;
            return Ok(TaskHandle::running(driver));
        }
        Ok(TaskHandle::done(result))
    }

    /// Returns the name of the tool.
    fn name(&self, revision: Revision) -> String {
        // Params that cannot be encoded are reported when the call is sent.
        let params = self.call.params().to_raw(revision).ok();
        let name = params.and_then(|params| params.member("name"));
        name.and_then(|name| name.to_text().map(Cow::into_owned)).unwrap_or_default()
    }

    /// Returns whether the call asks for a task.
    // TSK-02, TSK-03, TSK-04: never without the capability, and only if the tool allows it.
    fn asks_for_task(&self) -> impl Future<Output = Result<bool, Error>> + Send + use<'c> {
        const REVISION: Revision = Revision::V2025_11_25;
        let connection = self.call.connection();
        let peer = connection.peer();
        let has_tasks =
            peer.revision == REVISION && peer.capabilities.has(Capability::TasksToolsCall);
        let (support, name) = (self.support.clone(), self.name(REVISION));
        async move {
            let support = match support {
                _ if !has_tasks => return Ok(false),
                Some(support) => support,
                None => {
                    let tools = list_tools(connection).await?;
                    let tool = tools.iter().find(|tool| *tool.name == *name);
                    tool.map_or(TaskSupport::Forbidden, support_of)
                }
            };
            Ok(matches!(support, TaskSupport::Optional | TaskSupport::Required))
        }
    }
}

/// Receives the progress of the task that a call asks for. Dropping it ends that.
struct TaskProgress {
    link: Arc<Link<Machine>>,
    mailbox: Arc<Mailbox>,
    /// The driver of the task has taken over.
    is_taken: bool,
}

impl TaskProgress {
    fn new(link: &Arc<Link<Machine>>) -> Self {
        Self { link: Arc::clone(link), mailbox: Arc::default(), is_taken: false }
    }

    fn into_mailbox(mut self) -> Arc<Mailbox> {
        self.is_taken = true;
        Arc::clone(&self.mailbox)
    }
}

impl Drop for TaskProgress {
    fn drop(&mut self) {
        if !self.is_taken {
            self.link.lock().role.remove_task_call(&self.mailbox);
        }
    }
}

fn support_of(tool: &Tool) -> TaskSupport {
    let support = tool.execution.as_ref().and_then(|execution| execution.task_support.clone());
    support.unwrap_or(TaskSupport::Forbidden)
}

impl<'c> IntoFuture for TaskCall<'c> {
    type Output = Result<TaskHandle, Error>;
    type IntoFuture = BoxFuture<'c, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.send())
    }
}

opaque_debug!(TaskCall<'_>, it => call: it.call);
