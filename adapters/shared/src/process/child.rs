//! A child process: its own process group, its last words, its end; knows nothing of what is said
//! to it.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read};
use std::process::{Child as Process, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use event_listener::Event;

/// Lines of stderr that are kept.
const STDERR_LINES_MAX: usize = 32;

/// Bytes of a line of stderr that are kept.
const STDERR_LINE_BYTES_MAX: usize = 1024;

/// A running child, and what is left of it once it has exited.
#[derive(Debug)]
pub(crate) struct Child {
    id: u32,
    state: Mutex<State>,
    /// It has exited, or the last of its stderr is read.
    changed: Event,
}

#[derive(Debug)]
struct State {
    /// Present until the child is reaped; while it is, its id is its own.
    process: Option<Process>,
    /// How it exited, if the system says.
    status: Option<ExitStatus>,
    stderr: VecDeque<String>,
    stderr_done: bool,
}

impl Child {
    /// Starts `command` in a process group of its own, with pipes to and from it. It is to be
    /// [`watch`](Self::watch)ed.
    pub(crate) fn spawn(command: &mut Command) -> io::Result<(Arc<Self>, ChildStdout, ChildStdin)> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        group::detach(command);
        let mut process = command.spawn()?;
        let pipes = (process.stdin.take(), process.stdout.take(), process.stderr.take());
        let child = Arc::new(Self {
            id: process.id(),
            state: Mutex::new(State {
                process: Some(process),
                status: None,
                stderr: VecDeque::new(),
                stderr_done: false,
            }),
            changed: Event::new(),
        });
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            child.end_now();
            return Err(io::Error::other("the child has no pipes"));
        };
        let reader = Arc::clone(&child);
        let started = thread::Builder::new()
            .name("mcp-stderr".into())
            .spawn(move || reader.read_stderr(stderr));
        match started {
            Ok(_) => Ok((child, stdout, stdin)),
            Err(error) => {
                child.end_now();
                Err(error)
            }
        }
    }

    /// Reaps the child once it exits, on a thread of ours: whatever becomes of the runtime, no
    /// zombie stays. If there is no thread for it, the child is ended.
    pub(crate) fn watch(self: &Arc<Self>) -> io::Result<()> {
        let watched = Arc::clone(self);
        let started = thread::Builder::new().name("mcp-child".into()).spawn(move || watched.reap());
        started.map(drop).inspect_err(|_| self.end_now())
    }

    /// How the child exited, if it has.
    pub(crate) fn status(&self) -> Option<ExitStatus> {
        self.lock().status
    }

    /// The last lines of its stderr so far.
    pub(crate) fn last_words(&self) -> Vec<String> {
        self.lock().stderr.iter().cloned().collect()
    }

    /// Waits until the child has exited.
    pub(crate) async fn exited(&self) {
        self.wait(|state| state.process.is_none()).await;
    }

    /// Waits until the last of its stderr is read.
    pub(crate) async fn silent(&self) {
        self.wait(|state| state.stderr_done).await;
    }

    async fn wait(&self, done: impl Fn(&State) -> bool) {
        loop {
            let changed = self.changed.listen();
            if done(&self.lock()) {
                return;
            }
            changed.await;
        }
    }

    /// Asks the child and all it started to terminate.
    pub(crate) fn terminate(&self) {
        let mut state = self.lock();
        if let Some(process) = &mut state.process {
            group::terminate(self.id, process);
        }
    }

    /// Ends the child and all it started.
    pub(crate) fn kill(&self) {
        let mut state = self.lock();
        if let Some(process) = &mut state.process {
            group::kill(self.id, process);
        }
    }

    /// Ends the child while nobody watches it.
    fn end_now(&self) {
        self.kill();
        self.reap();
    }

    /// Waits for the child to exit, ends what it left behind in its group, and reaps it.
    fn reap(&self) {
        group::wait_without_reaping(self.id, || self.is_over());
        let mut state = self.lock();
        if let Some(mut process) = state.process.take() {
            group::kill(self.id, &mut process);
            state.status = process.wait().ok();
        }
        drop(state);
        self.changed.notify(usize::MAX);
    }

    fn is_over(&self) -> bool {
        self.lock().process.as_mut().is_none_or(|process| !matches!(process.try_wait(), Ok(None)))
    }

    fn read_stderr(&self, stderr: impl Read) {
        let mut reader = BufReader::new(stderr);
        let mut line = Vec::new();
        loop {
            line.clear();
            // A line without an end must not fill the memory: what is too long of it makes lines of
            // its own.
            let mut piece = reader.by_ref().take(STDERR_LINE_BYTES_MAX as u64);
            match piece.read_until(b'\n', &mut line) {
                Ok(count) if count > 0 => {
                    let text = String::from_utf8_lossy(&line);
                    let mut state = self.lock();
                    if state.stderr.len() >= STDERR_LINES_MAX {
                        state.stderr.pop_front();
                    }
                    state.stderr.push_back(text.trim_end().to_owned());
                }
                Ok(_) | Err(_) => break,
            }
        }
        self.lock().stderr_done = true;
        self.changed.notify(usize::MAX);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Process groups, as Unix has them.
#[cfg(unix)]
mod group {
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command};

    use nix::sys::signal::{Signal, killpg};
    use nix::sys::wait::{Id, WaitPidFlag, waitid};
    use nix::unistd::Pid;

    /// Puts the child into a group of its own, so that a signal to ours does not end it before its
    /// session is.
    pub(super) fn detach(command: &mut Command) {
        command.process_group(0);
    }

    pub(super) fn terminate(id: u32, _: &mut Child) {
        let _gone = killpg(pid(id), Signal::SIGTERM);
    }

    pub(super) fn kill(id: u32, _: &mut Child) {
        let _gone = killpg(pid(id), Signal::SIGKILL);
    }

    /// The child stays a zombie, and its id and its group its own, until it is reaped.
    pub(super) fn wait_without_reaping(id: u32, is_over: impl Fn() -> bool) {
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT;
        loop {
            match waitid(Id::Pid(pid(id)), flags) {
                Err(nix::Error::EINTR) => {}
                Ok(_) => return,
                Err(_) => return while !is_over() {},
            }
        }
    }

    fn pid(id: u32) -> Pid {
        Pid::from_raw(id.cast_signed())
    }
}

/// Without process groups, the child alone is ended, and there is no asking.
#[cfg(not(unix))]
mod group {
    use std::process::{Child, Command};
    use std::time::Duration;

    pub(super) fn detach(_: &mut Command) {}

    pub(super) fn terminate(_: u32, child: &mut Child) {
        let _gone = child.kill();
    }

    pub(super) fn kill(_: u32, child: &mut Child) {
        let _gone = child.kill();
    }

    pub(super) fn wait_without_reaping(_: u32, is_over: impl Fn() -> bool) {
        while !is_over() {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}
