//! A session driven by threads: one reads, one writes, one watches the deadline; knows neither roles nor processes.
//!
//! Reading and writing happen at the same time, so two peers with full pipes never wait for each other. Whoever
//! changes the session hands out the events that this caused; one thread at a time does, so they stay in order.

use std::any::Any;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use bytes::Buf;
use mcp_proto::stdio::Stdio;
use mcp_proto::{Endpoint, Instant, Misuse, Session};

use crate::clock::Clock;

/// A role on threads: what it keeps besides the session, and what it does with events.
pub(crate) trait Role: Session + Send + Sized + 'static {
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

    /// Hands one event on. Called by one thread at a time, in order, without the lock; must not wait for anything
    /// that needs the connection to go on.
    fn dispatch(link: &Arc<Link<Self>>, event: Self::Event);
}

/// One connection, shared by its threads and its handles.
pub(crate) struct Link<R: Role> {
    state: Mutex<State<R>>,
    pub(crate) shared: R::Shared,
    pub(crate) clock: Clock,
    /// There may be something to write, or nothing ever again.
    writable: Condvar,
    /// The deadline moved forward, or the session closed.
    deadline: Condvar,
    /// Bytes left, calls ended, or events were handed out: whoever was held up may try again.
    room: Condvar,
}

pub(crate) struct State<R: Role> {
    pub(crate) session: Stdio<R>,
    pub(crate) open: R::Open,
    /// A thread is handing out events.
    dispatching: bool,
    /// What the deadline's thread sleeps until; `None` for as long as it takes.
    sleeping_until: Option<Instant>,
    /// The writer is in the middle of a write.
    writing_since: Option<Instant>,
    /// The writer has sent all there was, or cannot send any more.
    written: bool,
}

impl<R: Role> Link<R> {
    pub(crate) fn new(clock: Clock, session: R, shared: R::Shared) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State {
                session: Stdio::new(session),
                open: R::Open::default(),
                dispatching: false,
                sleeping_until: None,
                writing_since: None,
                written: false,
            }),
            shared,
            clock,
            writable: Condvar::new(),
            deadline: Condvar::new(),
            room: Condvar::new(),
        })
    }

    /// Starts the threads that read and write. They end by themselves: the writer when the session is closed and
    /// all is sent, the reader at the next bytes or the end of them.
    pub(crate) fn start(
        self: &Arc<Self>,
        reader: impl Read + Send + 'static,
        writer: impl Write + Send + 'static,
        after_close: AfterClose,
    ) -> io::Result<()> {
        let link = Arc::clone(self);
        thread::Builder::new().name("mcp-read".into()).spawn(move || link.read(reader, after_close))?;
        let link = Arc::clone(self);
        thread::Builder::new().name("mcp-write".into()).spawn(move || link.write(writer))?;
        Ok(())
    }

    /// Does something with the session, then hands out and sends what came of it.
    pub(crate) fn with<T>(self: &Arc<Self>, act: impl FnOnce(&mut State<R>, Instant) -> T) -> T {
        let mut state = self.lock();
        let outcome = act(&mut state, self.clock.now());
        self.settle(state);
        outcome
    }

    /// As `with`, trying again while there is no room, for as long as `patience`.
    pub(crate) fn with_room<T>(
        self: &Arc<Self>,
        patience: Duration,
        mut act: impl FnMut(&mut State<R>, Instant) -> Result<T, Misuse>,
    ) -> Result<T, Misuse> {
        let give_up = self.clock.now() + patience;
        let mut state = self.lock();
        loop {
            let outcome = act(&mut state, self.clock.now());
            let left = self.clock.until(give_up);
            if !matches!(outcome, Err(Misuse::Blocked)) || left.is_zero() {
                self.settle(state);
                return outcome;
            }
            state = wait_timeout(&self.room, state, left);
        }
    }

    /// Watches the deadline until the session is closed. Needs a thread of its own.
    pub(crate) fn run(self: &Arc<Self>) {
        let mut state = self.lock();
        while !state.session.is_closed() {
            let deadline = state.session.poll_timeout();
            if deadline.is_some_and(|deadline| deadline <= self.clock.now()) {
                state.session.handle_timeout(self.clock.now());
                self.settle(state);
                state = self.lock();
                continue;
            }
            state.sleeping_until = deadline;
            state = match deadline {
                Some(deadline) => wait_timeout(&self.deadline, state, self.clock.until(deadline)),
                None => self.deadline.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// Waits until all that the closed session had to send is sent, for as long as the peer goes on reading.
    pub(crate) fn wait_written(&self) {
        let began = self.clock.now();
        let mut state = self.lock();
        while !state.written {
            let stuck = state.writing_since.unwrap_or(began) + WRITE_PATIENCE;
            let left = self.clock.until(stuck.min(began + FLUSH_MAX));
            if left.is_zero() {
                return;
            }
            state = wait_timeout(&self.room, state, left);
        }
    }

    /// Waits until `done`, or for as long as `patience`; true when it is done.
    pub(crate) fn wait_until(&self, patience: Duration, mut done: impl FnMut(&State<R>) -> bool) -> bool {
        let give_up = self.clock.now() + patience;
        let mut state = self.lock();
        while !done(&state) {
            let left = self.clock.until(give_up);
            if left.is_zero() {
                return false;
            }
            state = wait_timeout(&self.room, state, left);
        }
        true
    }

    /// Waits until `take` finds something, trying again at each `changed`.
    pub(crate) fn take<T>(&self, changed: &Condvar, mut take: impl FnMut(&mut State<R>) -> Option<T>) -> T {
        let mut state = self.lock();
        loop {
            if let Some(taken) = take(&mut state) {
                drop(state);
                self.room.notify_all();
                return taken;
            }
            state = changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<R>> {
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
            // A panic of the application's must not keep later events from being handed out.
            let _panicked = catch_unwind(AssertUnwindSafe(|| R::dispatch(self, event)));
            state = self.lock();
            state.dispatching = false;
        }
        drop(state);
        self.room.notify_all();
    }

    fn wake(&self, state: &mut State<R>) {
        let closed = state.session.is_closed();
        if closed || state.session.outbox().has_remaining() {
            self.writable.notify_one();
        }
        let deadline = state.session.poll_timeout();
        if closed
            || (deadline.is_some() && (state.sleeping_until.is_none() || deadline < state.sleeping_until))
        {
            self.deadline.notify_all();
        }
    }

    fn read(self: Arc<Self>, mut reader: impl Read, after_close: AfterClose) {
        let mut buffer = vec![0; READ_BYTES_MAX];
        let wants_input = |state: &State<R>| state.session.wants_input() && R::has_room(&state.open);
        loop {
            let mut state = self.lock();
            while !(state.session.is_closed() || wants_input(&state)) {
                state = self.room.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            if state.session.is_closed() {
                drop(state);
                if after_close == AfterClose::ReadOn {
                    exhaust(reader, &mut buffer);
                }
                return;
            }
            drop(state);
            match reader.read(&mut buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(count) if count > 0 => {
                    let input = buffer.get(..count).unwrap_or_default();
                    self.with(|state, now| state.session.handle_input(now, input));
                }
                // A stream that cannot be read has ended.
                Ok(_) | Err(_) => return self.with(|state, now| state.session.handle_eof(now)),
            }
        }
    }

    fn write(self: Arc<Self>, mut writer: impl Write + 'static) {
        let mut chunk = Vec::new();
        loop {
            let mut state = self.lock();
            state.writing_since = None;
            while !state.session.outbox().has_remaining() && !state.session.is_closed() {
                state = self.writable.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            let outbox = state.session.outbox();
            let count = outbox.remaining().min(WRITE_BYTES_MAX);
            chunk.clear();
            chunk.extend_from_slice(outbox.chunk().get(..count).unwrap_or_default());
            outbox.advance(count);
            if count == 0 {
                break;
            }
            state.writing_since = Some(self.clock.now());
            drop(state);
            self.room.notify_all();
            if writer.write_all(&chunk).and_then(|()| writer.flush()).is_err() {
                // Whoever does not take bytes any more is gone; what it said before may still arrive. (EPIPE)
                self.end_within(R::LAST_INPUT);
                self.wait_closed();
                break;
            }
        }
        hang_up(writer);
        self.lock().written = true;
        self.room.notify_all();
    }

    /// The peer is gone: gives its last output `patience` to arrive, then ends the connection.
    pub(crate) fn end_within(self: &Arc<Self>, patience: Duration) {
        if !self.wait_until(patience, |state| state.session.is_closed()) {
            self.with(|state, now| state.session.handle_eof(now));
        }
    }

    /// A server that lost its reader may still have handlers running. What they say goes nowhere.
    fn wait_closed(&self) {
        let mut state = self.lock();
        loop {
            let rest = state.session.outbox().remaining();
            state.session.outbox().advance(rest);
            if state.session.is_closed() {
                return;
            }
            state = self.writable.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl<R: Role> std::fmt::Debug for Link<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Link").finish_non_exhaustive()
    }
}

/// What becomes of the reader once the session is closed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum AfterClose {
    /// It is dropped: whose stream it is may go on for ever.
    Drop,
    /// It is read to its end, which is bounded: a child that still has something to say while it ends must not find
    /// nobody listening.
    ReadOn,
}

/// Reads to the end and forgets.
fn exhaust(mut reader: impl Read, buffer: &mut [u8]) {
    loop {
        match reader.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(count) if count > 0 => {}
            Ok(_) | Err(_) => return,
        }
    }
}

/// What one read takes.
const READ_BYTES_MAX: usize = 64 * 1024;

/// What one write is given.
const WRITE_BYTES_MAX: usize = 64 * 1024;

/// How long one write may take once the connection is over, and all of them together.
const WRITE_PATIENCE: Duration = Duration::from_millis(60);
const FLUSH_MAX: Duration = Duration::from_secs(2);

/// How long the last events of a connection that is over may take to be handed out.
pub(crate) const LAST_EVENTS: Duration = Duration::from_millis(500);

/// Tells the peer that nothing follows. A pipe ends when it is dropped; a socket, which the reader has as well, does
/// not.
fn hang_up(writer: impl Write + 'static) {
    let stream: &dyn Any = &writer;
    if let Some(socket) = stream.downcast_ref::<TcpStream>() {
        let _gone = socket.shutdown(Shutdown::Write);
    }
    #[cfg(unix)]
    if let Some(socket) = stream.downcast_ref::<std::os::unix::net::UnixStream>() {
        let _gone = socket.shutdown(Shutdown::Write);
    }
}

fn wait_timeout<'a, T>(
    condition: &Condvar,
    guard: MutexGuard<'a, T>,
    patience: Duration,
) -> MutexGuard<'a, T> {
    condition.wait_timeout(guard, patience).unwrap_or_else(PoisonError::into_inner).0
}
