//! Pipe capacities, on systems that let a process change them (Linux and Android).

use std::process::{ChildStdin, ChildStdout};

/// Enlarges the pipes behind stdin and stdout to at least `bytes`, as far as the system allows.
pub(crate) fn enlarge_stdio(bytes: usize) {
    system::enlarge(&std::io::stdin(), bytes);
    system::enlarge(&std::io::stdout(), bytes);
}

/// Enlarges the pipes to and from a child to at least `bytes`, as far as the system allows.
pub(crate) fn enlarge_child_pipes(stdout: &ChildStdout, stdin: &ChildStdin, bytes: usize) {
    system::enlarge(stdout, bytes);
    system::enlarge(stdin, bytes);
}

#[cfg(any(target_os = "linux", target_os = "android"))]
mod system {
    use std::os::fd::AsFd;

    use nix::fcntl::{FcntlArg, fcntl};

    pub(super) fn enlarge(pipe: &impl AsFd, bytes: usize) {
        let bytes = i32::try_from(bytes).unwrap_or(i32::MAX);
        // Fails for anything but a pipe, and beyond the user's limit: the capacity then stays.
        if fcntl(pipe, FcntlArg::F_GETPIPE_SZ).is_ok_and(|current| current < bytes) {
            let _refused = fcntl(pipe, FcntlArg::F_SETPIPE_SZ(bytes));
        }
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod system {
    pub(super) fn enlarge<T>(_: &T, _: usize) {}
}
