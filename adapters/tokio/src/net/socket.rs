//! The socket of a client, which detects its end at every read.

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll};

use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A socket whose reads query the operating system before they wait.
///
/// Tokio learns of socket events only when its driver polls. A server may have closed an idle
/// socket before that, and a request sent over it would be lost.
pub(super) struct Socket<S>(S);

impl<S> Socket<S> {
    pub(super) const fn new(stream: S) -> Self {
        Self(stream)
    }
}

impl<S> Socket<S>
where
    for<'s> SockRef<'s>: From<&'s S>,
{
    /// Returns the result of a read at the end of the stream; `None` if the stream has not ended.
    fn end(&self) -> Option<io::Result<()>> {
        match SockRef::from(&self.0).peek(&mut [MaybeUninit::uninit()]) {
            Ok(0) => Some(Ok(())),
            Err(error)
                if !matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                ) =>
            {
                Some(Err(error))
            }
            Ok(_) | Err(_) => None,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Socket<S>
where
    for<'s> SockRef<'s>: From<&'s S>,
{
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match Pin::new(&mut self.0).poll_read(context, buffer) {
            Poll::Pending => self.end().map_or(Poll::Pending, Poll::Ready),
            read @ Poll::Ready(_) => read,
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Socket<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
