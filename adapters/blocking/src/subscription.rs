//! Subscriptions that block.

use std::fmt;
use std::time::Duration;

use futures_lite::future::block_on;
use mcp_adapter::Changed;
use mcp_adapter::proto::{CallError, Filter};

use crate::wait::block_on_within;

/// A subscription to changes in lists and resources, as a blocking iterator.
///
/// Changes wait in a queue until they are read; a change that is already in the queue is not added
/// again. The queue holds at most 1,024 changes, with at most 1 MiB of URIs in total. Beyond that,
/// all queued resource changes are merged into [`Changed::ManyResources`], so no change is lost.
///
/// Dropping this value ends the subscription and notifies the server. A subscription also ends when
/// its connection ends; [`Connection::reconnect`](crate::Connection::reconnect) resumes it.
#[must_use = "dropping it ends the subscription"]
pub struct Subscription(pub(crate) mcp_adapter::Subscription);

impl Subscription {
    /// Returns the part of the requested filter that the server acknowledged.
    #[must_use]
    pub fn acknowledged(&self) -> Filter {
        self.0.acknowledged()
    }

    /// Waits for the next change, for at most `patience`.
    ///
    /// Returns `None` on timeout, or once the subscription has ended and its queue is empty.
    #[must_use]
    pub fn next_within(&mut self, patience: Duration) -> Option<Changed> {
        block_on_within(patience, self.0.next()).flatten()
    }

    /// Returns how the subscription ended; `None` while it is open.
    ///
    /// `Ok` means that the server ended the subscription with a final response. Changes may still
    /// be queued after the end.
    #[must_use]
    pub fn ended(&self) -> Option<Result<(), CallError>> {
        self.0.ended()
    }
}

/// Blocks until the next change; ends once the subscription has ended and its queue is empty.
impl Iterator for Subscription {
    type Item = Changed;

    fn next(&mut self) -> Option<Changed> {
        block_on(self.0.next())
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
