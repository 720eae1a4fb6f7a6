//! Stdin and stdout as files that an event loop can wait for; knows nothing of what is read and
//! written.
//!
//! Pipes and sockets can be waited for. Terminals and plain files cannot: a thread of their own
//! carries their bytes to and from a pipe. It is a plain thread, so it holds up the end of neither
//! a runtime nor the process.

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

/// A descriptor that an event loop can wait for. It is to be made non-blocking.
#[derive(Debug)]
pub enum Pollable {
    /// An end of a pipe.
    Pipe(OwnedFd),
    /// A socket of any kind.
    Socket(OwnedFd),
}

/// This process's stdin.
///
/// # Errors
/// When it is closed, or there is no thread for it.
pub fn input() -> io::Result<Pollable> {
    match pollable(io::stdin().as_fd().try_clone_to_owned()?, Direction::In)? {
        Ok(pollable) => Ok(pollable),
        Err(file) => {
            let (reader, writer) = io::pipe()?;
            thread::Builder::new().name("mcp-stdin".into()).spawn(move || carry(file, writer))?;
            Ok(Pollable::Pipe(reader.into()))
        }
    }
}

/// This process's stdout, and how to know that all of it has arrived.
///
/// # Errors
/// As [`input`].
pub fn output() -> io::Result<(Pollable, Arrived)> {
    match pollable(io::stdout().as_fd().try_clone_to_owned()?, Direction::Out)? {
        Ok(pollable) => Ok((pollable, Arrived(None))),
        Err(file) => {
            let (reader, writer) = io::pipe()?;
            let arrived = Arc::new((AtomicBool::new(false), Event::new()));
            let signal = Arc::clone(&arrived);
            let carry = move || {
                carry(reader, file);
                signal.0.store(true, Ordering::Release);
                signal.1.notify(usize::MAX);
            };
            thread::Builder::new().name("mcp-stdout".into()).spawn(carry)?;
            Ok((Pollable::Pipe(writer.into()), Arrived(Some(arrived))))
        }
    }
}

/// Whether what was written to stdout has arrived there.
#[derive(Debug)]
pub struct Arrived(Option<Arc<(AtomicBool, Event)>>);

impl Arrived {
    /// Waits for it, once the writer is dropped, and not for longer than `give_up` takes: a
    /// terminal can be stopped.
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

/// How long what was written may take to arrive.
pub const ARRIVAL: Duration = Duration::from_millis(500);

/// Whether a descriptor can be waited for; if not, as a file.
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

/// A pipe that is opened once more: whether it blocks then concerns nobody else who has it.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn own_description(file: &File, direction: Direction) -> Option<File> {
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = File::options();
    match direction {
        Direction::In => options.read(true),
        Direction::Out => options.write(true),
    };
    // A pipe that nobody reads any more would wait here for a reader.
    options.custom_flags(nix::fcntl::OFlag::O_NONBLOCK.bits());
    options.open(format!("/proc/self/fd/{}", file.as_raw_fd())).ok()
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn own_description(_: &File, _: Direction) -> Option<File> {
    None
}

/// Carries bytes until either end goes away; then so does the other. Not `io::copy`: it has the
/// kernel do it, and panics when a terminal goes away half-way.
fn carry(mut from: impl Read, mut to: impl Write) {
    let mut buffer = vec![0; CARRIED_BYTES_MAX];
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

/// What is carried at a time.
const CARRIED_BYTES_MAX: usize = 64 * 1024;
