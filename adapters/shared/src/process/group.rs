//! Process groups, and job objects on Windows: they reach a child and everything it started.

#[cfg(not(unix))]
pub(super) use other::wait_without_reaping;
#[cfg(not(any(unix, windows)))]
pub(super) use other::{Group, detach};
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) use procfs::{is_exiting, terminate_others};
#[cfg(unix)]
pub(super) use unix::{Group, detach, wait_without_reaping};
#[cfg(windows)]
pub(super) use windows::{Group, detach};

#[cfg(unix)]
mod unix {
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command};

    use nix::sys::signal::{Signal, killpg};
    use nix::unistd::Pid;

    /// Puts the child into its own process group, so that a signal to this process's group
    /// does not end the child before its connection is closed.
    pub(crate) fn detach(command: &mut Command) {
        command.process_group(0);
    }

    /// The process group that a child leads.
    #[derive(Debug)]
    pub(crate) struct Group(Pid);

    #[allow(clippy::needless_pass_by_ref_mut, reason = "a job of Windows changes")]
    impl Group {
        pub(crate) fn of(child: &Child) -> Self {
            Self(pid(child.id()))
        }

        pub(crate) fn terminate(&mut self, _: &mut Child) {
            let _gone = killpg(self.0, Signal::SIGTERM);
        }

        pub(crate) fn kill(&mut self, _: &mut Child) {
            let _gone = killpg(self.0, Signal::SIGKILL);
        }
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

/// Processes other than children, as Linux reports them.
#[cfg(any(target_os = "linux", target_os = "android"))]
mod procfs {
    use nix::sys::signal::{Signal, kill};
    use nix::unistd::{Pid, getpgrp, getpid};

    /// Asks all other processes of this process's group to terminate, if this process leads it.
    ///
    /// This process receives no signal: it may not handle SIGTERM, or count the signals that it
    /// receives.
    pub(crate) fn terminate_others() {
        let own = getpid();
        // Other members of a group may belong to other programs.
        if getpgrp() != own {
            return;
        }
        let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        for id in ids.filter(|id| *id != own.as_raw() && field(*id, GROUP) == Some(own.as_raw())) {
            let _gone = kill(Pid::from_raw(id), Signal::SIGTERM);
        }
    }

    /// Returns whether a process has begun to exit. Its files may be closed already.
    pub(crate) fn is_exiting(id: u32) -> bool {
        field(id.cast_signed(), FLAGS).is_some_and(|flags: u32| flags & PF_EXITING != 0)
    }

    /// Returns a field of a process's status, counted from the state of the process.
    fn field<T: std::str::FromStr>(id: i32, index: usize) -> Option<T> {
        let stat = std::fs::read(format!("/proc/{id}/stat")).ok()?;
        let stat = String::from_utf8_lossy(&stat);
        // The state follows the name of the program, which is in parentheses.
        stat.rsplit_once(") ")?.1.split(' ').nth(index)?.parse().ok()
    }

    const GROUP: usize = 2;
    const FLAGS: usize = 6;

    /// The flag of the system for a process that exits.
    const PF_EXITING: u32 = 0x4;
}

/// Job objects. The system kills the processes of a job when its last handle is closed, which also
/// happens when this process is killed.
#[cfg(windows)]
mod windows {
    use std::os::windows::io::AsRawHandle;
    use std::process::{Child, Command};

    use win32job::{ExtendedLimitInfo, Job, JobError};

    /// Leaves the command as it is: creation flags would replace those that the program has set.
    pub(crate) fn detach(_: &mut Command) {}

    /// A child and all processes that it starts.
    #[derive(Debug)]
    pub(crate) struct Group(Option<Job>);

    impl Group {
        /// Puts a child that has just been started into a job.
        ///
        /// What the child starts before this call stays outside. The child is not started suspended
        /// to prevent this: if this process were killed before the child was resumed, the child
        /// would stay forever.
        ///
        /// Without a job, as for a child that has exited, the group consists of the child only.
        pub(crate) fn of(child: &Child) -> Self {
            Self(job_of(child).ok())
        }

        /// Windows cannot ask a process without a console to terminate.
        pub(crate) fn terminate(&mut self, child: &mut Child) {
            self.kill(child);
        }

        pub(crate) fn kill(&mut self, child: &mut Child) {
            drop(self.0.take());
            let _gone = child.kill();
        }
    }

    fn job_of(child: &Child) -> Result<Job, JobError> {
        let mut limits = ExtendedLimitInfo::new();
        limits.limit_kill_on_job_close();
        let job = Job::create_with_limit_info(&limits)?;
        job.assign_process(child.as_raw_handle() as isize)?;
        Ok(job)
    }
}

/// Systems without process groups: only the child itself is ended, and it is killed immediately.
#[cfg(not(unix))]
mod other {
    #[cfg(not(windows))]
    use std::process::{Child, Command};
    use std::time::Duration;

    #[cfg(not(windows))]
    pub(crate) fn detach(_: &mut Command) {}

    #[cfg(not(windows))]
    #[derive(Debug)]
    pub(crate) struct Group;

    #[cfg(not(windows))]
    impl Group {
        pub(crate) fn of(_: &Child) -> Self {
            Self
        }

        pub(crate) fn terminate(&mut self, child: &mut Child) {
            self.kill(child);
        }

        pub(crate) fn kill(&mut self, child: &mut Child) {
            let _gone = child.kill();
        }
    }

    pub(crate) fn wait_without_reaping(_: u32, has_exited: impl Fn() -> bool) {
        while !has_exited() {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}
