//! The processes that tests start: they end with their test, and no signal is ignored in them.

#![allow(
    clippy::expect_used,
    clippy::missing_panics_doc,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod signals;
mod timeout;

use std::ops::{Deref, DerefMut};
#[cfg(unix)]
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

pub use signals::reset_signals;
pub use timeout::{PATIENCE, with_timeout};

/// How long a process may take to exit. Only one that hangs takes this long.
const EXIT_PATIENCE: Duration = Duration::from_secs(60);

/// A process that ends with its test, together with what it has started in its process group.
#[derive(Debug)]
pub struct Process(Child);

impl Process {
    /// Starts a process in its own group, on Unix, in which no signal is ignored.
    ///
    /// Set its stdin: a process in a separate group stops when it reads from the terminal.
    pub fn start(command: &mut Command) -> Self {
        reset_signals();
        #[cfg(unix)]
        command.process_group(0);
        let child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        running().push((thread::current().id(), child.id()));
        Self(child)
    }

    /// Returns the pipes to stdout and stdin, which the command must have.
    pub fn pipes(&mut self) -> (ChildStdout, ChildStdin) {
        (self.0.stdout.take().expect("a pipe"), self.0.stdin.take().expect("a pipe"))
    }

    /// Waits until the process exits; it must do so in time.
    pub fn wait(&mut self) -> ExitStatus {
        let began = Instant::now();
        loop {
            if let Some(status) = self.0.try_wait().expect("the process is a child") {
                return status;
            }
            assert!(began.elapsed() < EXIT_PATIENCE, "the process {} does not exit", self.0.id());
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Kills the processes that a thread has started and not dropped, so that a test that waits for
    /// one of them fails.
    pub fn kill_those_of(thread: ThreadId) {
        for (_, process) in running().iter().filter(|(starter, _)| *starter == thread) {
            kill_group(*process);
        }
    }
}

impl Deref for Process {
    type Target = Child;

    fn deref(&self) -> &Child {
        &self.0
    }
}

impl DerefMut for Process {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.0
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        kill_group(self.0.id());
        let _gone = self.0.kill();
        let _reaped = self.0.wait();
        running().retain(|(_, process)| *process != self.0.id());
    }
}

/// Returns a path below the temporary directory at which there is no file. `name` must be unique in
/// this process.
///
/// An earlier process with the id of this one may have left a file: in a container, ids repeat.
#[must_use]
pub fn scratch_path(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("mcp-{name}-{}", std::process::id()));
    let _none = std::fs::remove_file(&path);
    path
}

/// The processes that exist, each with the thread that has started it.
static RUNNING: Mutex<Vec<(ThreadId, u32)>> = Mutex::new(Vec::new());

fn running() -> MutexGuard<'static, Vec<(ThreadId, u32)>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(unix)]
fn kill_group(leader: u32) {
    use nix::sys::signal::{Signal, killpg};
    let _gone = killpg(nix::unistd::Pid::from_raw(leader.cast_signed()), Signal::SIGKILL);
}

#[cfg(not(unix))]
fn kill_group(_: u32) {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::io::{BufRead, BufReader, Read};
    use std::process::{Command, Stdio};

    use super::Process;

    fn sh(script: &str) -> Process {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped());
        Process::start(&mut command)
    }

    #[test]
    fn what_a_process_has_started_ends_with_it_also_after_a_panic() {
        let mut process = sh("trap '' HUP INT TERM; sleep 600 & echo started; wait");
        let mut stdout = BufReader::new(process.stdout.take().unwrap());
        stdout.read_line(&mut String::new()).unwrap();
        let test = std::thread::spawn(move || {
            let _process = process;
            panic!("as intended");
        });
        test.join().unwrap_err();
        // Both held the pipe.
        assert_eq!(stdout.read_to_end(&mut Vec::new()).unwrap(), 0);
    }

    #[test]
    fn a_test_that_waits_in_vain_fails_once_its_processes_are_killed() {
        let (sender, started) = std::sync::mpsc::channel();
        let test = std::thread::spawn(move || {
            let mut process = sh("sleep 600 & wait");
            sender.send(()).unwrap();
            assert!(process.wait().success());
        });
        started.recv().unwrap();
        Process::kill_those_of(test.thread().id());
        test.join().unwrap_err();
    }
}
