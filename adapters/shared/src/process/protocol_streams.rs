//! The process's stdin and stdout, reserved for the protocol.

use std::fs::File;
#[cfg(windows)]
use std::io::IsTerminal;
use std::io::{self, Write};
#[cfg(unix)]
use std::os::fd::OwnedFd as Descriptor;
#[cfg(windows)]
use std::os::windows::io::OwnedHandle as Descriptor;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

#[cfg(unix)]
use super::polling_file::PollingFile;
use super::settings::StdioSettings;

/// The stdin that a server reads its messages from, and the stdout that it writes them to.
///
/// While a value of this type exists, anything else in this process and its later children reads an
/// empty stdin and writes to stderr in place of stdout, unless [`StdioSettings::keep_stdin`]
/// or [`StdioSettings::keep_stdout`] is set.
///
/// [`StdioSettings::keep_stdin`]: crate::StdioSettings::keep_stdin
/// [`StdioSettings::keep_stdout`]: crate::StdioSettings::keep_stdout
#[derive(Debug)]
pub struct ProtocolStreams {
    stdin: Reserved,
    stdout: Reserved,
}

impl ProtocolStreams {
    /// Takes stdin and stdout.
    ///
    /// # Errors
    /// Fails if stdin, stdout or stderr is closed, or if there is no null device.
    pub(crate) fn new(process: StdioSettings) -> io::Result<Self> {
        Ok(Self {
            stdin: Reserved::new(Stream::Stdin, process.redirects_stdin)?,
            stdout: Reserved::new(Stream::Stdout, process.redirects_stdout)?,
        })
    }

    /// Returns another descriptor of stdin. Children do not inherit it.
    ///
    /// # Errors
    /// Fails if this process has no descriptor left.
    #[cfg(unix)]
    pub(crate) fn stdin_descriptor(&self) -> io::Result<Descriptor> {
        self.stdin.real.try_clone()
    }

    /// Returns another descriptor of stdout. Children do not inherit it.
    ///
    /// # Errors
    /// Fails if this process has no descriptor left.
    #[cfg(unix)]
    pub(crate) fn stdout_descriptor(&self) -> io::Result<Descriptor> {
        self.stdout.real.try_clone()
    }

    /// Returns stdin as a file whose reads wait.
    ///
    /// # Errors
    /// Fails if this process has no descriptor left.
    #[cfg(unix)]
    pub fn stdin(&self) -> io::Result<PollingFile> {
        self.stdin_descriptor().map(|descriptor| File::from(descriptor).into())
    }

    /// Returns stdout as a file whose writes wait.
    ///
    /// # Errors
    /// Fails if this process has no descriptor left.
    #[cfg(unix)]
    pub fn stdout(&self) -> io::Result<PollingFile> {
        self.stdout_descriptor().map(|descriptor| File::from(descriptor).into())
    }

    /// Returns stdin as a stream whose reads wait.
    ///
    /// # Errors
    /// Fails if this process has no handle left.
    #[cfg(windows)]
    pub(crate) fn stdin(&self) -> io::Result<StdinFile> {
        let is_redirected = Stream::Stdin.redirected().is_some();
        Ok(if is_redirected {
            StdinFile::Private(File::from(self.stdin.real.try_clone()?))
        } else {
            StdinFile::Shared(io::stdin())
        })
    }

    /// Replaces the stdin that the program will have once it is restored by a pipe, and returns the
    /// other end: a thread that waits for input can then pass on what it still receives.
    ///
    /// Returns `None` unless stdin is redirected.
    #[cfg(windows)]
    pub(crate) fn divert_stdin(&self) -> Option<io::PipeWriter> {
        self.stdin.redirect.as_ref()?;
        let (reader, writer) = io::pipe().ok()?;
        Stream::Stdin.redirected().as_mut()?.real = reader.into();
        Some(writer)
    }

    /// Returns stdout as a stream whose writes wait.
    ///
    /// # Errors
    /// Fails if this process has no handle left.
    #[cfg(windows)]
    pub fn stdout(&self) -> io::Result<StdoutFile> {
        let file = File::from(self.stdout.real.try_clone()?);
        Ok(if file.is_terminal() {
            StdoutFile::Console(io::stdout())
        } else {
            StdoutFile::File(file)
        })
    }
}

/// Stdin of Windows.
#[cfg(windows)]
#[derive(Debug)]
pub(crate) enum StdinFile {
    /// The stdin of the standard library, such as a console, for which it converts the text.
    Shared(io::Stdin),
    /// A pipe or a file that only the server reads.
    Private(File),
}

/// Stdout of Windows.
#[cfg(windows)]
#[derive(Debug)]
pub enum StdoutFile {
    /// A console, for which the standard library converts the text.
    Console(io::Stdout),
    /// A pipe or a file.
    File(File),
}

#[cfg(windows)]
impl Write for StdoutFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Console(stdout) => stdout.write(bytes),
            Self::File(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Console(stdout) => stdout.flush(),
            Self::File(file) => file.flush(),
        }
    }
}

/// A standard stream that servers use for the protocol.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Stream {
    Stdin,
    Stdout,
}

/// The real stream while the standard descriptor refers to another file.
struct Redirected {
    real: Descriptor,
    /// The number of servers that need the redirection.
    servers: usize,
}

/// One for the process, as the standard descriptors are.
static STDIN: Mutex<Option<Redirected>> = Mutex::new(None);
static STDOUT: Mutex<Option<Redirected>> = Mutex::new(None);

impl Stream {
    fn redirected(self) -> MutexGuard<'static, Option<Redirected>> {
        let redirected = match self {
            Self::Stdin => &STDIN,
            Self::Stdout => &STDOUT,
        };
        redirected.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Prepares the return of the standard descriptor to the real stream; returns false if it has
    /// to stay redirected.
    fn may_be_restored(self) -> bool {
        self == Self::Stdin || flush_prints()
    }
}

/// A standard stream, reserved for as long as this value exists.
#[derive(Debug)]
struct Reserved {
    real: Descriptor,
    #[cfg_attr(unix, expect(dead_code, reason = "undone when dropped"))]
    redirect: Option<Redirect>,
}

impl Reserved {
    fn new(stream: Stream, redirects: bool) -> io::Result<Self> {
        if redirects && !system::is_kept(stream) {
            let (real, redirect) = Redirect::new(stream)?;
            return Ok(Self { real, redirect: Some(redirect) });
        }
        // Another server may have redirected the stream.
        let real = match &*stream.redirected() {
            Some(redirected) => redirected.real.try_clone()?,
            None => system::real(stream)?,
        };
        Ok(Self { real, redirect: None })
    }
}

/// Keeps a standard descriptor redirected.
#[derive(Debug)]
struct Redirect(Stream);

impl Redirect {
    /// Redirects the standard descriptor unless it is redirected, and returns the real stream.
    ///
    /// Text that the program has printed before, but that the standard library still holds back,
    /// goes to stderr.
    fn new(stream: Stream) -> io::Result<(Descriptor, Self)> {
        let mut redirected = stream.redirected();
        if let Some(redirected) = &mut *redirected {
            let real = redirected.real.try_clone()?;
            redirected.servers += 1;
            return Ok((real, Self(stream)));
        }
        let original = system::real(stream)?;
        let real = original.try_clone()?;
        match stream {
            Stream::Stdin => system::replace_stdin(&null_device()?)?,
            Stream::Stdout => system::replace_stdout(&io::stderr())?,
        }
        *redirected = Some(Redirected { real: original, servers: 1 });
        Ok((real, Self(stream)))
    }
}

impl Drop for Redirect {
    fn drop(&mut self) {
        let mut redirected = self.0.redirected();
        let Some(state) = &mut *redirected else { return };
        state.servers = state.servers.saturating_sub(1);
        if state.servers > 0 || !self.0.may_be_restored() {
            return;
        }
        let restored = match self.0 {
            Stream::Stdin => system::replace_stdin(&state.real),
            Stream::Stdout => system::replace_stdout(&state.real),
        };
        // Otherwise the stream stays redirected, and the next server finds the real one.
        if restored.is_ok() {
            *redirected = None;
        }
    }
}

/// Opens a file that is always at its end.
fn null_device() -> io::Result<File> {
    let path = system::NULL_DEVICE;
    let explain = |error: io::Error| {
        let remedy = "provide it, or set `StdioSettings::keep_stdin`";
        io::Error::new(error.kind(), format!("cannot open `{path}`: {error}; {remedy}"))
    };
    File::open(path).map_err(explain)
}

/// Flushes the standard library's buffer of stdout, so that it does not follow the last message.
///
/// Returns false if the buffer is in use: a handler may hold the lock of stdout forever.
fn flush_prints() -> bool {
    let (flushed, done) = parking::pair();
    let flush = move || {
        let _unprinted = io::stdout().flush();
        done.unpark();
    };
    let started = thread::Builder::new().name("mcp-flush".into()).spawn(flush);
    started.is_ok() && flushed.park_timeout(FLUSH_TIMEOUT)
}

/// How long flushing what handlers have printed may take.
const FLUSH_TIMEOUT: Duration = Duration::from_millis(100);

/// Descriptors 0 and 1.
#[cfg(unix)]
mod system {
    use std::io;
    use std::os::fd::{AsFd, OwnedFd};

    use super::Stream;

    pub(super) const NULL_DEVICE: &str = "/dev/null";

    pub(super) const fn is_kept(_: Stream) -> bool {
        false
    }

    pub(super) fn real(stream: Stream) -> io::Result<OwnedFd> {
        match stream {
            Stream::Stdin => io::stdin().as_fd().try_clone_to_owned(),
            Stream::Stdout => io::stdout().as_fd().try_clone_to_owned(),
        }
    }

    pub(super) fn replace_stdin(file: &impl AsFd) -> io::Result<()> {
        Ok(nix::unistd::dup2_stdin(file)?)
    }

    pub(super) fn replace_stdout(file: &impl AsFd) -> io::Result<()> {
        Ok(nix::unistd::dup2_stdout(file)?)
    }
}

/// The standard handles, which the standard library looks up for each access, and which child
/// processes inherit.
#[cfg(windows)]
mod system {
    use std::io::{self, IsTerminal};
    use std::os::windows::io::{AsHandle, AsRawHandle, IntoRawHandle, OwnedHandle};

    use filedescriptor::{FileDescriptor, StdioDescriptor};

    use super::Stream;

    pub(super) const NULL_DEVICE: &str = "NUL";

    /// A console is not redirected: a person may type input for a child, and prints do not corrupt
    /// messages there.
    pub(super) fn is_kept(stream: Stream) -> bool {
        match stream {
            Stream::Stdin => io::stdin().is_terminal(),
            Stream::Stdout => io::stdout().is_terminal(),
        }
    }

    pub(super) fn real(stream: Stream) -> io::Result<OwnedHandle> {
        match stream {
            Stream::Stdin => io::stdin().as_handle().try_clone_to_owned(),
            Stream::Stdout => io::stdout().as_handle().try_clone_to_owned(),
        }
    }

    pub(super) fn replace_stdin(file: &impl AsRawHandle) -> io::Result<()> {
        replace(file, StdioDescriptor::Stdin)
    }

    pub(super) fn replace_stdout(file: &impl AsRawHandle) -> io::Result<()> {
        replace(file, StdioDescriptor::Stdout)
    }

    fn replace(file: &impl AsRawHandle, stream: StdioDescriptor) -> io::Result<()> {
        let replaced = FileDescriptor::redirect_stdio(file, stream);
        // Never closed: another thread may be using it.
        let _replaced = replaced.map_err(io::Error::other)?.into_raw_handle();
        Ok(())
    }
}
