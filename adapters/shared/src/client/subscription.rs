//! Subscriptions to changes of a server: the queue of each one, and the handle that reads it.

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use event_listener::EventListener;
use futures_lite::Stream;
use futures_lite::future::yield_now;
use mcp_proto::client::{Client as Machine, Command};
use mcp_proto::{
    CallError, CallId, CallOptions, Era, Filter, Instant, MessageEndpoint as _, Misuse, Raw,
};

use crate::client::changed::Changed;
use crate::client::in_flight::START_PATIENCE;
use crate::error::Error;
use crate::exec::operation::Operation;
use crate::exec::sole_driver::is_sole_driver;
use crate::exec::watched::Watched;
use crate::transport::link::{Link, State};

/// The maximum number of queued changes, and of the bytes of their URIs. Beyond either, the changed
/// resources are merged into one entry.
const CHANGES_MAX: usize = 1024;
const CHANGES_BYTES_MAX: usize = 1 << 20;

/// A subscription to changes in lists and resources.
///
/// Changes wait in a queue until they are read; a change that is already in the queue is not added
/// again. The queue holds at most 1,024 changes, with at most 1 MiB of URIs in total. Beyond that,
/// all queued resource changes are merged into [`Changed::ManyResources`], so no change is lost.
///
/// Over HTTP, a server may drop the client's session. The subscription then continues in the
/// client's next session, and changes in between are not reported. In the modern era (from revision
/// 2026-07-28), there are no sessions: if the subscription's stream breaks, the subscription ends
/// with [`CallError::Lost`], and the connection stays open.
///
/// Dropping this value ends the subscription and notifies the server. A subscription also ends when
/// its connection ends; [`Connection::reconnect`](crate::Connection::reconnect) resumes it.
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
    /// `Ok` means that the server ended the subscription with a final response. Changes may still
    /// be queued after the end.
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

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription").field("filter", &self.acknowledged()).finish_non_exhaustive()
    }
}

/// The queue of one subscription. It may move from one connection to the next.
pub(crate) struct Feed {
    requested: Filter,
    state: Watched<FeedState>,
}

struct FeedState {
    /// The connection and the call of the open subscription.
    call: Option<(Arc<Link<Machine>>, CallId)>,
    /// What the server acknowledged; empty until then.
    filter: Filter,
    acknowledged: bool,
    queue: VecDeque<Changed>,
    bytes: usize,
    ended: Option<Result<(), CallError>>,
    /// The handle was dropped, so the subscription must not start again.
    is_dropped: bool,
}

impl Feed {
    pub(crate) fn new(filter: &Filter) -> Arc<Self> {
        let state = FeedState {
            call: None,
            filter: Filter::new(),
            acknowledged: false,
            queue: VecDeque::new(),
            bytes: 0,
            ended: None,
            is_dropped: false,
        };
        Arc::new(Self { requested: filter.clone(), state: Watched::new(state) })
    }

    /// Starts the subscription on a connection, waiting for room.
    pub(crate) async fn start(self: &Arc<Self>, link: &Arc<Link<Machine>>) -> Result<(), Misuse> {
        link.with_room(START_PATIENCE, |state, now| self.try_start(link, state, now)).await
    }

    /// Starts the subscription on a connection without waiting.
    pub(crate) fn try_start(
        self: &Arc<Self>,
        link: &Arc<Link<Machine>>,
        state: &mut State<Machine>,
        now: Instant,
    ) -> Result<(), Misuse> {
        self.try_start_if(link, state, now, |_| true)
    }

    /// Like [`try_start`](Self::try_start), unless `may_start` returns false under the lock.
    fn try_start_if(
        self: &Arc<Self>,
        link: &Arc<Link<Machine>>,
        state: &mut State<Machine>,
        now: Instant,
        may_start: impl FnOnce(&FeedState) -> bool,
    ) -> Result<(), Misuse> {
        let mut own = self.state.lock();
        if own.is_dropped || !may_start(&own) {
            return Err(Misuse::Stale);
        }
        let call = state.connection.call(
            now,
            Command::Subscribe { filter: &self.requested, options: CallOptions::default() },
        )?;
        own.call = Some((Arc::clone(link), call));
        own.acknowledged = false;
        own.ended = None;
        drop(own);
        state.role.insert_feed(call, Arc::clone(self));
        Ok(())
    }

    /// Returns whether a subscription whose call was lost with its session continues in the next
    /// session; if so, detaches it from the call.
    ///
    /// A subscription that the server never acknowledged ends instead, to avoid endless retries.
    pub(crate) fn outlives(&self, link: &Arc<Link<Machine>>, call: CallId) -> bool {
        let has_next = link.inspect(|state| {
            let is_legacy =
                state.role.peer.as_ref().is_some_and(|peer| peer.revision.era() == Era::Legacy);
            is_legacy && !state.connection.is_closed()
        });
        let mut state = self.state.lock();
        has_next
            && state.acknowledged
            && state.call.take_if(|(on, open)| Arc::ptr_eq(on, link) && *open == call).is_some()
    }

    /// Ends the subscription as lost: there is no next session.
    pub(crate) fn lost(&self) {
        self.state.change(|state| {
            if state.call.is_none() && state.ended.is_none() {
                state.ended = Some(Err(CallError::Lost));
            }
        });
    }

    /// Resumes the subscription on another connection if it ended with its last one; returns
    /// whether it did.
    pub(crate) async fn resume(self: &Arc<Self>, link: &Arc<Link<Machine>>) -> bool {
        // Checked under the lock that starts it, so that only one caller resumes the subscription
        // and that it stays ended if this future is dropped.
        let was_lost = |state: &FeedState| state.ended == Some(Err(CallError::Lost));
        if !was_lost(&self.state.lock()) {
            return false;
        }
        link.with_room(START_PATIENCE, |state, now| self.try_start_if(link, state, now, was_lost))
            .await
            .is_ok()
    }

    /// Waits until the server has acknowledged the subscription.
    // TMO-03: the connection ends the call if that takes too long.
    pub(crate) async fn wait_open(&self) -> Result<(), Error> {
        self.state
            .when(|state| match &state.ended {
                _ if state.acknowledged => Some(Ok(())),
                Some(Err(error)) => Some(Err(error.clone().into())),
                Some(Ok(())) => Some(Err(CallError::SubscriptionEnded.into())),
                None => None,
            })
            .await
    }

    /// Records the acknowledgment of the server.
    pub(crate) fn acknowledge(&self, filter: Filter) {
        self.state.change(|state| {
            state.filter = filter;
            state.acknowledged = true;
        });
    }

    /// Queues a change notification. Returns false for any other notification, such as that of an
    /// extension.
    pub(crate) fn push(&self, method: &str, params: Option<&Raw>) -> bool {
        let Some(change) = Changed::parse(method, params) else { return false };
        self.state.change(|state| state.add(change));
        true
    }

    /// Records the end of the subscription's call.
    pub(crate) fn end(
        &self,
        link: &Arc<Link<Machine>>,
        call: CallId,
        outcome: Result<(), CallError>,
    ) {
        self.state.change(|state| {
            // The subscription may have been resumed on another connection already.
            if state.call.take_if(|(on, open)| Arc::ptr_eq(on, link) && *open == call).is_some() {
                state.ended = Some(outcome);
            }
        });
    }

    async fn next(&self) -> Option<Changed> {
        let change = self.state.when(FeedState::next).await;
        if change.is_none() {
            // A task that ignores the end would otherwise spin in a single poll.
            yield_now().await;
        }
        change
    }

    fn cancel(&self) {
        let mut call = None;
        self.state.change(|state| {
            state.is_dropped = true;
            call = state.call.take();
            // A task that reopens the connection may be waiting for the acknowledgment.
            state.ended.get_or_insert(Err(CallError::Cancelled));
        });
        if let Some((link, call)) = call {
            let cancel = Command::Cancel { call, reason: "no longer wanted" };
            let _over_already = link.with(|state, now| state.connection.run(now, cancel));
        }
    }
}

impl FeedState {
    /// Queues a change, unless a queued one covers it.
    fn add(&mut self, change: Changed) {
        let is_resource = |change: &Changed| matches!(change, Changed::Resource(_));
        let covers = |queued: &Changed| {
            *queued == change || *queued == Changed::ManyResources && is_resource(&change)
        };
        if self.queue.iter().any(covers) {
            return;
        }
        self.bytes += change.bytes();
        self.queue.push_back(change);
        if self.queue.len() > CHANGES_MAX || self.bytes > CHANGES_BYTES_MAX {
            self.queue.retain(|queued| !is_resource(queued));
            self.queue.push_back(Changed::ManyResources);
            self.bytes = 0;
        }
    }

    /// Returns the next change, or the end of the subscription; `None` if there is neither yet.
    fn next(&mut self) -> Option<Option<Changed>> {
        match self.take() {
            None if self.ended.is_none() => None,
            change => Some(change),
        }
    }

    fn take(&mut self) -> Option<Changed> {
        let change = self.queue.pop_front()?;
        self.bytes -= change.bytes();
        Some(change)
    }
}

impl fmt::Debug for Feed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Feed").field("requested", &self.requested).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Arc;

    use futures_lite::future::{block_on, poll_once};
    use mcp_proto::{CallError, Filter};

    use super::{Feed, Subscription};
    use crate::BoxFuture;
    use crate::client::settings::ClientSettings;
    use crate::exec::clock::Clock;
    use crate::exec::workers::Spawn;

    struct NullRuntime;

    impl Spawn for NullRuntime {
        fn spawn(&self, _: BoxFuture<'static, ()>) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_subscription_stays_lost_if_its_resumption_is_dropped() {
        let feed = Feed::new(&Filter::new());
        feed.lost();
        let listening = Subscription::new(Arc::clone(&feed));
        let runtime: Arc<dyn Spawn> = Arc::new(NullRuntime);
        let (_connecting, driving) =
            ClientSettings::new("c", "1").open(Clock::new(), &runtime).unwrap();
        // Waits for the connection to open.
        assert!(block_on(poll_once(feed.resume(driving.link()))).is_none());
        assert_eq!(listening.ended(), Some(Err(CallError::Lost)));
    }

    #[test]
    fn a_subscription_that_was_dropped_is_not_waited_for() {
        let feed = Feed::new(&Filter::new());
        drop(Subscription::new(Arc::clone(&feed)));
        assert!(matches!(block_on(poll_once(feed.wait_open())), Some(Err(_))));
    }

    /// Like all futures of an abandoned connection.
    #[test]
    fn a_task_that_ignores_the_end_of_a_subscription_yields() {
        let feed = Feed::new(&Filter::new());
        feed.lost();
        let mut listening = Subscription::new(feed);
        let many = async {
            for _ in 0..100 {
                assert_eq!(listening.next().await.unwrap(), None);
            }
        };
        assert!(block_on(poll_once(many)).is_none());
    }
}
