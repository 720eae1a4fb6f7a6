//! The actions that open a client's connection.

use core::time::Duration;

use crate::revision::Revision;
use crate::vocabulary::{Fault, Peer};

/// The next action in opening a connection.
#[derive(Debug)]
pub(crate) enum OpenAction {
    /// Accept the peer; the connection is open.
    Agreed(Peer),
    /// Close the connection.
    Fault(Fault),
    /// Send `initialize` with this revision.
    Initialize(Revision),
    /// Send `server/discover` in this revision, with this timeout.
    Probe(Revision, Duration),
}
