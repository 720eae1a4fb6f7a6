//! The context of a handler: the caller, progress, logging, cancellation and state.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mcp_proto::server::{Command, Server as Machine};
use mcp_proto::{
    Change, Context, ErrorObject, IncomingId, Instant, Misuse, OwnedCommand, Peer, Principal,
    Progress, Raw, Request,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::box_future::BoxFuture;
use crate::exec::cancellation::Cancellation;
use crate::exec::pace::Pace;
use crate::server::handler::extensions::Extensions;
use crate::server::handler::handler_error::HandlerError;
use crate::server::handler::round_state::RoundState;
use crate::server::handler::running_task::RunningTask;
use crate::transport::link::Link;

/// The context of one request, on every runtime.
///
/// Cheap to clone, and usable from any thread while the request is open. No method blocks: what can
/// wait returns an operation, such as
/// [`sleep`](Self::sleep). A synchronous handler calls its `wait`, and an
/// asynchronous one awaits it.
///
/// When the request is cancelled or the connection ends, the future of an asynchronous handler is
/// dropped at its current `.await`. Spawn a separate task for work that must finish regardless.
#[derive(Clone)]
pub struct Cx {
    pub(crate) request: Arc<RequestState>,
}

/// A request that is being handled.
pub(crate) struct RequestState {
    pub(crate) link: Arc<Link<Machine>>,
    pub(crate) incoming: IncomingId,
    pub(crate) request: Request,
    pub(crate) context: Context,
    pub(crate) rounds: Mutex<RoundState>,
    pub(crate) cancelled: Arc<Cancellation>,
    /// The pace of its handler.
    pub(crate) pace: Arc<Pace>,
    /// The handler has run, rather than only layers.
    pub(crate) has_run: AtomicBool,
    pub(crate) extensions: Extensions,
    /// The task that the request has become.
    pub(crate) task: Option<Arc<dyn RunningTask>>,
}

impl RequestState {
    pub(crate) fn new(
        link: &Arc<Link<Machine>>,
        incoming: IncomingId,
        request: Request,
        context: Context,
        rounds: RoundState,
        pace: &Arc<Pace>,
    ) -> Self {
        Self {
            link: Arc::clone(link),
            incoming,
            request,
            context,
            rounds: Mutex::new(rounds),
            cancelled: Arc::default(),
            pace: Arc::clone(pace),
            has_run: AtomicBool::new(false),
            extensions: Extensions::default(),
            task: None,
        }
    }

    /// Waits until `at` on the clock of the connection, also if the connection ends and the request
    /// is a task, which continues.
    pub(crate) async fn sleep_until(&self, at: Instant) {
        match self.task_timer() {
            Some(task) => task.sleep(self.link.clock.until(at)).await,
            None => self.link.sleep_until(at).await,
        }
    }

    /// Returns the task that keeps the time instead of the connection.
    pub(crate) fn task_timer(&self) -> Option<&Arc<dyn RunningTask>> {
        let task = self.task.as_ref()?;
        // The connection of a task that was started again has no client, and no time.
        (!self.link.clock.is_manual() || task.restarts() > 0).then_some(task)
    }
}

/// The operations of a connection that handlers use.
pub(crate) trait HandlerLink: Send + Sync {
    /// Applies a command immediately.
    fn apply(&self, command: Command<'_>) -> Result<(), Misuse>;

    /// Applies a command, retrying for at most `patience` while it fails with [`Misuse::Blocked`].
    fn apply_within(
        &self,
        patience: Duration,
        command: OwnedCommand,
    ) -> BoxFuture<'_, Result<(), Misuse>>;

    /// Waits for `duration`.
    fn sleep(&self, duration: Duration) -> BoxFuture<'_, ()>;

    /// Sends a change notification, now or as soon as there is room.
    fn send_change(&self, change: Change<'_>) -> Result<(), Misuse>;
}

impl Cx {
    /// Returns the client's description of itself, and the request's protocol revision.
    #[must_use]
    pub fn peer(&self) -> &Peer {
        &self.request.context.peer
    }

    /// Returns the protocol context of the request, such as its client, `_meta` and log level.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.request.context
    }

    /// Returns the authenticated sender of the request.
    ///
    /// Returns `None` if the sender is not authenticated, as over stdio.
    /// `Http::authenticating` authenticates the senders of HTTP requests.
    #[must_use]
    pub fn principal(&self) -> Option<&Principal> {
        self.request.context.principal()
    }

    /// Sends a [progress] notification if the client requested progress.
    ///
    /// The progress value must increase with each notification. A handler that runs again because
    /// it [asked](Self::ask) for input may report its progress from the start: values that the
    /// client has already received are not sent again.
    ///
    /// In a [task](crate::Tool::as_task), the message of the progress becomes the status message.
    /// A notification is sent in revision 2025-11-25 only, until the task is over, and not after a
    /// restart of the server. Values that do not increase are dropped, and so are those for which
    /// the output queue has no room.
    ///
    /// [progress]:
    ///     https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/progress
    ///
    /// # Errors
    /// Fails with [`Misuse::Stale`] if the request was cancelled. Fails with
    /// [`Misuse::Unencodable`] if the progress value is not greater than the previous one in this
    /// run of the handler.
    pub fn progress(&self, progress: Progress) -> Result<(), Misuse> {
        if let Some(task) = &self.request.task {
            task.progress(&progress);
            return Ok(());
        }
        let incoming = self.request.incoming;
        self.request.link.apply(Command::Progress { incoming, progress: &progress })
    }

    /// Returns whether the request was cancelled, by the client or by the end of the connection.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.request.cancelled.is_set()
    }

    /// Waits until the request is cancelled, by the client or by the end of the connection.
    ///
    /// Use this in separate tasks: the handler's own future is dropped on cancellation.
    ///
    /// In a legacy session (before revision 2026-07-28), all runs of a handler that
    /// [asks](Self::ask) share the cancellation, also while no run is in progress because the user
    /// answers a question. In the modern era, each run is a separate request, and a client
    /// that does not answer sends nothing.
    pub async fn cancelled(&self) {
        self.request.cancelled.wait().await;
    }

    /// Closes the HTTP response stream of this request but leaves the request open.
    ///
    /// The client reconnects after the retry delay to receive the response. Use this for requests
    /// that take too long to keep an HTTP connection open.
    ///
    /// Has no effect where clients cannot reconnect: over a byte stream, and in revisions other
    /// than 2025-11-25.
    ///
    /// # Errors
    /// Fails with [`Misuse::Stale`] if the request was cancelled.
    pub fn end_stream(&self) -> Result<(), Misuse> {
        let incoming = self.request.incoming;
        self.request.link.apply(Command::EndStream { incoming })
    }

    /// Returns the state that an earlier run of the handler stored for this request.
    ///
    /// Returns `None` on the first run, or if no state was stored with
    /// [`set_state`](Self::set_state).
    ///
    /// In the modern era (from revision 2026-07-28), the client keeps the state and returns it with
    /// its answers. It cannot forge it, unless the server is
    /// [without a seal](crate::Server::seal). In a legacy session, the state stays on the
    /// server.
    ///
    /// # Errors
    /// Fails with `-32602` if the state cannot be deserialized as `T`.
    pub fn state<T: DeserializeOwned>(&self) -> Result<Option<T>, HandlerError> {
        let state = self.rounds().state.clone();
        state.map(|state| state.parse()).transpose().map_err(|error| {
            let message = format!("invalid request state: {error}");
            HandlerError::refused(ErrorObject::invalid_params(message))
        })
    }

    /// Stores `state` for the handler's next run for this request.
    ///
    /// There is a next run if this run ends with a request for input or with
    /// [`repeat`](Self::repeat). Otherwise, the state is dropped. A task that is started again
    /// after a restart of the server
    /// ([`TaskPolicy::restarts_max`](crate::tasks::TaskPolicy::restarts_max)) begins with the state
    /// that was stored last, also within an unfinished run.
    ///
    /// In the modern era (from revision 2026-07-28), the client receives the state and returns it.
    /// Therefore, keep the state small and free of secrets. Together with all answers, it must not
    /// exceed 64 KiB.
    ///
    /// # Errors
    /// Fails with [`Misuse::Unencodable`] if `state` cannot be serialized as JSON.
    pub fn set_state<T: Serialize + ?Sized>(&self, state: &T) -> Result<(), Misuse> {
        let state = Raw::new(state)?;
        self.rounds().state = Some(state);
        self.keep_rounds();
        Ok(())
    }

    /// Returns how often the handler of this task was started again because the server was
    /// restarted.
    ///
    /// 0 in a request that is no task. See
    /// [`TaskPolicy::restarts_max`](crate::tasks::TaskPolicy::restarts_max).
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::tasks::TaskPolicy;
    /// use mcp_tokio::{Cx, Server, Tool};
    ///
    /// fn index(cx: Cx) -> &'static str {
    ///     if cx.restarts() > 0 {
    ///         // Remove what an earlier run has left behind.
    ///     }
    ///     "3 documents"
    /// }
    ///
    /// let index = Tool::new("index", index).description("Indexes all documents");
    /// let server = Server::new("search", "1.0.0")
    ///     .add(index.as_task(TaskPolicy::optional().restarts_max(3)));
    /// # drop(server);
    /// ```
    #[must_use]
    pub fn restarts(&self) -> u32 {
        self.request.task.as_ref().map_or(0, |task| task.restarts())
    }

    /// Returns the value of type `T` that a [layer](crate::layers) attached to this request with
    /// [`Incoming::set_extension`](crate::layers::Incoming::set_extension).
    #[must_use]
    pub fn extension<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.request.extensions.get()
    }

    /// Keeps the state of the rounds for a run of the task after a restart of the server.
    pub(crate) fn keep_rounds(&self) {
        if let Some(task) = &self.request.task {
            let rounds = self.rounds().to_text();
            task.keep(rounds);
        }
    }

    pub(crate) fn rounds(&self) -> MutexGuard<'_, RoundState> {
        self.request.rounds.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

opaque_debug!(Cx, it => incoming: it.request.incoming);
