//! The commands of a server.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::vec::Vec;

use super::{OwnedCommand, Payload, Questions, encoded};
use crate::error::Misuse;
use crate::json::Raw;
use crate::revision::Revision;
use crate::rpc::ErrorObject;
use crate::schema::{Encode, Level, ServerRequest};
use crate::vocabulary::{CallId, CallOptions, Change, IncomingId, NeededInput, Progress};

/// A command to a server, applied with [`Server::apply`](crate::server::Server::apply).
///
/// Each variant has the effect of the method that its description links to.
///
/// ```
/// use mcp_proto::server::{Command, Config, Server};
/// use mcp_proto::{CommandOutcome, Capability, Change, Instant};
///
/// let config = Config::new("notes", "1.0.0").capability(Capability::ToolsListChanged);
/// let mut server = Server::new(Instant::ZERO, config);
/// let changed = Command::NotifyChanged { change: Change::Tools };
/// assert_eq!(server.apply(Instant::ZERO, changed), Ok(CommandOutcome::Done));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Command<'a> {
    /// Sends a request; see [`Server::call_raw`](crate::server::Server::call_raw).
    Call {
        /// The method's name.
        method: &'a str,
        /// The params, an object.
        params: Payload<'a>,
        /// The options of the call.
        options: CallOptions,
    },
    /// Cancels a call; see [`Server::cancel`](crate::server::Server::cancel).
    Cancel {
        /// The call to cancel.
        call: CallId,
        /// The reason sent to the client; may be empty.
        reason: &'a str,
    },
    /// Notifies the client of a change; see
    /// [`Server::notify_changed`](crate::server::Server::notify_changed).
    NotifyChanged {
        /// The change to report.
        change: Change<'a>,
    },
    /// Closes the connection; see [`Server::close`](crate::server::Server::close).
    Close,
    /// Closes the event stream of a request without answering the request; see
    /// [`Server::end_stream`](crate::server::Server::end_stream).
    EndStream {
        /// The client's request.
        incoming: IncomingId,
    },
    /// Sends a log message; see [`Server::log`](crate::server::Server::log).
    Log {
        /// The client's request that the message refers to, if any.
        incoming: Option<IncomingId>,
        /// The severity.
        level: Level,
        /// The name of the logger, if any.
        logger: Option<&'a str>,
        /// The message as JSON.
        data: &'a Raw,
    },
    /// Sends a notification; see [`Server::notify_raw`](crate::server::Server::notify_raw).
    Notify {
        /// The method's name.
        method: &'a str,
        /// The params, an object.
        params: Payload<'a>,
    },
    /// Sends a progress notification; see [`Server::progress`](crate::server::Server::progress).
    Progress {
        /// The client's request.
        incoming: IncomingId,
        /// The progress of that request.
        progress: &'a Progress,
    },
    /// Refuses a request because the client lacks a capability; see
    /// [`Server::refuse_undeclared`](crate::server::Server::refuse_undeclared).
    RefuseUndeclared {
        /// The client's request.
        incoming: IncomingId,
        /// The input requests that the client cannot answer, each with its key.
        questions: Cow<'a, [(&'a str, NeededInput)]>,
    },
    /// Asks the client for input; see
    /// [`Server::request_input`](crate::server::Server::request_input).
    RequestInput {
        /// The client's request.
        incoming: IncomingId,
        /// The input requests, each with its key.
        questions: Cow<'a, [(&'a str, NeededInput)]>,
        /// Opaque state, delivered again together with the client's responses.
        state: Option<&'a str>,
    },
    /// Responds with a result; see [`Server::respond`](crate::server::Server::respond).
    Respond {
        /// The client's request.
        incoming: IncomingId,
        /// The result, an object.
        result: Payload<'a>,
    },
    /// Responds with an error; see [`Server::respond_error`](crate::server::Server::respond_error).
    RespondError {
        /// The client's request.
        incoming: IncomingId,
        /// The error.
        error: &'a ErrorObject,
    },
}

impl<'a> Command<'a> {
    /// Creates a command that sends a typed request.
    pub const fn call<R: ServerRequest>(request: &'a R, options: CallOptions) -> Self {
        Self::Call { method: R::METHOD, params: Payload::Value(request), options }
    }

    /// Creates a command that responds with a result.
    pub const fn respond(incoming: IncomingId, result: &'a dyn Encode) -> Self {
        Self::Respond { incoming, result: Payload::Value(result) }
    }

    /// Returns the incoming request that the command refers to, if any.
    #[must_use]
    pub const fn incoming(&self) -> Option<IncomingId> {
        match self {
            Self::EndStream { incoming }
            | Self::Progress { incoming, .. }
            | Self::RefuseUndeclared { incoming, .. }
            | Self::RequestInput { incoming, .. }
            | Self::Respond { incoming, .. }
            | Self::RespondError { incoming, .. } => Some(*incoming),
            Self::Log { incoming, .. } => *incoming,
            _ => None,
        }
    }

    /// Converts the command to its owned form, encoding its values for `revision`.
    ///
    /// A value that cannot be encoded becomes `null`. Applying the owned command then fails with
    /// [`Misuse::Unencodable`], just as applying the original command would.
    #[must_use]
    pub fn into_owned(self, revision: Revision) -> OwnedCommand {
        match self {
            Self::Call { method, params, options } => OwnedCommand::Call {
                method: method.into(),
                params: params.into_raw(revision),
                options,
            },
            Self::Cancel { call, reason } => OwnedCommand::Cancel { call, reason: reason.into() },
            Self::NotifyChanged { change } => OwnedCommand::NotifyChanged { change: change.into() },
            Self::Close => OwnedCommand::Close,
            Self::EndStream { incoming } => OwnedCommand::EndStream { incoming },
            Self::Log { incoming, level, logger, data } => OwnedCommand::Log {
                incoming,
                level,
                logger: logger.map(Into::into),
                data: data.clone(),
            },
            Self::Notify { method, params } => {
                OwnedCommand::Notify { method: method.into(), params: params.into_raw(revision) }
            }
            Self::Progress { incoming, progress } => {
                OwnedCommand::Progress { incoming, progress: progress.clone() }
            }
            Self::RefuseUndeclared { incoming, questions } => {
                OwnedCommand::RefuseUndeclared { incoming, questions: own(&questions, revision) }
            }
            Self::RequestInput { incoming, questions, state } => OwnedCommand::RequestInput {
                incoming,
                questions: own(&questions, revision),
                state: state.map(Into::into),
            },
            Self::Respond { incoming, result } => {
                OwnedCommand::Respond { incoming, result: result.into_raw(revision) }
            }
            Self::RespondError { incoming, error } => {
                OwnedCommand::RespondError { incoming, error: error.clone() }
            }
        }
    }
}

impl<'a> TryFrom<&'a OwnedCommand> for Command<'a> {
    type Error = Misuse;

    /// Fails with [`Misuse::Unsupported`] if only clients have the command.
    fn try_from(owned: &'a OwnedCommand) -> Result<Self, Misuse> {
        Ok(match owned {
            OwnedCommand::Call { method, params, options } => {
                Self::Call { method, params: params.into(), options: options.clone() }
            }
            OwnedCommand::Cancel { call, reason } => Self::Cancel { call: *call, reason },
            OwnedCommand::NotifyChanged { change } => Self::NotifyChanged { change: change.into() },
            OwnedCommand::Close => Self::Close,
            OwnedCommand::EndStream { incoming } => Self::EndStream { incoming: *incoming },
            OwnedCommand::Log { incoming, level, logger, data } => {
                Self::Log { incoming: *incoming, level: *level, logger: logger.as_deref(), data }
            }
            OwnedCommand::Notify { method, params } => {
                Self::Notify { method, params: params.into() }
            }
            OwnedCommand::Progress { incoming, progress } => {
                Self::Progress { incoming: *incoming, progress }
            }
            OwnedCommand::RefuseUndeclared { incoming, questions } => {
                Self::RefuseUndeclared { incoming: *incoming, questions: borrow(questions) }
            }
            OwnedCommand::RequestInput { incoming, questions, state } => Self::RequestInput {
                incoming: *incoming,
                questions: borrow(questions),
                state: state.as_deref(),
            },
            OwnedCommand::Respond { incoming, result } => {
                Self::Respond { incoming: *incoming, result: result.into() }
            }
            OwnedCommand::RespondError { incoming, error } => {
                Self::RespondError { incoming: *incoming, error }
            }
            OwnedCommand::Subscribe { .. } | OwnedCommand::SetLogLevel { .. } => {
                return Err(Misuse::Unsupported);
            }
        })
    }
}

/// Copies questions, encoding their params for `revision`.
fn own(questions: &[(&str, NeededInput)], revision: Revision) -> Vec<(Box<str>, NeededInput)> {
    let owned = questions.iter().map(|(key, question)| {
        let params = encoded(|out| question.write(revision, out));
        ((*key).into(), NeededInput::Raw(question.method().into(), params))
    });
    owned.collect()
}

fn borrow(questions: &[(Box<str>, NeededInput)]) -> Questions<'_> {
    questions.iter().map(|(key, question)| (&**key, question.clone())).collect()
}
