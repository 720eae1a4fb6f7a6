//! The context of a handler: progress, logging, cancellation, input requests and state.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_lite::future::block_on;
use mcp_proto::catalog::resource_not_found;
#[cfg(feature = "schemars")]
use mcp_proto::schema::OrUnknown;
use mcp_proto::schema::{Decode, Elicit, ElicitAction, ElicitResult, Level};
use mcp_proto::server::{Command, Server as Machine};
use mcp_proto::{
    Change, Context, ErrorObject, IncomingId, Misuse, NeededInput, OwnedCommand, Peer, Progress,
    Raw, Request,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::BoxFuture;
use crate::exec::cancellation::Cancellation;
use crate::exec::pace::Pace;
use crate::exec::workers::is_sole_driver;
use crate::server::handler::round_state::RoundState;
use crate::server::handler::tool_error::{HandlerError, ToolError};
#[cfg(feature = "schemars")]
use crate::server::handler::typed_form::form_of;
use crate::transport::link::Link;

/// The context of one request, for a handler that is a blocking function.
///
/// Cheap to clone, and usable from any thread while the request is open. Only two methods block:
/// [`sleep`](Self::sleep), and [`log`](Self::log) while the output queue is full.
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

    /// Sends a [progress] notification if the client requested progress.
    ///
    /// The progress value must increase with each notification. A handler that runs again because
    /// it [asked](Self::ask) for input may report its progress from the start: values that the
    /// client has already received are not sent again.
    ///
    /// [progress]:
    ///     https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/progress
    ///
    /// # Errors
    /// Fails with [`Misuse::Stale`] if the request was cancelled. Fails with
    /// [`Misuse::Unencodable`] if the progress value is not greater than the previous one in this
    /// run of the handler.
    pub fn progress(&self, progress: Progress) -> Result<(), Misuse> {
        let incoming = self.request.incoming;
        self.request.link.apply(Command::Progress { incoming, progress: &progress })
    }

    /// Sends a log message, unless its level is below the client's threshold.
    ///
    /// If the output queue is full, blocks until there is room, for at most 10 s. A handler does
    /// not wait if it runs on the thread that also does the connection's I/O; see
    /// [`Server`](crate::Server).
    ///
    /// # Errors
    /// Fails with
    /// - [`Misuse::Undeclared`] if the server does not declare [logging](crate::Server::logging);
    /// - [`Misuse::Stale`] if the request was cancelled;
    /// - [`Misuse::Blocked`] if the output queue is still full;
    /// - [`Misuse::Unencodable`] if `data` cannot be serialized as JSON.
    pub fn log<T: Serialize + ?Sized>(&self, level: Level, data: &T) -> Result<(), Misuse> {
        // From now on the handler runs on the pool, where it may wait.
        self.request.pace.disprove();
        let patience = if is_sole_driver() { Duration::ZERO } else { LOG_PATIENCE };
        block_on(self.send_log(level, Raw::new(data)?, patience))
    }

    async fn send_log(&self, level: Level, data: Raw, patience: Duration) -> Result<(), Misuse> {
        let incoming = Some(self.request.incoming);
        let log = OwnedCommand::Log { incoming, level, logger: None, data };
        self.request.link.apply_within(patience, log).await
    }

    /// Returns whether the request was cancelled, by the client or by the end of the connection.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.request.cancelled.is_set()
    }

    /// Blocks for `duration` or until the request is cancelled; returns whether it was cancelled.
    #[must_use]
    pub fn sleep(&self, duration: Duration) -> bool {
        self.request.pace.disprove();
        self.request.cancelled.wait_blocking(duration)
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

    /// Returns the error for a resource that does not exist.
    ///
    /// The error code depends on the protocol revision. Use this method in handlers of resource
    /// templates, because a template may match URIs for which no resource exists.
    #[must_use]
    pub fn resource_not_found(&self, uri: &str) -> ToolError {
        ToolError::refused(resource_not_found(uri, self.peer().revision))
    }

    /// Asks the client's user to fill in a form, and deserializes the answer as `T`.
    ///
    /// On the handler's first run, there is no answer yet: `ask` returns an error, which the
    /// handler must return with `?`. The client then receives the form as an input request. Once
    /// the client has answered, the handler runs again from the start, and `ask` returns the
    /// answer. A handler must therefore have no side effects before its last `ask`.
    ///
    /// `key` identifies the form and must be unique within the handler. This method works with
    /// every protocol revision, in handlers of tools, resources and prompts.
    ///
    /// If the client does not support forms, the request fails with the error code `-32021` in
    /// revisions that define it, and with `-32603` in others.
    ///
    /// # Errors
    /// Fails if the form has not been answered yet; propagate this error with `?`. Fails with
    /// [`ToolError::failed`] if the user declined or cancelled, or if the answer cannot be
    /// deserialized as `T`.
    pub fn ask<T: DeserializeOwned>(&self, key: &str, form: Elicit) -> Result<T, ToolError> {
        let result = self.ask_any(key, NeededInput::from(form))?;
        accepted(key, result)
    }

    /// Asks the client's user to fill in a form derived from `T`; see [`ask`](Self::ask).
    ///
    /// `T` must be a struct whose fields are strings, numbers, booleans, enums of unit variants,
    /// lists of such enums (since 2025-11-25), or `Option`s of these; [forms] cannot be nested. Doc
    /// comments become the descriptions of fields and the titles of choices. The form shows
    /// required fields first. The answer is checked against the form's schema before it is
    /// deserialized. JSON Schema keywords that forms do not support, such as `pattern`, are neither
    /// sent nor checked.
    ///
    /// [forms]: https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation
    ///
    /// # Errors
    /// Fails under the conditions listed for [`ask`](Self::ask). If `T` cannot be expressed as a
    /// form, fails with `-32603` and a message that names the field.
    #[cfg(feature = "schemars")]
    pub fn ask_form<T: DeserializeOwned + schemars::JsonSchema>(
        &self,
        key: &str,
        message: &str,
    ) -> Result<T, ToolError> {
        let form = form_of::<T>()?;
        let question = Elicit::form(message, OrUnknown::Known(form.clone()));
        let result: ElicitResult = self.ask_any(key, NeededInput::from(question))?;
        if let (ElicitAction::Accept, Some(content)) = (&result.action, &result.content) {
            form.check(content).map_err(|error| {
                ToolError::failed(format!("invalid answer to `{key}`: {error}"))
            })?;
        }
        accepted(key, result)
    }

    /// Sends the client an input request of any kind, such as sampling; see [`ask`](Self::ask).
    ///
    /// # Errors
    /// Fails if the request has not been answered yet; propagate this error with `?`. Fails with
    /// `-32602` if the answer cannot be decoded as `T`.
    pub fn ask_any<T: Decode>(&self, key: &str, question: NeededInput) -> Result<T, ToolError> {
        self.ask_all([(key, question)])?;
        self.answer(key)
    }

    /// Sends several input requests in one round; see [`ask`](Self::ask).
    ///
    /// Each request has a key. Once this method has returned `Ok`, [`answer`](Self::answer) returns
    /// the answer for each key. Requests that were answered in an earlier round are not sent again.
    ///
    /// # Errors
    /// Fails if any of the requests has not been answered yet; propagate this error with `?`.
    pub fn ask_all<'a>(
        &self,
        questions: impl IntoIterator<Item = (&'a str, NeededInput)>,
    ) -> Result<(), ToolError> {
        // Collected before locking: the iterator may call methods that lock.
        let questions = questions.into_iter().map(|(key, question)| (key.to_owned(), question));
        let mut open: Vec<(String, NeededInput)> = questions.collect();
        let rounds = self.rounds();
        open.retain(|(key, _)| rounds.find(key).is_none());
        if open.is_empty() { Ok(()) } else { Err(ToolError(HandlerError::InputRequired(open))) }
    }

    /// Returns an error that requests another run of the handler, without asking for input.
    ///
    /// Before returning this error, store the data for the next run with
    /// [`set_state`](Self::set_state). In the modern era (from revision 2026-07-28), the client
    /// sends the request again. In a legacy session, this server runs the handler again by itself.
    #[must_use]
    pub fn repeat(&self) -> ToolError {
        ToolError(HandlerError::InputRequired(Vec::new()))
    }

    /// Returns the client's answer to the input request with this key.
    ///
    /// # Errors
    /// Fails with `-32602` if there is no answer, or if it cannot be decoded as `T`.
    pub fn answer<T: Decode>(&self, key: &str) -> Result<T, ToolError> {
        let invalid = |error: &dyn fmt::Display| {
            let message = format!("invalid answer to `{key}`: {error}");
            ToolError::refused(ErrorObject::invalid_params(message))
        };
        let answer = self.rounds().find(key).cloned();
        let answer = answer.ok_or_else(|| invalid(&"missing"))?;
        T::decode(&answer).map_err(|error| invalid(&error))
    }

    /// Returns the user's answer to a form that was sent with [`ask_all`](Self::ask_all).
    ///
    /// # Errors
    /// Fails with `-32602` if there is no answer. Fails with [`ToolError::failed`] if the user
    /// declined or cancelled, or if the contents cannot be deserialized as `T`.
    pub fn form_answer<T: DeserializeOwned>(&self, key: &str) -> Result<T, ToolError> {
        accepted(key, self.answer(key)?)
    }

    /// Returns all answers received so far for this request, with their keys.
    #[must_use]
    pub fn answers(&self) -> Vec<(String, Raw)> {
        self.rounds().answers().to_vec()
    }

    /// Returns the state that an earlier run of the handler stored for this request.
    ///
    /// Returns `None` on the first run, or if no state was stored with
    /// [`set_state`](Self::set_state).
    ///
    /// The client keeps the state and returns it with its answers. Unless the server seals the
    /// state with `Server::seal`, a client can forge it.
    ///
    /// # Errors
    /// Fails with `-32602` if the state cannot be deserialized as `T`.
    pub fn state<T: DeserializeOwned>(&self) -> Result<Option<T>, ToolError> {
        let state = self.rounds().state.clone();
        state.map(|state| state.parse()).transpose().map_err(|error| {
            let message = format!("invalid request state: {error}");
            ToolError::refused(ErrorObject::invalid_params(message))
        })
    }

    /// Stores `state` for the handler's next run, if this run ends by asking the client for input.
    ///
    /// The state is also stored if this run ends with [`repeat`](Self::repeat). The client receives
    /// the state and returns it, so the state must be small and contain no secrets.
    ///
    /// # Errors
    /// Fails with [`Misuse::Unencodable`] if `state` cannot be serialized as JSON.
    pub fn set_state<T: Serialize + ?Sized>(&self, state: &T) -> Result<(), Misuse> {
        let state = Raw::new(state)?;
        self.rounds().state = Some(state);
        Ok(())
    }

    pub(crate) fn rounds(&self) -> MutexGuard<'_, RoundState> {
        self.request.rounds.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How long a log message waits for room in the output queue.
const LOG_PATIENCE: Duration = Duration::from_secs(10);

/// Returns the contents of an accepted form.
fn accepted<T: DeserializeOwned>(key: &str, result: ElicitResult) -> Result<T, ToolError> {
    match (result.action, result.content) {
        (ElicitAction::Accept, content) => {
            let content = content.map_or_else(Raw::empty_object, |content| content.0);
            content
                .parse()
                .map_err(|error| ToolError::failed(format!("invalid answer to `{key}`: {error}")))
        }
        (ElicitAction::Decline, _) => Err(ToolError::failed(format!("the user declined `{key}`"))),
        (ElicitAction::Cancel, _) => Err(ToolError::failed(format!("the user cancelled `{key}`"))),
        (other, _) => Err(ToolError::failed(format!("the user did not answer `{key}`: {other}"))),
    }
}

impl fmt::Debug for Cx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cx").field("incoming", &self.request.incoming).finish_non_exhaustive()
    }
}

/// The context of one request, for an asynchronous handler.
///
/// Dereferences to [`Cx`], but has asynchronous versions of [`log`](Self::log) and
/// [`sleep`](Self::sleep), which do not block.
///
/// When the request is cancelled or the connection ends, the handler's future is dropped at its
/// current `.await`. Spawn a separate task for work that must finish regardless.
#[derive(Clone, Debug)]
pub struct AsyncCx(pub(crate) Cx);

impl AsyncCx {
    /// Sends a log message, unless its level is below the client's threshold.
    ///
    /// If the output queue is full, waits until there is room, for at most 10 s.
    ///
    /// # Errors
    /// Fails under the conditions listed for [`Cx::log`].
    pub async fn log<T: Serialize + ?Sized>(&self, level: Level, data: &T) -> Result<(), Misuse> {
        let data = Raw::new(data)?;
        self.0.send_log(level, data, LOG_PATIENCE).await
    }

    /// Sleeps for `duration`. Works on any runtime.
    ///
    /// Once the connection has ended, this method only yields to other tasks and does not sleep.
    pub async fn sleep(&self, duration: Duration) {
        self.0.request.link.sleep(duration).await;
    }

    /// Waits until the request is cancelled, by the client or by the end of the connection.
    ///
    /// Use this in separate tasks: the handler's own future is dropped on cancellation.
    pub async fn cancelled(&self) {
        self.0.request.cancelled.wait().await;
    }
}

impl Deref for AsyncCx {
    type Target = Cx;

    fn deref(&self) -> &Cx {
        &self.0
    }
}
