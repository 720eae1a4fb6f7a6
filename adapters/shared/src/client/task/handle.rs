//! The handle of a task.

use mcp_proto::schema::{CallToolResult, Decode as _};
use mcp_proto::{CallError, Raw};

use crate::client::connection::Connection;
use crate::client::task::driver::{TaskDriver, TaskStep};
use crate::error::Error;
use crate::exec::operation::Operation;
use crate::tasks::TaskUpdate;

/// A tool call that may outlive its connection: a task at the server, or a call that is over.
///
/// Created by [`Call::task`](crate::Call::task), and by
/// [`Connection::task`](crate::Connection::task) from an id. The task is polled, and its input
/// requests reach the handlers of the [`Client`](crate::Client), while an operation of the handle
/// is awaited or waited for; operations may be dropped without loss. The server's poll interval is
/// respected, and status notifications save waiting. A request without a response is repeated,
/// after increasing delays.
///
/// If the connection is lost, the methods fail with [`CallError::Lost`], also if it is
/// [recovered](crate::Client::recovery): the program decides whether the server that it finds then
/// still has the task. The handle remains usable after [`attach`](Self::attach). Over HTTP in the
/// modern era, a server may restart without the loss of the connection; the handle then continues
/// to poll. Dropping the handle leaves the task alone.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::proto::CallError;
/// use mcp_tokio::{Connection, Error, TaskHandle};
///
/// async fn finish(connection: Connection, mut task: TaskHandle) -> Result<(), Error> {
///     while let Some(update) = task.next_update().await? {
///         println!("{} {}", update.status, update.message.unwrap_or_default());
///     }
///     let result = loop {
///         match task.result().await {
///             Err(Error::Call(CallError::Lost)) => {
///                 connection.ready().await?;
///                 task.attach(&connection)?;
///             }
///             result => break result?,
///         }
///     };
///     println!("{:?}", result.content);
///     Ok(())
/// }
/// ```
#[must_use = "the task is polled by `result`"]
pub struct TaskHandle {
    id: Option<Box<str>>,
    state: HandleState,
}

enum HandleState {
    Running(Box<TaskDriver>),
    Over(Result<Raw, CallError>),
}

impl Connection {
    /// Returns the handle of a task that was created earlier, for example before a restart of this
    /// client.
    ///
    /// `id` is the [id](TaskHandle::id) of the task. Tasks of the legacy era and of the modern era
    /// are separate: connect in the era in which the task was created. The time limit of the task
    /// starts again, because the age of the task is unknown. An input request is answered again if
    /// the server has not received its answer.
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::proto::schema::CallToolResult;
    /// use mcp_tokio::{Connection, Error};
    ///
    /// async fn resume(connection: &Connection, id: &str) -> Result<CallToolResult, Error> {
    ///     connection.task(id)?.result().await
    /// }
    /// ```
    ///
    /// # Errors
    /// Fails if this connection polls as many tasks as
    /// [`ClientTasks::tasks_max`](crate::ClientTasks::tasks_max) allows.
    // TSK-39: ids are kept.
    pub fn task(&self, id: &str) -> Result<TaskHandle, Error> {
        TaskDriver::resume(&self.link(), id).map(TaskHandle::running)
    }
}

impl TaskHandle {
    pub(crate) fn running(driver: TaskDriver) -> Self {
        Self { id: Some(driver.id().into()), state: HandleState::Running(Box::new(driver)) }
    }

    pub(crate) const fn done(result: Raw) -> Self {
        Self { id: None, state: HandleState::Over(Ok(result)) }
    }

    /// Returns the id of the task; `None` if the server has answered the call without a task.
    ///
    /// Store the id to [resume](crate::Connection::task) the task after a restart of the client.
    /// The id may be all that protects the task: keep it secret.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// Returns whether the outcome is known, so that [`result`](Self::result) returns immediately.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        matches!(self.state, HandleState::Over(_))
    }

    /// Waits for the result. Further calls return it again.
    ///
    /// # Errors
    /// Fails with
    /// - [`Error::Call`] with
    ///   - [`CallError::Refused`] if the call failed, or the server has the task no longer;
    ///   - [`CallError::Cancelled`] if the task was cancelled;
    ///   - [`CallError::TimedOut`] if the time of the task is over;
    ///   - [`CallError::InputRefused`] if a handler of this client failed, which cancels the task;
    ///   - [`CallError::Invalid`] if the task asked for more input than
    ///     [`ClientTasks::limits`](crate::ClientTasks::limits) allow, which cancels it;
    ///   - [`CallError::Lost`] if the connection ended: the task continues, see
    ///     [`attach`](Self::attach);
    /// - [`Error::Misuse`] if the connection cannot send the requests of tasks;
    /// - [`Error::Decode`] if the result does not match the method.
    pub fn result(&mut self) -> Operation<'_, CallToolResult> {
        Operation::new(async {
            while self.step().await?.is_some() {}
            match &self.state {
                HandleState::Over(Ok(result)) => Ok(CallToolResult::decode(result)?),
                HandleState::Over(Err(error)) => Err(error.clone().into()),
                HandleState::Running(_) => Err(CallError::Lost.into()),
            }
        })
    }

    /// Waits for the next new status or progress; returns `None` once the task is over.
    ///
    /// # Errors
    /// Fails if the connection ended, and with [`Error::Misuse`] if it cannot send the requests of
    /// tasks. The outcome of the task is reported by [`result`](Self::result) instead.
    pub fn next_update(&mut self) -> Operation<'_, Option<TaskUpdate>> {
        Operation::new(self.step())
    }

    async fn step(&mut self) -> Result<Option<TaskUpdate>, Error> {
        let HandleState::Running(driver) = &mut self.state else { return Ok(None) };
        match driver.next().await? {
            TaskStep::Status(status, message, progress) => {
                Ok(Some(TaskUpdate { status, message, progress }))
            }
            TaskStep::Over(outcome) => {
                self.state = HandleState::Over(outcome);
                Ok(None)
            }
        }
    }

    /// Cancels the task, and waits until the server has responded or the request has timed out.
    ///
    /// The server may finish the work nevertheless. [`result`](Self::result) then fails with
    /// [`CallError::Cancelled`]. If the task is known to be over, this has no effect.
    ///
    /// # Errors
    /// Fails if the connection ended, and with [`Error::Misuse`] if the server does not support the
    /// cancellation of tasks.
    // CAN-10, TSK-34: `tasks/cancel`, and no notification.
    pub fn cancel(&mut self) -> Operation<'_, ()> {
        Operation::new(async {
            if let HandleState::Running(driver) = &mut self.state {
                driver.cancel();
            }
            while self.step().await?.is_some() {}
            Ok(())
        })
    }

    /// Continues on a connection to the server: this one after it was
    /// [recovered](crate::Connection::ready), or another one.
    ///
    /// Input requests that were answered are not asked again.
    ///
    /// # Errors
    /// Fails if `connection` polls as many tasks as
    /// [`ClientTasks::tasks_max`](crate::ClientTasks::tasks_max) allows.
    pub fn attach(&mut self, connection: &Connection) -> Result<(), Error> {
        match &mut self.state {
            HandleState::Running(driver) => driver.move_to(&connection.link()),
            HandleState::Over(_) => Ok(()),
        }
    }
}

// The task itself is a secret.
opaque_debug!(TaskHandle, it => is_over: it.is_over());
