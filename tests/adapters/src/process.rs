//! Processes as the system reports them, and this package's server as a process.

use std::path::Path;
use std::process::{ChildStdin, ChildStdout, Command, Stdio};

use mcp_test_processes::Process;

use crate::{Hand, Runtime};

/// Returns the command of this package's server, on a runtime; `path` is where cargo put it.
#[must_use]
pub fn adapter_server<R: Runtime>(path: &str) -> Command {
    assert!(Path::new(path).exists(), "{path} is missing");
    let mut command = Command::new(path);
    command.arg(R::NAME);
    command
}

/// Starts a server with pipes to its stdin and stdout.
pub fn start_on_pipes(command: &mut Command) -> (Process, Hand<ChildStdout, ChildStdin>) {
    let mut process = Process::start(command.stdin(Stdio::piped()).stdout(Stdio::piped()));
    let (stdout, stdin) = process.pipes();
    (process, Hand::new(stdout, stdin))
}

/// Returns whether a process runs, or has ended and was not reaped.
#[cfg(unix)]
#[must_use]
pub fn is_alive(process: u32) -> bool {
    use nix::errno::Errno;
    use nix::sys::signal::kill;
    use nix::unistd::Pid;
    kill(Pid::from_raw(process.cast_signed()), None) != Err(Errno::ESRCH)
}

/// Returns a line such as `VmRSS` of this process's status, in KiB; zero where the system has none.
#[must_use]
pub fn resident_kib(what: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(what)?.strip_prefix(':'));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
