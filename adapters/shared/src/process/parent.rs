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
    use std::time::{Duration, Instant};

    use super::{Closeable, Weak, io};
    use crate::process::{group, signals};

    /// The parent process when serving started.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Parent(u32);

    impl Parent {
        /// Closes `target` once the parent has exited, as long as `target` is alive.
        ///
        /// # Errors
        /// Fails if the thread that watches the parent cannot be started.
        pub(crate) fn close_at_exit(target: Weak<dyn Closeable>) -> io::Result<Self> {
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
            Ok(parent)
        }

        fn has_exited(self) -> bool {
            parent_id() != self.0
        }

        /// If the parent has exited, asks the processes that this process has started to terminate.
        ///
        /// Does nothing unless this process leads a process group, as servers do that a client of
        /// this crate has started: other members of the group may belong to other programs.
        pub(crate) fn terminate_children_if_exited(self) {
            if !group::is_leader() {
                return;
            }
            // A parent that is killed closes the pipes first and is gone a moment later.
            let began = Instant::now();
            while !self.has_exited() {
                if !group::has_children() || began.elapsed() > EXIT_TIMEOUT {
                    return;
                }
                thread::sleep(EXIT_CHECK_INTERVAL);
            }
            // The signal also reaches this process.
            signals::expect_own_signal();
            group::terminate_own();
        }
    }

    /// How often the parent is checked.
    const CHECK_INTERVAL: Duration = Duration::from_millis(500);

    /// How often the parent is checked once the connection has ended.
    const EXIT_CHECK_INTERVAL: Duration = Duration::from_millis(2);

    /// How long after the end of the connection an exit of the parent counts.
    const EXIT_TIMEOUT: Duration = Duration::from_millis(100);
}

/// Other systems do not report a new parent.
#[cfg(not(unix))]
mod other {
    use super::{Closeable, Weak, io};

    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Parent;

    impl Parent {
        #[expect(clippy::unnecessary_wraps, reason = "fails on other systems")]
        pub(crate) fn close_at_exit(_: Weak<dyn Closeable>) -> io::Result<Self> {
            Ok(Self)
        }

        pub(crate) fn terminate_children_if_exited(self) {}
    }
}
