//! Tasks, with operations that block.

use std::fmt;
use std::time::Duration;

use futures_lite::future::block_on;
use mcp_adapter::proto::schema::{CallToolResult, Tool};
use mcp_adapter::{Error, TaskUpdate};

use crate::call::Call;
use crate::connection::Connection;

/// A tool call that asks for a [task], and has not been sent yet. [`start`](Self::start) it for the
/// [`TaskHandle`].
///
/// A task runs on at the server when the connection is lost or the client ends.
///
/// In revision 2025-11-25, the call asks for a task if the server and the tool support that. In
/// revision 2026-07-28, the server decides, provided that the client declares
/// [`Client::tasks`](crate::Client::tasks). In all other cases, the call is a plain one, and the
/// handle has its result: callers need not care.
///
/// ```
/// use std::time::Duration;
///
/// use mcp_blocking::{Connection, Error};
/// use serde_json::json;
///
/// fn index(connection: &Connection) -> Result<(), Error> {
///     let call = connection.call_tool("index", &json!({"path": "/data"}));
///     let mut index = call.task().ttl(Duration::from_secs(3600)).start()?;
///     println!("task {:?}", index.id());
///     let result = index.wait()?;
///     println!("{:?}", result.content);
///     Ok(())
/// }
/// ```
///
/// [task]: https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
#[must_use = "a call is sent by `.start()`"]
pub struct TaskCall<'c>(mcp_adapter::TaskCall<'c>);

impl<'c> Call<'c, CallToolResult> {
    /// Makes this a call that asks for a task.
    ///
    /// The timeouts and the progress callback of the call then apply to the response that creates
    /// the task, and not to the task, whose progress [`TaskHandle::next_update`] reports.
    pub fn task(self) -> TaskCall<'c> {
        TaskCall(self.0.task())
    }
}

impl TaskCall<'_> {
    /// Sets the time, since its creation, for which the server should keep the task and its result.
    ///
    /// The server may decide otherwise. Servers of revision 2026-07-28 decide alone. Default: the
    /// server's.
    pub fn ttl(self, ttl: Duration) -> Self {
        Self(self.0.ttl(ttl))
    }

    /// Sets the tool that is called, as the server listed it.
    ///
    /// In revision 2025-11-25, the tool decides whether the call can ask for a task. Without this,
    /// the client lists the tools of such a server before the call, if the server supports tasks.
    pub fn tool(self, tool: &Tool) -> Self {
        Self(self.0.tool(tool))
    }

    /// Sends the call and waits for the response, which usually creates a task.
    ///
    /// # Errors
    /// Fails under the conditions listed for [`Call::wait`], and with [`Error::List`] or
    /// [`Error::Call`] if the tools cannot be listed. Fails with [`Error::Call`], and cancels the
    /// task, if the connection polls as many tasks as
    /// [`Client::tasks_max`](crate::Client::tasks_max) allows.
    pub fn start(self) -> Result<TaskHandle, Error> {
        block_on(self.0.start()).map(TaskHandle)
    }
}

impl fmt::Debug for TaskCall<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Connection {
    /// Returns the handle of a task that was created earlier, for example before a restart of this
    /// client.
    ///
    /// `id` is the [id](TaskHandle::id) of the task. A task of the legacy era does not exist in the
    /// modern one, and the other way round. Its time is counted from now on, because its age is
    /// unknown.
    /// An input request is answered again if the server has not received its answer.
    ///
    /// # Errors
    /// Fails if this connection polls as many tasks as
    /// [`Client::tasks_max`](crate::Client::tasks_max) allows.
    pub fn task(&self, id: &str) -> Result<TaskHandle, Error> {
        self.as_async().task(id).map(TaskHandle)
    }
}

/// A tool call that may outlive its connection: a task at the server, or a call that is over.
///
/// Created by [`Call::task`], and by [`Connection::task`] from an id. The task is polled, and its
/// input requests reach the handlers of the [`Client`](crate::Client), while a method of the handle
/// blocks. The server's poll interval is respected, and status notifications save waiting. Lost
/// requests are repeated ever later.
///
/// If the connection ends, the methods fail with
/// [`CallError::Lost`](crate::proto::CallError::Lost), and the handle remains usable after
/// [`attach`](Self::attach). Dropping the handle leaves the task alone.
///
/// ```
/// use mcp_blocking::proto::CallError;
/// use mcp_blocking::{Connection, Error, TaskHandle};
///
/// fn finish(mut connection: Connection, mut task: TaskHandle) -> Result<(), Error> {
///     while let Some(update) = task.next_update()? {
///         println!("{} {}", update.status, update.message.unwrap_or_default());
///     }
///     let result = loop {
///         match task.wait() {
///             Err(Error::Call(CallError::Lost)) => {
///                 connection = connection.reconnect()?;
///                 task.attach(&connection)?;
///             }
///             result => break result?,
///         }
///     };
///     println!("{:?}", result.content);
///     Ok(())
/// }
/// ```
#[must_use = "the task is polled by `wait`"]
pub struct TaskHandle(mcp_adapter::TaskHandle);

impl TaskHandle {
    /// Returns the id of the task; `None` if the server has answered the call without a task.
    ///
    /// Store the id to [resume](Connection::task) the task after a restart of the client. The id
    /// may be all that protects the task: keep it secret.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.0.id()
    }

    /// Returns whether the outcome is known, so that [`wait`](Self::wait) returns at once.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        self.0.is_over()
    }

    /// Waits for the result. Further calls return it again.
    ///
    /// # Errors
    /// Fails under the conditions listed for
    /// [`wait` of the asynchronous handle](mcp_adapter::TaskHandle::wait): above all with
    /// [`Error::Call`] if the call failed, the task was cancelled or its time is over, or the
    /// connection ended.
    pub fn wait(&mut self) -> Result<CallToolResult, Error> {
        block_on(self.0.wait())
    }

    /// Waits for the next new status; returns `None` once the task is over.
    ///
    /// # Errors
    /// Fails if the connection ended, and with [`Error::Misuse`] if it cannot send the requests of
    /// tasks. The outcome of the task is reported by [`wait`](Self::wait) instead.
    pub fn next_update(&mut self) -> Result<Option<TaskUpdate>, Error> {
        block_on(self.0.next_update())
    }

    /// Cancels the task, and waits until the server has responded or the request has timed out.
    ///
    /// The server may finish the work nevertheless. [`wait`](Self::wait) then fails with
    /// [`CallError::Cancelled`](crate::proto::CallError::Cancelled). If the task is known to be
    /// over, this has no effect.
    ///
    /// # Errors
    /// Fails if the connection ended, and with [`Error::Misuse`] if the server does not support the
    /// cancellation of tasks.
    pub fn cancel(&mut self) -> Result<(), Error> {
        block_on(self.0.cancel())
    }

    /// Continues on another connection to the server, such as that of
    /// [`reconnect`](Connection::reconnect).
    ///
    /// Input requests that were answered are not asked again.
    ///
    /// # Errors
    /// Fails if `connection` polls as many tasks as
    /// [`Client::tasks_max`](crate::Client::tasks_max) allows.
    pub fn attach(&mut self, connection: &Connection) -> Result<(), Error> {
        self.0.attach(connection.as_async())
    }
}

impl fmt::Debug for TaskHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
