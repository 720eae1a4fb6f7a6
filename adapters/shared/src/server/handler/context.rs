//! What a handler has besides its arguments: progress, logging, cancellation, questions, state;
//! knows nothing of what runs it.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_lite::future::block_on;
use mcp_proto::catalog::no_resource;
use mcp_proto::schema::{Decode, Elicit, ElicitAction, ElicitResult, Level};
use mcp_proto::server::{Command, Server as Machine};
use mcp_proto::{
    Change, Context, ErrorObject, IncomingId, Misuse, OwnedCommand, Peer, Progress, Question, Raw,
    Request,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::BoxFuture;
use crate::exec::cancellation::Cancelled;
use crate::server::handler::round_state::Carried;
use crate::server::handler::tool_error::{Failure, ToolError};
use crate::transport::link::Link;

/// What surrounds one request, for a handler that is a plain function.
///
/// Cheap to clone, and usable from any thread for as long as the request is open.
/// [`sleep`](Self::sleep) blocks, and [`log`](Self::log) does while there is no room; nothing else
/// waits.
#[derive(Clone)]
pub struct Cx {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) wire: Arc<Link<Machine>>,
    pub(crate) incoming: IncomingId,
    pub(crate) request: Request,
    pub(crate) context: Context,
    pub(crate) carried: Mutex<Carried>,
    pub(crate) cancelled: Arc<Cancelled>,
}

/// A connection, as far as handlers act on it.
pub(crate) trait Wire: Send + Sync {
    /// Applies a command at once.
    fn act(&self, command: Command<'_>) -> Result<(), Misuse>;

    /// Applies a command, and retries while it is [`Misuse::Blocked`], for as long as `patience`.
    fn act_within(
        &self,
        patience: Duration,
        command: OwnedCommand,
    ) -> BoxFuture<'_, Result<(), Misuse>>;

    /// Waits for so long.
    fn sleep(&self, duration: Duration) -> BoxFuture<'_, ()>;

    /// Tells of a change, now or as soon as there is room.
    fn tell(&self, change: Change<'_>) -> Result<(), Misuse>;
}

impl Cx {
    /// Who asks, and in which revision.
    #[must_use]
    pub fn peer(&self) -> &Peer {
        &self.inner.context.peer
    }

    /// What the protocol knows of the request's surroundings.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.inner.context
    }

    /// Tells the client how far the request has come, if it wants to hear of it. The number must
    /// grow.
    ///
    /// # Errors
    /// [`Misuse::Stale`] when the request was cancelled, [`Misuse::Unencodable`] when the number
    /// does not grow.
    pub fn progress(&self, progress: Progress) -> Result<(), Misuse> {
        let incoming = self.inner.incoming;
        self.inner.wire.act(Command::Progress { incoming, progress: &progress })
    }

    /// Sends a log message, unless the client asked for graver ones only. Waits while too much
    /// waits to be sent.
    ///
    /// # Errors
    /// [`Misuse::Undeclared`] when the server does not offer logging, [`Misuse::Stale`] when the
    /// request was cancelled.
    pub fn log<T: Serialize + ?Sized>(&self, level: Level, data: &T) -> Result<(), Misuse> {
        block_on(self.logs(level, Raw::new(data)?))
    }

    async fn logs(&self, level: Level, data: Raw) -> Result<(), Misuse> {
        let incoming = Some(self.inner.incoming);
        let log = OwnedCommand::Log { incoming, level, logger: None, data };
        self.inner.wire.act_within(LOG_PATIENCE, log).await
    }

    /// Whether the client no longer wants an answer.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.inner.cancelled.is_set()
    }

    /// Sleeps for `duration`, or until the request is cancelled; true when it was.
    #[must_use]
    pub fn sleep(&self, duration: Duration) -> bool {
        self.inner.cancelled.wait_here(duration)
    }

    /// Over HTTP, closes the response that the client waits on, and leaves the request open: the
    /// client comes back for the answer, after the time that it was told. For what takes so
    /// long that no connection should be held for it.
    ///
    /// Nothing happens where the client would not come back: over a byte stream, or in revisions
    /// other than 2025-11-25.
    ///
    /// # Errors
    /// [`Misuse::Stale`] when the request was cancelled.
    pub fn hang_up(&self) -> Result<(), Misuse> {
        let incoming = self.inner.incoming;
        self.inner.wire.act(Command::EndStream { incoming })
    }

    /// The error for a resource that does not exist, as this client's revision has it: for handlers
    /// of templates, whose pattern matches more than there is.
    #[must_use]
    pub fn no_resource(&self, uri: &str) -> ToolError {
        ToolError::refused(no_resource(uri, self.peer().revision))
    }

    /// Asks the client's user to fill in a form, and reads the answer as `T`.
    ///
    /// It reads like a call and ends the handler: on the first run `?` answers the request with the
    /// question, and once the answer is in, the handler runs again from the top and `ask`
    /// returns it. A handler that asks must therefore not change anything before its last
    /// question is answered. This works the same for clients of every revision, and for tools,
    /// resources and prompts.
    ///
    /// A client that did not declare that it can be asked this is refused: with `-32021` in the
    /// revisions that have that code, and `-32603` in the others.
    ///
    /// # Errors
    /// The question itself, for `?` to pass on; [`ToolError::failed`] when the user declined, or
    /// answered with something that is no `T`.
    pub fn ask<T: DeserializeOwned>(&self, key: &str, form: Elicit) -> Result<T, ToolError> {
        let result = self.ask_any(key, Question::from(form))?;
        accepted(key, result)
    }

    /// Asks the client for anything that can be asked for; see [`ask`](Self::ask).
    ///
    /// # Errors
    /// The question itself, for `?` to pass on; `-32602` when the client's answer is no answer to
    /// such a question.
    pub fn ask_any<T: Decode>(&self, key: &str, question: Question) -> Result<T, ToolError> {
        self.ask_all([(key, question)])?;
        self.answer(key)
    }

    /// Asks several things in one round; see [`ask`](Self::ask). Once it returns, there is an
    /// [`answer`](Self::answer) to each. What was answered in an earlier round is not asked
    /// again.
    ///
    /// # Errors
    /// The questions themselves, for `?` to pass on.
    pub fn ask_all<'a>(
        &self,
        questions: impl IntoIterator<Item = (&'a str, Question)>,
    ) -> Result<(), ToolError> {
        // Without the lock: whatever makes the questions may look at answers.
        let questions = questions.into_iter().map(|(key, question)| (key.to_owned(), question));
        let mut open: Vec<(String, Question)> = questions.collect();
        let carried = self.carried();
        open.retain(|(key, _)| carried.find(key).is_none());
        if open.is_empty() { Ok(()) } else { Err(ToolError(Failure::Ask(open))) }
    }

    /// Ends this run without a question: the client makes the request again, and the handler runs
    /// anew with what it kept, which must be something; see [`set_state`](Self::set_state). To
    /// return as an error.
    #[must_use]
    pub fn again(&self) -> ToolError {
        ToolError(Failure::Ask(Vec::new()))
    }

    /// The answer to a question that was asked.
    ///
    /// # Errors
    /// `-32602` when there is none, or the client's answer is no `T`.
    pub fn answer<T: Decode>(&self, key: &str) -> Result<T, ToolError> {
        let invalid = |why: &dyn fmt::Display| {
            let why = format!("the answer to `{key}`: {why}");
            ToolError::refused(ErrorObject::invalid_params(why))
        };
        let answer = self.carried().find(key).cloned();
        let answer = answer.ok_or_else(|| invalid(&"there is none"))?;
        T::decode(&answer).map_err(|error| invalid(&error))
    }

    /// What the user filled in, for a form that was asked with [`ask_all`](Self::ask_all).
    ///
    /// # Errors
    /// As [`ask`](Self::ask) and [`answer`](Self::answer).
    pub fn filled_in<T: DeserializeOwned>(&self, key: &str) -> Result<T, ToolError> {
        accepted(key, self.answer(key)?)
    }

    /// All answers so far with their keys, of all rounds.
    #[must_use]
    pub fn answers(&self) -> Vec<(String, Raw)> {
        self.carried().answers().to_vec()
    }

    /// What the handler kept when it last asked; `None` on its first run, or when it kept nothing.
    ///
    /// It comes back from the client, as the answers do. Unless the server seals it, the client can
    /// have made it up.
    ///
    /// # Errors
    /// `-32602` when it is no `T`.
    pub fn state<T: DeserializeOwned>(&self) -> Result<Option<T>, ToolError> {
        let state = self.carried().state.clone();
        state.map(|state| state.parse()).transpose().map_err(|error| {
            let why = format!("the request state is not valid: {error}");
            ToolError::refused(ErrorObject::invalid_params(why))
        })
    }

    /// Keeps `state` for the next run, should this one end with a question. It travels to the
    /// client and back: keep it small, and no secret in it.
    ///
    /// # Errors
    /// [`Misuse::Unencodable`] when it cannot be written as JSON.
    pub fn set_state<T: Serialize + ?Sized>(&self, state: &T) -> Result<(), Misuse> {
        let state = Raw::new(state)?;
        self.carried().state = Some(state);
        Ok(())
    }

    pub(crate) fn carried(&self) -> MutexGuard<'_, Carried> {
        self.inner.carried.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How long a log message waits for room.
const LOG_PATIENCE: Duration = Duration::from_secs(10);

/// What a user filled in, unless they did not.
fn accepted<T: DeserializeOwned>(key: &str, result: ElicitResult) -> Result<T, ToolError> {
    match (result.action, result.content) {
        (ElicitAction::Accept, content) => {
            let content = content.map_or_else(Raw::empty_object, |content| content.0);
            content
                .parse()
                .map_err(|error| ToolError::failed(format!("the answer to `{key}`: {error}")))
        }
        (ElicitAction::Decline, _) => Err(ToolError::failed(format!("the user declined `{key}`"))),
        (ElicitAction::Cancel, _) => Err(ToolError::failed(format!("the user cancelled `{key}`"))),
        (other, _) => Err(ToolError::failed(format!("the user did not answer `{key}`: {other}"))),
    }
}

impl fmt::Debug for Cx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cx").field("incoming", &self.inner.incoming).finish_non_exhaustive()
    }
}

/// What surrounds one request, for a handler that is a future: all that [`Cx`] has, and what waits
/// does so without a thread.
///
/// The handler's future is dropped, at the point where it waits, once the request is cancelled or
/// the connection has ended. What must be finished all the same belongs into a task of its own.
#[derive(Clone, Debug)]
pub struct AsyncCx(pub(crate) Cx);

impl AsyncCx {
    /// Sends a log message, unless the client asked for graver ones only. Waits while too much
    /// waits to be sent.
    ///
    /// # Errors
    /// As [`Cx::log`].
    pub async fn log<T: Serialize + ?Sized>(&self, level: Level, data: &T) -> Result<(), Misuse> {
        let data = Raw::new(data)?;
        self.0.logs(level, data).await
    }

    /// Sleeps for `duration`, on any runtime. Once the connection is over, only yields to other
    /// tasks.
    pub async fn sleep(&self, duration: Duration) {
        self.0.inner.wire.sleep(duration).await;
    }

    /// Waits until the client no longer wants an answer. For tasks that outlive the handler: its
    /// own future is dropped then.
    pub async fn cancelled(&self) {
        self.0.inner.cancelled.wait().await;
    }
}

impl Deref for AsyncCx {
    type Target = Cx;

    fn deref(&self) -> &Cx {
        &self.0
    }
}
