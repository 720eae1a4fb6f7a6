//! A socket that limits how long heads of requests take, and how fast frames without use arrive.

use std::cell::Cell;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::rt::{Read, ReadBuf, ReadBufCursor};

use super::forward_write::forward_write;
use super::frame_scanner::FrameScanner;
use crate::box_future::BoxFuture;

/// A socket that fails when a head has begun and does not end in time, and pauses when too many
/// control frames have arrived.
///
/// While a head is incomplete, no other frame can follow, so that a client which stops there would
/// hold up all requests of the connection. Control frames cost work, but neither windows nor the
/// number of streams limit them.
pub(super) struct FrameGuard<I, F> {
    socket: I,
    scanner: FrameScanner,
    head_timeout: Duration,
    sleep: F,
    /// Runs while a head is incomplete, with the number of heads before it.
    timer: Option<(u64, BoxFuture<'static, ()>)>,
    /// The control frames that may arrive before the next pause. Negative if more have arrived.
    control_frames: isize,
    /// Runs while nothing is read.
    pause: Option<BoxFuture<'static, ()>>,
}

/// The control frames that may arrive together.
const CONTROL_FRAMES: isize = 200;

/// The most control frames that may arrive together, on a connection with requests and responses.
const CONTROL_FRAMES_MAX: isize = 10_000;

/// The control frames that a request allows, such as its cancellation.
const REQUEST_FRAMES: usize = 8;

/// The bytes sent that allow another control frame, such as one that opens a window for more.
const BYTES_PER_FRAME: usize = 64;

/// How long a connection pauses for each [`CONTROL_FRAMES`] that have arrived. A connection without
/// requests can therefore make the server handle 2,000 control frames a second.
const PAUSE: Duration = Duration::from_millis(100);

/// The size of the buffer that the sockets of a thread read into.
const READ_BYTES: usize = 16 << 10;

thread_local! {
    static READ_BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

impl<I, F> FrameGuard<I, F>
where
    F: Fn(Duration) -> BoxFuture<'static, ()>,
{
    /// Creates a guard of a socket that is still to read `preface` bytes before its first frame.
    pub(super) const fn new(socket: I, preface: usize, head_timeout: Duration, sleep: F) -> Self {
        let scanner = FrameScanner::new(preface);
        let control_frames = CONTROL_FRAMES;
        Self { socket, scanner, head_timeout, sleep, timer: None, control_frames, pause: None }
    }

    /// Counts the frames that have arrived, and pauses if they are too many.
    fn limit_frames(&mut self) {
        let (requests, control) = self.scanner.take_counts();
        self.allow(requests.saturating_mul(REQUEST_FRAMES));
        self.control_frames = self.control_frames.saturating_sub_unsigned(control);
        self.pause_if_exhausted();
    }

    fn pause_if_exhausted(&mut self) {
        if self.control_frames <= 0 {
            self.pause = Some((self.sleep)(PAUSE));
        }
    }

    /// Waits for the end of a pause.
    fn poll_pause(&mut self, context: &mut Context<'_>) -> Poll<()> {
        while let Some(pause) = &mut self.pause {
            ready!(pause.as_mut().poll(context));
            self.pause = None;
            self.control_frames += CONTROL_FRAMES;
            self.pause_if_exhausted();
        }
        Poll::Ready(())
    }

    /// Waits for more of a head for a limited time.
    fn poll_late(&mut self, context: &mut Context<'_>) -> Poll<io::Error> {
        if !self.scanner.is_within_head() {
            self.timer = None;
            return Poll::Pending;
        }
        let head = self.scanner.completed();
        self.timer.take_if(|(timed, _)| *timed != head);
        let (_, timer) = self.timer.get_or_insert_with(|| (head, (self.sleep)(self.head_timeout)));
        ready!(timer.as_mut().poll(context));
        let what = "the head of a request took too long (`HttpLimits::head_timeout`)";
        Poll::Ready(io::Error::new(io::ErrorKind::InvalidData, what))
    }
}

impl<I, F> FrameGuard<I, F> {
    /// Allows more control frames.
    fn allow(&mut self, frames: usize) {
        let frames = self.control_frames.saturating_add_unsigned(frames);
        self.control_frames = frames.min(CONTROL_FRAMES_MAX);
    }

    fn on_written(&mut self, bytes: usize) {
        self.allow(bytes / BYTES_PER_FRAME);
    }
}

impl<I, F> Read for FrameGuard<I, F>
where
    I: Read + Unpin,
    F: Fn(Duration) -> BoxFuture<'static, ()> + Unpin,
{
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        mut target: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        ready!(self.poll_pause(context));
        let mut memory = READ_BUFFER.take();
        memory.resize(READ_BYTES, 0);
        let room = memory.len().min(target.remaining());
        let mut buffer = ReadBuf::new(memory.get_mut(..room).unwrap_or_default());
        let polled = Pin::new(&mut self.socket).poll_read(context, buffer.unfilled());
        if polled.is_ready() {
            self.scanner.scan(buffer.filled());
            target.put_slice(buffer.filled());
            self.limit_frames();
        }
        READ_BUFFER.set(memory);
        if polled.is_pending() {
            return self.poll_late(context).map(Err);
        }
        polled
    }
}

forward_write!(FrameGuard<I, F>, on_written);
