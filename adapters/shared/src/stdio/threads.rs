//! Stdin and stdout on systems where no safe function waits for several files: threads of this
//! crate read and write.
//!
//! The threads do not belong to a runtime, so they delay the end of neither the runtime nor the
//! process. A thread that still waits for input when the server has ended leaves that input to the
//! next reader of [`std::io::stdin`]: it passes the input on through a pipe, which has taken the
//! place of stdin. From a stdin that the server shares with the program, such as a console, it
//! takes only what the server accepts.

use std::fs::File;
use std::io::{self, BufRead, BufReader, PipeWriter, Read, Write};
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread;

use futures_lite::future::or;
use futures_lite::io::{AsyncRead, AsyncWrite};

use crate::exec::watched::Watched;
use crate::process::protocol_streams::StdinFile;
pub use crate::process::protocol_streams::{ProtocolStreams, StdoutFile};
use crate::transport::stream_error::{cannot, is_disconnect};

/// Stdin for a thread that may block. Reads return the end of the input once the reader is stopped.
#[derive(Debug)]
pub struct BlockingStdin {
    file: StdinFile,
    state: Arc<Mutex<ReadState>>,
}

/// Stops a [`BlockingStdin`] when dropped, and restores stdin and stdout.
///
/// A read that waits for input returns at the next input, and leaves it to the next reader.
#[derive(Debug)]
pub struct StopStdin {
    state: Arc<Mutex<ReadState>>,
    reserved: ProtocolStreams,
}

#[derive(Debug, Default)]
struct ReadState {
    is_reading: bool,
    is_stopped: bool,
    /// Receives the input that follows, if a read was waiting when the reader was stopped.
    next: Option<PipeWriter>,
}

impl BlockingStdin {
    /// Creates a reader of stdin and the value that stops it.
    ///
    /// # Errors
    /// Fails if this process has no handle left.
    pub fn new(reserved: ProtocolStreams) -> io::Result<(Self, StopStdin)> {
        let state = Arc::<Mutex<ReadState>>::default();
        let stdin = Self { file: reserved.stdin()?, state: Arc::clone(&state) };
        Ok((stdin, StopStdin { state, reserved }))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for StopStdin {
    fn drop(&mut self) {
        let mut state = lock(&self.state);
        state.is_stopped = true;
        if state.is_reading {
            state.next = self.reserved.divert_stdin();
        }
    }
}

impl Read for BlockingStdin {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        {
            let mut state = lock(&self.state);
            if state.is_stopped {
                return Ok(0);
            }
            state.is_reading = true;
        }
        match &mut self.file {
            StdinFile::Shared(stdin) => read_unless_stopped(stdin.lock(), buffer, &self.state),
            StdinFile::Private(file) => {
                let read = file.read(buffer);
                let mut state = lock(&self.state);
                state.is_reading = false;
                if !state.is_stopped {
                    return read;
                }
                let next = state.next.take();
                drop(state);
                if let (Ok(count), Some(next)) = (read, next) {
                    pass_on(buffer.get(..count).unwrap_or_default().chain(file), next);
                }
                Ok(0)
            }
        }
    }
}

/// Reads, but takes nothing if the reader has been stopped.
fn read_unless_stopped(
    mut stdin: impl BufRead,
    buffer: &mut [u8],
    state: &Mutex<ReadState>,
) -> io::Result<usize> {
    let mut available = stdin.fill_buf()?;
    let mut state = lock(state);
    state.is_reading = false;
    if state.is_stopped {
        return Ok(0);
    }
    let count = available.read(buffer)?;
    stdin.consume(count);
    Ok(count)
}

/// Passes the rest of the input on to the next reader of stdin, which may not read it all.
fn pass_on(mut stdin: impl Read, mut next: PipeWriter) {
    let _unread = io::copy(&mut stdin, &mut next);
}

/// Starts the threads that read stdin and write to stdout.
///
/// # Errors
/// Fails if a thread cannot be started, or if this process has no handle left.
pub fn streams(reserved: ProtocolStreams) -> io::Result<(AsyncStdin, AsyncStdout, CopyThreads)> {
    let (from, to) = (reserved.stdin()?, reserved.stdout()?);
    let reserved = Arc::new(reserved);
    let input = Arc::new(Input::default());
    let output = Arc::new(Output::default());
    let stdin = AsyncStdin { input: Arc::clone(&input), reserved: Some(Arc::clone(&reserved)) };
    let stdout = AsyncStdout(Arc::clone(&output));
    let copies = CopyThreads { output: Arc::clone(&output), _reserved: Some(reserved) };
    let read = move || match from {
        StdinFile::Shared(stdin) => input.read(stdin.lock()),
        StdinFile::Private(file) => input.read(BufReader::<File>::new(file)),
    };
    thread::Builder::new().name("mcp-stdin".into()).spawn(read)?;
    thread::Builder::new().name("mcp-stdout".into()).spawn(move || output.write(to))?;
    Ok((stdin, stdout, copies))
}

/// Stdin, read by a thread as long as this value exists.
#[derive(Debug)]
pub struct AsyncStdin {
    input: Arc<Input>,
    /// Absent in tests, whose stdin stays as it is.
    reserved: Option<Arc<ProtocolStreams>>,
}

#[derive(Debug, Default)]
struct Input {
    state: Mutex<InputState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct InputState {
    /// Whether the server waits for input.
    is_wanted: bool,
    /// Wakes the server once there is input.
    waker: Option<Waker>,
    /// What the thread has read and not taken from stdin yet.
    bytes: Vec<u8>,
    /// The number of these bytes that the server has taken.
    taken: usize,
    /// The end of the input, until the server receives it.
    end: Option<io::Result<()>>,
    has_ended: bool,
    is_stopped: bool,
    /// Receives the input that follows once the server has ended.
    next: Option<PipeWriter>,
}

impl Input {
    fn lock(&self) -> MutexGuard<'_, InputState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&'a self, state: MutexGuard<'a, InputState>) -> MutexGuard<'a, InputState> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads whenever the server wants input, until the end of the input or of the server. Passes
    /// on what follows.
    fn read(&self, mut stdin: impl BufRead) {
        while self.is_wanted() {
            let available = match stdin.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) if !is_disconnect(&error) => {
                    return self.end(Err(cannot("read stdin", &error)));
                }
                Err(_) | Ok([]) => return self.end(Ok(())),
                Ok(available) => available,
            };
            let taken = self.offer(available);
            stdin.consume(taken);
        }
        let next = self.lock().next.take();
        if let Some(next) = next {
            pass_on(stdin, next);
        }
    }

    /// Waits until the server wants input; returns false if it has ended.
    fn is_wanted(&self) -> bool {
        let mut state = self.lock();
        while !state.is_wanted && !state.is_stopped {
            state = self.wait(state);
        }
        !state.is_stopped
    }

    /// Offers input, and returns the number of bytes that the server has taken: all, unless it
    /// ends.
    fn offer(&self, available: &[u8]) -> usize {
        let mut state = self.lock();
        if state.is_stopped {
            return 0;
        }
        state.bytes.extend_from_slice(available);
        state.is_wanted = false;
        let waker = state.waker.take();
        drop(state);
        wake(waker);
        let mut state = self.lock();
        while state.taken < state.bytes.len() && !state.is_stopped {
            state = self.wait(state);
        }
        state.bytes.clear();
        std::mem::take(&mut state.taken)
    }

    fn end(&self, outcome: io::Result<()>) {
        let mut state = self.lock();
        state.end = Some(outcome);
        state.has_ended = true;
        let waker = state.waker.take();
        drop(state);
        wake(waker);
    }
}

impl AsyncRead for AsyncStdin {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let mut state = self.input.lock();
        let mut left = state.bytes.get(state.taken..).unwrap_or_default();
        if !left.is_empty() {
            let count = left.read(buffer)?;
            state.taken += count;
            self.input.changed.notify_one();
            return Poll::Ready(Ok(count));
        }
        if let Some(end) = state.end.take() {
            return Poll::Ready(end.map(|()| 0));
        }
        if state.has_ended {
            return Poll::Ready(Ok(0));
        }
        state.waker = Some(context.waker().clone());
        state.is_wanted = true;
        self.input.changed.notify_one();
        Poll::Pending
    }
}

impl Drop for AsyncStdin {
    fn drop(&mut self) {
        let mut state = self.input.lock();
        state.is_stopped = true;
        if !state.has_ended {
            state.next = self.reserved.as_ref().and_then(|reserved| reserved.divert_stdin());
        }
        drop(state);
        self.input.changed.notify_one();
    }
}

/// Wakes the server, if it waits.
fn wake(waker: Option<Waker>) {
    if let Some(waker) = waker {
        waker.wake();
    }
}

/// Stdout, written to by a thread. Holds at most 64 KiB that are not written yet.
#[derive(Debug)]
pub struct AsyncStdout(Arc<Output>);

#[derive(Debug, Default)]
struct Output {
    state: Mutex<OutputState>,
    changed: Condvar,
    has_ended: Watched<bool>,
}

#[derive(Debug, Default)]
struct OutputState {
    /// What the thread has not begun to write.
    bytes: Vec<u8>,
    is_writing: bool,
    is_closed: bool,
    /// Wakes the server once there is space, or once all is written.
    waker: Option<Waker>,
    has_failed: bool,
    /// Why writing has failed, until the error is returned.
    error: Option<io::Error>,
}

impl Output {
    fn lock(&self) -> MutexGuard<'_, OutputState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes until the stream is closed or fails.
    fn write(&self, mut stdout: impl Write) {
        let mut chunk = Vec::new();
        loop {
            let mut state = self.lock();
            while state.bytes.is_empty() && !state.is_closed {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            if state.bytes.is_empty() {
                break;
            }
            std::mem::swap(&mut state.bytes, &mut chunk);
            state.is_writing = true;
            let waker = state.waker.take();
            drop(state);
            // There is space for the next chunk.
            wake(waker);
            let written = stdout.write_all(&chunk).and_then(|()| stdout.flush());
            chunk.clear();
            let mut state = self.lock();
            state.is_writing = false;
            let has_failed = written.is_err();
            if let Err(error) = written {
                state.bytes.clear();
                state.has_failed = true;
                state.error = Some(error);
            }
            let waker = state.waker.take();
            drop(state);
            wake(waker);
            if has_failed {
                break;
            }
        }
        self.has_ended.change(|has_ended| *has_ended = true);
    }
}

impl OutputState {
    /// Returns the error if writing has failed.
    fn check(&mut self) -> io::Result<()> {
        match self.error.take() {
            Some(error) => Err(error),
            None if self.has_failed => Err(io::ErrorKind::BrokenPipe.into()),
            None => Ok(()),
        }
    }
}

impl AsyncWrite for AsyncStdout {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let mut state = self.0.lock();
        state.check()?;
        let space = OUTPUT_BYTES_MAX.saturating_sub(state.bytes.len());
        if space == 0 {
            state.waker = Some(context.waker().clone());
            return Poll::Pending;
        }
        let accepted = bytes.get(..space).unwrap_or(bytes);
        state.bytes.extend_from_slice(accepted);
        self.0.changed.notify_one();
        Poll::Ready(Ok(accepted.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut state = self.0.lock();
        state.check()?;
        if state.bytes.is_empty() && !state.is_writing {
            return Poll::Ready(Ok(()));
        }
        state.waker = Some(context.waker().clone());
        Poll::Pending
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.lock().is_closed = true;
        self.0.changed.notify_one();
        Poll::Ready(Ok(()))
    }
}

impl Drop for AsyncStdout {
    fn drop(&mut self) {
        self.0.lock().is_closed = true;
        self.0.changed.notify_one();
    }
}

/// The most bytes that wait to be written to stdout, besides those being written.
const OUTPUT_BYTES_MAX: usize = 64 * 1024;

/// The thread that writes to stdout, after the server has closed the stream.
///
/// Both streams are reserved for the protocol as long as this value exists.
#[derive(Debug)]
pub struct CopyThreads {
    output: Arc<Output>,
    /// Absent in tests, whose streams stay as they are.
    _reserved: Option<Arc<ProtocolStreams>>,
}

impl CopyThreads {
    /// Waits until all output has arrived at stdout, or until `give_up` completes.
    ///
    /// `give_up` is needed because a client that does not read may never accept the output.
    pub async fn flush(&self, give_up: impl Future) {
        let ended = self.output.has_ended.when(|has_ended| has_ended.then_some(()));
        or(ended, async { drop(give_up.await) }).await;
    }

    /// Returns whether writing has failed after the server had finished.
    ///
    /// # Errors
    /// Fails if stdout could not be written to for a reason other than the client's disconnection.
    pub fn outcome(&self) -> io::Result<()> {
        match self.output.lock().error.take() {
            Some(error) if !is_disconnect(&error) => Err(cannot("write to stdout", &error)),
            Some(_) | None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, BufRead, BufReader, Read, Write};
    use std::sync::Arc;
    use std::sync::mpsc::channel;
    use std::thread;

    use futures_lite::future::block_on;
    use futures_lite::io::{AsyncReadExt, AsyncWriteExt};

    use super::{AsyncStdin, AsyncStdout, CopyThreads, Input, OUTPUT_BYTES_MAX, Output};

    /// Starts a thread that reads `file` as stdin and returns what it has left.
    fn read_from<R>(file: R) -> (AsyncStdin, thread::JoinHandle<BufReader<R>>)
    where
        R: Read + Send + 'static,
    {
        let input = Arc::new(Input::default());
        let stdin = AsyncStdin { input: Arc::clone(&input), reserved: None };
        let reading = thread::spawn(move || {
            let mut file = BufReader::new(file);
            input.read(&mut file);
            file
        });
        (stdin, reading)
    }

    #[test]
    fn input_that_comes_after_the_end_of_the_server_is_left_to_the_next_reader() {
        let (reader, mut writer) = io::pipe().unwrap();
        let (mut stdin, reading) = read_from(reader);
        writer.write_all(b"one\n").unwrap();
        let mut line = [0; 4];
        block_on(stdin.read_exact(&mut line)).unwrap();
        assert_eq!(&line, b"one\n");
        // The thread waits for input when the server ends.
        assert!(block_on(futures_lite::future::poll_once(stdin.read(&mut line))).is_none());
        drop(stdin);
        writer.write_all(b"two\n").unwrap();
        let mut file = reading.join().unwrap();
        let mut next = String::new();
        file.read_line(&mut next).unwrap();
        assert_eq!(next, "two\n");
    }

    #[test]
    fn what_the_server_has_not_taken_is_left_to_the_next_reader() {
        let (mut stdin, reading) = read_from(&b"one\ntwo\n"[..]);
        let mut line = [0; 4];
        block_on(stdin.read_exact(&mut line)).unwrap();
        drop(stdin);
        let mut next = String::new();
        reading.join().unwrap().read_line(&mut next).unwrap();
        assert_eq!(next, "two\n");
    }

    #[test]
    fn a_server_that_wants_no_input_reads_none() {
        let (stdin, reading) = read_from(&b"one\n"[..]);
        drop(stdin);
        let mut next = String::new();
        reading.join().unwrap().read_line(&mut next).unwrap();
        assert_eq!(next, "one\n");
    }

    #[test]
    fn all_input_arrives_and_then_its_end() {
        let sent: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
        let (reader, mut writer) = io::pipe().unwrap();
        let (mut stdin, reading) = read_from(reader);
        let expected = sent.clone();
        let writing = thread::spawn(move || writer.write_all(&sent).unwrap());
        let mut read = Vec::new();
        block_on(stdin.read_to_end(&mut read)).unwrap();
        assert!(read == expected, "{} bytes", read.len());
        writing.join().unwrap();
        reading.join().unwrap();
    }

    /// A stream that fails.
    struct Full;

    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn write_to(file: impl Write + Send + 'static) -> (AsyncStdout, CopyThreads) {
        let output = Arc::new(Output::default());
        let stdout = AsyncStdout(Arc::clone(&output));
        let copies = CopyThreads { output: Arc::clone(&output), _reserved: None };
        thread::spawn(move || output.write(file));
        (stdout, copies)
    }

    #[test]
    fn all_output_is_written_before_flush_returns() {
        let (mut reader, writer) = io::pipe().unwrap();
        let (mut stdout, copies) = write_to(writer);
        let (says, hears) = channel();
        let reading = thread::spawn(move || {
            let mut read = Vec::new();
            reader.read_to_end(&mut read).unwrap();
            says.send(()).unwrap();
            read
        });
        let sent = vec![b'x'; 3 * OUTPUT_BYTES_MAX + 1];
        block_on(stdout.write_all(&sent)).unwrap();
        block_on(stdout.flush()).unwrap();
        drop(stdout);
        block_on(copies.flush(std::future::pending::<()>()));
        copies.outcome().unwrap();
        hears.recv().unwrap();
        assert!(reading.join().unwrap() == sent);
    }

    #[test]
    fn a_failure_is_returned_once_and_writing_then_stays_impossible() {
        let (mut stdout, copies) = write_to(Full);
        block_on(stdout.write_all(b"lost")).unwrap();
        let failed = block_on(stdout.flush()).unwrap_err();
        assert_eq!(failed.kind(), io::ErrorKind::StorageFull);
        let failed = block_on(stdout.write_all(b"more")).unwrap_err();
        assert_eq!(failed.kind(), io::ErrorKind::BrokenPipe);
        copies.outcome().unwrap();
    }
}
