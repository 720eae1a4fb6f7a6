//! The process's stdout, reserved for the protocol.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::mpsc::channel;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use nix::unistd::dup2_stdout;

use super::polling_file::PollingFile;

/// The stdout that a server writes its messages to.
///
/// While a value of this type exists, anything else that this process and its later children write
/// to stdout goes to stderr, unless [`Server::without_stdout_redirect`] is set.
///
/// [`Server::without_stdout_redirect`]: crate::Server::without_stdout_redirect
#[derive(Debug)]
pub struct ProtocolStdout {
    stdout: OwnedFd,
    _redirect: Option<Redirect>,
}

impl ProtocolStdout {
    /// Takes stdout.
    ///
    /// # Errors
    /// Fails if stdout or stderr is closed.
    pub(crate) fn new(redirects: bool) -> io::Result<Self> {
        if !redirects {
            // Another server may have redirected stdout.
            let stdout = match &*redirected() {
                Some(redirected) => redirected.stdout.try_clone()?,
                None => io::stdout().as_fd().try_clone_to_owned()?,
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
    pub(super) fn descriptor(&self) -> io::Result<OwnedFd> {
        self.stdout.try_clone()
    }

    /// Returns stdout as a file whose writes wait.
    ///
    /// # Errors
    /// Fails if this process has no descriptor left.
    pub fn file(&self) -> io::Result<PollingFile> {
        self.descriptor().map(|descriptor| File::from(descriptor).into())
    }
}

/// The real stdout while descriptor 1 refers to stderr.
struct Redirected {
    stdout: OwnedFd,
    /// The number of servers that need the redirection.
    servers: usize,
}

/// One for the process, as descriptor 1 is.
static REDIRECTED: Mutex<Option<Redirected>> = Mutex::new(None);

fn redirected() -> MutexGuard<'static, Option<Redirected>> {
    REDIRECTED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps descriptor 1 redirected to stderr.
#[derive(Debug)]
struct Redirect(());

impl Redirect {
    /// Redirects descriptor 1 unless it is redirected, and returns the real stdout.
    ///
    /// Text that the program has printed before, but that the standard library still holds back,
    /// goes to stderr.
    fn new() -> io::Result<(OwnedFd, Self)> {
        let mut redirected = redirected();
        if let Some(redirected) = &mut *redirected {
            let stdout = redirected.stdout.try_clone()?;
            redirected.servers += 1;
            return Ok((stdout, Self(())));
        }
        let original = io::stdout().as_fd().try_clone_to_owned()?;
        let stdout = original.try_clone()?;
        dup2_stdout(io::stderr())?;
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
        if state.servers == 0 && flush_prints() && dup2_stdout(&state.stdout).is_ok() {
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
