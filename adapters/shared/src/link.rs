//! A session that is shared by whoever reads, writes, keeps time and uses it; knows neither roles nor runtimes.
//!
//! Reading and writing happen at the same time, so two peers with full pipes never wait for each other. Whoever
//! changes the session hands out the events that this caused; one at a time does, so they stay in order.
//!
//! Everything that waits is a future, and needs no runtime: a driver that is a thread blocks on it.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Buf;
use event_listener::{Event, EventListener};
use futures_lite::future::or;
use mcp_proto::stdio::Stdio;
use mcp_proto::{Endpoint, Instant, Misuse, Session};

use crate::alarms::{AlarmKey, Alarms};
use crate::clock::Clock;
use crate::trace::{About, Trace};

/// A role: what it keeps besides the session, and what it does with events.
pub trait Role: Session + Send + Sized + 'static {
    /// What is under the same lock as the session.
    type Open: Default + Send;
    /// What never changes while connected.
    type Shared: Send + Sync;

    /// How long what the peer sent before it stopped reading may still take to arrive.
    const LAST_INPUT: Duration;

    /// Whether there is room for what more input brings.
    fn has_room(_: &Self::Open) -> bool {
        true
    }

    /// Hands one event on. Called one at a time, in order, without the lock; must not wait.
    fn dispatch(link: &Arc<Link<Self>>, event: Self::Event);

    /// What an event is, in short.
    fn about(event: &Self::Event) -> About<'_>;

    /// Begins to end the session from this side.
    fn close(session: &mut Stdio<Self>, now: Instant);

    /// Bytes have left: what found no room before may be said now.
    fn retry(_: &mut Stdio<Self>, _: &mut Self::Open, _: Instant) {}
}

/// One connection, shared by its driver and its handles.
pub struct Link<R: Role> {
    state: Mutex<State<R>>,
    pub(crate) shared: R::Shared,
    pub(crate) clock: Clock,
    pub(crate) trace: Trace,
    /// There may be something to write, or nothing ever again.
    writable: Event,
    /// The deadline moved forward, or there will be none.
    deadline: Event,
    /// Bytes left, calls ended, or events were handed out: whoever was held up may try again.
    room: Event,
}

pub(crate) struct State<R: Role> {
    pub(crate) session: Stdio<R>,
    pub(crate) open: R::Open,
    alarms: Alarms,
    /// Somebody is handing out events.
    dispatching: bool,
    /// Until when the keeper of time sleeps; `None` for as long as it takes.
    sleeping_until: Option<Instant>,
    /// The writer is in the middle of a write.
    writing_since: Option<Instant>,
    /// The writer has sent all there was, or cannot send any more.
    written: bool,
    /// Nobody drives the connection any more.
    over: bool,
}

impl<R: Role> Link<R> {
    pub(crate) fn new(clock: Clock, session: R, shared: R::Shared, trace: Trace) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State {
                session: Stdio::new(session),
                open: R::Open::default(),
                alarms: Alarms::default(),
                dispatching: false,
                sleeping_until: None,
                writing_since: None,
                written: false,
                over: false,
            }),
            shared,
            clock,
            trace,
            writable: Event::new(),
            deadline: Event::new(),
            room: Event::new(),
        })
    }

    /// Does something with the session, then hands out and sends what came of it.
    pub(crate) fn with<T>(self: &Arc<Self>, act: impl FnOnce(&mut State<R>, Instant) -> T) -> T {
        let mut state = self.lock();
        let outcome = act(&mut state, self.clock.now());
        self.settle(state);
        outcome
    }

    /// Looks at the session, and changes nothing.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&State<R>) -> T) -> T {
        look(&self.lock())
    }

    /// As `with`, trying again while there is no room, for as long as `patience`.
    pub(crate) async fn with_room<T>(
        self: &Arc<Self>,
        patience: Duration,
        mut act: impl FnMut(&mut State<R>, Instant) -> Result<T, Misuse>,
    ) -> Result<T, Misuse> {
        let give_up = self.clock.now() + patience;
        loop {
            let room;
            {
                let mut state = self.lock();
                let outcome = act(&mut state, self.clock.now());
                if !matches!(outcome, Err(Misuse::Blocked)) || self.clock.until(give_up).is_zero() {
                    self.settle(state);
                    return outcome;
                }
                room = self.room.listen();
            }
            self.wait_for(room, give_up).await;
        }
    }

    /// Waits until `done`, or for as long as `patience`; true when it is done.
    pub(crate) async fn wait_until(
        &self,
        patience: Duration,
        mut done: impl FnMut(&State<R>) -> bool,
    ) -> bool {
        let give_up = self.clock.now() + patience;
        loop {
            let room;
            {
                let state = self.lock();
                if done(&state) {
                    return true;
                }
                room = self.room.listen();
            }
            if self.clock.until(give_up).is_zero() {
                return false;
            }
            self.wait_for(room, give_up).await;
        }
    }

    /// Waits until `look` finds something.
    pub(crate) async fn when<T>(&self, mut look: impl FnMut(&mut State<R>) -> Option<T>) -> T {
        loop {
            let room;
            {
                let mut state = self.lock();
                if let Some(found) = look(&mut state) {
                    return found;
                }
                room = self.room.listen();
            }
            room.await;
        }
    }

    /// Waits until `take` finds something, which makes room for others.
    pub(crate) async fn take<T>(&self, take: impl FnMut(&mut State<R>) -> Option<T>) -> T {
        let taken = self.when(take).await;
        self.room.notify(usize::MAX);
        taken
    }

    /// Waits until `at`, or until nobody keeps the time any more.
    pub(crate) async fn sleep_until(&self, at: Instant) {
        Alarm { link: self, at, key: None }.await;
    }

    async fn wait_for(&self, event: EventListener, give_up: Instant) {
        or(event, self.sleep_until(give_up)).await;
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
        drop(state);
        self.room.notify(usize::MAX);
    }

    fn wake(&self, state: &mut State<R>) {
        let closed = state.session.is_closed();
        if closed || state.session.outbox().has_remaining() {
            self.writable.notify(usize::MAX);
        }
        let deadline = state.next_deadline();
        if deadline.is_some() && (state.sleeping_until.is_none() || deadline < state.sleeping_until) {
            self.deadline.notify(usize::MAX);
        }
    }
}

/// What a driver does: it moves bytes, and lets the session know of the time.
impl<R: Role> Link<R> {
    /// Waits until more bytes are wanted; false when none are ever again.
    pub async fn wants_input(&self) -> bool {
        self.when(|state| {
            if state.session.is_closed() {
                return Some(false);
            }
            (state.session.wants_input() && R::has_room(&state.open)).then_some(true)
        })
        .await
    }

    /// Bytes that were read.
    pub fn handle_input(self: &Arc<Self>, input: &[u8]) {
        self.trace.input(input);
        self.with(|state, now| state.session.handle_input(now, input));
    }

    /// No bytes will follow: the stream has ended, or cannot be read.
    pub fn handle_eof(self: &Arc<Self>) {
        self.with(|state, now| state.session.handle_eof(now));
    }

    /// Waits for bytes to write, and puts them into `chunk`. What it gave before is written by now. False when
    /// nothing is left and nothing will follow.
    pub async fn next_output(&self, chunk: &mut Vec<u8>) -> bool {
        chunk.clear();
        self.lock().writing_since = None;
        loop {
            let writable;
            {
                let mut state = self.lock();
                if state.session.outbox().has_remaining() {
                    let now = self.clock.now();
                    state.take_output(chunk);
                    let State { session, open, .. } = &mut *state;
                    R::retry(session, open, now);
                    state.writing_since = Some(now);
                    break;
                }
                if state.session.is_closed() {
                    return false;
                }
                writable = self.writable.listen();
            }
            writable.await;
        }
        self.trace.output(chunk);
        self.room.notify(usize::MAX);
        true
    }

    /// The peer takes no more bytes (EPIPE). What it said before may still arrive; what is still said to it goes
    /// nowhere. Waits until the session is closed, however that comes.
    pub async fn lost_reader(self: &Arc<Self>) {
        self.end_within(R::LAST_INPUT).await;
        loop {
            let writable;
            {
                let mut state = self.lock();
                let rest = state.session.outbox().remaining();
                state.session.outbox().advance(rest);
                if state.session.is_closed() {
                    return;
                }
                writable = self.writable.listen();
            }
            writable.await;
        }
    }

    /// The writer is done: the peer was told that nothing follows.
    pub fn written(&self) {
        self.lock().written = true;
        self.room.notify(usize::MAX);
    }

    /// The peer is gone: gives its last output `patience` to arrive, then ends the connection.
    pub async fn end_within(self: &Arc<Self>, patience: Duration) {
        if !self.wait_until(patience, |state| state.session.is_closed()).await {
            self.handle_eof();
        }
    }

    /// Waits until the session is closed, and all that it had to send is sent, for as long as the peer goes on
    /// reading.
    pub async fn drained(&self) {
        self.closed().await;
        let began = self.clock.now();
        loop {
            let room;
            let stuck;
            {
                let state = self.lock();
                stuck = (state.writing_since.unwrap_or(began) + WRITE_PATIENCE).min(began + FLUSH_MAX);
                if state.written || self.clock.until(stuck).is_zero() {
                    return;
                }
                room = self.room.listen();
            }
            self.wait_for(room, stuck).await;
        }
    }

    /// Waits until the last events are handed out, which somebody else may be doing.
    pub(crate) async fn handed_out(&self) {
        self.wait_until(LAST_EVENTS, |state| !state.dispatching).await;
    }

    /// Waits until the session is closed.
    pub async fn closed(&self) {
        self.when(|state| state.session.is_closed().then_some(())).await;
    }

    /// Lets the session, and all that waits, know of the time, until the connection is [`over`](Self::over). `sleep`
    /// is the runtime's.
    pub async fn keep_time<S: Future>(self: &Arc<Self>, sleep: impl Fn(Duration) -> S) {
        while let Some((moved, patience)) = self.handle_time() {
            match patience {
                Some(patience) => or(moved, async { drop(sleep(patience).await) }).await,
                None => moved.await,
            }
        }
    }

    /// Runs `future` to its end on this thread, and keeps the time meanwhile.
    pub fn keep_time_during<T>(self: &Arc<Self>, future: impl Future<Output = T>) -> T {
        let (parker, unparker) = parking::pair();
        let waker = unparker.into();
        let mut context = Context::from_waker(&waker);
        let mut future = pin!(future);
        loop {
            if let Poll::Ready(done) = future.as_mut().poll(&mut context) {
                return done;
            }
            let Some((mut moved, patience)) = self.handle_time() else {
                parker.park();
                continue;
            };
            if Pin::new(&mut moved).poll(&mut context).is_ready() {
                continue;
            }
            match patience {
                Some(patience) => drop(parker.park_timeout(patience)),
                None => parker.park(),
            }
        }
    }

    /// Handles what is due; then what moves the deadline, and how long to wait for it. `None` when it is over.
    fn handle_time(self: &Arc<Self>) -> Option<(EventListener, Option<Duration>)> {
        loop {
            let mut state = self.lock();
            if state.over {
                return None;
            }
            let now = self.clock.now();
            if let Some(waker) = state.alarms.take_due(now) {
                drop(state);
                waker.wake();
                continue;
            }
            let due = state.session.poll_timeout();
            if due.is_some_and(|due| due <= now) && !state.session.is_closed() {
                state.session.handle_timeout(now);
                self.settle(state);
                continue;
            }
            let deadline = state.next_deadline();
            state.sleeping_until = deadline;
            let moved = self.deadline.listen();
            return Some((moved, deadline.map(|deadline| deadline.duration_since(now))));
        }
    }

    /// Nobody drives the connection any more: it ends now, if it has not, and nothing waits for time.
    pub(crate) fn over(self: &Arc<Self>) {
        self.with(|state, now| {
            R::close(&mut state.session, now);
            // A driver that is gone drains nothing: what would be waited for is over at once.
            while let Some(due) = state.session.poll_timeout().filter(|_| !state.session.is_closed()) {
                state.session.handle_timeout(due);
            }
        });
        let mut state = self.lock();
        state.over = true;
        let waiting = state.alarms.take_all();
        drop(state);
        waiting.into_iter().for_each(Waker::wake);
        self.deadline.notify(usize::MAX);
        self.room.notify(usize::MAX);
        self.writable.notify(usize::MAX);
    }

    /// Waits until nobody drives the connection any more.
    pub(crate) async fn wait_over(&self) {
        self.when(|state| state.over.then_some(())).await;
    }
}

impl<R: Role> State<R> {
    fn next_deadline(&self) -> Option<Instant> {
        let session = if self.session.is_closed() { None } else { self.session.poll_timeout() };
        session.into_iter().chain(self.alarms.first()).min()
    }

    fn take_output(&mut self, chunk: &mut Vec<u8>) {
        let outbox = self.session.outbox();
        while chunk.len() < WRITE_BYTES_MAX && outbox.has_remaining() {
            let count = outbox.chunk().len().min(WRITE_BYTES_MAX - chunk.len());
            chunk.extend_from_slice(outbox.chunk().get(..count).unwrap_or_default());
            outbox.advance(count);
        }
    }
}

impl<R: Role> std::fmt::Debug for Link<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Link").finish_non_exhaustive()
    }
}

/// Done at a time, or when nobody keeps the time any more.
struct Alarm<'l, R: Role> {
    link: &'l Link<R>,
    at: Instant,
    key: Option<AlarmKey>,
}

impl<R: Role> Future for Alarm<'_, R> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.link.lock();
        if state.over || self.link.clock.now() >= self.at {
            return Poll::Ready(());
        }
        let key = state.alarms.set(self.key, self.at, context.waker());
        if state.sleeping_until.is_none_or(|until| self.at < until) {
            self.link.deadline.notify(usize::MAX);
        }
        drop(state);
        self.key = Some(key);
        Poll::Pending
    }
}

impl<R: Role> Drop for Alarm<'_, R> {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            self.link.lock().alarms.remove(key);
        }
    }
}

/// What one write is given.
const WRITE_BYTES_MAX: usize = 64 * 1024;

/// How long one write may take once the connection is over, and all of them together.
const WRITE_PATIENCE: Duration = Duration::from_millis(60);
const FLUSH_MAX: Duration = Duration::from_secs(2);

/// How long the last events of a connection that is over may take to be handed out.
const LAST_EVENTS: Duration = Duration::from_millis(500);
