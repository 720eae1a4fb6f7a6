//! The driver: an endpoint of either role on a nonblocking socket, and a wait function based on
//! `poll(2)`.

use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;

use mcp_proto::{Endpoint, InputGate, Instant};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// The number of bytes read at a time, so that no connection starves the others.
const READ_BYTES: usize = 4096;

/// A connection on a socket. The event loop sees it as `Connection<dyn Endpoint>`.
pub(crate) struct Connection<E: ?Sized> {
    socket: UnixStream,
    /// Whether the input has ended.
    is_ended: bool,
    /// Reports when reading is paused.
    gate: InputGate,
    /// How often reading was paused because too much output was queued.
    pub(crate) pauses: usize,
    /// The largest number of queued output bytes.
    pub(crate) queued_max: usize,
    pub(crate) machine: E,
}

/// Waits for socket events or a deadline, then advances all connections.
pub(crate) fn wait(
    clock: impl Fn() -> Instant,
    connections: &mut [&mut Connection<dyn Endpoint>],
    timer: Option<Instant>,
) -> io::Result<()> {
    let interests: Vec<PollFlags> =
        connections.iter_mut().map(|connection| connection.interest()).collect();
    let deadlines = connections.iter().filter_map(|connection| connection.machine.poll_timeout());
    let deadline = deadlines.chain(timer).min();
    let timeout = deadline.map(|deadline| deadline.duration_since(clock()));
    // A timeout that exceeds the range of `Timespec` is treated as infinite.
    let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());

    // A socket without interest is left out: it would report its end repeatedly.
    let wanted = |index: &usize| !interests[*index].is_empty();
    let watched: Vec<usize> = (0..connections.len()).filter(wanted).collect();
    let watch = |index: &usize| PollFd::new(&connections[*index].socket, interests[*index]);
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
        let gate = InputGate::new();
        Ok(Self { socket, is_ended: false, gate, pauses: 0, queued_max: 0, machine })
    }
}

impl<E: Endpoint + ?Sized> Connection<E> {
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
        while !self.machine.outbox().is_empty() {
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
                self.machine.outbox().clear();
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

    /// Returns the socket events to wait for; empty if only the deadline matters.
    fn interest(&mut self) -> PollFlags {
        let mut interest = PollFlags::empty();
        self.pauses += usize::from(self.gate.poll(&self.machine) == Some(false) && !self.is_ended);
        interest.set(PollFlags::IN, !self.is_ended && self.machine.wants_input());
        let queued = self.machine.outbox().len();
        self.queued_max = self.queued_max.max(queued);
        interest.set(PollFlags::OUT, queued > 0);
        interest
    }

    /// Handles the deadline and the socket events in `ready`.
    fn advance(&mut self, now: Instant, ready: PollFlags) -> io::Result<()> {
        // An early call is harmless.
        self.machine.handle_timeout(now);
        if ready.intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR) && !self.is_ended {
            self.read(now)?;
        }
        self.write(now)
    }
}
