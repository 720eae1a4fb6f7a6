//! A connection driven by threads: one leads, one writes what the leader does not, one keeps the
//! time and takes care that somebody leads; knows nothing of what it carries.
//!
//! The leader reads, runs the handlers of what it has read, and writes their answers: no other
//! thread is woken for a handler that is quick. One that holds it up, or a peer that does not read,
//! costs it its place after a few milliseconds: a new thread leads, and the other ends once it is
//! free.

use std::any::Any;
use std::cell::Cell;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::Duration;

use futures_lite::future::block_on;
use mcp_adapter::{Driving, Link, ReadBuffer, Role, WRITE_BYTES_MAX, Wide};
use parking::Parker;

use crate::watchdog::{Look, Pulse, Term, Watch};

thread_local! {
    static DRIVES: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread drives a connection, and so must not wait for the end of one.
pub(crate) fn is_driver() -> bool {
    DRIVES.get()
}

/// Starts a thread that drives.
pub(crate) fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let run = move || {
        DRIVES.set(true);
        run();
    };
    thread::Builder::new().name(name.into()).spawn(run).map(drop)
}

/// A connection that is driven, for the thread that keeps its time.
pub(crate) struct Keeper<R: Role> {
    driving: Driving<R>,
    parker: Parker,
    pulse: Arc<Pulse>,
    /// Starts a thread that leads.
    lead: Box<dyn Fn(Term) -> io::Result<()> + Send>,
}

/// Starts the threads that lead and write. They end by themselves: the writer when the session is
/// closed and all is sent, the leader at the next bytes or the end of them.
pub(crate) fn start<R: Role>(
    driving: Driving<R>,
    reader: impl Read + Send + 'static,
    writer: impl Write + Send + 'static,
) -> io::Result<Keeper<R>> {
    let (parker, unparker) = parking::pair();
    let pulse = Arc::new(Pulse::new(unparker));
    let wire = Arc::new(Wire {
        link: Arc::clone(driving.link()),
        pulse: Arc::clone(&pulse),
        reads_on: driving.reads_on(),
        wide: driving.wide(),
        reading: Mutex::new(Some((reader, ReadBuffer::default()))),
        writing: Mutex::new(Writing { writer: Some(writer), chunk: Vec::new() }),
    });
    let writes = Arc::clone(&wire);
    spawn("mcp-write", move || writes.write())?;
    let lead = Box::new(move |term| {
        let wire = Arc::clone(&wire);
        spawn("mcp-read", move || wire.lead(term))
    });
    lead(pulse.first())?;
    Ok(Keeper { driving, parker, pulse, lead })
}

impl<R: Role> Keeper<R> {
    /// Drives the connection to its end, on this thread.
    pub(crate) fn run(self) {
        let Self { driving, parker, pulse, lead } = self;
        let link = driving.link();
        let (mut watch, mut vacant) = (Watch::default(), None);
        link.keep_time_watching(&parker, driving.ended(), || {
            let again = match watch.look(&pulse) {
                Look::Idle => None,
                Look::Again(after) => Some(after),
                Look::HeldUp(term, after) => {
                    link.release();
                    vacant = Some(term);
                    Some(after)
                }
            };
            // Where there is no thread to be had, it is tried again.
            vacant = vacant.take().filter(|term| lead(*term).is_err());
            again.or_else(|| vacant.map(|_| VACANT))
        });
    }
}

/// How long nobody leads before a thread is tried for again.
const VACANT: Duration = Duration::from_millis(10);

/// A connection's streams, shared by the threads that lead and the one that writes.
struct Wire<R: Role, I, O> {
    link: Arc<Link<R>>,
    pulse: Arc<Pulse>,
    reads_on: bool,
    wide: Wide,
    /// `None` once nothing is read any more.
    reading: Mutex<Option<(I, ReadBuffer)>>,
    writing: Mutex<Writing<O>>,
}

struct Writing<O> {
    /// `None` once nothing can be written any more.
    writer: Option<O>,
    /// What was taken and not written yet.
    chunk: Vec<u8>,
}

impl<R: Role, I: Read, O: Write + 'static> Wire<R, I, O> {
    fn lead(&self, mut term: Term) {
        loop {
            let mut reading = lock(&self.reading);
            let Some((reader, buffer)) = &mut *reading else { return };
            if !self.link.wants_input_now() && !block_on(self.link.wants_input()) {
                break;
            }
            match reader.read(buffer.space()) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Ok(count) if count > 0 => {
                    self.wide.passes(count);
                    self.pulse.begin(&mut term);
                    self.link.take_input(buffer.filled(count));
                }
                // A stream that cannot be read has ended.
                Ok(_) | Err(_) => {
                    self.link.handle_eof();
                    break;
                }
            }
            // Whoever leads next reads meanwhile.
            drop(reading);
            if !self.serve(&mut term) {
                return;
            }
        }
        // A thread that is stuck in a write must not keep the peer from noticing.
        let reading = lock(&self.reading).take();
        if let Some((reader, buffer)) = reading.filter(|_| self.reads_on) {
            exhaust(reader, buffer);
        }
    }

    /// Runs handlers and writes what they answer; false when another thread leads by then.
    fn serve(&self, term: &mut Term) -> bool {
        // What is waited for in a handler is the handler's affair.
        DRIVES.set(false);
        self.link.help(|| self.pulse.beat(term));
        DRIVES.set(true);
        if !self.pulse.beat(term) {
            // Whoever took its place may have done so before there was anything to write.
            self.link.flush_elsewhere();
            return false;
        }
        match self.writing.try_lock() {
            Ok(mut writing) => self.flush(&mut writing, true),
            Err(TryLockError::Poisoned(poisoned)) => self.flush(&mut poisoned.into_inner(), true),
            Err(TryLockError::WouldBlock) => self.link.flush_elsewhere(),
        }
        self.pulse.rest(term)
    }

    /// Writes all there is. A leader leaves what is longer than one write to the writer, which
    /// nobody else waits for.
    fn flush(&self, Writing { writer, chunk }: &mut Writing<O>, leads: bool) {
        let Some(open) = writer else { return self.link.broke() };
        while !chunk.is_empty() || self.link.take_output(chunk) {
            self.wide.passes(chunk.len());
            if leads && chunk.len() > WRITE_BYTES_MAX {
                return self.link.flush_elsewhere();
            }
            // A writer that panics has written some of it, nobody knows how much.
            let mut taken = std::mem::take(chunk);
            for (place, piece) in taken.chunks(WRITE_BYTES_MAX).enumerate() {
                if place > 0 {
                    self.link.wrote(WRITE_BYTES_MAX);
                }
                if open.write_all(piece).and_then(|()| open.flush()).is_err() {
                    // Whoever does not take bytes any more is gone. (EPIPE)
                    *writer = None;
                    return self.link.broke();
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
            let mut writing = lock(&self.writing);
            self.flush(&mut writing, false);
            if writing.writer.is_none() {
                drop(writing);
                block_on(self.link.lost_reader());
                break;
            }
        }
        if let Some(writer) = lock(&self.writing).writer.take() {
            hang_up(writer);
        }
        self.link.written();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads to the end and forgets.
fn exhaust(mut reader: impl Read, mut buffer: ReadBuffer) {
    loop {
        match reader.read(buffer.space()) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(count) if count > 0 => {}
            Ok(_) | Err(_) => return,
        }
    }
}

/// Tells the peer that nothing follows. A pipe ends when it is dropped; a socket, which the reader
/// has as well, does not.
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

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use futures_lite::future::{block_on, poll_once};
    use mcp_adapter::Server;

    use super::{ReadBuffer, Wide, Wire, Writing};
    use crate::runtime::Threads;
    use crate::watchdog::{Look, Pulse, Watch};

    #[test]
    fn a_leader_that_is_replaced_before_it_has_heard_anything_leaves_the_answer_to_the_writer() {
        let (_serving, driving) = Server::new("s", "1").open_on(Arc::new(Threads)).unwrap();
        let (_parker, watcher) = parking::pair();
        let wire = Wire {
            link: Arc::clone(driving.link()),
            pulse: Arc::new(Pulse::new(watcher)),
            reads_on: false,
            wide: Wide::default(),
            reading: Mutex::new(Some((io::empty(), ReadBuffer::default()))),
            writing: Mutex::new(Writing { writer: Some(io::sink()), chunk: Vec::new() }),
        };
        let (mut leader, mut watch) = (wire.pulse.first(), Watch::default());
        wire.pulse.begin(&mut leader);
        while !matches!(watch.look(&wire.pulse), Look::HeldUp(..)) {}
        wire.link.release();
        // It had its bytes all the same.
        wire.link.take_input(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n");
        assert!(!wire.serve(&mut leader), "another leads");
        assert_eq!(block_on(poll_once(wire.link.has_output())), Some(true));
    }
}
