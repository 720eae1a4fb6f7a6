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
use crate::server::handler::round_state::RoundState;
use crate::server::handler::tool_error::{HandlerError, ToolError};
#[cfg(feature = "schemars")]
use crate::server::handler::typed_form::form_of;
use crate::transport::link::Link;

/// The context of one request, for a handler that is a blocking function.
///
/// Cheap to clone, and usable from any thread while the request is open. [`sleep`](Self::sleep)
/// blocks, as does [`log`](Self::log) while there is no room; no other method waits.
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
    /// Returns the client, and the revision it speaks.
    #[must_use]
    pub fn peer(&self) -> &Peer {
        &self.request.context.peer
    }

    /// Returns the request's protocol context.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.request.context
    }

    /// Sends a [progress] notification if the client asked for progress. Values must increase.
    ///
    /// [progress]:
    ///     https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/progress
    ///
    /// # Errors
    /// [`Misuse::Stale`] if the request was cancelled; [`Misuse::Unencodable`] if the value did not
    /// increase.
    pub fn progress(&self, progress: Progress) -> Result<(), Misuse> {
        let incoming = self.request.incoming;
        self.request.link.apply(Command::Progress { incoming, progress: &progress })
    }

    /// Sends a log message, unless its level is below the client's threshold. Blocks for up to 10 s
    /// while too much output is queued.
    ///
    /// # Errors
    /// [`Misuse::Undeclared`] if the server does not offer
    /// [logging](crate::Server::logging); [`Misuse::Stale`] if the request was cancelled.
    pub fn log<T: Serialize + ?Sized>(&self, level: Level, data: &T) -> Result<(), Misuse> {
        block_on(self.send_log(level, Raw::new(data)?))
    }

    async fn send_log(&self, level: Level, data: Raw) -> Result<(), Misuse> {
        let incoming = Some(self.request.incoming);
        let log = OwnedCommand::Log { incoming, level, logger: None, data };
        self.request.link.apply_within(LOG_PATIENCE, log).await
    }

    /// Returns whether the client cancelled this request.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.request.cancelled.is_set()
    }

    /// Blocks for `duration`, or until the request is cancelled; returns whether it was.
    #[must_use]
    pub fn sleep(&self, duration: Duration) -> bool {
        self.request.cancelled.wait_blocking(duration)
    }

    /// Closes the HTTP response stream of this request and leaves the request open: the client
    /// reconnects for the answer after the retry delay. Use it for requests that take too long to
    /// hold a connection open.
    ///
    /// Does nothing where clients cannot reconnect: over a byte stream, and in revisions other than
    /// 2025-11-25.
    ///
    /// # Errors
    /// [`Misuse::Stale`] if the request was cancelled.
    pub fn end_stream(&self) -> Result<(), Misuse> {
        let incoming = self.request.incoming;
        self.request.link.apply(Command::EndStream { incoming })
    }

    /// Returns the error for a resource that does not exist, with the code of the client's
    /// revision. For handlers of resource templates, whose pattern matches more than the existing
    /// resources.
    #[must_use]
    pub fn resource_not_found(&self, uri: &str) -> ToolError {
        ToolError::refused(resource_not_found(uri, self.peer().revision))
    }

    /// Asks the client's user to fill in a form, and deserializes the answer as `T`.
    ///
    /// This looks like a call but ends the handler: on the first run, `?` answers the request with
    /// the question. Once the client has sent the answer, the handler runs again from the start and
    /// `ask` returns the answer. A handler must therefore have no side effects before its last
    /// question is answered. Works for clients of every revision, and in tools, resources and
    /// prompts.
    ///
    /// If the client did not declare the capability, the request fails with `-32021` in revisions
    /// that define this code, and with `-32603` in others.
    ///
    /// # Errors
    /// The question itself, to be passed on with `?`; [`ToolError::failed`] if the user declined,
    /// or if the answer is not a `T`.
    pub fn ask<T: DeserializeOwned>(&self, key: &str, form: Elicit) -> Result<T, ToolError> {
        let result = self.ask_any(key, NeededInput::from(form))?;
        accepted(key, result)
    }

    /// Asks the client's user to fill in a form derived from `T`; see [`ask`](Self::ask).
    ///
    /// `T` is a struct whose fields are texts, numbers, booleans, enums of unit variants, lists of
    /// such enums (since 2025-11-25), or options of these: [forms] are flat. Doc comments become
    /// the descriptions of fields and the names of choices, and required fields come first. The
    /// answer is checked against the schema before it is deserialized. Keywords that forms lack,
    /// such as `pattern`, are neither sent nor checked.
    ///
    /// [forms]: https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation
    ///
    /// # Errors
    /// Like [`ask`](Self::ask); `-32603` with the name of the field if `T` does not fit a form.
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

    /// Sends the client any kind of input request; see [`ask`](Self::ask).
    ///
    /// # Errors
    /// The question itself, to be passed on with `?`; `-32602` if the client's answer does not fit
    /// the question.
    pub fn ask_any<T: Decode>(&self, key: &str, question: NeededInput) -> Result<T, ToolError> {
        self.ask_all([(key, question)])?;
        self.answer(key)
    }

    /// Sends several input requests in one round; see [`ask`](Self::ask).
    ///
    /// Once it returns `Ok`, [`answer`](Self::answer) returns the answer to each. Questions that
    /// were answered in an earlier round are not sent again.
    ///
    /// # Errors
    /// The unanswered questions, to be passed on with `?`.
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

    /// Returns the error that makes the client repeat the request without a question. The handler
    /// then runs again with its state, which it must have set; see [`set_state`](Self::set_state).
    #[must_use]
    pub fn repeat(&self) -> ToolError {
        ToolError(HandlerError::InputRequired(Vec::new()))
    }

    /// Returns the answer to a question.
    ///
    /// # Errors
    /// `-32602` if there is no answer, or if it is not a `T`.
    pub fn answer<T: Decode>(&self, key: &str) -> Result<T, ToolError> {
        let invalid = |error: &dyn fmt::Display| {
            let message = format!("invalid answer to `{key}`: {error}");
            ToolError::refused(ErrorObject::invalid_params(message))
        };
        let answer = self.rounds().find(key).cloned();
        let answer = answer.ok_or_else(|| invalid(&"missing"))?;
        T::decode(&answer).map_err(|error| invalid(&error))
    }

    /// Returns the contents of a form that was sent with [`ask_all`](Self::ask_all).
    ///
    /// # Errors
    /// Like [`ask`](Self::ask) and [`answer`](Self::answer).
    pub fn form_answer<T: DeserializeOwned>(&self, key: &str) -> Result<T, ToolError> {
        accepted(key, self.answer(key)?)
    }

    /// Returns the answers of all rounds so far, with their keys.
    #[must_use]
    pub fn answers(&self) -> Vec<(String, Raw)> {
        self.rounds().answers().to_vec()
    }

    /// Returns the state that the handler set before it last asked; `None` on its first run, or if
    /// it set none.
    ///
    /// The state comes back from the client, as the answers do. Unless the server seals it, a
    /// client can forge it.
    ///
    /// # Errors
    /// `-32602` if the state is not a `T`.
    pub fn state<T: DeserializeOwned>(&self) -> Result<Option<T>, ToolError> {
        let state = self.rounds().state.clone();
        state.map(|state| state.parse()).transpose().map_err(|error| {
            let message = format!("invalid request state: {error}");
            ToolError::refused(ErrorObject::invalid_params(message))
        })
    }

    /// Stores `state` for the next run, if this one ends with a question.
    ///
    /// The client receives the state and returns it, so it must be small and contain no secrets.
    ///
    /// # Errors
    /// [`Misuse::Unencodable`] if it cannot be serialized as JSON.
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

/// The context of one request, for a handler that is a future: like [`Cx`], with waits that do not
/// block.
///
/// The handler's future is dropped at its current wait once the request is cancelled or the
/// connection has ended. Work that must finish regardless belongs in a task of its own.
#[derive(Clone, Debug)]
pub struct AsyncCx(pub(crate) Cx);

impl AsyncCx {
    /// Sends a log message, unless its level is below the client's threshold. Waits for up to 10 s
    /// while too much output is queued.
    ///
    /// # Errors
    /// Like [`Cx::log`].
    pub async fn log<T: Serialize + ?Sized>(&self, level: Level, data: &T) -> Result<(), Misuse> {
        let data = Raw::new(data)?;
        self.0.send_log(level, data).await
    }

    /// Sleeps for `duration`, on any runtime. Once the connection has ended, only yields to other
    /// tasks.
    pub async fn sleep(&self, duration: Duration) {
        self.0.request.link.sleep(duration).await;
    }

    /// Waits until the client cancels this request. For tasks that outlive the handler: the
    /// handler's own future is dropped at that point.
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
