//! Stdin and stdout as descriptors that an event loop can poll.
//!
//! Pipes and sockets can be polled. Terminals and plain files cannot: a dedicated thread copies
//! their bytes through a pipe. The thread does not belong to the runtime, so it delays the end of
//! neither the runtime nor the process.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileTypeExt;
use std::sync::Arc;
use std::thread;

use futures_lite::future::or;

use crate::exec::watched::Watched;
pub use crate::process::polling_file::PollingFile;
pub use crate::process::protocol_streams::ProtocolStreams;
use crate::transport::stream_error::{cannot, is_disconnect};

/// A descriptor that an event loop can poll. The event loop must first make it non-blocking.
#[derive(Debug)]
pub enum Pollable {
    /// One end of a pipe.
    Pipe(OwnedFd),
    /// A socket of any kind.
    Socket(OwnedFd),
}

/// Returns this process's stdin and stdout as descriptors that can be polled.
///
/// A stream that is a pipe or a socket is returned as such. For any other stream, such as a
/// terminal, the returned descriptor is one end of a new pipe. A thread then copies the bytes
/// between the stream and the other end of that pipe.
///
/// # Errors
/// Fails if stdin or stdout is closed, or if a thread cannot be started.
pub fn streams(reserved: ProtocolStreams) -> io::Result<(Pollable, Pollable, CopyThreads)> {
    let (input, stdin) = input(&reserved)?;
    let (output, stdout) = output(&reserved)?;
    Ok((input, output, CopyThreads { stdin, stdout, _reserved: reserved }))
}

fn input(reserved: &ProtocolStreams) -> io::Result<(Pollable, CopyThread)> {
    match pollable(reserved.stdin_descriptor()?, Direction::In)? {
        Ok(pollable) => Ok((pollable, CopyThread(None))),
        Err(file) => {
            let (reader, writer) = io::pipe()?;
            let file = PollingFile::from(file);
            let thread = CopyThread::start("mcp-stdin", file, writer, |failed| match failed {
                CopyError::Read(error) if is_disconnect(&error) => None,
                CopyError::Read(error) => Some(cannot("read stdin", &error)),
                CopyError::Write(_) => None,
            })?;
            Ok((Pollable::Pipe(reader.into()), thread))
        }
    }
}

fn output(reserved: &ProtocolStreams) -> io::Result<(Pollable, CopyThread)> {
    match pollable(reserved.stdout_descriptor()?, Direction::Out)? {
        Ok(pollable) => Ok((pollable, CopyThread(None))),
        Err(file) => {
            let (reader, writer) = io::pipe()?;
            let file = PollingFile::from(file);
            let thread = CopyThread::start("mcp-stdout", reader, file, |failed| match failed {
                CopyError::Write(error) if is_disconnect(&error) => None,
                CopyError::Write(error) => Some(cannot("write to stdout", &error)),
                CopyError::Read(_) => None,
            })?;
            Ok((Pollable::Pipe(writer.into()), thread))
        }
    }
}

/// The threads that copy bytes from stdin and to stdout, if such threads are needed.
///
/// Both streams are reserved for the protocol as long as this value exists.
#[derive(Debug)]
pub struct CopyThreads {
    stdin: CopyThread,
    stdout: CopyThread,
    _reserved: ProtocolStreams,
}

impl CopyThreads {
    /// Waits until all output has arrived at stdout, or until `give_up` completes.
    ///
    /// Before this call, drop the descriptor that [`streams`] returned for stdout. Otherwise, the
    /// copying never ends, and this method waits for `give_up`. `give_up` is needed because a
    /// stopped terminal may never accept the output.
    pub async fn flush(&self, give_up: impl Future) {
        let Some(state) = &self.stdout.0 else { return };
        let ended = state.when(|state| state.has_ended.then_some(()));
        or(ended, async { drop(give_up.await) }).await;
    }

    /// Returns whether copying has failed.
    ///
    /// Each error is returned only once. A call returns at most one error, that of stdin first.
    ///
    /// # Errors
    /// Fails if stdin could not be read, or if stdout could not be written to.
    pub fn outcome(&self) -> io::Result<()> {
        self.stdin.outcome().and_then(|()| self.stdout.outcome())
    }
}

#[derive(Debug)]
struct CopyThread(Option<Arc<Watched<CopyState>>>);

#[derive(Debug, Default)]
struct CopyState {
    has_ended: bool,
    error: Option<io::Error>,
}

impl CopyThread {
    /// Starts a thread that copies bytes and records an error that `report` returns.
    fn start(
        name: &str,
        mut from: impl Read + Send + 'static,
        mut to: impl Write + Send + 'static,
        report: fn(CopyError) -> Option<io::Error>,
    ) -> io::Result<Self> {
        let state = Arc::new(Watched::<CopyState>::default());
        let ended = Arc::clone(&state);
        let run = move || {
            let error = copy(&mut from, &mut to).err().and_then(report);
            ended.change(|state| *state = CopyState { has_ended: true, error });
            // Closed last: the server must find the error when it sees the end of its input.
            drop((from, to));
        };
        thread::Builder::new().name(name.into()).spawn(run)?;
        Ok(Self(Some(state)))
    }

    fn outcome(&self) -> io::Result<()> {
        self.0.as_ref().and_then(|state| state.lock().error.take()).map_or(Ok(()), Err)
    }
}

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

/// Copies bytes until the input ends.
///
/// `io::copy` is not used: it lets the kernel copy, and panics if a terminal closes during the
/// copy.
fn copy(from: &mut impl Read, to: &mut impl Write) -> Result<(), CopyError> {
    let mut buffer = vec![0; COPY_BYTES_MAX];
    loop {
        match from.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(count) if count > 0 => {
                let read = buffer.get(..count).unwrap_or_default();
                to.write_all(read).map_err(CopyError::Write)?;
            }
            Ok(_) => return Ok(()),
            Err(error) => return Err(CopyError::Read(error)),
        }
    }
}

/// Why copying ended early.
enum CopyError {
    Read(io::Error),
    Write(io::Error),
}

/// The size of the copy buffer.
const COPY_BYTES_MAX: usize = 64 * 1024;
