//! Byte streams as hyper reads and writes them.

use std::cell::RefCell;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_lite::{AsyncRead, AsyncWrite};
use hyper::rt::{Read, ReadBufCursor, Write};

/// Adapts a byte stream to hyper.
///
/// A byte stream reads into initialized memory, which hyper's buffer is not. The stream therefore
/// reads into a buffer of the thread, from which the bytes are copied: clearing hyper's buffer
/// before each read would cost more than all else that a server does for a small request.
#[derive(Debug)]
pub struct HyperStream<S>(pub S);

/// The size of the buffer that the streams of a thread read into.
const READ_BYTES: usize = 16 << 10;

thread_local! {
    static READ_BUFFER: RefCell<Vec<u8>> = RefCell::new(vec![0; READ_BYTES]);
}

impl<S: AsyncRead + Unpin> Read for HyperStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        mut target: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        READ_BUFFER.with_borrow_mut(|buffer| {
            let room = buffer.len().min(target.remaining());
            let buffer = buffer.get_mut(..room).unwrap_or_default();
            let read = ready!(Pin::new(&mut self.0).poll_read(context, buffer))?;
            target.put_slice(buffer.get(..read).unwrap_or_default());
            Poll::Ready(Ok(()))
        })
    }
}

impl<S: AsyncWrite + Unpin> Write for HyperStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write_vectored(context, slices)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_close(context)
    }
}

#[cfg(test)]
mod tests {
    use futures_lite::future::{block_on, poll_fn};
    use futures_lite::io::Cursor;
    use hyper::rt::ReadBuf;

    use super::*;

    /// Reads once into a buffer of `room` bytes; returns what was read.
    fn read(stream: &mut HyperStream<Cursor<Vec<u8>>>, room: usize) -> Vec<u8> {
        let mut memory = vec![0; room];
        let mut buffer = ReadBuf::new(&mut memory);
        block_on(poll_fn(|context| Pin::new(&mut *stream).poll_read(context, buffer.unfilled())))
            .unwrap();
        buffer.filled().to_vec()
    }

    #[test]
    fn a_read_is_bounded_by_both_buffers_and_ends_empty() {
        let bytes: Vec<u8> = (0..READ_BYTES + 10).map(|at| at as u8).collect();
        let mut stream = HyperStream(Cursor::new(bytes.clone()));
        assert_eq!(read(&mut stream, 4), bytes[..4]);
        assert_eq!(read(&mut stream, 2 * READ_BYTES), bytes[4..READ_BYTES + 4]);
        assert_eq!(read(&mut stream, 100), bytes[READ_BYTES + 4..]);
        assert!(read(&mut stream, 100).is_empty());
    }
}
