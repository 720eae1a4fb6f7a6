//! A child process: its process group, its latest stderr lines and its exit.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::process::{Child as Process, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::thread;

#[cfg(unix)]
use super::child_output::{ChildOutput, StopOnDrop};
use super::group::{self, Group};
use crate::exec::watched::Watched;

/// The number of stderr lines kept.
const STDERR_LINES_MAX: usize = 32;

/// The length of a stderr line in bytes; longer lines are split.
const STDERR_LINE_BYTES_MAX: usize = 1024;

/// Receives the lines of stderr.
pub(crate) type LineSink = Box<dyn Fn(&str) + Send>;

/// A child process, and its exit status and stderr once it has exited.
#[derive(Debug)]
pub(crate) struct Child {
    id: u32,
    /// The program, as named by the command that started it.
    program: Box<str>,
    state: Watched<ChildState>,
}

#[derive(Debug)]
struct ChildState {
    /// `None` once the child is reaped. Until then its process id is not reused.
    process: Option<Process>,
    group: Group,
    /// How the child exited, if the system reports it.
    status: Option<ExitStatus>,
    stderr: VecDeque<String>,
    stderr_done: bool,
    #[cfg(unix)]
    stop_stderr: Option<StopOnDrop>,
}

impl Child {
    /// Starts `command` in its own process group or job, with piped standard streams. The
    /// caller must then call [`watch`](Self::watch).
    ///
    /// If the program cannot be started, the error names it.
    ///
    /// `on_stderr` receives each line of stderr and must not block.
    pub(crate) fn spawn(
        command: &mut Command,
        on_stderr: Option<LineSink>,
    ) -> io::Result<(Arc<Self>, ChildStdout, ChildStdin)> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        group::detach(command);
        let mut process = command.spawn().map_err(|error| cannot_start(command, &error))?;
        let group = Group::of(&process);
        let pipes = (process.stdin.take(), process.stdout.take(), process.stderr.take());
        let child = Arc::new(Self {
            id: process.id(),
            program: command.get_program().to_string_lossy().into(),
            state: Watched::new(ChildState {
                process: Some(process),
                group,
                status: None,
                stderr: VecDeque::new(),
                stderr_done: false,
                #[cfg(unix)]
                stop_stderr: None,
            }),
        });
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            child.kill_and_reap();
            return Err(io::Error::other("the child has no pipes"));
        };
        #[cfg(unix)]
        let stderr = {
            let (stderr, stop) = ChildOutput::new(stderr);
            child.state.lock().stop_stderr = Some(stop);
            stderr
        };
        let reader = Arc::clone(&child);
        let started = thread::Builder::new()
            .name("mcp-stderr".into())
            .spawn(move || reader.read_stderr(stderr, on_stderr.as_ref()));
        match started {
            Ok(_) => Ok((child, stdout, stdin)),
            Err(error) => {
                child.kill_and_reap();
                Err(error)
            }
        }
    }

    /// Reaps the child once it exits, on its own thread, so that no zombie stays even if the
    /// runtime shuts down. Kills the child if the thread cannot be started.
    pub(crate) fn watch(self: &Arc<Self>) -> io::Result<()> {
        let watched = Arc::clone(self);
        let started = thread::Builder::new().name("mcp-child".into()).spawn(move || watched.reap());
        started.map(drop).inspect_err(|_| self.kill_and_reap())
    }

    /// Returns the program, as named by the command that started it.
    pub(crate) const fn program(&self) -> &str {
        &self.program
    }

    /// Returns how the child exited, if it has.
    pub(crate) fn status(&self) -> Option<ExitStatus> {
        self.state.lock().status
    }

    /// Returns the latest lines of stderr.
    pub(crate) fn stderr(&self) -> Vec<String> {
        self.state.lock().stderr.iter().cloned().collect()
    }

    /// Waits until the child has exited.
    pub(crate) async fn exited(&self) {
        self.state.when(|state| state.process.is_none().then_some(())).await;
    }

    /// Waits until stderr has ended.
    pub(crate) async fn stderr_ended(&self) {
        self.state.when(|state| state.stderr_done.then_some(())).await;
    }

    /// Stops reading stderr, which a process that the child has started may keep open forever.
    pub(crate) fn stop_stderr(&self) {
        #[cfg(unix)]
        drop(self.state.lock().stop_stderr.take());
    }

    /// Asks the process group of the child to terminate; kills its job on Windows.
    pub(crate) fn terminate(&self) {
        let mut state = self.state.lock();
        let ChildState { process, group, .. } = &mut *state;
        if let Some(process) = process {
            group.terminate(process);
        }
    }

    /// Kills the process group or job of the child.
    pub(crate) fn kill(&self) {
        let mut state = self.state.lock();
        let ChildState { process, group, .. } = &mut *state;
        if let Some(process) = process {
            group.kill(process);
        }
    }

    /// Kills and reaps a child that has no watcher thread.
    fn kill_and_reap(&self) {
        self.kill();
        self.reap();
    }

    /// Waits for the child to exit, kills the rest of its process group, and reaps it.
    fn reap(&self) {
        group::wait_without_reaping(self.id, || self.has_exited());
        self.state.change(|state| {
            if let Some(mut process) = state.process.take() {
                state.group.kill(&mut process);
                state.status = process.wait().ok();
            }
        });
    }

    fn has_exited(&self) -> bool {
        self.state
            .lock()
            .process
            .as_mut()
            .is_none_or(|process| !matches!(process.try_wait(), Ok(None)))
    }

    // FRM-05, FRM-06: stderr is text for people; nothing in it is taken as a failure.
    fn read_stderr(&self, stderr: impl Read, on_stderr: Option<&LineSink>) {
        let mut reader = BufReader::new(stderr);
        let mut line = Vec::new();
        loop {
            line.clear();
            // A line without an end must not fill the memory, so long lines are split.
            let mut piece = reader.by_ref().take(STDERR_LINE_BYTES_MAX as u64);
            match piece.read_until(b'\n', &mut line) {
                Ok(count) if count > 0 => {
                    let text = String::from_utf8_lossy(&line);
                    if let Some(on_stderr) = on_stderr {
                        on_stderr(text.trim_end());
                    }
                    let mut state = self.state.lock();
                    if state.stderr.len() >= STDERR_LINES_MAX {
                        state.stderr.pop_front();
                    }
                    state.stderr.push_back(text.trim_end().to_owned());
                }
                Ok(_) | Err(_) => break,
            }
        }
        self.state.change(|state| state.stderr_done = true);
    }
}

/// Returns the error for a program that the system refused to start.
fn cannot_start(command: &Command, error: &io::Error) -> io::Error {
    let program = command.get_program();
    let remedy = match (error.kind(), command.get_current_dir()) {
        (ErrorKind::NotFound, None) => {
            if cfg!(windows) {
                "; install the program in a directory of `PATH`, pass its path to `Command::new`, \
                 or find a script by `find_program`"
            } else {
                "; install the program in a directory of `PATH`, or pass its path to `Command::new`"
            }
        }
        (ErrorKind::NotFound, Some(_)) => {
            "; check that the program and the directory of `Command::current_dir` exist"
        }
        (ErrorKind::PermissionDenied, _) => "; check that the program is an executable file",
        _ => "",
    };
    io::Error::new(error.kind(), format!("cannot start the program {program:?}: {error}{remedy}"))
}
