//! Stdin and stdout as descriptors that an event loop can poll.
//!
//! Pipes and sockets can be polled. Terminals and plain files cannot: a dedicated thread copies
//! their bytes through a pipe. The thread does not belong to the runtime, so it delays the end of
//! neither the runtime nor the process.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use event_listener::Event;
use futures_lite::future::or;

/// A descriptor that an event loop can poll. The event loop must first make it non-blocking.
#[derive(Debug)]
pub enum Pollable {
    /// One end of a pipe.
    Pipe(OwnedFd),
    /// A socket of any kind.
    Socket(OwnedFd),
}

/// Returns this process's stdin as a descriptor that can be polled.
///
/// If stdin is neither a pipe nor a socket (for example, if it is a terminal), the descriptor is a
/// pipe into which a thread copies the bytes from stdin.
///
/// # Errors
/// Fails if stdin is closed, or if the thread cannot be started.
pub fn input() -> io::Result<Pollable> {
    match pollable(io::stdin().as_fd().try_clone_to_owned()?, Direction::In)? {
        Ok(pollable) => Ok(pollable),
        Err(file) => {
            let (reader, writer) = io::pipe()?;
            thread::Builder::new().name("mcp-stdin".into()).spawn(move || copy(file, writer))?;
            Ok(Pollable::Pipe(reader.into()))
        }
    }
}

/// Returns this process's stdout as a descriptor that can be polled.
///
/// If stdout is neither a pipe nor a socket, the descriptor is a pipe from which a thread copies
/// bytes to stdout. Use the returned [`StdoutFlush`] to wait until they have arrived there.
///
/// # Errors
/// Fails if stdout is closed, or if the thread cannot be started.
pub fn output() -> io::Result<(Pollable, StdoutFlush)> {
    match pollable(io::stdout().as_fd().try_clone_to_owned()?, Direction::Out)? {
        Ok(pollable) => Ok((pollable, StdoutFlush(None))),
        Err(file) => {
            let (reader, writer) = io::pipe()?;
            let arrived = Arc::new((AtomicBool::new(false), Event::new()));
            let signal = Arc::clone(&arrived);
            let copy = move || {
                copy(reader, file);
                signal.0.store(true, Ordering::Release);
                signal.1.notify(usize::MAX);
            };
            thread::Builder::new().name("mcp-stdout".into()).spawn(copy)?;
            Ok((Pollable::Pipe(writer.into()), StdoutFlush(Some(arrived))))
        }
    }
}

/// A handle for waiting until written output has arrived at stdout.
#[derive(Debug)]
pub struct StdoutFlush(Option<Arc<(AtomicBool, Event)>>);

impl StdoutFlush {
    /// Waits until all output has arrived at stdout, or until `give_up` completes.
    ///
    /// Drop the writer first. `give_up` is needed because a stopped terminal may never accept the
    /// output.
    pub async fn wait(&self, give_up: impl Future) {
        or(self.arrived(), async { drop(give_up.await) }).await;
    }

    async fn arrived(&self) {
        let Some(arrived) = &self.0 else { return };
        loop {
            let changed = arrived.1.listen();
            if arrived.0.load(Ordering::Acquire) {
                return;
            }
            changed.await;
        }
    }
}

/// How long adapters wait for output to arrive at stdout when a server ends.
pub const FLUSH_TIMEOUT: Duration = Duration::from_millis(500);

/// Returns a descriptor that can be polled, or else the file.
fn pollable(descriptor: OwnedFd, direction: Direction) -> io::Result<Result<Pollable, File>> {
    let file = File::from(descriptor);
    let kind = file.metadata()?.file_type();
    if kind.is_socket() {
        return Ok(Ok(Pollable::Socket(file.into())));
    }
    if !kind.is_fifo() {
        return Ok(Err(file));
    }
    let file = own_description(&file, direction).unwrap_or(file);
    Ok(Ok(Pollable::Pipe(file.into())))
}

#[derive(Clone, Copy)]
enum Direction {
    In,
    Out,
}

/// Opens a pipe a second time, so that making it non-blocking does not affect other processes.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn own_description(file: &File, direction: Direction) -> Option<File> {
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = File::options();
    match direction {
        Direction::In => options.read(true),
        Direction::Out => options.write(true),
    };
    // Otherwise opening a pipe without a reader would block.
    options.custom_flags(nix::fcntl::OFlag::O_NONBLOCK.bits());
    options.open(format!("/proc/self/fd/{}", file.as_raw_fd())).ok()
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn own_description(_: &File, _: Direction) -> Option<File> {
    None
}

/// Copies bytes until either end closes, then closes the other.
///
/// `io::copy` is not used: it lets the kernel copy, and panics if a terminal closes meanwhile.
fn copy(mut from: impl Read, mut to: impl Write) {
    let mut buffer = vec![0; COPY_BYTES_MAX];
    loop {
        match from.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(count) if count > 0 => {
                if to.write_all(buffer.get(..count).unwrap_or_default()).is_err() {
                    return;
                }
            }
            Ok(_) | Err(_) => return,
        }
    }
}

/// The size of the copy buffer.
const COPY_BYTES_MAX: usize = 64 * 1024;
