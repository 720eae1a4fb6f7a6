//! The program that uses a server on stdin and stdout. The server closes if this program exits, or
//! if it has closed both streams.

use std::future::{Future, pending};
use std::sync::OnceLock;
use std::time::Duration;

use futures_lite::future::or;

use super::parent::Parent;
use super::protocol_streams::ProtocolStreams;

/// The host of a server: its parent process and the reader of its stdout, as far as they are
/// watched.
#[derive(Debug, Default)]
pub(crate) struct Host {
    pub(crate) parent: OnceLock<Parent>,
    stdout: OnceLock<Stdout>,
}

impl Host {
    /// Watches the reader of stdout from the end of the input on.
    pub(crate) fn watch_reader(&self, reserved: &ProtocolStreams) {
        // Without another descriptor, only a failed write shows that the reader is gone.
        if let Some(stdout) = Stdout::of(reserved) {
            self.stdout.get_or_init(|| stdout);
        }
    }

    /// Waits until the parent process has exited, if it is watched, or until the input has ended
    /// and stdout has no reader. `sleep` is a timer.
    pub(crate) async fn gone<S: Future>(
        &self,
        input_ended: impl Future,
        sleep: impl Fn(Duration) -> S,
    ) {
        let exited = async {
            match self.parent.get() {
                Some(parent) => parent.exited(&sleep).await,
                None => pending().await,
            }
        };
        let unread = async {
            input_ended.await;
            match self.stdout.get() {
                Some(stdout) => {
                    while !stdout.is_unread() {
                        sleep(CHECK_INTERVAL).await;
                    }
                }
                None => pending().await,
            }
        };
        or(exited, unread).await;
    }
}

/// How often the reader is checked once the input has ended.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);

#[cfg(unix)]
use unix::Stdout;
#[cfg(windows)]
use windows::Stdout;

#[cfg(unix)]
mod unix {
    use std::os::fd::{AsFd, OwnedFd};

    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

    use super::ProtocolStreams;

    #[derive(Debug)]
    pub(super) struct Stdout(OwnedFd);

    impl Stdout {
        pub(super) fn of(reserved: &ProtocolStreams) -> Option<Self> {
            reserved.stdout_descriptor().ok().map(Self)
        }

        /// Returns whether nothing can be read from the other end any more. A file always can.
        pub(super) fn is_unread(&self) -> bool {
            // Errors and hang-ups are reported without being asked for.
            let mut files = [PollFd::new(self.0.as_fd(), PollFlags::empty())];
            let reported = poll(&mut files, PollTimeout::ZERO);
            let gone = PollFlags::POLLERR | PollFlags::POLLHUP;
            reported.is_ok_and(|count| count > 0)
                && files.iter().any(|file| file.revents().is_some_and(|it| it.intersects(gone)))
        }
    }
}

/// Windows reports only at a write that a pipe has no reader.
#[cfg(windows)]
mod windows {
    use super::ProtocolStreams;

    #[derive(Debug)]
    pub(super) struct Stdout;

    impl Stdout {
        pub(super) fn of(_: &ProtocolStreams) -> Option<Self> {
            None
        }

        pub(super) fn is_unread(&self) -> bool {
            false
        }
    }
}
