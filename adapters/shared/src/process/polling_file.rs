//! Files that block although their description is non-blocking.

use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::os::fd::AsFd;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// A file whose reads and writes wait even if its descriptor is non-blocking.
///
/// Stdin and stdout may be shared with other processes. If another process makes them non-blocking,
/// they become non-blocking in this process as well.
#[derive(Debug)]
pub struct PollingFile {
    file: File,
    is_terminal: bool,
}

impl PollingFile {
    /// Calls `act` until it does not return `WouldBlock`, and waits before each new call.
    fn retry<T>(
        &mut self,
        readiness: PollFlags,
        mut act: impl FnMut(&mut File) -> io::Result<T>,
    ) -> io::Result<T> {
        loop {
            match act(&mut self.file) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                // A terminal that was closed, as opposed to a disk that fails.
                Err(error) if self.is_terminal && error.raw_os_error() == Some(EIO) => {
                    return Err(io::ErrorKind::BrokenPipe.into());
                }
                outcome => return outcome,
            }
            let mut files = [PollFd::new(self.file.as_fd(), readiness)];
            match poll(&mut files, PollTimeout::NONE) {
                Ok(_) | Err(Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

const EIO: i32 = Errno::EIO as i32;

impl From<File> for PollingFile {
    fn from(file: File) -> Self {
        Self { is_terminal: file.is_terminal(), file }
    }
}

impl Read for PollingFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.retry(PollFlags::POLLIN, |file| file.read(buffer))
    }
}

impl Write for PollingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.retry(PollFlags::POLLOUT, |file| file.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
