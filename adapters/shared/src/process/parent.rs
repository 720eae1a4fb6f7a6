//! The parent process: its exit closes a server and ends the processes that the server has started.

use std::future::Future;
use std::time::Duration;

#[cfg(not(unix))]
pub(crate) use other::Parent;
#[cfg(unix)]
pub(crate) use unix::Parent;

#[cfg(unix)]
mod unix {
    use std::os::unix::process::parent_id;

    use super::{Duration, Future};
    #[cfg(any(target_os = "linux", target_os = "android"))]
    use crate::process::group;
    use crate::process::signals;

    /// The parent process when serving started.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Parent(u32);

    impl Parent {
        /// Returns the parent of this process, or `None` if the process is meant to outlive its
        /// parent: it ignores SIGHUP, as below `nohup`.
        pub(crate) fn current() -> Option<Self> {
            (!signals::ignores_hangup()).then(|| Self(parent_id()))
        }

        /// Waits until the parent has exited. `sleep` is a timer.
        pub(crate) async fn exited<S: Future>(self, sleep: impl Fn(Duration) -> S) {
            while !self.has_exited() {
                drop(sleep(CHECK_INTERVAL).await);
            }
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
    use std::future::pending;

    use super::{Duration, Future};

    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Parent;

    impl Parent {
        pub(crate) fn current() -> Option<Self> {
            None
        }

        pub(crate) async fn exited<S: Future>(self, _: impl Fn(Duration) -> S) {
            pending::<()>().await;
        }

        pub(crate) fn terminate_children_if_exited(self) {}
    }
}
