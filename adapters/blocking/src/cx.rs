//! What a handler has besides its arguments: progress, logging, cancellation, questions; and how it can fail.

use std::fmt;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use mcp_proto::schema::{CallToolResult, Decode, Elicit, ElicitAction, ElicitResult, Level};
use mcp_proto::server::Server as Machine;
use mcp_proto::{Context, ErrorObject, IncomingId, Misuse, Peer, Progress, Question, Raw};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::link::Link;

/// What surrounds one request.
///
/// Cheap to clone, and usable from any thread for as long as the request is open.
#[derive(Clone)]
pub struct Cx {
    pub(crate) link: Arc<Link<Machine>>,
    pub(crate) incoming: IncomingId,
    pub(crate) context: Context,
    pub(crate) carried: Carried,
    pub(crate) cancelled: Arc<Cancelled>,
}

impl Cx {
    /// Who asks, and in which revision.
    #[must_use]
    pub fn peer(&self) -> &Peer {
        &self.context.peer
    }

    /// What the protocol knows of the request's surroundings.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Tells the client how far the request has come, if it wants to hear of it. The number must grow.
    ///
    /// # Errors
    /// [`Misuse::Stale`] when the request was cancelled, [`Misuse::Unencodable`] when the number does not grow.
    pub fn progress(&self, progress: Progress) -> Result<(), Misuse> {
        self.link.with(|state, now| state.session.progress(now, self.incoming, &progress))
    }

    /// Sends a log message, unless the client asked for graver ones only. Waits while too much waits to be sent.
    ///
    /// # Errors
    /// [`Misuse::Undeclared`] when the server does not offer logging, [`Misuse::Stale`] when the request was
    /// cancelled.
    pub fn log<T: Serialize + ?Sized>(&self, level: Level, data: &T) -> Result<(), Misuse> {
        let data = Raw::new(data)?;
        self.link.with_room(LOG_PATIENCE, |state, now| {
            state.session.log(now, Some(self.incoming), level, None, &data)
        })
    }

    /// Whether the client no longer wants an answer.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.is_set()
    }

    /// Sleeps for `duration`, or until the request is cancelled; true when it was.
    #[must_use]
    pub fn sleep(&self, duration: Duration) -> bool {
        self.cancelled.wait(duration)
    }

    /// Asks the client's user to fill in a form, and reads the answer as `T`.
    ///
    /// It reads like a call and ends the handler: on the first run `?` answers the request with the question, and
    /// once the answer is in, the handler runs again from the top and `ask` returns it. A handler that asks must
    /// therefore not change anything before its last question is answered. This works the same for clients of
    /// every revision.
    ///
    /// # Errors
    /// The question itself, for `?` to pass on; [`ToolError::failed`] when the user declined, or answered with
    /// something that is no `T`.
    pub fn ask<T: DeserializeOwned>(&self, key: &str, form: Elicit) -> Result<T, ToolError> {
        let result: ElicitResult = self.ask_any(key, Question::from(form))?;
        match (result.action, result.content) {
            (ElicitAction::Accept, content) => {
                let content = content.map_or_else(Raw::empty_object, |content| content.0);
                content.parse().map_err(|error| ToolError::failed(format!("the answer to `{key}`: {error}")))
            }
            (ElicitAction::Decline, _) => Err(ToolError::failed(format!("the user declined `{key}`"))),
            (ElicitAction::Cancel, _) => Err(ToolError::failed(format!("the user cancelled `{key}`"))),
            (other, _) => Err(ToolError::failed(format!("the user did not answer `{key}`: {other}"))),
        }
    }

    /// Asks the client for anything that can be asked for; see [`ask`](Self::ask).
    ///
    /// # Errors
    /// The question itself, for `?` to pass on; [`ToolError::failed`] when the answer is of another form.
    pub fn ask_any<T: Decode>(&self, key: &str, question: Question) -> Result<T, ToolError> {
        match self.carried.find(key) {
            Some(answer) => Ok(T::decode(answer)
                .map_err(|error| ToolError::failed(format!("the answer to `{key}`: {error}")))?),
            None => Err(ToolError(Failure::Ask(key.into(), Box::new(question)))),
        }
    }
}

/// How long a log message waits for room.
const LOG_PATIENCE: Duration = Duration::from_secs(10);

impl fmt::Debug for Cx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cx").field("incoming", &self.incoming).finish_non_exhaustive()
    }
}

/// The answers of all rounds so far. The protocol brings those of the last round only; the rest travel as state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Carried(Vec<(String, Raw)>);

impl Carried {
    pub(crate) fn from_context(context: &Context) -> Self {
        let mut answers = Vec::new();
        if let Some(Ok(state)) = context.state.as_deref().map(Raw::from_text) {
            answers = state.parse().unwrap_or_default();
        }
        if let Some(latest) = &context.answers {
            answers.extend(latest.iter().map(|(key, answer)| (key.to_owned(), answer.clone())));
        }
        Self(answers)
    }

    pub(crate) fn to_state(&self) -> Option<String> {
        if self.0.is_empty() {
            return None;
        }
        Raw::new(&self.0).ok().map(|raw| raw.as_str().to_owned())
    }

    fn find(&self, key: &str) -> Option<&Raw> {
        self.0.iter().rev().find(|(name, _)| name == key).map(|(_, answer)| answer)
    }
}

/// Whether a request was cancelled, and a way to wait for it.
#[derive(Debug, Default)]
pub(crate) struct Cancelled {
    set: Mutex<bool>,
    changed: Condvar,
}

impl Cancelled {
    pub(crate) fn set(&self) {
        *self.set.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
    }

    fn is_set(&self) -> bool {
        *self.set.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait(&self, patience: Duration) -> bool {
        let began = Instant::now();
        let mut set = self.set.lock().unwrap_or_else(PoisonError::into_inner);
        while !*set {
            let left = patience.saturating_sub(began.elapsed());
            if left.is_zero() {
                break;
            }
            set = self.changed.wait_timeout(set, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        *set
    }
}

/// How a tool ends without a result.
///
/// Any error becomes one that says so in the tool's result, for the model to read; so `?` works on all of them.
pub struct ToolError(pub(crate) Failure);

pub(crate) enum Failure {
    /// It needs an answer first.
    Ask(String, Box<Question>),
    /// It ran and failed: a result with `isError`.
    Failed(Box<CallToolResult>),
    /// The request itself fails.
    Refused(ErrorObject),
}

impl ToolError {
    /// The tool ran and failed, and says why.
    pub fn failed(why: impl Into<String>) -> Self {
        Self(Failure::Failed(Box::new(CallToolResult::error(why))))
    }

    /// The request itself fails with an error of the protocol.
    #[must_use]
    pub fn refused(error: ErrorObject) -> Self {
        Self(Failure::Refused(error))
    }
}

impl fmt::Debug for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Failure::Ask(key, _) => write!(f, "ask for {key:?}"),
            Failure::Failed(result) => write!(f, "failed: {result:?}"),
            Failure::Refused(error) => write!(f, "refused: {error}"),
        }
    }
}

impl<E: Into<Box<dyn std::error::Error + Send + Sync>>> From<E> for ToolError {
    fn from(error: E) -> Self {
        Self::failed(error.into().to_string())
    }
}
