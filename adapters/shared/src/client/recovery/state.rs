//! The states of a connection as the application sees them.

use std::sync::Arc;
use std::time::Duration;

use mcp_proto::CloseReason;

use crate::client::context::ClientCx;
use crate::error::Error;

/// What has happened to a connection; see
/// [`Client::on_connection_state`](crate::Client::on_connection_state).
#[derive(Debug)]
#[non_exhaustive]
pub enum ConnectionState {
    /// The connection is open, for the first time or again.
    Connected,
    /// The connection was lost: the server has exited, closed it, or can no longer be reached.
    ///
    /// `Retrying` follows if the connection is [recovered](crate::Client::recovery).
    #[non_exhaustive]
    Lost {
        /// The reason.
        reason: CloseReason,
    },
    /// The connection will be opened again after a delay. `Connected` follows if that succeeds.
    #[non_exhaustive]
    Retrying {
        /// The number of the attempt within the [period](crate::Recovery::attempts), from 1.
        attempt: usize,
        /// The time until the attempt.
        delay: Duration,
    },
    /// The client has given up: there were as many attempts as
    /// [`Recovery::attempts`](crate::Recovery::attempts) allows, or the last one has failed in a
    /// way that only the user or the application can change, such as a missing authorization.
    ///
    /// The connection has ended. [`Connection::reconnect`](crate::Connection::reconnect) opens
    /// another one.
    #[non_exhaustive]
    GaveUp {
        /// Why the last attempt failed, or why the connection was lost if there was no attempt.
        error: Error,
    },
}

/// A callback for the states of connections.
pub(crate) type StateHandler = Arc<dyn Fn(&ConnectionState, &ClientCx) + Send + Sync>;
