//! The commands of a client.

use super::{OwnedCommand, Payload};
use crate::error::Misuse;
use crate::revision::Revision;
use crate::rpc::ErrorObject;
use crate::schema::{ClientRequest, Encode, Level};
use crate::vocabulary::{CallId, CallOptions, Filter, IncomingId, Progress};

/// A command to a client, applied with [`Client::apply`](crate::client::Client::apply).
///
/// Each variant has the effect of the method that its description links to.
///
/// ```
/// use mcp_proto::client::{Client, Command, Config};
/// use mcp_proto::{CommandOutcome, Instant, Misuse};
///
/// let mut client = Client::new(Instant::ZERO, Config::new("demo", "1.0.0"));
/// assert_eq!(client.apply(Instant::ZERO, Command::Close), Ok(CommandOutcome::Done));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Command<'a> {
    /// Sends a request; see [`Client::call_raw`](crate::client::Client::call_raw).
    Call {
        /// The method's name.
        method: &'a str,
        /// The params, an object.
        params: Payload<'a>,
        /// The options of the call.
        options: CallOptions,
    },
    /// Cancels a call; see [`Client::cancel`](crate::client::Client::cancel).
    Cancel {
        /// The call to cancel.
        call: CallId,
        /// The reason sent to the server; may be empty.
        reason: &'a str,
    },
    /// Closes the connection; see [`Client::close`](crate::client::Client::close).
    Close,
    /// Subscribes to changes; see [`Client::subscribe`](crate::client::Client::subscribe).
    Subscribe {
        /// The changes to subscribe to.
        filter: &'a Filter,
        /// The options of the call.
        options: CallOptions,
    },
    /// Sends a notification; see [`Client::notify_raw`](crate::client::Client::notify_raw).
    Notify {
        /// The method's name.
        method: &'a str,
        /// The params, an object.
        params: Payload<'a>,
    },
    /// Sends a progress notification; see [`Client::progress`](crate::client::Client::progress).
    Progress {
        /// The server's request.
        incoming: IncomingId,
        /// The progress of that request.
        progress: &'a Progress,
    },
    /// Responds with a result; see [`Client::respond`](crate::client::Client::respond).
    Respond {
        /// The server's request.
        incoming: IncomingId,
        /// The result, an object.
        result: Payload<'a>,
    },
    /// Responds with an error; see [`Client::respond_error`](crate::client::Client::respond_error).
    RespondError {
        /// The server's request.
        incoming: IncomingId,
        /// The error.
        error: &'a ErrorObject,
    },
    /// Sets the minimum severity of log messages; see
    /// [`Client::set_log_level`](crate::client::Client::set_log_level).
    SetLogLevel {
        /// The minimum severity to receive.
        level: Level,
        /// The options of the call.
        options: CallOptions,
    },
}

impl<'a> Command<'a> {
    /// Creates a command that sends a typed request.
    pub const fn call<R: ClientRequest>(request: &'a R, options: CallOptions) -> Self {
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
            Self::Progress { incoming, .. }
            | Self::Respond { incoming, .. }
            | Self::RespondError { incoming, .. } => Some(*incoming),
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
            Self::Close => OwnedCommand::Close,
            Self::Subscribe { filter, options } => {
                OwnedCommand::Subscribe { filter: filter.clone(), options }
            }
            Self::Notify { method, params } => {
                OwnedCommand::Notify { method: method.into(), params: params.into_raw(revision) }
            }
            Self::Progress { incoming, progress } => {
                OwnedCommand::Progress { incoming, progress: progress.clone() }
            }
            Self::Respond { incoming, result } => {
                OwnedCommand::Respond { incoming, result: result.into_raw(revision) }
            }
            Self::RespondError { incoming, error } => {
                OwnedCommand::RespondError { incoming, error: error.clone() }
            }
            Self::SetLogLevel { level, options } => OwnedCommand::SetLogLevel { level, options },
        }
    }
}

impl<'a> TryFrom<&'a OwnedCommand> for Command<'a> {
    type Error = Misuse;

    /// Fails with [`Misuse::Unsupported`] if only servers have the command.
    fn try_from(owned: &'a OwnedCommand) -> Result<Self, Misuse> {
        Ok(match owned {
            OwnedCommand::Call { method, params, options } => {
                Self::Call { method, params: params.into(), options: options.clone() }
            }
            OwnedCommand::Cancel { call, reason } => Self::Cancel { call: *call, reason },
            OwnedCommand::Close => Self::Close,
            OwnedCommand::Subscribe { filter, options } => {
                Self::Subscribe { filter, options: options.clone() }
            }
            OwnedCommand::Notify { method, params } => {
                Self::Notify { method, params: params.into() }
            }
            OwnedCommand::Progress { incoming, progress } => {
                Self::Progress { incoming: *incoming, progress }
            }
            OwnedCommand::Respond { incoming, result } => {
                Self::Respond { incoming: *incoming, result: result.into() }
            }
            OwnedCommand::RespondError { incoming, error } => {
                Self::RespondError { incoming: *incoming, error }
            }
            OwnedCommand::SetLogLevel { level, options } => {
                Self::SetLogLevel { level: *level, options: options.clone() }
            }
            OwnedCommand::NotifyChanged { .. }
            | OwnedCommand::EndStream { .. }
            | OwnedCommand::Log { .. }
            | OwnedCommand::RefuseUndeclared { .. }
            | OwnedCommand::RequestInput { .. } => return Err(Misuse::Unsupported),
        })
    }
}
