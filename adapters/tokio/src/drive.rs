//! The driver of a connection on tokio.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use mcp_adapter::{DriverHandle, LinkRole, io as futures_io};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::turn::turn;

/// Drives a connection to its end.
pub(crate) async fn drive<R: LinkRole>(
    driving: DriverHandle<R>,
    reader: impl AsyncRead + Send,
    writer: impl AsyncWrite + Send,
) {
    let (reader, writer) = (Stream(Box::pin(reader)), Stream(Box::pin(writer)));
    mcp_adapter::drive(driving, reader, writer, tokio::time::sleep, turn).await;
}

/// A tokio stream with the IO traits of the `futures` crate.
struct Stream<S>(Pin<Box<S>>);

impl<S: AsyncRead> futures_io::AsyncRead for Stream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let mut buffer = ReadBuf::new(buffer);
        ready!(self.0.as_mut().poll_read(context, &mut buffer))?;
        Poll::Ready(Ok(buffer.filled().len()))
    }
}

impl<S: AsyncWrite> futures_io::AsyncWrite for Stream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.0.as_mut().poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.as_mut().poll_flush(context)
    }

    fn poll_close(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.as_mut().poll_shutdown(context)
    }
}
