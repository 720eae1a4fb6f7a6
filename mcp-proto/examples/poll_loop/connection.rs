//! The driver: a machine of either role on a socket that does not block, and the one place where
//! the program waits.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use bytes::Buf;
use mcp_proto::{Endpoint, Instant};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// What is read at a time: no connection keeps the others waiting for longer than this takes.
const READ_BYTES: usize = 4096;

pub(crate) struct Connection<E> {
    socket: UnixStream,
    pub(crate) machine: E,
    /// Nothing more comes.
    is_ended: bool,
    is_paused: bool,
    /// How often reading stopped because too much waited to be sent.
    pub(crate) pauses: usize,
    /// The most bytes that waited to be sent.
    pub(crate) waited_max: usize,
}

/// What the loop needs of a connection, whatever its role.
pub(crate) trait Link {
    fn fd(&self) -> BorrowedFd<'_>;
    /// What to wait for; nothing while it only waits for time.
    fn interest(&mut self) -> PollFlags;
    fn deadline(&self) -> Option<Instant>;
    /// Goes on, with what there is on the socket.
    fn advance(&mut self, now: Instant, ready: PollFlags) -> io::Result<()>;
}

/// Waits until a connection can go on or a deadline is there, and has all that can go on do so.
pub(crate) fn wait(
    clock: impl Fn() -> Instant,
    links: &mut [&mut dyn Link],
    timer: Option<Instant>,
) -> io::Result<()> {
    let interests: Vec<PollFlags> = links.iter_mut().map(|link| link.interest()).collect();
    let deadline = links.iter().filter_map(|link| link.deadline()).chain(timer).min();
    let timeout = deadline.map(|deadline| deadline.duration_since(clock()));
    // One further away than the system can count is as good as none.
    let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());

    // A socket that nothing is wanted of would report its end again and again: it is left out.
    let wanted = |index: &usize| !interests[*index].is_empty();
    let watched: Vec<usize> = (0..links.len()).filter(wanted).collect();
    let watch = |index: &usize| PollFd::from_borrowed_fd(links[*index].fd(), interests[*index]);
    let mut fds: Vec<PollFd<'_>> = watched.iter().map(watch).collect();
    match poll(&mut fds, timeout.as_ref()) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    let mut ready = vec![PollFlags::empty(); links.len()];
    for (index, fd) in watched.into_iter().zip(&fds) {
        ready[index] = fd.revents();
    }
    drop(fds);

    let now = clock();
    for (link, ready) in links.iter_mut().zip(ready) {
        link.advance(now, ready)?;
    }
    Ok(())
}

impl<E: Endpoint> Connection<E> {
    pub(crate) fn new(socket: UnixStream, machine: E) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        Ok(Self { socket, machine, is_ended: false, is_paused: false, pauses: 0, waited_max: 0 })
    }

    /// The machine is done, and all it had to say is sent: drop the connection.
    pub(crate) fn is_over(&mut self) -> bool {
        self.machine.is_closed() && self.machine.outbox().is_empty()
    }

    fn read(&mut self, now: Instant) -> io::Result<()> {
        let mut buffer = [0; READ_BYTES];
        match self.socket.read(&mut buffer) {
            Ok(0) => self.end(now),
            Ok(count) => self.machine.handle_input(now, &buffer[..count]),
            Err(error) => self.survive(now, error)?,
        }
        Ok(())
    }

    fn write(&mut self, now: Instant) -> io::Result<()> {
        while self.machine.outbox().has_remaining() {
            match self.socket.write(self.machine.outbox().chunk()) {
                Ok(count) => self.machine.outbox().advance(count),
                Err(error) => return self.survive(now, error),
            }
        }
        Ok(())
    }

    /// Not now is no error, and a peer that is gone is none of the daemon's.
    fn survive(&mut self, now: Instant, error: io::Error) -> io::Result<()> {
        match error.kind() {
            ErrorKind::Interrupted | ErrorKind::WouldBlock => {}
            ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => {
                self.end(now);
                let waiting = self.machine.outbox().len();
                self.machine.outbox().advance(waiting);
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

impl<E: Endpoint> Link for Connection<E> {
    fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    fn interest(&mut self) -> PollFlags {
        let mut interest = PollFlags::empty();
        let is_paused = !self.is_ended && !self.machine.wants_input();
        self.pauses += usize::from(is_paused && !self.is_paused);
        self.is_paused = is_paused;
        interest.set(PollFlags::IN, !self.is_ended && !is_paused);
        let waiting = self.machine.outbox().len();
        self.waited_max = self.waited_max.max(waiting);
        interest.set(PollFlags::OUT, waiting > 0);
        interest
    }

    fn deadline(&self) -> Option<Instant> {
        self.machine.poll_timeout()
    }

    fn advance(&mut self, now: Instant, ready: PollFlags) -> io::Result<()> {
        // Too early is harmless.
        self.machine.handle_timeout(now);
        if ready.intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR) && !self.is_ended {
            self.read(now)?;
        }
        self.write(now)
    }
}
