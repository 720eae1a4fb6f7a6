//! An output pipe of a child process, whose reader can be stopped although the pipe stays open.
//!
//! A process that the child has started may keep the pipe open after the child has exited. A thread
//! that reads the pipe would then never end.

use std::fs::File;
use std::io::{self, Read};
#[cfg(target_os = "linux")]
use std::os::fd::AsRawFd;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// The reading end of an output pipe of a child.
#[derive(Debug)]
pub struct ChildOutput {
    shared: Arc<SharedPipe>,
    /// The number of bytes that are still read once the reader was stopped.
    left: usize,
}

/// What a pipe may hold when its reader is stopped.
const LEFT_BYTES_MAX: usize = 64 * 1024;

#[derive(Debug)]
struct SharedPipe {
    pipe: File,
    is_stopped: AtomicBool,
}

/// Stops the reader of a [`ChildOutput`] when dropped: what the pipe holds is still read, then the
/// input ends.
///
/// On Linux and Android, a reader that waits for input is woken. On other systems, it waits until
/// the pipe has input or is closed.
#[derive(Debug)]
pub struct StopOnDrop(Weak<SharedPipe>);

impl ChildOutput {
    /// Creates a reader and the value that stops it.
    pub fn new(pipe: impl Into<OwnedFd>) -> (Self, StopOnDrop) {
        let shared =
            SharedPipe { pipe: File::from(pipe.into()), is_stopped: AtomicBool::new(false) };
        let shared = Arc::new(shared);
        let stop = StopOnDrop(Arc::downgrade(&shared));
        (Self { shared, left: LEFT_BYTES_MAX }, stop)
    }
}

impl Read for ChildOutput {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let SharedPipe { pipe, is_stopped } = &*self.shared;
        if is_stopped.load(Ordering::SeqCst) && (self.left == 0 || !has_input(pipe)?) {
            return Ok(0);
        }
        let count = (&*pipe).read(buffer)?;
        if is_stopped.load(Ordering::SeqCst) {
            self.left = self.left.saturating_sub(count);
            return Ok(remove_wake(buffer.get_mut(..count).unwrap_or_default()));
        }
        Ok(count)
    }
}

/// Returns whether a read would return immediately.
fn has_input(pipe: &File) -> io::Result<bool> {
    let mut pipes = [PollFd::new(pipe.as_fd(), PollFlags::POLLIN)];
    Ok(poll(&mut pipes, PollTimeout::ZERO)? > 0)
}

/// The byte that wakes a reader. Neither messages nor lines of text contain it.
const WAKE: u8 = 0;

/// Removes the byte that has woken the reader, and returns the number of remaining bytes.
fn remove_wake(read: &mut [u8]) -> usize {
    let Some(at) = read.iter().position(|byte| *byte == WAKE) else { return read.len() };
    read.copy_within(at + 1.., at);
    read.len() - 1
}

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        if let Some(shared) = self.0.upgrade() {
            shared.is_stopped.store(true, Ordering::SeqCst);
            wake(&shared.pipe);
        }
    }
}

/// Wakes a thread that waits for input, by writing to the pipe.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn wake(pipe: &File) {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = File::options();
    options.write(true).custom_flags(nix::fcntl::OFlag::O_NONBLOCK.bits());
    // A full pipe has input, and a closed one ends, so a failure is harmless.
    let _harmless = options
        .open(format!("/proc/self/fd/{}", pipe.as_raw_fd()))
        .and_then(|mut writer| writer.write_all(&[WAKE]));
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn wake(_: &File) {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::io::{Read, Write};
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::Duration;

    use super::ChildOutput;

    const PATIENCE: Duration = Duration::from_secs(10);

    #[test]
    fn a_reader_is_stopped_although_the_pipe_stays_open() {
        let (reader, mut writer) = std::io::pipe().unwrap();
        let (mut output, stop) = ChildOutput::new(reader);
        let (says, hears) = channel();
        let reading = thread::spawn(move || {
            let mut buffer = [0; 16];
            loop {
                let count = output.read(&mut buffer).unwrap();
                says.send(buffer[..count].to_vec()).unwrap();
                if count == 0 {
                    return;
                }
            }
        });
        writer.write_all(b"one\n").unwrap();
        assert_eq!(hears.recv_timeout(PATIENCE).unwrap(), b"one\n");
        drop(stop);
        assert_eq!(hears.recv_timeout(PATIENCE).unwrap(), b"");
        reading.join().unwrap();
        // The reader has closed its end.
        assert!(writer.write_all(b"two\n").is_err());
    }

    #[test]
    fn a_process_that_keeps_writing_does_not_keep_a_stopped_reader() {
        let (reader, mut writer) = std::io::pipe().unwrap();
        let writing = thread::spawn(move || while writer.write_all(&[b'x'; 4096]).is_ok() {});
        let (mut output, stop) = ChildOutput::new(reader);
        drop(stop);
        let mut read = Vec::new();
        output.read_to_end(&mut read).unwrap();
        assert!(read.len() < 1 << 20, "{}", read.len());
        drop(output);
        writing.join().unwrap();
    }

    #[test]
    fn what_a_stopped_pipe_holds_is_still_read() {
        let (reader, mut writer) = std::io::pipe().unwrap();
        let (mut output, stop) = ChildOutput::new(reader);
        writer.write_all(b"the last\nlines\n").unwrap();
        drop(stop);
        let mut read = Vec::new();
        output.read_to_end(&mut read).unwrap();
        assert_eq!(read, b"the last\nlines\n");
    }
}
