//! The next step in opening a connection.

use core::time::Duration;

use crate::revision::Revision;
use crate::vocabulary::{Fault, Peer};

/// What opening a connection takes next.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one for each connection, for a moment")]
pub(crate) enum Next {
    /// The peer is known: the connection is open.
    Agreed(Peer),
    /// Nothing can be agreed on.
    Fault(Fault),
    /// `initialize`, in this revision.
    Initialize(Revision),
    /// `server/discover`, in this revision, for so long.
    Probe(Revision, Duration),
}
