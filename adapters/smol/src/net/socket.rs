//! The socket of an HTTP connection, which is read only when it has data.

use std::io::{self, IoSlice, Read, Write};
use std::net::{Shutdown, TcpStream};
#[cfg(unix)]
use std::os::unix::net::UnixStream;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use async_io::{Async, IoSafe};
use futures_lite::{AsyncRead, AsyncWrite};

/// A socket that remembers when it has no more data.
///
/// `Async` tries each read before it waits. hyper polls a connection that has nothing to read
/// several times per request, and each of these reads would be a system call.
pub(super) struct Socket<S> {
    stream: Async<S>,
    /// The last read returned less than it could have, so the next one must wait.
    is_drained: bool,
}

/// A byte stream whose sending side can be closed. `Async` leaves it open until it is dropped.
pub(super) trait HalfClose {
    fn close_write(&self) -> io::Result<()>;
}

impl HalfClose for TcpStream {
    fn close_write(&self) -> io::Result<()> {
        self.shutdown(Shutdown::Write)
    }
}

#[cfg(unix)]
impl HalfClose for UnixStream {
    fn close_write(&self) -> io::Result<()> {
        self.shutdown(Shutdown::Write)
    }
}

impl<S> Socket<S> {
    pub(super) const fn new(stream: Async<S>) -> Self {
        Self { stream, is_drained: false }
    }
}

impl<S: IoSafe + Read> AsyncRead for Socket<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        if self.is_drained {
            ready!(self.stream.poll_readable(context))?;
            self.is_drained = false;
        }
        let read = ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        // Zero is the end of the stream, and data after it cannot be waited for.
        self.is_drained = 0 < read && read < buffer.len();
        Poll::Ready(Ok(read))
    }
}

impl<S: IoSafe + Write + HalfClose> AsyncWrite for Socket<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_close(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_flush(context))?;
        Poll::Ready(self.stream.get_ref().close_write())
    }
}
