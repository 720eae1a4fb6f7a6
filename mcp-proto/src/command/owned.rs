//! The owned form of the commands of both roles.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::json::Raw;
use crate::rpc::ErrorObject;
use crate::schema::Level;
use crate::vocabulary::{CallId, CallOptions, Change, Filter, IncomingId, NeededInput, Progress};

/// A command to a client or a server that owns its contents.
///
/// Owned commands can be queued, sent to another thread, recorded and replayed. To apply one,
/// convert a reference to it to a [`client::Command`](crate::client::Command) or
/// [`server::Command`](crate::server::Command). The conversion fails with
/// [`Misuse::Unsupported`](crate::Misuse::Unsupported) for a command that only the other role has.
///
/// Params and results are JSON text for one revision, so apply the command only to a connection
/// that uses this revision.
///
/// ```
/// use mcp_proto::client::{Client, Command, Config};
/// use mcp_proto::{CommandOutcome, Instant, OwnedCommand};
///
/// let mut client = Client::new(Instant::ZERO, Config::new("demo", "1.0.0"));
/// let queue = vec![OwnedCommand::Close];
/// std::thread::spawn(move || {
///     for command in &queue {
///         let outcome = client.apply(Instant::ZERO, command.try_into().unwrap());
///         assert_eq!(outcome, Ok(CommandOutcome::Done));
///     }
/// })
/// .join()
/// .unwrap();
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the fields are those of `client::Command` and `server::Command`")]
pub enum OwnedCommand {
    /// Sends a request.
    Call { method: Box<str>, params: Option<Raw>, options: CallOptions },
    /// Cancels a call.
    Cancel { call: CallId, reason: Box<str> },
    /// Notifies the client of a change (servers only).
    NotifyChanged { change: OwnedChange },
    /// Closes the connection.
    Close,
    /// Closes the event stream of a request without answering the request (servers only).
    EndStream { incoming: IncomingId },
    /// Subscribes to changes (clients only).
    Subscribe { filter: Filter, options: CallOptions },
    /// Sends a log message (servers only).
    Log { incoming: Option<IncomingId>, level: Level, logger: Option<Box<str>>, data: Raw },
    /// Sends a notification.
    Notify { method: Box<str>, params: Option<Raw> },
    /// Sends a progress notification for an incoming request.
    Progress { incoming: IncomingId, progress: Progress },
    /// Refuses a request because the client lacks a capability (servers only).
    RefuseUndeclared { incoming: IncomingId, questions: Vec<(Box<str>, NeededInput)> },
    /// Asks the client for input (servers only).
    RequestInput {
        incoming: IncomingId,
        questions: Vec<(Box<str>, NeededInput)>,
        state: Option<Box<str>>,
    },
    /// Responds to an incoming request with a result.
    Respond { incoming: IncomingId, result: Option<Raw> },
    /// Responds to an incoming request with an error.
    RespondError { incoming: IncomingId, error: ErrorObject },
    /// Sets the minimum severity of log messages (clients only).
    SetLogLevel { level: Level, options: CallOptions },
}

/// The owned form of a [`Change`].
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum OwnedChange {
    /// A change that a notification of an extension reports.
    Extension {
        /// The method of the notification.
        method: Box<str>,
        /// The listen key.
        key: Box<str>,
        /// The element of the key that changed.
        element: Box<str>,
        /// The params, if any.
        params: Option<Raw>,
    },
    /// The list of prompts changed.
    Prompts,
    /// The resource with this URI changed.
    Resource(Box<str>),
    /// The list of resources changed.
    Resources,
    /// The list of tools changed.
    Tools,
}

impl From<Change<'_>> for OwnedChange {
    fn from(change: Change<'_>) -> Self {
        match change {
            Change::Extension { method, key, element, params } => Self::Extension {
                method: method.into(),
                key: key.into(),
                element: element.into(),
                params: params.cloned(),
            },
            Change::Prompts => Self::Prompts,
            Change::Resource(uri) => Self::Resource(uri.into()),
            Change::Resources => Self::Resources,
            Change::Tools => Self::Tools,
        }
    }
}

impl<'a> From<&'a OwnedChange> for Change<'a> {
    fn from(change: &'a OwnedChange) -> Self {
        match change {
            OwnedChange::Extension { method, key, element, params } => {
                Self::Extension { method, key, element, params: params.as_ref() }
            }
            OwnedChange::Prompts => Self::Prompts,
            OwnedChange::Resource(uri) => Self::Resource(uri),
            OwnedChange::Resources => Self::Resources,
            OwnedChange::Tools => Self::Tools,
        }
    }
}
