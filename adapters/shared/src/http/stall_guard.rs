//! A socket whose writes fail once its peer has not read for too long.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::rt::{Read, ReadBufCursor, Write};

use super::sockets::SocketMeter;
use crate::BoxFuture;

/// A socket whose writes fail after a time without progress.
///
/// Without it, a client that stops reading keeps its response, and the connection, forever.
pub(super) struct StallGuard<I, F> {
    socket: I,
    stall_timeout: Duration,
    sleep: F,
    meter: SocketMeter,
    /// Runs while a write waits for the peer.
    timer: Option<BoxFuture<'static, ()>>,
}

impl<I, F> StallGuard<I, F>
where
    F: Fn(Duration) -> BoxFuture<'static, ()>,
{
    pub(super) const fn new(
        socket: I,
        stall_timeout: Duration,
        sleep: F,
        meter: SocketMeter,
    ) -> Self {
        Self { socket, stall_timeout, sleep, meter, timer: None }
    }

    /// Passes the outcome of a write on, unless the write has waited for too long.
    fn watch<T>(
        &mut self,
        written: Poll<io::Result<T>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            if self.timer.take().is_some() {
                self.meter.set_writing(false);
            }
            return written;
        }
        let timer = self.timer.get_or_insert_with(|| {
            self.meter.set_writing(true);
            (self.sleep)(self.stall_timeout)
        });
        if timer.as_mut().poll(context).is_pending() {
            return Poll::Pending;
        }
        self.timer = None;
        let seconds = self.stall_timeout.as_secs_f32();
        let what = format!("the peer has read nothing for {seconds} s (`Limits::stall_timeout`)");
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, what)))
    }
}

impl<I: Read + Unpin, F: Unpin> Read for StallGuard<I, F> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.socket).poll_read(context, buffer);
        if read.is_ready() {
            self.meter.received();
        }
        read
    }
}

impl<I, F> Write for StallGuard<I, F>
where
    I: Write + Unpin,
    F: Fn(Duration) -> BoxFuture<'static, ()> + Unpin,
{
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write(context, bytes);
        self.watch(written, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write_vectored(context, slices);
        self.watch(written, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.socket).poll_flush(context);
        self.watch(flushed, context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(context)
    }
}
