//! The parent process: its exit closes a server and ends the processes that the server has started.

use std::io;
use std::sync::Weak;

use super::signals::Closeable;

#[cfg(not(unix))]
pub(crate) use other::Parent;
#[cfg(unix)]
pub(crate) use unix::Parent;

#[cfg(unix)]
mod unix {
    use std::os::unix::process::parent_id;
    use std::thread;
    use std::time::Duration;

    use super::{Closeable, Weak, io};
    #[cfg(any(target_os = "linux", target_os = "android"))]
    use crate::process::group;
    use crate::process::signals;

    /// The parent process when serving started.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Parent(u32);

    impl Parent {
        /// Closes `target` once the parent has exited, as long as `target` is alive.
        ///
        /// Returns `None`, and does nothing, if the process is meant to outlive its parent: it
        /// ignores SIGHUP, as below `nohup`.
        ///
        /// # Errors
        /// Fails if the thread that watches the parent cannot be started.
        pub(crate) fn close_at_exit(target: Weak<dyn Closeable>) -> io::Result<Option<Self>> {
            if signals::ignores_hangup() {
                return Ok(None);
            }
            let parent = Self(parent_id());
            let watch = move || {
                while target.strong_count() > 0 {
                    if parent.has_exited() {
                        if let Some(target) = target.upgrade() {
                            target.close();
                        }
                        return;
                    }
                    thread::sleep(CHECK_INTERVAL);
                }
            };
            thread::Builder::new().name("mcp-parent".into()).spawn(watch)?;
            Ok(Some(parent))
        }

        fn has_exited(self) -> bool {
            parent_id() != self.0
        }

        /// If the parent has exited, asks the processes that this process has started to terminate.
        ///
        /// Does nothing unless this process leads a process group, as servers do that a client of
        /// this crate has started.
        #[cfg(any(target_os = "linux", target_os = "android"))]
        pub(crate) fn terminate_children_if_exited(self) {
            // A parent that is killed closes its pipes first, and is replaced a moment later.
            if self.has_exited() || group::is_exiting(self.0) {
                group::terminate_others();
            }
        }

        /// Does nothing: no safe function of these systems lists the processes of a group, and a
        /// signal to the whole group would reach this process, which may not handle it.
        #[cfg(not(any(target_os = "linux", target_os = "android")))]
        pub(crate) fn terminate_children_if_exited(self) {}
    }

    /// How often the parent is checked.
    const CHECK_INTERVAL: Duration = Duration::from_millis(500);
}

/// Other systems do not report a new parent.
#[cfg(not(unix))]
mod other {
    use super::{Closeable, Weak, io};

    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Parent;

    impl Parent {
        #[expect(clippy::unnecessary_wraps, reason = "fails on other systems")]
        pub(crate) fn close_at_exit(_: Weak<dyn Closeable>) -> io::Result<Option<Self>> {
            Ok(Some(Self))
        }

        pub(crate) fn terminate_children_if_exited(self) {}
    }
}
