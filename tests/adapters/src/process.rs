//! Processes as the system reports them, and this package's server as a process.

use std::path::Path;
use std::process::{Child, Command};

#[cfg(unix)]
use nix::sys::signal::Signal;

use crate::Runtime;

/// A process that ends with its test.
#[derive(Debug)]
pub struct Process(pub Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _gone = self.0.kill();
        let _reaped = self.0.wait();
    }
}

/// Returns the command of this package's server, on a runtime; `path` is where cargo put it.
#[must_use]
pub fn adapter_server<R: Runtime>(path: &str) -> Command {
    assert!(Path::new(path).exists(), "{path} is missing");
    let mut command = Command::new(path);
    command.arg(R::NAME);
    command
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

/// Returns whether this process ignores a signal; false where the system does not say.
#[cfg(unix)]
#[must_use]
pub fn is_ignored(signal: Signal) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask & (1 << (signal as u32 - 1)) != 0
}

/// Returns a line such as `VmRSS` of this process's status, in KiB; zero where the system has none.
#[must_use]
pub fn resident_kib(what: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(what)?.strip_prefix(':'));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
