//! A connection driven by three threads: a leader, a writer and a timer.
//!
//! The leader reads, runs the handlers of the requests it has read, and writes their responses, so
//! that a quick handler wakes no other thread. If a handler, or a peer that does not read, blocks
//! the leader for a few milliseconds, the watchdog replaces the leader: a new one starts, and the
//! old one ends once it is unblocked. The writer writes the output that the leader has not written.

use std::any::Any;
use std::cell::Cell;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;

use futures_lite::future::block_on;
use mcp_adapter::{DriverHandle, Link, LinkRole, ReadBuffer, WRITE_BYTES_MAX};

use crate::watchdog::{self, LeaderProgress, Term, WatchedLeader};

thread_local! {
    static IS_DRIVER: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether this thread drives a connection and so must not wait for the end of one.
pub(crate) fn is_driver() -> bool {
    IS_DRIVER.get()
}

/// Starts a driver thread.
pub(crate) fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let run = move || {
        IS_DRIVER.set(true);
        run();
    };
    thread::Builder::new().name(name.into()).spawn(run).map(drop)
}

/// The timer thread's handle to a connection.
pub(crate) struct TimerThread<R: LinkRole> {
    driving: DriverHandle<R>,
}

/// Starts the leader and the writer of a connection.
///
/// The writer ends once the connection is closed and all output is written, the leader at the next
/// input or the end of the input.
pub(crate) fn start<R: LinkRole>(
    driving: DriverHandle<R>,
    reader: impl Read + Send + 'static,
    writer: impl Write + Send + 'static,
) -> io::Result<TimerThread<R>> {
    let streams = Arc::new(Streams {
        link: Arc::clone(driving.link()),
        progress: LeaderProgress::default(),
        reads_on: driving.reads_on(),
        input: Mutex::new(Some((reader, ReadBuffer::default()))),
        output: Mutex::new(Output { writer: Some(writer), chunk: Vec::new() }),
    });
    let writer = Arc::clone(&streams);
    spawn("mcp-write", move || writer.write())?;
    let first = streams.progress.first();
    spawn("mcp-read", move || streams.lead(first))?;
    Ok(TimerThread { driving })
}

impl<R: LinkRole> TimerThread<R> {
    /// Runs the timers on this thread until the connection has ended.
    pub(crate) fn run(self) {
        self.driving.link().keep_time_during(self.driving.ended());
    }
}

/// The streams of a connection, shared by leaders and the writer.
struct Streams<R: LinkRole, I, O> {
    link: Arc<Link<R>>,
    progress: LeaderProgress,
    reads_on: bool,
    /// `None` once the input has ended.
    input: Mutex<Option<(I, ReadBuffer)>>,
    output: Mutex<Output<O>>,
}

struct Output<O> {
    /// `None` once the stream has failed or was closed.
    writer: Option<O>,
    /// Output that was taken from the connection but not written yet.
    chunk: Vec<u8>,
}

impl<R, I, O> WatchedLeader for Streams<R, I, O>
where
    R: LinkRole,
    I: Read + Send + 'static,
    O: Write + Send + 'static,
{
    fn progress(&self) -> &LeaderProgress {
        &self.progress
    }

    fn replace(self: Arc<Self>, term: Term) -> io::Result<()> {
        spawn("mcp-read", move || {
            // On this thread: the stuck one may hold the lock of the connection.
            self.link.release();
            self.lead(term);
        })
    }
}

impl<R, I, O> Streams<R, I, O>
where
    R: LinkRole,
    I: Read + Send + 'static,
    O: Write + Send + 'static,
{
    fn lead(self: Arc<Self>, mut term: Term) {
        loop {
            let mut input = lock(&self.input);
            let Some((reader, buffer)) = &mut *input else { return };
            if !self.link.wants_input_now() && !block_on(self.link.wants_input()) {
                break;
            }
            match reader.read(buffer.space()) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Ok(count) if count > 0 => {
                    if self.progress.begin(&mut term) {
                        watchdog::watch(Arc::clone(&self) as _);
                    }
                    self.link.take_input(buffer.filled(count));
                }
                Ok(_) => {
                    self.link.handle_eof();
                    break;
                }
                Err(error) => {
                    self.link.input_failed(&error);
                    break;
                }
            }
            // The next leader can read from here on.
            drop(input);
            if !self.serve(&mut term) {
                return;
            }
        }
        // Dropped right away: the peer must notice even while another thread is stuck in a write.
        let input = lock(&self.input).take();
        if let Some((reader, buffer)) = input.filter(|_| self.reads_on) {
            discard(reader, buffer);
        }
    }

    /// Runs handlers and writes their responses; returns false if this leader was replaced.
    fn serve(&self, term: &mut Term) -> bool {
        // A handler may wait for the end of another connection.
        IS_DRIVER.set(false);
        self.link.help_until(|| self.progress.step(term));
        IS_DRIVER.set(true);
        if !self.progress.step(term) {
            // The replacement may have happened before there was any output.
            self.link.flush_elsewhere();
            return false;
        }
        match self.output.try_lock() {
            Ok(mut output) => self.flush(&mut output, true),
            Err(TryLockError::Poisoned(poisoned)) => self.flush(&mut poisoned.into_inner(), true),
            Err(TryLockError::WouldBlock) => self.link.flush_elsewhere(),
        }
        self.progress.rest(term)
    }

    /// Writes all output. If a chunk is longer than one write, the leader leaves it to the writer,
    /// which may block without delaying anything else.
    fn flush(&self, Output { writer, chunk }: &mut Output<O>, is_leader: bool) {
        let Some(open) = writer else { return self.link.broke() };
        while !chunk.is_empty() || self.link.take_output(chunk) {
            if is_leader && chunk.len() > WRITE_BYTES_MAX {
                return self.link.flush_elsewhere();
            }
            // Taken out: if the writer panics, an unknown part of the chunk has been written.
            let mut taken = std::mem::take(chunk);
            for (index, piece) in taken.chunks(WRITE_BYTES_MAX).enumerate() {
                if index > 0 {
                    self.link.wrote(WRITE_BYTES_MAX);
                }
                if let Err(error) = open.write_all(piece).and_then(|()| open.flush()) {
                    *writer = None;
                    return self.link.output_failed(&error);
                }
            }
            if taken.len() > WRITE_BYTES_MAX {
                self.link.reuse(taken);
            } else {
                taken.clear();
                *chunk = taken;
            }
        }
    }

    fn write(&self) {
        while block_on(self.link.has_output()) {
            let mut output = lock(&self.output);
            self.flush(&mut output, false);
            if output.writer.is_none() {
                drop(output);
                block_on(self.link.lost_reader());
                break;
            }
        }
        if let Some(writer) = lock(&self.output).writer.take() {
            close(writer);
        }
        self.link.written();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads to the end and discards the input.
fn discard(mut reader: impl Read, mut buffer: ReadBuffer) {
    loop {
        match reader.read(buffer.space()) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(count) if count > 0 => {}
            Ok(_) | Err(_) => return,
        }
    }
}

/// Closes the output. Dropping a pipe closes it; a socket, which the reader holds as well, must be
/// shut down.
fn close(writer: impl Write + 'static) {
    let stream: &dyn Any = &writer;
    if let Some(socket) = stream.downcast_ref::<TcpStream>() {
        let _gone = socket.shutdown(Shutdown::Write);
    }
    #[cfg(unix)]
    if let Some(socket) = stream.downcast_ref::<std::os::unix::net::UnixStream>() {
        let _gone = socket.shutdown(Shutdown::Write);
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use futures_lite::future::{block_on, poll_once};
    use mcp_adapter::{Runtime as _, Server, on_runtime};

    use super::{Output, ReadBuffer, Streams};
    use crate::runtime::Threads;
    use crate::watchdog::LeaderProgress;

    #[test]
    fn a_leader_replaced_before_it_handled_its_input_leaves_the_response_to_the_writer() {
        let (_serving, driving) =
            on_runtime::open(&Server::new("s", "1"), Threads::current().unwrap()).unwrap();
        let streams = Streams {
            link: Arc::clone(driving.link()),
            progress: LeaderProgress::default(),
            reads_on: false,
            input: Mutex::new(Some((io::empty(), ReadBuffer::default()))),
            output: Mutex::new(Output { writer: Some(io::sink()), chunk: Vec::new() }),
        };
        let mut leader = streams.progress.first();
        streams.progress.begin(&mut leader);
        streams.progress.depose_now();
        streams.link.release();
        // The replaced leader had already read this input.
        streams.link.take_input(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n");
        assert!(!streams.serve(&mut leader), "the leader was replaced");
        assert_eq!(block_on(poll_once(streams.link.has_output())), Some(true));
    }
}
