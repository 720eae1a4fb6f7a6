//! Byte streams as hyper reads and writes them.

use std::cell::Cell;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_lite::{AsyncRead, AsyncWrite};
use hyper::rt::{Read, ReadBufCursor, Write};

/// Adapts a byte stream to hyper.
///
/// A byte stream reads into initialized memory, which hyper's buffer is not. The stream therefore
/// reads into a buffer of the thread, from which the bytes are copied: clearing hyper's buffer
/// before each read would cost more than all else that a server does for a small request.
///
/// Only what was read is cleared afterwards, so that the bytes of one connection reach no other.
#[derive(Debug)]
pub struct HyperStream<S>(pub S);

/// The size of the buffer that the streams of a thread read into.
const READ_BYTES: usize = 16 << 10;

thread_local! {
    static READ_BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

impl<S: AsyncRead + Unpin> Read for HyperStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        mut target: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        // Taken out: a stream may itself read from a stream of this type.
        let mut buffer = READ_BUFFER.take();
        buffer.resize(READ_BYTES, 0);
        let room = buffer.len().min(target.remaining());
        let polled =
            Pin::new(&mut self.0).poll_read(context, buffer.get_mut(..room).unwrap_or_default());
        if let Poll::Ready(Ok(read)) = &polled {
            let read = buffer.get_mut(..*read).unwrap_or_default();
            target.put_slice(read);
            read.fill(0);
        }
        READ_BUFFER.set(buffer);
        polled.map_ok(drop)
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
    fn read<S: AsyncRead + Unpin>(stream: &mut HyperStream<S>, room: usize) -> Vec<u8> {
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

    /// Says that it has read 4 bytes, and writes none.
    struct Liar;

    impl AsyncRead for Liar {
        fn poll_read(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
            _: &mut [u8],
        ) -> Poll<io::Result<usize>> {
            Poll::Ready(Ok(4))
        }
    }

    /// Reads through another stream of this type.
    struct Nested(HyperStream<Cursor<Vec<u8>>>);

    impl AsyncRead for Nested {
        fn poll_read(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
            bytes: &mut [u8],
        ) -> Poll<io::Result<usize>> {
            let mut buffer = ReadBuf::new(bytes);
            Pin::new(&mut self.0)
                .poll_read(context, buffer.unfilled())
                .map_ok(|()| buffer.filled().len())
        }
    }

    #[test]
    fn bytes_of_one_stream_do_not_reach_another() {
        assert_eq!(read(&mut HyperStream(Cursor::new(b"secret".to_vec())), 10), b"secret");
        assert_eq!(read(&mut HyperStream(Liar), 10), [0; 4]);
    }

    #[test]
    fn streams_may_be_nested() {
        let inner = HyperStream(Cursor::new(b"inner".to_vec()));
        assert_eq!(read(&mut HyperStream(Nested(inner)), 10), b"inner");
    }
}
