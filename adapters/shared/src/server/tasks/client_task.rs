//! [`ClientTask`]: a request to a client that the client runs as a task. (2025-11-25)

use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, Weak};
use std::time::Duration;

use mcp_proto::schema::{Decode, Encode, ServerRequest, TaskRequest, TaskStatus};
use mcp_proto::server::{Command, Server as Machine};
use mcp_proto::tasks::{
    PollLimits, TaskOutcome, TaskPollEvent, TaskPollRequest, TaskPollRequestKind, TaskPoller,
    TaskProtocol,
};
use mcp_proto::{CallError, CallOptions, Capability, MessageEndpoint as _, Misuse, Payload, Raw};

use crate::error::Error;
use crate::exec::operation::Operation;
use crate::server::handler::client_handle::{
    CallState, CancelOnDrop, ClientHandle, OpenCall, REQUEST_PATIENCE, cancel_late,
};
use crate::tasks::{TaskUpdate, WithTask, task_time};
use crate::transport::link::{Link, State};

/// A request to a client that may outlive its response: a task at the client, or a request that is
/// over.
///
/// Created by [`ClientHandle::request_task`]. The task is polled while a method of this handle is
/// awaited or blocks; the futures may be dropped without loss. The poll interval of the client is
/// respected. The task ends with the connection. Dropping the handle leaves the task alone.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use std::time::Duration;
///
/// use mcp_tokio::proto::Raw;
/// use mcp_tokio::proto::schema::Elicit;
/// use mcp_tokio::{ClientHandle, Error};
///
/// async fn ask(client: ClientHandle) -> Result<(), Error> {
///     let form = Elicit::form("May the nightly job run?", Raw::empty_object());
///     let mut task = client.request_task(form, Some(Duration::from_secs(3600))).await?;
///     while let Some(update) = task.next_update().await? {
///         println!("{}", update.status);
///     }
///     println!("{:?}", task.result().await?.action);
///     Ok(())
/// }
/// ```
#[must_use = "the task is polled by `result`"]
pub struct ClientTask<R> {
    link: Weak<Link<Machine>>,
    id: Option<Box<str>>,
    state: ClientTaskState,
    result: PhantomData<fn() -> R>,
}

enum ClientTaskState {
    Running(Box<Polled>),
    Over(Result<Raw, CallError>),
}

/// A task at the client.
struct Polled {
    poller: TaskPoller,
    /// The request that waits for room.
    unsent: Option<TaskPollRequest>,
    /// The request in flight.
    request: Option<Pending>,
}

/// A request of a poller in flight.
struct Pending {
    kind: TaskPollRequestKind,
    open: Arc<OpenCall>,
    /// Withdraws the request, and not the task.
    _cancel: CancelOnDrop,
}

enum Step {
    Update(TaskUpdate),
    Over(Result<Raw, CallError>),
}

impl ClientHandle {
    /// Sends a request to the client as a [task], and waits until the client has responded, which
    /// usually creates the task.
    ///
    /// Use it for sampling and elicitation, which may take a person long, in revision 2025-11-25.
    /// The [`ClientTask`] waits for the result. `ttl` is the time, since its creation, for which
    /// the client should keep the task; the client may decide otherwise. A client that answers
    /// without a task is understood: the handle then has the result.
    ///
    /// [task]: https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
    ///
    /// Dropping the operation while it waits cancels the request, and the task if it is created
    /// nevertheless.
    ///
    /// # Errors
    /// The operation fails under the conditions listed for [`request`](Self::request). Also fails,
    /// without sending anything, with [`Misuse::Undeclared`] if the client does not run this kind
    /// of request as a task, and with [`Misuse::Unsupported`] in revisions other than 2025-11-25
    /// and for a kind of request that the protocol does not run as a task.
    // TSK-02, TSK-08
    pub fn request_task<'a, Q: ServerRequest + Send + Sync + 'a>(
        &'a self,
        request: Q,
        ttl: Option<Duration>,
    ) -> Operation<'a, ClientTask<Q::Result>> {
        Operation::new(async move {
            let link = self.link()?;
            let revision = link.inspect(|state| state.connection.peer().map(|peer| peer.revision));
            let has_tasks = revision.and_then(TaskProtocol::of) == Some(TaskProtocol::Core);
            if !has_tasks || !matches!(Q::METHOD, "elicitation/create" | "sampling/createMessage") {
                return Err(Misuse::Unsupported.into());
            }
            let mut task = TaskRequest::new();
            task.ttl = ttl.map(|ttl| i64::try_from(ttl.as_millis()).unwrap_or(i64::MAX));
            let params = WithTask { params: request.readable(), task: Some(task) };
            let created = self.call(&link, Q::METHOD, &params).await?;
            let is_task =
                created.member("task").is_some_and(|task| task.member("taskId").is_some());
            let (id, state) = if is_task {
                let (time, limits) = (task_time(link.clock.now()), PollLimits::default());
                let poller = TaskPoller::new(time, TaskProtocol::Core, &created, limits);
                let poller = poller.inspect_err(|_| cancel_late(&link, &created))?;
                let id = Some(poller.task_id().into());
                let polled = Polled { poller, unsent: None, request: None };
                (id, ClientTaskState::Running(Box::new(polled)))
            } else {
                // The client ignored that it was asked for a task.
                (None, ClientTaskState::Over(Ok(created)))
            };
            Ok(ClientTask { link: Arc::downgrade(&link), id, state, result: PhantomData })
        })
    }
}

impl<R: Decode> ClientTask<R> {
    /// Returns the id of the task; `None` if the client has answered without a task.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// Returns whether the outcome is known, so that [`result`](Self::result) returns it
    /// immediately.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        matches!(self.state, ClientTaskState::Over(_))
    }

    /// Waits until the task is over, and returns its result. Further calls return it again.
    ///
    /// # Errors
    /// The operation fails with
    /// - [`Error::Call`] with [`CallError::Refused`] if the request failed, or the client has the
    ///   task no longer; with [`CallError::Cancelled`] if the task was cancelled; with
    ///   [`CallError::TimedOut`] if its time is over; with [`CallError::Lost`] if the connection
    ///   ended, and the task with it;
    /// - [`Error::Decode`] if the result does not match the method.
    pub fn result(&mut self) -> Operation<'_, R> {
        Operation::new(async move {
            while self.step().await?.is_some() {}
            match &self.state {
                ClientTaskState::Over(Ok(result)) => Ok(R::decode(result)?),
                ClientTaskState::Over(Err(error)) => Err(error.clone().into()),
                ClientTaskState::Running(_) => Err(CallError::Lost.into()),
            }
        })
    }

    /// Waits until there is a new status; returns `None` once the task is over.
    ///
    /// # Errors
    /// The operation fails with [`CallError::Lost`] if the connection ended. The outcome of the
    /// task is reported by [`result`](Self::result).
    pub fn next_update(&mut self) -> Operation<'_, Option<TaskUpdate>> {
        Operation::new(self.step())
    }

    async fn step(&mut self) -> Result<Option<TaskUpdate>, Error> {
        let ClientTaskState::Running(polled) = &mut self.state else { return Ok(None) };
        let link = self.link.upgrade().ok_or(CallError::Lost)?;
        match polled.next(&link).await? {
            Step::Update(update) => Ok(Some(update)),
            Step::Over(outcome) => {
                self.state = ClientTaskState::Over(outcome);
                Ok(None)
            }
        }
    }

    /// Cancels the task, and waits until the client has responded.
    ///
    /// [`result`](Self::result) then fails with [`CallError::Cancelled`]. If the task is known to
    /// be over, this has no effect.
    ///
    /// # Errors
    /// The operation fails under the conditions listed for [`next_update`](Self::next_update), and
    /// with [`Misuse::Undeclared`] if the client does not support the cancellation of tasks.
    // CAN-10: `tasks/cancel`, and no notification.
    pub fn cancel(&mut self) -> Operation<'_, ()> {
        Operation::new(async move {
            if let ClientTaskState::Running(polled) = &mut self.state {
                let link = self.link.upgrade().ok_or(Misuse::Closed)?;
                polled.cancel(&link)?;
            }
            while self.step().await?.is_some() {}
            Ok(())
        })
    }
}

impl Polled {
    /// Makes the next request a cancellation, unless one is in flight already.
    fn cancel(&mut self, link: &Link<Machine>) -> Result<(), Misuse> {
        let is_declared = link.inspect(|state| {
            let peer = state.connection.peer();
            peer.is_some_and(|peer| peer.capabilities.has(Capability::TasksCancel))
        });
        if !is_declared {
            return Err(Misuse::Undeclared);
        }
        let is_cancelling =
            |request: &TaskPollRequest| matches!(request, TaskPollRequest::Cancel(_));
        self.poller.cancel();
        self.unsent.take_if(|request| !is_cancelling(request));
        self.request.take_if(|pending| pending.kind != TaskPollRequestKind::Cancel);
        Ok(())
    }

    /// Polls the task until there is something new. May be dropped and called again.
    async fn next(&mut self, link: &Arc<Link<Machine>>) -> Result<Step, Error> {
        loop {
            while let Some(event) = self.poller.poll_event() {
                match event {
                    TaskPollEvent::Status { status, message } => {
                        return Ok(Step::Update(update(status, message)));
                    }
                    TaskPollEvent::Over(outcome) => return Ok(Step::Over(result_of(outcome))),
                    // A task of this protocol asks with requests, and clients ask for nothing.
                    _ => {}
                }
            }
            if self.request.is_none() && self.unsent.is_none() {
                self.unsent = self.poller.poll_request(task_time(link.clock.now()));
            }
            if self.unsent.is_some() {
                self.send(link).await?;
                continue;
            }
            if let Some(Pending { kind, open, .. }) = &self.request {
                let (kind, outcome) = (*kind, open.when(CallState::take).await);
                self.request = None;
                let time = task_time(link.clock.now());
                match outcome {
                    Ok(result) => self.poller.on_result(time, kind, &result),
                    Err(CallError::Refused(error)) => self.poller.on_error(time, kind, &error),
                    Err(CallError::Lost) => {
                        self.poller.on_lost(time, kind);
                        return Err(CallError::Lost.into());
                    }
                    Err(_) => self.poller.on_lost(time, kind),
                }
            } else if let Some(at) = self.poller.poll_timeout() {
                link.sleep_until(at).await;
            } else {
                // Nothing is due: only the end of the connection changes anything.
                link.wait_until(FOREVER, |state| state.connection.is_closed()).await;
                return Err(CallError::Lost.into());
            }
        }
    }

    /// Sends the request that waits, which is kept if this is dropped, or if there is no room for
    /// long.
    async fn send(&mut self, link: &Arc<Link<Machine>>) -> Result<(), Error> {
        let Some(request) = &self.unsent else { return Ok(()) };
        let (kind, method, params): (_, _, &(dyn Encode + Sync)) = match request {
            TaskPollRequest::Get(params) => (TaskPollRequestKind::Get, "tasks/get", params),
            TaskPollRequest::Result(params) => {
                (TaskPollRequestKind::Result, "tasks/result", params)
            }
            TaskPollRequest::Update(params) => {
                (TaskPollRequestKind::Update, "tasks/update", params)
            }
            TaskPollRequest::Cancel(params) => {
                (TaskPollRequestKind::Cancel, "tasks/cancel", params)
            }
        };
        let open = Arc::new(OpenCall::default());
        let send = |state: &mut State<Machine>, now| {
            let mut options = CallOptions::default();
            if kind == TaskPollRequestKind::Result {
                // TMO-12: answered when the task is over.
                options.timeout = Some(state.connection.limits().human_timeout_max);
            }
            let command = Command::Call { method, params: Payload::Value(params), options };
            let call = state.connection.call(now, command)?;
            state.role.insert_call(call, Arc::clone(&open));
            Ok(call)
        };
        match link.with_room(REQUEST_PATIENCE, send).await {
            Ok(call) => {
                let _cancel = CancelOnDrop { link: Arc::clone(link), call };
                self.unsent = None;
                self.request = Some(Pending { kind, open, _cancel });
                Ok(())
            }
            Err(Misuse::Closed) => Err(CallError::Lost.into()),
            Err(other) => Err(other.into()),
        }
    }
}

/// Longer than any connection.
const FOREVER: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

const fn update(status: TaskStatus, message: Option<Box<str>>) -> TaskUpdate {
    TaskUpdate { status, message, progress: None }
}

fn result_of(outcome: TaskOutcome) -> Result<Raw, CallError> {
    match outcome {
        TaskOutcome::Completed(result) => Ok(result),
        TaskOutcome::Failed(error) | TaskOutcome::NotFound(error) => Err(CallError::Refused(error)),
        TaskOutcome::Cancelled => Err(CallError::Cancelled),
        TaskOutcome::Expired => Err(CallError::TimedOut),
        other => Err(CallError::Invalid(format!("unknown outcome {other:?}").into())),
    }
}

/// The task itself is a secret.
impl<R> fmt::Debug for ClientTask<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_over = matches!(self.state, ClientTaskState::Over(_));
        f.debug_struct("ClientTask").field("is_over", &is_over).finish_non_exhaustive()
    }
}
