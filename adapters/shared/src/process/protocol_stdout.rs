//! The process's stdout, reserved for the protocol.

use std::fs::File;
#[cfg(windows)]
use std::io::IsTerminal;
use std::io::{self, Write};
#[cfg(unix)]
use std::os::fd::OwnedFd as Descriptor;
#[cfg(windows)]
use std::os::windows::io::OwnedHandle as Descriptor;
use std::sync::mpsc::channel;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

#[cfg(unix)]
use super::polling_file::PollingFile;

/// The stdout that a server writes its messages to.
///
/// While a value of this type exists, anything else that this process and its later children write
/// to stdout goes to stderr, unless [`Server::without_stdout_redirect`] is set.
///
/// [`Server::without_stdout_redirect`]: crate::Server::without_stdout_redirect
#[derive(Debug)]
pub struct ProtocolStdout {
    stdout: Descriptor,
    _redirect: Option<Redirect>,
}

impl ProtocolStdout {
    /// Takes stdout.
    ///
    /// # Errors
    /// Fails if stdout or stderr is closed.
    pub(crate) fn new(redirects: bool) -> io::Result<Self> {
        if !redirects || system::keeps_stdout() {
            // Another server may have redirected stdout.
            let stdout = match &*redirected() {
                Some(redirected) => redirected.stdout.try_clone()?,
                None => system::stdout()?,
            };
            return Ok(Self { stdout, _redirect: None });
        }
        let (stdout, redirect) = Redirect::new()?;
        Ok(Self { stdout, _redirect: Some(redirect) })
    }

    /// Returns another handle to stdout.
    ///
    /// # Errors
    /// Fails if this process has no descriptor left.
    #[cfg(unix)]
    pub(super) fn descriptor(&self) -> io::Result<Descriptor> {
        self.stdout.try_clone()
    }

    /// Returns stdout as a file whose writes wait.
    ///
    /// # Errors
    /// Fails if this process has no descriptor left.
    #[cfg(unix)]
    pub fn file(&self) -> io::Result<PollingFile> {
        self.descriptor().map(|descriptor| File::from(descriptor).into())
    }

    /// Returns stdout as a stream whose writes wait.
    ///
    /// # Errors
    /// Fails if this process has no handle left.
    #[cfg(windows)]
    pub fn file(&self) -> io::Result<StdoutFile> {
        let file = File::from(self.stdout.try_clone()?);
        Ok(if file.is_terminal() {
            StdoutFile::Console(io::stdout())
        } else {
            StdoutFile::File(file)
        })
    }
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

/// The real stdout while the standard descriptor refers to stderr.
struct Redirected {
    stdout: Descriptor,
    /// The number of servers that need the redirection.
    servers: usize,
}

/// One for the process, as the standard descriptor is.
static REDIRECTED: Mutex<Option<Redirected>> = Mutex::new(None);

fn redirected() -> MutexGuard<'static, Option<Redirected>> {
    REDIRECTED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps the standard descriptor redirected to stderr.
#[derive(Debug)]
struct Redirect(());

impl Redirect {
    /// Redirects the standard descriptor unless it is redirected, and returns the real stdout.
    ///
    /// Text that the program has printed before, but that the standard library still holds back,
    /// goes to stderr.
    fn new() -> io::Result<(Descriptor, Self)> {
        let mut redirected = redirected();
        if let Some(redirected) = &mut *redirected {
            let stdout = redirected.stdout.try_clone()?;
            redirected.servers += 1;
            return Ok((stdout, Self(())));
        }
        let original = system::stdout()?;
        let stdout = original.try_clone()?;
        system::replace_stdout(&io::stderr())?;
        *redirected = Some(Redirected { stdout: original, servers: 1 });
        Ok((stdout, Self(())))
    }
}

impl Drop for Redirect {
    fn drop(&mut self) {
        let mut redirected = redirected();
        let Some(state) = &mut *redirected else { return };
        state.servers = state.servers.saturating_sub(1);
        // Otherwise stdout stays redirected, and the next server finds the real one.
        if state.servers == 0 && flush_prints() && system::replace_stdout(&state.stdout).is_ok() {
            *redirected = None;
        }
    }
}

/// Flushes the standard library's buffer of stdout, so that it does not follow the last message.
///
/// Returns false if the buffer is in use: a handler may hold the lock of stdout for ever.
fn flush_prints() -> bool {
    let (done, flushed) = channel();
    let flush = move || {
        let _unprinted = io::stdout().flush();
        let _too_late = done.send(());
    };
    let started = thread::Builder::new().name("mcp-flush".into()).spawn(flush);
    started.is_ok() && flushed.recv_timeout(FLUSH_TIMEOUT).is_ok()
}

/// How long flushing what handlers have printed may take.
const FLUSH_TIMEOUT: Duration = Duration::from_millis(100);

/// Descriptor 1.
#[cfg(unix)]
mod system {
    use std::io;
    use std::os::fd::{AsFd, OwnedFd};

    pub(super) const fn keeps_stdout() -> bool {
        false
    }

    pub(super) fn stdout() -> io::Result<OwnedFd> {
        io::stdout().as_fd().try_clone_to_owned()
    }

    pub(super) fn replace_stdout(file: &impl AsFd) -> io::Result<()> {
        Ok(nix::unistd::dup2_stdout(file)?)
    }
}

/// The standard handle, which the standard library looks up for each write, and which child
/// processes inherit.
#[cfg(windows)]
mod system {
    use std::io::{self, IsTerminal};
    use std::os::windows::io::{AsHandle, AsRawHandle, IntoRawHandle, OwnedHandle};

    use filedescriptor::{FileDescriptor, StdioDescriptor};

    /// Messages to a console are read by a person, whom prints do not disturb.
    pub(super) fn keeps_stdout() -> bool {
        io::stdout().is_terminal()
    }

    pub(super) fn stdout() -> io::Result<OwnedHandle> {
        io::stdout().as_handle().try_clone_to_owned()
    }

    pub(super) fn replace_stdout(file: &impl AsRawHandle) -> io::Result<()> {
        let replaced = FileDescriptor::redirect_stdio(file, StdioDescriptor::Stdout);
        // Never closed: another thread may be using it.
        let _replaced = replaced.map_err(io::Error::other)?.into_raw_handle();
        Ok(())
    }
}
