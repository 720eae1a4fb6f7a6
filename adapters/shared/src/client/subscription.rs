//! Subscriptions to changes of a server.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use event_listener::EventListener;
use futures_lite::Stream;
use mcp_proto::{CallError, Filter};

use crate::client::changed::Changed;
use crate::client::feed::{Feed, FeedState};
use crate::exec::operation::Operation;
use crate::exec::sole_driver::is_sole_driver;

/// A subscription to changes in lists and resources.
///
/// Changes wait in a queue until they are read; a change that is already in the queue is not added
/// again. The queue holds at most 1,024 changes, with at most 1 MiB of URIs in total. Beyond that,
/// all queued resource changes are merged into [`Changed::ManyResources`], so no change is lost.
///
/// A subscription outlives the loss of its connection, session or stream if the connection is
/// [recovered](crate::Client::recovery). Once the server has acknowledged it again, a change is
/// queued for everything that it covers, because changes may have been missed.
///
/// In the modern era (from revision 2026-07-28), a server can end a subscription, and does so when
/// it stops. The protocol does not say whether such an end is final, so the client subscribes again
/// after a delay. The end is final if the server then refuses the subscription, other than with an
/// internal error, acknowledges nothing of it, or ends it more often than
/// [`Recovery::attempts`](crate::Recovery::attempts) allows. The connection stays open.
///
/// Dropping this value ends the subscription and notifies the server. A subscription also ends when
/// its connection ends for good, and when its stream ends while the connection is not recovered;
/// [`Connection::reconnect`](crate::Connection::reconnect) resumes it.
///
/// Read the changes with [`next`](Self::next) or, on a thread that may block, with
/// [`iter`](Self::iter). The subscription is also a `Stream` of `futures-core`, which ends when
/// `next` returns `None`.
#[must_use = "dropping it ends the subscription"]
pub struct Subscription {
    feed: Arc<Feed>,
    /// The place of the stream among the tasks that wait for a change.
    waiting: Option<EventListener>,
}

impl Subscription {
    pub(crate) const fn new(feed: Arc<Feed>) -> Self {
        Self { feed, waiting: None }
    }

    /// Returns the part of the requested filter that the server acknowledged.
    #[must_use]
    pub fn acknowledged(&self) -> Filter {
        self.feed.state.lock().filter.clone()
    }

    /// Waits for the next change.
    ///
    /// Returns `None` once the subscription has ended and its queue is empty.
    ///
    /// This method is cancel safe: dropping the operation loses no change.
    ///
    /// # Errors
    /// Never fails, except as [`Operation::wait`] does.
    #[expect(clippy::should_implement_trait, reason = "the changes are awaited")]
    pub fn next(&mut self) -> Operation<'_, Option<Changed>> {
        Operation::new(async { Ok(self.feed.next().await) })
    }

    /// Blocks until the next change, for at most `patience`.
    ///
    /// Returns `None` on timeout, or once the subscription has ended and its queue is empty. Does
    /// not wait on a driving thread that no other thread can replace (see
    /// [`Server`](crate::Server)).
    #[must_use]
    pub fn next_within(&mut self, patience: Duration) -> Option<Changed> {
        let patience = if is_sole_driver() { Duration::ZERO } else { patience };
        self.feed.state.when_within(patience, FeedState::next).flatten()
    }

    /// Returns an iterator that blocks until the next change.
    ///
    /// It ends once the subscription has ended and its queue is empty, and on threads on which
    /// [`Operation::wait`] fails.
    ///
    /// ```no_run
    /// # use mcp_adapter as mcp_blocking;
    /// use mcp_blocking::proto::Filter;
    /// use mcp_blocking::{Connection, Error};
    ///
    /// fn watch(connection: &Connection) -> Result<(), Error> {
    ///     let weather = Filter::new().tools().resource("weather://oslo");
    ///     for change in connection.subscribe(&weather).wait()?.iter() {
    ///         println!("{change:?}");
    ///     }
    ///     Ok(())
    /// }
    /// ```
    pub fn iter(&mut self) -> impl Iterator<Item = Changed> + '_ {
        std::iter::from_fn(|| self.next().wait().ok().flatten())
    }

    /// Returns how the subscription ended; `None` while it is open.
    ///
    /// `Ok` means that the server ended the subscription in good order,
    /// [`SubscriptionEnded`](CallError::SubscriptionEnded) that it did so without a response, and
    /// [`Refused`](CallError::Refused) that it refused to resume it. Changes may still be queued
    /// after the end.
    #[must_use]
    pub fn ended(&self) -> Option<Result<(), CallError>> {
        self.feed.state.lock().ended.clone()
    }
}

impl Stream for Subscription {
    type Item = Changed;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Changed>> {
        let Self { feed, waiting } = self.get_mut();
        feed.state.poll_when(context, waiting, FeedState::next)
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.feed.cancel();
    }
}

opaque_debug!(Subscription, it => filter: it.acknowledged());
