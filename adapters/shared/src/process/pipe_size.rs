//! Makes the pipes of this process hold more, once much goes through them; knows nothing of what
//! does.

use std::sync::Once;

/// Whether streams are stdin and stdout of this process, which are widened once much goes through
/// them at a time.
///
/// A pipe holds 64 KiB as it comes: whoever carries a megabyte through it waits sixteen times. What
/// all pipes of a user hold is limited by the system, so those that carry little are left as they
/// are.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wide {
    is_standard: bool,
}

impl Wide {
    pub(crate) const fn standard() -> Self {
        Self { is_standard: true }
    }

    /// So much was there to be read, or is to be written.
    pub fn passes(self, bytes: usize) {
        static WIDENED: Once = Once::new();
        if self.is_standard && bytes >= MUCH {
            WIDENED.call_once(widen);
        }
    }
}

/// What fills a pipe.
const MUCH: usize = 64 * 1024;

#[cfg(any(target_os = "linux", target_os = "android"))]
fn widen() {
    use std::io::{stdin, stdout};
    use std::os::fd::{AsFd, BorrowedFd};

    use nix::fcntl::{FcntlArg, fcntl};

    /// What a pipe then holds: two reads.
    const BYTES: i32 = 512 * 1024;

    let widen = |stream: BorrowedFd<'_>| {
        // What is no pipe, or no more is allowed of, stays as it is.
        if fcntl(stream, FcntlArg::F_GETPIPE_SZ).is_ok_and(|bytes| bytes < BYTES) {
            let _refused = fcntl(stream, FcntlArg::F_SETPIPE_SZ(BYTES));
        }
    };
    widen(stdin().as_fd());
    widen(stdout().as_fd());
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn widen() {}
