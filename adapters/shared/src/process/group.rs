//! Process groups: signals that reach a child and everything it started.

#[cfg(not(unix))]
pub(super) use other::{detach, kill, terminate, wait_without_reaping};
#[cfg(unix)]
pub(super) use unix::{
    detach, has_children, is_leader, kill, terminate, terminate_own, wait_without_reaping,
};

#[cfg(unix)]
mod unix {
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command};

    use nix::sys::signal::{Signal, killpg};
    use nix::unistd::{Pid, getpgrp, getpid};

    /// Puts the child into a process group of its own, so that a signal to this process's group
    /// does not end the child before its connection is closed.
    pub(crate) fn detach(command: &mut Command) {
        command.process_group(0);
    }

    pub(crate) fn terminate(id: u32, _: &mut Child) {
        let _gone = killpg(pid(id), Signal::SIGTERM);
    }

    pub(crate) fn kill(id: u32, _: &mut Child) {
        let _gone = killpg(pid(id), Signal::SIGKILL);
    }

    /// Returns whether this process leads a process group.
    pub(crate) fn is_leader() -> bool {
        getpgrp() == getpid()
    }

    /// Asks this process and the rest of its process group to terminate.
    pub(crate) fn terminate_own() {
        let _gone = killpg(getpgrp(), Signal::SIGTERM);
    }

    /// Returns whether this process has children, running or not yet reaped.
    #[cfg(not(target_vendor = "apple"))]
    pub(crate) fn has_children() -> bool {
        use nix::sys::wait::{Id, WaitPidFlag, waitid};
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        waitid(Id::All, flags) != Err(nix::Error::ECHILD)
    }

    // `nix` has no `waitid` for these systems.
    #[cfg(target_vendor = "apple")]
    pub(crate) fn has_children() -> bool {
        use rustix::process::{WaitId, WaitIdOptions, waitid};
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        waitid(WaitId::All, options).is_ok()
    }

    /// Waits until the child exits. It stays a zombie until it is reaped, so that its process and
    /// group ids are not reused.
    pub(crate) fn wait_without_reaping(id: u32, has_exited: impl Fn() -> bool) {
        loop {
            match wait_for_exit(pid(id)) {
                Err(nix::Error::EINTR) => {}
                Ok(()) => return,
                Err(_) => return while !has_exited() {},
            }
        }
    }

    #[cfg(not(target_vendor = "apple"))]
    fn wait_for_exit(pid: Pid) -> nix::Result<()> {
        use nix::sys::wait::{Id, WaitPidFlag, waitid};
        waitid(Id::Pid(pid), WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT).map(drop)
    }

    // `nix` has no `waitid` for these systems.
    #[cfg(target_vendor = "apple")]
    fn wait_for_exit(pid: Pid) -> nix::Result<()> {
        use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
        let pid = Pid::from_raw(pid.as_raw()).ok_or(nix::Error::ESRCH)?;
        match waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
            Ok(_) => Ok(()),
            Err(error) => Err(nix::Error::from_raw(error.raw_os_error())),
        }
    }

    fn pid(id: u32) -> Pid {
        Pid::from_raw(id.cast_signed())
    }
}

/// Without process groups, only the child itself is ended, and it is killed at once.
#[cfg(not(unix))]
mod other {
    use std::process::{Child, Command};
    use std::time::Duration;

    pub(crate) fn detach(_: &mut Command) {}

    pub(crate) fn terminate(_: u32, child: &mut Child) {
        let _gone = child.kill();
    }

    pub(crate) fn kill(_: u32, child: &mut Child) {
        let _gone = child.kill();
    }

    pub(crate) fn wait_without_reaping(_: u32, has_exited: impl Fn() -> bool) {
        while !has_exited() {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}
