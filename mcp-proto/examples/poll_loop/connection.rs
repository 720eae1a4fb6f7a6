//! The driver: an endpoint of either role on a nonblocking socket, and a wait function based on
//! `poll(2)`.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use bytes::Buf;
use mcp_proto::{Endpoint, Instant};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// The number of bytes read at a time, so that no connection starves the others.
const READ_BYTES: usize = 4096;

pub(crate) struct Connection<E> {
    socket: UnixStream,
    pub(crate) machine: E,
    /// Whether the input has ended.
    is_ended: bool,
    /// Whether reading is paused.
    is_paused: bool,
    /// How often reading was paused because too much output was queued.
    pub(crate) pauses: usize,
    /// The largest number of queued output bytes.
    pub(crate) queued_max: usize,
}

/// A connection of either role, as seen by the event loop.
pub(crate) trait Pollable {
    /// Returns the socket.
    fn fd(&self) -> BorrowedFd<'_>;
    /// Returns the socket events to wait for; empty if only the deadline matters.
    fn interest(&mut self) -> PollFlags;
    /// Returns when to call `advance` at the latest.
    fn deadline(&self) -> Option<Instant>;
    /// Handles the deadline and the socket events in `ready`.
    fn advance(&mut self, now: Instant, ready: PollFlags) -> io::Result<()>;
}

/// Waits for socket events or a deadline, then advances all connections.
pub(crate) fn wait(
    clock: impl Fn() -> Instant,
    connections: &mut [&mut dyn Pollable],
    timer: Option<Instant>,
) -> io::Result<()> {
    let interests: Vec<PollFlags> =
        connections.iter_mut().map(|connection| connection.interest()).collect();
    let deadline =
        connections.iter().filter_map(|connection| connection.deadline()).chain(timer).min();
    let timeout = deadline.map(|deadline| deadline.duration_since(clock()));
    // A timeout that exceeds the range of `Timespec` is treated as infinite.
    let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());

    // A socket without interest is left out: it would report its end repeatedly.
    let wanted = |index: &usize| !interests[*index].is_empty();
    let watched: Vec<usize> = (0..connections.len()).filter(wanted).collect();
    let watch =
        |index: &usize| PollFd::from_borrowed_fd(connections[*index].fd(), interests[*index]);
    let mut fds: Vec<PollFd<'_>> = watched.iter().map(watch).collect();
    match poll(&mut fds, timeout.as_ref()) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    let mut ready = vec![PollFlags::empty(); connections.len()];
    for (index, fd) in watched.into_iter().zip(&fds) {
        ready[index] = fd.revents();
    }
    drop(fds);

    let now = clock();
    for (connection, ready) in connections.iter_mut().zip(ready) {
        connection.advance(now, ready)?;
    }
    Ok(())
}

impl<E: Endpoint> Connection<E> {
    pub(crate) fn new(socket: UnixStream, machine: E) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        Ok(Self { socket, machine, is_ended: false, is_paused: false, pauses: 0, queued_max: 0 })
    }

    /// Returns whether the connection is closed and all output is sent.
    pub(crate) fn is_over(&mut self) -> bool {
        self.machine.is_closed() && self.machine.outbox().is_empty()
    }

    fn read(&mut self, now: Instant) -> io::Result<()> {
        let mut buffer = [0; READ_BYTES];
        match self.socket.read(&mut buffer) {
            Ok(0) => self.end(now),
            Ok(count) => self.machine.handle_input(now, &buffer[..count]),
            Err(error) => self.on_io_error(now, error)?,
        }
        Ok(())
    }

    fn write(&mut self, now: Instant) -> io::Result<()> {
        while self.machine.outbox().has_remaining() {
            match self.socket.write(self.machine.outbox().chunk()) {
                Ok(count) => self.machine.outbox().advance(count),
                Err(error) => return self.on_io_error(now, error),
            }
        }
        Ok(())
    }

    /// Ignores transient errors and treats a lost peer as the end of the input.
    fn on_io_error(&mut self, now: Instant, error: io::Error) -> io::Result<()> {
        match error.kind() {
            ErrorKind::Interrupted | ErrorKind::WouldBlock => {}
            ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => {
                self.end(now);
                let queued = self.machine.outbox().len();
                self.machine.outbox().advance(queued);
            }
            _ => return Err(error),
        }
        Ok(())
    }

    fn end(&mut self, now: Instant) {
        if !std::mem::replace(&mut self.is_ended, true) {
            self.machine.handle_eof(now);
        }
    }
}

impl<E: Endpoint> Pollable for Connection<E> {
    fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    fn interest(&mut self) -> PollFlags {
        let mut interest = PollFlags::empty();
        let is_paused = !self.is_ended && !self.machine.wants_input();
        self.pauses += usize::from(is_paused && !self.is_paused);
        self.is_paused = is_paused;
        interest.set(PollFlags::IN, !self.is_ended && !is_paused);
        let queued = self.machine.outbox().len();
        self.queued_max = self.queued_max.max(queued);
        interest.set(PollFlags::OUT, queued > 0);
        interest
    }

    fn deadline(&self) -> Option<Instant> {
        self.machine.poll_timeout()
    }

    fn advance(&mut self, now: Instant, ready: PollFlags) -> io::Result<()> {
        // An early call is harmless.
        self.machine.handle_timeout(now);
        if ready.intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR) && !self.is_ended {
            self.read(now)?;
        }
        self.write(now)
    }
}
