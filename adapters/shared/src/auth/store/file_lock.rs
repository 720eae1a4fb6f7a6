//! An exclusive lock on a file, which the operating system frees when its process ends.

use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

pub(super) use system::FileLock;

/// The shortest and the longest pause before the lock is tried again.
const PAUSE: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(100));

/// Locks the file at `path`, which is created if necessary. Waits for at most `timeout` and then
/// returns `None`.
///
/// A lock that is waited for in the kernel cannot be given up, so it is tried again and again.
pub(super) fn lock(path: &Path, timeout: Duration) -> io::Result<Option<FileLock>> {
    let started = Instant::now();
    let mut pause = PAUSE.0;
    loop {
        if let Some(lock) = FileLock::try_lock(path)? {
            return Ok(Some(lock));
        }
        let left = timeout.saturating_sub(started.elapsed());
        if left.is_zero() {
            return Ok(None);
        }
        thread::sleep(pause.min(left));
        pause = (pause * 2).min(PAUSE.1);
    }
}

#[cfg(unix)]
mod system {
    use std::fs::File;
    use std::io;
    use std::os::unix::fs::OpenOptionsExt as _;
    use std::path::Path;

    use nix::errno::Errno;
    use nix::fcntl::{Flock, FlockArg, OFlag};

    /// A locked file. Locks of one process exclude each other, too.
    pub(in crate::auth::store) struct FileLock(
        #[expect(dead_code, reason = "held until dropped")] Flock<File>,
    );

    impl FileLock {
        /// Locks the file; `None` if it is locked already.
        pub(super) fn try_lock(path: &Path) -> io::Result<Option<Self>> {
            let mut options = File::options();
            options.write(true).create(true).truncate(false).mode(0o600);
            options.custom_flags((OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits());
            match Flock::lock(options.open(path)?, FlockArg::LockExclusiveNonblock) {
                Ok(locked) => Ok(Some(Self(locked))),
                Err((_, Errno::EWOULDBLOCK)) => Ok(None),
                Err((_, error)) => Err(error.into()),
            }
        }
    }
}

#[cfg(windows)]
mod system {
    use std::fs::File;
    use std::io;
    use std::os::windows::fs::OpenOptionsExt as _;
    use std::path::Path;

    /// A file that is open for this process alone.
    pub(in crate::auth::store) struct FileLock(
        #[expect(dead_code, reason = "held until dropped")] File,
    );

    /// The error code of a file that is open elsewhere.
    const ERROR_SHARING_VIOLATION: i32 = 32;

    impl FileLock {
        /// Opens the file; `None` if it is open already.
        pub(super) fn try_lock(path: &Path) -> io::Result<Option<Self>> {
            let mut options = File::options();
            options.write(true).create(true).truncate(false).share_mode(0);
            match options.open(path) {
                Ok(file) => Ok(Some(Self(file))),
                Err(error) if error.raw_os_error() == Some(ERROR_SHARING_VIOLATION) => Ok(None),
                Err(error) => Err(error),
            }
        }
    }
}
