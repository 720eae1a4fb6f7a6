//! A session that is shared by whoever reads, writes, keeps time and uses it; knows neither roles
//! nor runtimes.
//!
//! Reading and writing happen at the same time, so two peers with full pipes never wait for each
//! other. Whoever changes the session hands out the events that this caused; one at a time does, so
//! they stay in order.
//!
//! Everything that waits is a future, and needs no runtime: a driver that is a thread blocks on it.

mod driver;
mod time;
mod transport;
mod waiting;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
#[cfg(feature = "http")]
use std::sync::{OnceLock, Weak};
use std::time::Duration;

use event_listener::{Event, EventListener};
use mcp_proto::{Instant, Misuse};

use crate::exec::clock::Clock;
use crate::exec::timer_queue::Alarms;
use crate::exec::workers::Workers;
use crate::trace::{About, Trace};
pub use driver::WRITE_BYTES_MAX;
pub(crate) use transport::OnTransport;
#[cfg(feature = "http")]
pub(crate) use transport::OverHttp;
pub(crate) use transport::Transport;

/// A role as the adapters drive it: the state that it keeps beside the connection, and its event
/// handling.
pub trait Role: OnTransport {
    /// What is under the same lock as the session.
    type Open: Default + Send;
    /// What never changes while connected.
    type Shared: Send + Sync;

    /// How long what the peer sent before it stopped reading may still take to arrive.
    const LAST_INPUT: Duration;

    /// Where its handlers run, if the driver is to begin them.
    fn workers(_: &Self::Shared) -> Option<&Workers> {
        None
    }

    /// Whether there is room for what more input brings.
    fn has_room(_: &Self::Open) -> bool {
        true
    }

    /// Hands one event on. Called one at a time, in order, without the lock; must not wait.
    fn dispatch(link: &Arc<Link<Self>>, event: Self::Event);

    /// What an event is, in short.
    fn about(event: &Self::Event) -> About<'_>;

    /// Whether what failed like this may be tried again once something has happened.
    fn may_pass(misuse: Misuse) -> bool {
        misuse == Misuse::Blocked
    }

    /// Bytes have left: what found no room before may be said now.
    fn retry(_: &mut Transport<Self>, _: &mut Self::Open, _now: impl FnOnce() -> Instant) {}
}

/// Keeps the time of connections that have no driver for as long as they have any to keep, and sees
/// them end.
#[cfg(feature = "http")]
pub(crate) trait Keeper<R: Role>: Send + Sync {
    /// Begins to. Called with the lock held: it must not run there and then.
    fn keep(&self, link: Arc<Link<R>>);
}

/// One connection, shared by its driver and its handles.
pub struct Link<R: Role> {
    state: Mutex<State<R>>,
    pub(crate) shared: R::Shared,
    pub(crate) clock: Clock,
    pub(crate) trace: Trace,
    /// Who keeps the time while there is any to keep, where no driver does; and this, to tell it.
    #[cfg(feature = "http")]
    keeper: OnceLock<(Arc<dyn Keeper<R>>, Weak<Self>)>,
    /// There may be something to write, or nothing ever again.
    writable: Event,
    /// The deadline moved forward, or there will be none.
    deadline: Event,
    /// Bytes left, calls ended, or events were handed out: whoever was held up may try again.
    room: Event,
    /// The session has closed.
    ended: Event,
}

pub(crate) struct State<R: Role> {
    pub(crate) session: Transport<R>,
    pub(crate) open: R::Open,
    alarms: Alarms,
    /// Somebody is handing out events.
    dispatching: bool,
    /// Somebody waits for room. Whoever begins to says so under the lock.
    waits_for_room: bool,
    /// Until when the keeper of time sleeps; `None` for as long as it takes.
    sleeping_until: Option<Instant>,
    /// What the keeper of time was last woken for: it waits for that, even where it is not to be
    /// any more.
    woken_for: Option<Instant>,
    /// Whoever handles input will look for output afterwards: nobody has to be woken for it.
    flushes: bool,
    /// The writer is in the middle of a write.
    writing_since: Option<Instant>,
    /// Nothing can be written any more.
    broken: bool,
    /// The writer has sent all there was, or cannot send any more.
    written: bool,
    /// Nobody drives the connection any more.
    over: bool,
    /// The keeper is at it.
    #[cfg(feature = "http")]
    is_kept: bool,
}

impl<R: Role> Link<R> {
    pub(crate) fn over_transport(
        clock: Clock,
        session: Transport<R>,
        shared: R::Shared,
        trace: Trace,
    ) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State {
                session,
                open: R::Open::default(),
                alarms: Alarms::default(),
                dispatching: false,
                waits_for_room: false,
                sleeping_until: None,
                woken_for: None,
                flushes: false,
                writing_since: None,
                broken: false,
                written: false,
                over: false,
                #[cfg(feature = "http")]
                is_kept: false,
            }),
            shared,
            clock,
            trace,
            #[cfg(feature = "http")]
            keeper: OnceLock::new(),
            writable: Event::new(),
            deadline: Event::new(),
            room: Event::new(),
            ended: Event::new(),
        })
    }

    /// Does something with the session, then hands out and sends what came of it.
    pub(crate) fn with<T>(self: &Arc<Self>, act: impl FnOnce(&mut State<R>, Instant) -> T) -> T {
        let mut state = self.lock();
        let outcome = act(&mut state, self.clock.now());
        self.settle(state);
        outcome
    }

    /// As `with`, of what may be a request: where handlers are futures, they begin here.
    #[cfg(feature = "http")]
    pub(crate) fn with_request<T>(
        self: &Arc<Self>,
        act: impl FnOnce(&mut State<R>, Instant) -> T,
    ) -> T {
        let workers = R::workers(&self.shared).filter(|workers| !workers.are_plain());
        if let Some(workers) = workers {
            workers.await_fresh(&self.clock);
        }
        let outcome = self.with(act);
        if let Some(workers) = workers {
            workers.help(&self.clock, || true);
        }
        outcome
    }

    /// From now on `keeper` is told whenever there is time to keep, or an end to see to, and it is
    /// not at it.
    #[cfg(feature = "http")]
    pub(crate) fn keep_by(self: &Arc<Self>, keeper: Arc<dyn Keeper<R>>) {
        let _first = self.keeper.set((keeper, Arc::downgrade(self)));
        self.wake(&mut self.lock());
    }

    /// Tells the keeper, if there is one that is not at it.
    #[cfg(feature = "http")]
    fn have_kept(&self, state: &mut State<R>) {
        let Some((keeper, link)) = self.keeper.get().filter(|_| !state.is_kept && !state.over)
        else {
            return;
        };
        if let Some(link) = link.upgrade() {
            state.is_kept = true;
            keeper.keep(link);
        }
    }

    #[cfg(not(feature = "http"))]
    #[allow(clippy::unused_self, clippy::needless_pass_by_ref_mut, reason = "as with the feature")]
    fn have_kept(&self, _: &mut State<R>) {}

    /// Nobody waits for there to be something to write: whoever answers is told of room.
    #[cfg(feature = "http")]
    pub(crate) fn has_no_writer(&self) {
        self.lock().flushes = true;
    }

    /// Looks at the session, and changes nothing.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&State<R>) -> T) -> T {
        look(&self.lock())
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State<R>> {
        // The session cannot be left in between by a panic of ours that matters more than going on.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes whom a change concerns, and hands out events until there are none.
    fn settle<'a>(self: &'a Arc<Self>, mut state: MutexGuard<'a, State<R>>) {
        loop {
            self.wake(&mut state);
            if state.dispatching {
                break;
            }
            let Some(event) = state.session.poll_event() else { break };
            state.dispatching = true;
            drop(state);
            self.trace.event(R::about(&event));
            // A panic of the application's must not keep later events from being handed out.
            let _panicked = catch_unwind(AssertUnwindSafe(|| R::dispatch(self, event)));
            state = self.lock();
            state.dispatching = false;
        }
        let waits_for_room = std::mem::take(&mut state.waits_for_room);
        self.tell_unrecorded(state);
        if waits_for_room {
            self.room.notify(usize::MAX);
        }
    }

    fn listen_for_room(&self, state: &mut State<R>) -> EventListener {
        state.waits_for_room = true;
        self.room.listen()
    }

    /// Tells once, and without the lock, that the recording ended early.
    #[cfg(feature = "record")]
    fn tell_unrecorded(&self, mut state: MutexGuard<'_, State<R>>) {
        let failure = state.session.take_unrecorded();
        drop(state);
        if let Some(failure) = failure {
            self.trace.unrecorded(&failure);
        }
    }

    #[cfg(not(feature = "record"))]
    #[allow(clippy::unused_self, reason = "as with the feature")]
    fn tell_unrecorded(&self, state: MutexGuard<'_, State<R>>) {
        drop(state);
    }

    fn wake(&self, state: &mut State<R>) {
        let closed = state.session.is_closed();
        if closed {
            self.ended.notify(usize::MAX);
            self.have_kept(state);
        }
        if closed || !state.flushes && state.session.has_output() {
            self.writable.notify(usize::MAX);
        }
        let deadline = state.next_deadline();
        if deadline.is_some() && (state.sleeping_until.is_none() || deadline < state.sleeping_until)
        {
            state.woken_for = deadline;
            self.deadline.notify(usize::MAX);
            self.have_kept(state);
        }
    }
}

impl<R: Role> State<R> {
    fn next_deadline(&self) -> Option<Instant> {
        let session = if self.session.is_closed() { None } else { self.session.poll_timeout() };
        session.into_iter().chain(self.alarms.first()).min()
    }
}

impl<R: Role> std::fmt::Debug for Link<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Link").finish_non_exhaustive()
    }
}
