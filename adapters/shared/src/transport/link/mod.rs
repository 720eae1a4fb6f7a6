//! A connection shared by the threads and tasks that read, write, keep time and use it.
//!
//! Reading and writing proceed concurrently, so two peers with full pipes never deadlock. A
//! thread that changes the connection also dispatches the resulting events. Only one thread at a
//! time dispatches, so events stay in order.
//!
//! Every wait is a future that needs no runtime; a driver on a plain thread blocks on it.

mod calling_back;
mod driver;
#[cfg(feature = "http")]
mod driverless;
mod manual;
#[cfg(test)]
mod tests;
mod time;
mod timer_task;
mod transport;
mod waiting;

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use event_listener::{Event, EventListener};
use mcp_proto::{Instant, MessageEndpoint, Misuse};

use self::timer_task::TimerTask;
use crate::exec::callbacks::{CallbackQueue, Callbacks};
use crate::exec::clock::Clock;
use crate::exec::timer_queue::TimerQueue;
use crate::exec::workers::Workers;
use crate::trace::{EventSummary, Trace};
pub use driver::WRITE_BYTES_MAX;
#[cfg(feature = "http")]
pub(crate) use timer_task::SpawnTimer;
pub(crate) use transport::BoxedTransport;
#[cfg(any(feature = "http", feature = "tracing"))]
pub(crate) use transport::Transport;

/// A role (client or server) with the state and event handling that adapters add to it.
pub trait LinkRole: MessageEndpoint + Send + Sized + 'static {
    /// The state of the client or server for an open connection, protected by the connection's
    /// lock.
    type Open: Default + Send;
    /// The configuration of the client or server, which does not change while it is connected.
    type Shared: Send + Sync;

    /// How long to keep the connection open after the peer has stopped reading, so that input it
    /// sent earlier can still arrive.
    const LAST_INPUT: Duration;

    /// Whether a peer that has closed its sending side still wants output.
    const ANSWERS_AFTER_EOF: bool;

    /// Returns the workers that run the role's handlers; `None` if the driver starts no handlers.
    fn workers(_: &Self::Shared) -> Option<&Workers> {
        None
    }

    /// Returns the runner of the application's callbacks.
    fn callbacks(_: &Self::Shared) -> &Callbacks;

    /// Handles one event.
    ///
    /// Called for one event at a time and in order, while the connection's lock is not held.
    ///
    /// Implementations must not block.
    fn dispatch(link: &Arc<Link<Self>>, event: Self::Event);

    /// Summarizes an event for `tracing`.
    fn about(event: &Self::Event) -> EventSummary<'_>;

    /// Returns whether a command that failed with `misuse` may succeed later.
    fn may_pass(misuse: Misuse) -> bool {
        misuse == Misuse::Blocked
    }

    /// Sends messages that were held back because the output queue was full.
    ///
    /// Called after bytes have been sent, when the queue may accept further messages.
    fn retry(_: &mut BoxedTransport<Self>, _: &mut Self::Open, _now: impl FnOnce() -> Instant) {}
}

/// One connection, shared by its driver and its handles.
pub struct Link<R: LinkRole> {
    state: Mutex<State<R>>,
    pub(crate) shared: R::Shared,
    pub(crate) clock: Clock,
    pub(crate) trace: Trace,
    timer_task: TimerTask<Self>,
    /// Notified when there may be output to write, or never will be again.
    writable: Event,
    /// Notified when bytes were sent, calls ended, or events were dispatched: a blocked command may
    /// succeed now.
    room: Event,
    /// Notified when the next blocked call may wait for room.
    turn: Event,
    /// Notified when the input has ended or the connection has closed.
    ended: Event,
}

/// The state of a connection, under the lock.
pub(crate) struct State<R: LinkRole> {
    pub(crate) connection: BoxedTransport<R>,
    pub(crate) role: R::Open,
    pub(crate) callbacks: CallbackQueue,
    timers: TimerQueue,
    /// Notified when the deadline moved forward, or there will be none because the connection has
    /// closed. Exists while a timer task runs.
    deadline_moved: Option<Arc<Event>>,
    phase: Phase,
    /// Which side has ended the connection.
    ending: Ending,
    /// Why a stream has failed, unless the peer is merely gone.
    stream_error: Option<io::Error>,
    /// When the write in progress started or last made progress.
    writing_since: Option<Instant>,
    is_over_standard_streams: bool,
    /// A thread is dispatching events.
    is_dispatching: bool,
    /// A blocked call waits for room. The others wait for their turn.
    is_turn_taken: bool,
    /// A task waits for room. Set under the lock when the wait starts.
    is_room_awaited: bool,
    /// When the timer task wakes by itself; `None` if it sleeps until notified.
    sleeping_until: Option<Instant>,
    /// The deadline that the timer task was last woken for. It waits for this one even if it was
    /// cancelled since.
    woken_for: Option<Instant>,
}

/// Which thread sends the output of a connection, and how far the shutdown has progressed.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Phase {
    /// The writer sends output and is woken for it.
    WriterFlushes,
    /// The thread that handled input sends the output next, or there is no writer at all: nothing
    /// is woken for output.
    ReaderFlushes,
    /// The output stream has failed.
    OutputBroken,
    /// All output was sent, or none can be sent any more.
    OutputFinished,
    /// The driver is gone.
    Over,
}

/// Which side has ended the connection.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Ending {
    /// Neither side.
    Open,
    /// The peer has closed its side. It may still read.
    Eof,
    /// This side has closed the connection, or the peer is gone.
    Stopped,
}

impl<R: LinkRole> Link<R> {
    pub(crate) fn over_transport(
        clock: Clock,
        connection: BoxedTransport<R>,
        shared: R::Shared,
        trace: Trace,
    ) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State {
                connection,
                role: R::Open::default(),
                callbacks: CallbackQueue::default(),
                timers: TimerQueue::default(),
                deadline_moved: None,
                phase: Phase::WriterFlushes,
                ending: Ending::Open,
                stream_error: None,
                writing_since: None,
                is_over_standard_streams: false,
                is_dispatching: false,
                is_turn_taken: false,
                is_room_awaited: false,
                sleeping_until: None,
                woken_for: None,
            }),
            shared,
            clock,
            trace,
            timer_task: TimerTask::default(),
            writable: Event::new(),
            room: Event::new(),
            turn: Event::new(),
            ended: Event::new(),
        })
    }

    /// Changes the connection, then dispatches the resulting events and wakes the writer.
    pub(crate) fn with<T>(self: &Arc<Self>, act: impl FnOnce(&mut State<R>, Instant) -> T) -> T {
        let mut state = self.lock();
        let outcome = act(&mut state, self.clock.now());
        self.settle(state);
        outcome
    }

    /// Reads the state without changing it.
    pub(crate) fn inspect<T>(&self, read: impl FnOnce(&State<R>) -> T) -> T {
        read(&self.lock())
    }

    /// Declares that the connection uses this process's stdin and stdout.
    pub(crate) fn set_over_standard_streams(&self) {
        self.lock().is_over_standard_streams = true;
    }

    pub(crate) fn is_over_standard_streams(&self) -> bool {
        self.lock().is_over_standard_streams
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State<R>> {
        // A panic under the lock is a bug of this crate; carrying on beats losing the connection.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the tasks that a change concerns, and dispatches events until there are none.
    fn settle<'a>(self: &'a Arc<Self>, mut state: MutexGuard<'a, State<R>>) {
        let last_wakes = loop {
            if state.is_dispatching {
                break state.take_wakes();
            }
            // Polled first: over HTTP, a poll without an event may leave something for the driver.
            let event = state.connection.poll_event();
            let wakes = state.take_wakes();
            let Some(event) = event else { break wakes };
            state.is_dispatching = true;
            drop(state);
            self.wake(wakes);
            self.trace.event(R::about(&event));
            // A panic in the application's code must not keep later events from being dispatched.
            let _panicked = catch_unwind(AssertUnwindSafe(|| R::dispatch(self, event)));
            state = self.lock();
            state.is_dispatching = false;
        };
        state.connection.settled();
        let is_room_awaited = std::mem::take(&mut state.is_room_awaited);
        self.unlock(state);
        self.wake(last_wakes);
        if is_room_awaited {
            self.room.notify(usize::MAX);
        }
    }

    fn listen_for_room(&self, state: &mut State<R>) -> EventListener {
        state.is_room_awaited = true;
        self.room.listen()
    }

    /// Releases the lock, then reports once if the recording has ended early.
    fn unlock(&self, mut state: MutexGuard<'_, State<R>>) {
        let failure = state.connection.take_recording_failure();
        drop(state);
        if let Some(failure) = failure {
            self.trace.recording_failed(&failure);
        }
    }

    /// Wakes tasks. The lock must not be held: wakers are code of the runtime or the application.
    fn wake(&self, wakes: Wakes) {
        if wakes.ended {
            self.ended.notify(usize::MAX);
        }
        if wakes.writable {
            self.writable.notify(usize::MAX);
        }
        if let Some(moved) = wakes.deadline_moved {
            moved.notify(usize::MAX);
        }
        if wakes.timer_task {
            self.timer_task.ensure_running();
        }
    }
}

/// The tasks to wake once the lock is released.
struct Wakes {
    ended: bool,
    writable: bool,
    deadline_moved: Option<Arc<Event>>,
    /// The timer task of a connection that has no driver.
    timer_task: bool,
}

impl<R: LinkRole> State<R> {
    /// Returns what a change of the connection has to wake.
    fn take_wakes(&mut self) -> Wakes {
        let ended = self.connection.is_closed();
        let writable = ended || self.phase != Phase::ReaderFlushes && self.connection.has_output();
        let next = self.next_deadline();
        let deadline =
            next.is_some() && (self.sleeping_until.is_none() || next < self.sleeping_until);
        if deadline {
            self.woken_for = next;
        }
        let timer_task = (ended || deadline) && !self.is_over();
        let deadline_moved = if ended || deadline { self.deadline_moved.clone() } else { None };
        Wakes { ended, writable, deadline_moved, timer_task }
    }

    fn next_deadline(&self) -> Option<Instant> {
        let connection =
            if self.connection.is_closed() { None } else { self.connection.poll_timeout() };
        connection.into_iter().chain(self.timers.first()).min()
    }

    /// Returns whether the connection accepts more input.
    pub(crate) fn wants_input(&self) -> bool {
        self.connection.wants_input() && self.callbacks.has_room()
    }

    fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }
}

impl Phase {
    /// Lets the thread that handles input send the output, if it can still be sent.
    fn reader_flushes(&mut self) {
        if *self == Self::WriterFlushes {
            *self = Self::ReaderFlushes;
        }
    }

    /// Lets the writer send the output, if it can still be sent.
    fn writer_flushes(&mut self) {
        if *self == Self::ReaderFlushes {
            *self = Self::WriterFlushes;
        }
    }

    /// Marks the output stream as failed, unless it was finished before.
    fn output_broken(&mut self) {
        if matches!(*self, Self::WriterFlushes | Self::ReaderFlushes) {
            *self = Self::OutputBroken;
        }
    }

    /// Marks the output as finished, unless the driver is gone.
    fn output_finished(&mut self) {
        if *self != Self::Over {
            *self = Self::OutputFinished;
        }
    }
}

opaque_debug!(Link<R> [R: LinkRole]);
