//! Detects the first bytes of an HTTP/2 connection.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use hyper::rt::{Read, ReadBuf, ReadBufCursor};

use super::forward_write::forward_write;

/// The first bytes of a client that speaks HTTP/2 with prior knowledge.
pub(super) const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A socket whose first bytes were read to find out the protocol, and are read again.
pub(in crate::http) struct Prefixed<I> {
    socket: I,
    prefix: [u8; PREFACE.len()],
    /// The bytes of the prefix that are still to be read.
    unread: std::ops::Range<usize>,
}

impl<I> Prefixed<I> {
    pub(in crate::http) const fn new(socket: I) -> Self {
        Self { socket, prefix: [0; PREFACE.len()], unread: 0..0 }
    }
}

/// Waits until the first bytes tell the protocol; returns whether that is HTTP/2.
///
/// A connection that ends or sends anything else is left to HTTP/1.1.
pub(in crate::http) async fn is_http2<I: Read + Unpin>(io: &mut Prefixed<I>) -> io::Result<bool> {
    loop {
        let filled = io.unread.end;
        let read = poll_fn(|context| {
            let Some(room) = io.prefix.get_mut(filled..) else { return Poll::Ready(Ok(0)) };
            let mut buffer = ReadBuf::new(room);
            ready!(Pin::new(&mut io.socket).poll_read(context, buffer.unfilled()))?;
            Poll::Ready(Ok::<_, io::Error>(buffer.filled().len()))
        });
        let read = read.await?;
        io.unread.end += read;
        let known = io.prefix.get(..io.unread.end).unwrap_or_default();
        if read == 0 || !PREFACE.starts_with(known) {
            return Ok(false);
        }
        if known.len() == PREFACE.len() {
            return Ok(true);
        }
    }
}

impl<I: Read + Unpin> Read for Prefixed<I> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        mut target: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        if self.unread.is_empty() {
            return Pin::new(&mut self.socket).poll_read(context, target);
        }
        let count = self.unread.len().min(target.remaining());
        let start = self.unread.start;
        target.put_slice(self.prefix.get(start..start + count).unwrap_or_default());
        self.unread.start += count;
        Poll::Ready(Ok(()))
    }
}

forward_write!(Prefixed<I>);
