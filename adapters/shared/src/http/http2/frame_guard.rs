//! A socket whose reads fail once the head of a request takes too long.

use std::cell::Cell;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::rt::{Read, ReadBuf, ReadBufCursor};

use super::forward_write::forward_write;
use super::frame_scanner::FrameScanner;
use crate::BoxFuture;

/// A socket that fails when a head has begun and does not end in time.
///
/// While a head is incomplete, no other frame can follow, so that a client which stops there would
/// hold up all requests of the connection.
pub(super) struct FrameGuard<I, F> {
    socket: I,
    scanner: FrameScanner,
    head_timeout: Duration,
    sleep: F,
    /// Runs while a head is incomplete, with the number of heads before it.
    timer: Option<(u64, BoxFuture<'static, ()>)>,
}

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
        Self { socket, scanner, head_timeout, sleep, timer: None }
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
        let what = "the head of a request took too long (`Http::head_timeout`)";
        Poll::Ready(io::Error::new(io::ErrorKind::InvalidData, what))
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
        let mut memory = READ_BUFFER.take();
        memory.resize(READ_BYTES, 0);
        let room = memory.len().min(target.remaining());
        let mut buffer = ReadBuf::new(memory.get_mut(..room).unwrap_or_default());
        let polled = Pin::new(&mut self.socket).poll_read(context, buffer.unfilled());
        if polled.is_ready() {
            self.scanner.scan(buffer.filled());
            target.put_slice(buffer.filled());
        }
        READ_BUFFER.set(memory);
        if polled.is_pending() {
            return self.poll_late(context).map(Err);
        }
        polled
    }
}

forward_write!(FrameGuard<I, F>);
