//! Hearing of a server's changes: a queue for each subscription, and the handle that empties it;
//! knows nothing of how changes travel.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use event_listener::Event;
use futures_lite::future::yield_now;
use mcp_proto::client::{Client as Machine, Command};
use mcp_proto::{CallError, CallId, CallOptions, Era, Filter, Instant, Misuse, Raw, Session as _};

use crate::client::call::START_PATIENCE;
use crate::error::Error;
use crate::transport::link::{Link, State as LinkState};

/// Changes that wait for whoever listens, and the bytes of their URIs; then those of resources
/// become one.
const CHANGES_MAX: usize = 1024;
const CHANGES_BYTES_MAX: usize = 1 << 20;

/// What changed on the server.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Changed {
    /// So many resources that they were not kept apart: any of those that are listened to may have
    /// changed.
    ManyResources,
    /// The list of prompts.
    Prompts,
    /// The resource with this URI. It may be a part of the one that is listened to.
    Resource(String),
    /// The list of resources.
    Resources,
    /// The list of tools.
    Tools,
}

impl Changed {
    fn read(method: &str, params: Option<&Raw>) -> Option<Self> {
        Some(match method {
            "notifications/prompts/list_changed" => Self::Prompts,
            "notifications/resources/list_changed" => Self::Resources,
            "notifications/tools/list_changed" => Self::Tools,
            "notifications/resources/updated" => {
                Self::Resource(params?.member("uri")?.to_text()?.into())
            }
            _ => return None,
        })
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Resource(uri) => uri.len(),
            Self::ManyResources | Self::Prompts | Self::Resources | Self::Tools => 0,
        }
    }
}

/// A subscription that is open, or was: the changes, one after the other.
///
/// A change that waits to be taken is not queued a second time. At most 1,024 different ones wait,
/// with 1 MiB of URIs; then all resources among them become [`Changed::ManyResources`]. None is
/// lost.
///
/// Over HTTP a server can forget a session: what was listened to in it goes on in the next one, and
/// what changed in between is not told. In the modern era there are no sessions: when its stream is
/// cut off, it ends as lost, and the connection goes on.
///
/// Dropping it ends the subscription: the server is told. So does the end of the connection, which
/// is closed when its last handle is dropped;
/// [`Connection::reconnect`](crate::Connection::reconnect) lets it go on.
#[must_use = "dropping it ends the subscription"]
pub struct Listening {
    feed: Arc<Feed>,
}

impl Listening {
    pub(crate) const fn new(feed: Arc<Feed>) -> Self {
        Self { feed }
    }

    /// What the server tells of, which can be less than it was asked for.
    #[must_use]
    pub fn hears(&self) -> Filter {
        self.feed.lock().filter.clone()
    }

    /// Waits for the next change; `None` once the subscription has ended and the changes before its
    /// end were taken.
    ///
    /// Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<Changed> {
        self.feed.next().await
    }

    /// Whether and how it has ended; changes may still wait then. `Ok` when the server ended it
    /// with a last word.
    #[must_use]
    pub fn ended(&self) -> Option<Result<(), CallError>> {
        self.feed.lock().ended.clone()
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.feed.cancel();
    }
}

impl fmt::Debug for Listening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listening").field("hears", &self.hears()).finish_non_exhaustive()
    }
}

/// Where the changes of one subscription wait.
pub(crate) struct Feed {
    asked: Filter,
    state: Mutex<State>,
    changed: Event,
}

struct State {
    /// Where it is open.
    at: Option<(Arc<Link<Machine>>, CallId)>,
    /// What will be told of: nothing until it is acknowledged.
    filter: Filter,
    acknowledged: bool,
    queue: VecDeque<Changed>,
    bytes: usize,
    ended: Option<Result<(), CallError>>,
    /// Nobody listens any more, and nothing may begin anew.
    given_up: bool,
}

impl Feed {
    pub(crate) fn new(filter: &Filter) -> Arc<Self> {
        let state = State {
            at: None,
            filter: Filter::new(),
            acknowledged: false,
            queue: VecDeque::new(),
            bytes: 0,
            ended: None,
            given_up: false,
        };
        Arc::new(Self { asked: filter.clone(), state: Mutex::new(state), changed: Event::new() })
    }

    /// Begins to listen.
    pub(crate) async fn listen(self: &Arc<Self>, link: &Arc<Link<Machine>>) -> Result<(), Misuse> {
        link.with_room(START_PATIENCE, |state, now| self.begin(link, state, now)).await
    }

    /// The same, now or not at all.
    pub(crate) fn begin(
        self: &Arc<Self>,
        link: &Arc<Link<Machine>>,
        state: &mut LinkState<Machine>,
        now: Instant,
    ) -> Result<(), Misuse> {
        let mut own = self.lock();
        if own.given_up {
            return Err(Misuse::Stale);
        }
        let call = state
            .session
            .call(now, Command::Listen { filter: &self.asked, options: CallOptions::default() })?;
        own.at = Some((Arc::clone(link), call));
        own.acknowledged = false;
        own.ended = None;
        drop(own);
        state.open.listen(call, Arc::clone(self));
        Ok(())
    }

    /// The call that listens was lost; whether it was with its session, which another one follows.
    /// What the server had not agreed to yet ends, so that nothing is asked for again and
    /// again.
    pub(crate) fn outlives(&self, link: &Arc<Link<Machine>>, call: CallId) -> bool {
        let has_next = link.look(|state| {
            let is_legacy =
                state.open.peer.as_ref().is_some_and(|peer| peer.revision.era() == Era::Legacy);
            is_legacy && !state.session.is_closed()
        });
        let mut state = self.lock();
        has_next
            && state.acknowledged
            && state.at.take_if(|(on, open)| Arc::ptr_eq(on, link) && *open == call).is_some()
    }

    /// There was no next session to go on in.
    pub(crate) fn lost(&self) {
        let mut state = self.lock();
        if state.at.is_none() && state.ended.is_none() {
            state.ended = Some(Err(CallError::Lost));
            self.changed.notify(usize::MAX);
        }
    }

    /// Goes on over another connection, if the end of the last one is what ended it; whether it
    /// does, and is to be waited for.
    pub(crate) async fn resume(self: &Arc<Self>, link: &Arc<Link<Machine>>) -> bool {
        // Whoever takes its end is the only one to do so.
        let lost = self.lock().ended.take_if(|ended| *ended == Err(CallError::Lost));
        if lost.is_none() {
            return false;
        }
        let resumed = self.listen(link).await.is_ok();
        if !resumed {
            self.lock().ended = lost;
            self.changed.notify(usize::MAX);
        }
        resumed
    }

    /// Waits until the server has said what it will tell of. The session gives up in time. (TMO-03)
    pub(crate) async fn wait_open(&self) -> Result<(), Error> {
        self.when(|state| match &state.ended {
            _ if state.acknowledged => Some(Ok(())),
            Some(Err(error)) => Some(Err(error.clone().into())),
            Some(Ok(())) => Some(Err(CallError::Withdrawn.into())),
            None => None,
        })
        .await
    }

    /// The server says what it will tell of.
    pub(crate) fn open(&self, filter: Filter) {
        let mut state = self.lock();
        state.filter = filter;
        state.acknowledged = true;
        self.changed.notify(usize::MAX);
    }

    /// The server tells of a change.
    pub(crate) fn tell(&self, method: &str, params: Option<&Raw>) {
        let Some(change) = Changed::read(method, params) else { return };
        self.lock().add(change);
        self.changed.notify(usize::MAX);
    }

    /// The call that listens has ended.
    pub(crate) fn end(
        &self,
        link: &Arc<Link<Machine>>,
        call: CallId,
        outcome: Result<(), CallError>,
    ) {
        let mut state = self.lock();
        // It may go on over another connection already.
        if state.at.take_if(|(on, open)| Arc::ptr_eq(on, link) && *open == call).is_some() {
            state.ended = Some(outcome);
            self.changed.notify(usize::MAX);
        }
    }

    async fn next(&self) -> Option<Changed> {
        let change = self.when(|state| match state.take() {
            None if state.ended.is_none() => None,
            change => Some(change),
        });
        let change = change.await;
        if change.is_none() {
            // A task that ignores the end would otherwise spin in a single poll.
            yield_now().await;
        }
        change
    }

    async fn when<T>(&self, mut look: impl FnMut(&mut State) -> Option<T>) -> T {
        loop {
            let changed = {
                let mut state = self.lock();
                if let Some(found) = look(&mut state) {
                    return found;
                }
                self.changed.listen()
            };
            changed.await;
        }
    }

    fn cancel(&self) {
        let mut state = self.lock();
        state.given_up = true;
        let at = state.at.take();
        drop(state);
        if let Some((link, call)) = at {
            let cancel = Command::Cancel { call, reason: "no longer wanted" };
            let _over_already = link.with(|state, now| state.session.run(now, cancel));
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Has a change wait, unless one that waits says as much already.
    fn add(&mut self, change: Changed) {
        let is_resource = |change: &Changed| matches!(change, Changed::Resource(_));
        let says_as_much = |waiting: &Changed| {
            *waiting == change || *waiting == Changed::ManyResources && is_resource(&change)
        };
        if self.queue.iter().any(says_as_much) {
            return;
        }
        self.bytes += change.bytes();
        self.queue.push_back(change);
        if self.queue.len() > CHANGES_MAX || self.bytes > CHANGES_BYTES_MAX {
            self.queue.retain(|waiting| !is_resource(waiting));
            self.queue.push_back(Changed::ManyResources);
            self.bytes = 0;
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
        f.debug_struct("Feed").field("asked", &self.asked).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use futures_lite::future::{block_on, poll_once};
    use mcp_proto::Filter;

    use super::{Feed, Listening};

    /// As for all futures of a connection that is over. (F-71)
    #[test]
    fn a_task_that_ignores_the_end_of_a_subscription_yields() {
        let feed = Feed::new(&Filter::new());
        feed.lost();
        let mut listening = Listening::new(feed);
        let many = async {
            for _ in 0..100 {
                assert_eq!(listening.next().await, None);
            }
        };
        assert!(block_on(poll_once(many)).is_none());
    }
}
