//! What becomes of a handler's outcome on the wire; knows neither handlers nor threads.

use mcp_proto::schema::{CallTool, ClientRequest, Encode};
use mcp_proto::server::{Command, Server as Machine};
use mcp_proto::{ErrorObject, IncomingId, Instant, Misuse, Question, Request};

use crate::server::handler::round_state::{Carried, Sealing};
use crate::server::handler::tool_error::{Failure, ToolError};
use crate::transport::link::Transport;

/// A result of any method, once its handler is done.
pub(crate) type Done = Box<dyn Encode + Send>;

/// How a request is answered.
pub(crate) enum Reply {
    /// With questions, by their keys, and with state.
    Ask(Vec<(String, Question)>, Option<String>),
    /// With an error.
    Error(ErrorObject),
    /// With a result.
    Result(Done),
}

impl Reply {
    /// What `outcome` comes to; `now` gives seconds since the Unix epoch.
    pub(crate) fn new(
        outcome: Result<Done, ToolError>,
        request: &Request,
        carried: &Carried,
        sealing: &Sealing,
        now: impl FnOnce() -> u64,
    ) -> Self {
        match outcome.map_err(|ToolError(failure)| failure) {
            Ok(result) => Self::Result(result),
            Err(Failure::Failed(result)) if request.method == CallTool::METHOD => {
                Self::Result(result)
            }
            Err(Failure::Failed(result)) => {
                let why = result.content.first().and_then(|block| block.as_text());
                Self::Error(ErrorObject::internal(why.unwrap_or("the handler failed")))
            }
            Err(Failure::Refused(error)) => Self::Error(error),
            Err(Failure::Ask(questions)) => {
                match carried.to_text().map(|text| sealing.close(text, request, now())).transpose()
                {
                    Ok(state) => Self::Ask(questions, state),
                    Err(error) => Self::Error(error),
                }
            }
        }
    }

    /// Sends it. A request that is gone needs no answer.
    ///
    /// # Errors
    /// [`Misuse::Blocked`] when there is no room for questions: try again, or
    /// [`give_up`](Self::give_up).
    pub(crate) fn send(
        &mut self,
        session: &mut Transport<Machine>,
        now: Instant,
        incoming: IncomingId,
    ) -> Result<(), Misuse> {
        let (sent, complaint) = match self {
            Self::Result(result) => (
                session.run(now, Command::respond(incoming, &**result)),
                "the result cannot be written as JSON, or not for this client",
            ),
            Self::Error(error) => {
                (session.run(now, Command::RespondError { incoming, error }), "the handler failed")
            }
            Self::Ask(questions, state) => {
                let questions: Vec<(&str, Question)> =
                    questions.iter().map(|(key, question)| (&**key, question.clone())).collect();
                let questions = &questions[..];
                let (state, refused) = (state.as_deref(), questions.into());
                let ask = Command::RequestInput { incoming, questions: questions.into(), state };
                let sent = match session.run(now, ask) {
                    Err(Misuse::Undeclared) => {
                        session.run(now, Command::RefuseUndeclared { incoming, questions: refused })
                    }
                    sent => sent,
                };
                (sent, "the handler's questions cannot be asked")
            }
        };
        match sent {
            Err(Misuse::Blocked) => Err(Misuse::Blocked),
            // The request is still open, unless it is gone anyway.
            Err(_) => {
                let error = &ErrorObject::internal(complaint);
                let _gone = session.run(now, Command::RespondError { incoming, error });
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    /// What to send when there is no room for questions.
    pub(crate) fn give_up(&self) -> Self {
        let keys = match self {
            Self::Ask(questions, _) => {
                questions.iter().map(|(key, _)| &**key).collect::<Vec<_>>().join(", ")
            }
            Self::Error(_) | Self::Result(_) => String::new(),
        };
        Self::Error(ErrorObject::internal(format!("cannot ask for `{keys}`: {}", Misuse::Blocked)))
    }
}
