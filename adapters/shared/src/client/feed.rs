//! The queue of a subscription, which may move from one session, link or connection to the next.

use std::collections::VecDeque;
use std::sync::Arc;

use futures_lite::future::yield_now;
use mcp_proto::client::{Client as Machine, Command};
use mcp_proto::{CallError, CallId, CallOptions, CloseReason, Era, Filter, Instant, Misuse, Raw};

use crate::client::changed::Changed;
use crate::client::in_flight::START_PATIENCE;
use crate::client::recovery::{Recovery, Retry, RetryBudget, may_resume};
use crate::error::Error;
use crate::exec::watched::Watched;
use crate::transport::link::{Link, State};

/// The maximum number of queued changes, and of the bytes of their URIs. Beyond either, the changed
/// resources are merged into one entry.
const CHANGES_MAX: usize = 1024;
const CHANGES_BYTES_MAX: usize = 1 << 20;

/// The owner of a connection's link, which replaces lost links and lost streams of subscriptions.
pub(crate) trait LinkOwner: Send + Sync {
    /// Handles the end of a link. Returns whether another one is opened.
    fn on_closed(self: Arc<Self>, link: &Arc<Link<Machine>>, why: &CloseReason) -> bool;

    /// Returns whether the connection is opened again after this end.
    fn recovers_from(&self, why: &CloseReason) -> bool;

    /// Starts a subscription again that has ended while the connection is open. Returns whether
    /// that is tried.
    fn resume_stream(self: Arc<Self>, feed: &Arc<Feed>) -> bool;
}

/// Returns the owner of a link that has ended, if it opens the connection again.
fn recovering_owner(link: &Link<Machine>) -> Option<Arc<dyn LinkOwner>> {
    let (owner, why) =
        link.inspect(|state| (state.role.owner(), state.connection.close_reason().cloned()));
    owner.filter(|owner| why.is_some_and(|why| owner.recovers_from(&why)))
}

/// The queue of one subscription. It may move from one connection to the next.
pub(crate) struct Feed {
    requested: Filter,
    pub(super) state: Watched<FeedState>,
}

#[derive(Default)]
pub(super) struct FeedState {
    /// The connection and the call of the open subscription.
    call: Option<(Arc<Link<Machine>>, CallId)>,
    /// The filter that the server acknowledged; empty until then.
    pub(super) filter: Filter,
    acknowledged: bool,
    /// The server has acknowledged the subscription, perhaps in an earlier session.
    was_acknowledged: bool,
    queue: VecDeque<Changed>,
    bytes: usize,
    pub(super) ended: Option<Result<(), CallError>>,
    /// The attempts to start the subscription again while the connection was open.
    retries: RetryBudget,
    /// The handle was dropped, so the subscription must not start again.
    is_dropped: bool,
}

impl Feed {
    pub(crate) fn new(filter: &Filter) -> Arc<Self> {
        Arc::new(Self { requested: filter.clone(), state: Watched::default() })
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
        let options = CallOptions::default();
        let subscribe = Command::Subscribe { filter: &self.requested, options };
        let call = state.connection.call(now, subscribe)?;
        own.call = Some((Arc::clone(link), call));
        own.acknowledged = false;
        own.ended = None;
        drop(own);
        state.role.insert_feed(call, Arc::clone(self));
        Ok(())
    }

    /// Handles the end of the subscription's call: the subscription ends, or continues in the next
    /// session, on the next link or with another stream.
    pub(crate) fn handle_end(
        self: &Arc<Self>,
        link: &Arc<Link<Machine>>,
        call: CallId,
        outcome: Result<(), CallError>,
    ) {
        match &outcome {
            Err(CallError::Lost) if self.outlives_session(link, call) => {
                return Arc::clone(self).resume_in_session(link);
            }
            outcome if may_resume(outcome) && self.outlives_call(link, call, outcome) => return,
            _ => {}
        }
        self.end(link, call, outcome);
    }

    /// Resumes the subscription in the next session after the server has dropped its session.
    pub(crate) fn resume_in_session(self: Arc<Self>, link: &Arc<Link<Machine>>) {
        link.with(|state, now| match self.try_start(link, state, now) {
            Err(Misuse::NotReady) => state.role.waiting.push(self),
            Err(_) => self.lost(),
            Ok(()) => {}
        });
    }

    /// Returns whether a subscription whose call was lost with its session continues in the next
    /// session; if so, detaches it from the call.
    ///
    /// A subscription that the server never acknowledged ends instead, to avoid endless retries.
    fn outlives_session(&self, link: &Arc<Link<Machine>>, call: CallId) -> bool {
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

    /// Like [`outlives_session`](Self::outlives_session), for a link that was lost and for a call
    /// that has ended with this outcome.
    fn outlives_call(
        self: &Arc<Self>,
        link: &Arc<Link<Machine>>,
        call: CallId,
        outcome: &Result<(), CallError>,
    ) -> bool {
        let is_closed = link.inspect(|state| state.connection.is_closed());
        let owner = match is_closed {
            true => recovering_owner(link),
            false => link.inspect(|state| state.role.owner()),
        };
        let Some(owner) = owner else { return false };
        {
            let mut state = self.state.lock();
            let is_current = |(on, open): &mut (Arc<Link<Machine>>, CallId)| {
                Arc::ptr_eq(on, link) && *open == call
            };
            if !state.was_acknowledged || state.call.take_if(is_current).is_none() {
                return false;
            }
        }
        let continues = is_closed || owner.resume_stream(self);
        if !continues {
            self.end_waiting(outcome.clone());
        }
        true
    }

    /// Returns the next attempt to start the subscription again; `None` if there were too many.
    pub(super) fn next_retry(&self, recovery: &Recovery, now: Instant) -> Option<Retry> {
        self.state.lock().retries.next(recovery, now)
    }

    /// Starts the subscription on a link, if it waits for one.
    pub(crate) async fn continue_on(self: &Arc<Self>, link: &Arc<Link<Machine>>) {
        let is_waiting = |state: &FeedState| state.call.is_none() && state.ended.is_none();
        let start =
            |state: &mut State<Machine>, now| self.try_start_if(link, state, now, is_waiting);
        let started = link.with_room(START_PATIENCE, start).await;
        // A link that was lost in the meantime is replaced by another one.
        if started.is_err() && recovering_owner(link).is_none() {
            self.lost();
        }
    }

    /// Ends the subscription as lost: there is no next session.
    pub(crate) fn lost(&self) {
        self.end_waiting(Err(CallError::Lost));
    }

    /// Ends the subscription if it waits for a link or an attempt.
    fn end_waiting(&self, outcome: Result<(), CallError>) {
        self.state.change(|state| {
            if state.call.is_none() && state.ended.is_none() {
                state.ended = Some(outcome);
            }
        });
    }

    /// Resumes the subscription on another connection if it was lost, or if the server has ended
    /// it; returns whether it did.
    pub(crate) async fn resume(self: &Arc<Self>, link: &Arc<Link<Machine>>) -> bool {
        // Checked under the lock that starts it, so that only one caller resumes the subscription
        // and that it stays ended if this future is dropped.
        let was_lost = |state: &FeedState| state.ended.as_ref().is_some_and(may_resume);
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

    /// Records the acknowledgment of the server. If it is not the first one, queues a change for
    /// everything that the subscription covers: changes may have been missed. If it then covers
    /// nothing any more, the subscription ends as the server has ended it before.
    pub(crate) fn acknowledge(&self, filter: Filter) {
        let mut is_final = false;
        self.state.change(|state| {
            if std::mem::replace(&mut state.was_acknowledged, true) {
                state.add_all(&filter);
                is_final = filter == Filter::new() && filter != state.filter;
            }
            state.filter = filter;
            state.acknowledged = true;
        });
        if is_final {
            self.stop(Ok(()));
        }
    }

    /// Queues a change notification. Returns false for any other notification, such as that of an
    /// extension.
    pub(crate) fn push(&self, method: &str, params: Option<&Raw>) -> bool {
        let Some(change) = Changed::parse(method, params) else { return false };
        self.state.change(|state| state.add(change));
        true
    }

    /// Records the end of the subscription's call.
    fn end(&self, link: &Arc<Link<Machine>>, call: CallId, outcome: Result<(), CallError>) {
        self.state.change(|state| {
            // The subscription may have been resumed on another connection already.
            if state.call.take_if(|(on, open)| Arc::ptr_eq(on, link) && *open == call).is_some() {
                state.ended = Some(outcome);
            }
        });
    }

    pub(super) async fn next(&self) -> Option<Changed> {
        let change = self.state.when(FeedState::next).await;
        if change.is_none() {
            // A task that ignores the end would otherwise spin in a single poll.
            yield_now().await;
        }
        change
    }

    pub(super) fn cancel(&self) {
        self.state.lock().is_dropped = true;
        // A task that reopens the connection may be waiting for the acknowledgment.
        self.stop(Err(CallError::Cancelled));
    }

    /// Ends the subscription, and notifies the server.
    fn stop(&self, outcome: Result<(), CallError>) {
        let mut call = None;
        self.state.change(|state| {
            call = state.call.take();
            state.ended.get_or_insert(outcome);
        });
        if let Some((link, call)) = call {
            let cancel = Command::Cancel { call, reason: "no longer wanted" };
            let _over_already = link.with(|state, now| state.connection.run(now, cancel));
        }
    }
}

impl FeedState {
    /// Queues a change for everything that `filter` selects.
    // STL-38: the server does not replay what was missed.
    fn add_all(&mut self, filter: &Filter) {
        let lists = [
            (filter.tools, Changed::Tools),
            (filter.prompts, Changed::Prompts),
            (filter.resources, Changed::Resources),
        ];
        lists.into_iter().filter(|(is_covered, _)| *is_covered).for_each(|(_, it)| self.add(it));
        filter.uris.iter().for_each(|uri| self.add(Changed::Resource(String::from(&**uri))));
    }

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
    pub(super) fn next(&mut self) -> Option<Option<Changed>> {
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

opaque_debug!(Feed, it => requested: it.requested);

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use futures_lite::future::{block_on, poll_once};
    use mcp_proto::{CallError, Filter};

    use super::Feed;
    use crate::client::settings::ClientSettings;
    use crate::client::subscription::Subscription;
    use crate::exec::clock::Clock;
    use crate::exec::test_runtime::NullRuntime;
    use crate::exec::workers::Spawn;

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
