//! Processes as the system shows them, and the server of this package as one.

use std::path::Path;
use std::process::{Child, Command};

use nix::errno::Errno;
use nix::sys::signal::kill;
use nix::unistd::Pid;

use crate::Runtime;

/// A process that does not outlive its row.
#[derive(Debug)]
pub struct Process(pub Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _gone = self.0.kill();
        let _reaped = self.0.wait();
    }
}

/// The server of this package, on a runtime. `path` is where cargo has put it.
#[must_use]
pub fn adapter_server<R: Runtime>(path: &str) -> Command {
    assert!(Path::new(path).exists(), "{path} is missing");
    let mut command = Command::new(path);
    command.arg(R::NAME);
    command
}

/// Whether a process runs, or ran and was not reaped.
#[must_use]
pub fn is_there(process: u32) -> bool {
    kill(Pid::from_raw(process.cast_signed()), None) != Err(Errno::ESRCH)
}

/// A line of the kind `VmRSS` of this process, in KiB; zero where the system does not say.
#[must_use]
pub fn resident_kib(what: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(what)?.strip_prefix(':'));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
