//! A subscription, waited for by a thread.

use std::fmt;
use std::time::Duration;

use futures_lite::future::block_on;
use mcp_adapter::Changed;
use mcp_adapter::proto::{CallError, Filter};

use crate::wait::block_on_within;

/// A subscription that is open, or was: an iterator over the changes, which waits for the next one.
///
/// A change that waits to be taken is not queued a second time. At most 1,024 different ones wait,
/// with 1 MiB of URIs; then all resources among them become [`Changed::ManyResources`]. None is
/// lost.
///
/// Dropping it ends the subscription: the server is told. So does the end of the connection, which
/// is closed when its last handle is dropped;
/// [`Connection::reconnect`](crate::Connection::reconnect) lets it go on.
#[must_use = "dropping it ends the subscription"]
pub struct Listening(pub(crate) mcp_adapter::Listening);

impl Listening {
    /// What the server tells of, which can be less than it was asked for.
    #[must_use]
    pub fn hears(&self) -> Filter {
        self.0.hears()
    }

    /// The next change, waiting for it for as long as `patience`; `None` when none came, or the
    /// subscription has ended.
    #[must_use]
    pub fn next_within(&mut self, patience: Duration) -> Option<Changed> {
        block_on_within(patience, self.0.next()).flatten()
    }

    /// Whether and how it has ended; changes may still wait then. `Ok` when the server ended it
    /// with a last word.
    #[must_use]
    pub fn ended(&self) -> Option<Result<(), CallError>> {
        self.0.ended()
    }
}

/// Waits for the next change; `None` once the subscription has ended and the changes before its end
/// were taken.
impl Iterator for Listening {
    type Item = Changed;

    fn next(&mut self) -> Option<Changed> {
        block_on(self.0.next())
    }
}

impl fmt::Debug for Listening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
