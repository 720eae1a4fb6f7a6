//! [`Outbox`]: the queue of outgoing bytes.

use alloc::vec::Vec;
use core::mem;

use bytes::{Buf, Bytes};

/// The queue of bytes to send on a byte stream: complete messages, one per line, oldest first.
///
/// The event loop writes the bytes of [`chunk`](Self::chunk) to the stream and then calls
/// [`advance`](Self::advance) with the number of bytes written. The queue is also a [`Buf`].
///
/// ```
/// use mcp_proto::client::{Client, Config};
/// use mcp_proto::stdio::Stdio;
/// use mcp_proto::{Endpoint, Instant};
///
/// let mut client = Stdio::new(Client::new(Instant::ZERO, Config::new("demo", "1.0.0")));
/// let mut pipe = Vec::new();
/// let outbox = client.outbox();
/// while !outbox.is_empty() {
///     let chunk = outbox.chunk();
///     let written = chunk.len().min(7); // a pipe takes what it takes
///     pipe.extend_from_slice(&chunk[..written]);
///     outbox.advance(written);
/// }
/// assert!(pipe.starts_with(b"{\"jsonrpc\":\"2.0\"") && pipe.ends_with(b"}\n"));
/// ```
#[derive(Debug, Default)]
pub struct Outbox {
    buffer: Vec<u8>,
    /// Number of sent bytes at the front of the buffer.
    sent: usize,
    /// Total bytes sent.
    sent_total: u64,
    /// Bytes handed out by `take_all` but not yet written.
    taken: usize,
    /// Capacity that an empty outbox retains.
    idle_bytes_max: usize,
}

impl Outbox {
    pub(crate) const fn new(idle_bytes_max: usize) -> Self {
        Self { buffer: Vec::new(), sent: 0, sent_total: 0, taken: 0, idle_bytes_max }
    }

    /// Returns the number of queued bytes, not counting those taken by
    /// [`take_all`](Self::take_all).
    #[must_use]
    pub fn len(&self) -> usize {
        self.buffer.len() - self.sent
    }

    /// Returns whether no bytes are queued.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the queued bytes, oldest first. O(1).
    // Borrows mutably, so that `machine.outbox().chunk()` selects this method also where `Buf` is
    // imported: that of `Buf for &mut T` would borrow from a temporary value.
    #[must_use]
    pub fn chunk(&mut self) -> &[u8] {
        self.queued()
    }

    /// Removes the oldest `count` bytes, which were written to the stream.
    ///
    /// # Panics
    /// Panics if fewer than `count` bytes are queued: bytes that do not exist cannot have been
    /// written, so the stream is corrupt.
    pub fn advance(&mut self, count: usize) {
        assert!(count <= self.len(), "advanced by {count} of {} queued bytes", self.len());
        self.take(count);
        self.compact();
    }

    /// Removes all queued bytes, for a stream that has failed.
    pub fn clear(&mut self) {
        self.advance(self.len());
    }

    /// Returns the total number of bytes removed from the queue so far.
    #[must_use]
    pub fn sent_total(&self) -> u64 {
        self.sent_total
    }

    /// Removes and returns the oldest message, without its line terminator.
    ///
    /// Returns `None` if the queue is empty. Message-based transports use this method instead of
    /// [`chunk`](Self::chunk). Do not call it while a message is partly
    /// [consumed](Self::advance).
    pub fn poll_message(&mut self) -> Option<Bytes> {
        let waiting = self.queued();
        let end = memchr::memchr(b'\n', waiting)?;
        let message = Bytes::copy_from_slice(waiting.get(..end)?);
        self.advance(end + 1);
        Some(message)
    }

    /// Moves all queued bytes to `chunk`, replacing its content.
    ///
    /// The queue and `chunk` swap their buffers. If the queue's buffer still contains consumed
    /// bytes, the queued bytes are copied instead.
    ///
    /// For backpressure, the taken bytes count as queued until they are
    /// [marked as written](Self::mark_written) or this method is called again.
    ///
    /// If `chunk` has a capacity of more than four times [`Limits::idle_bytes_max`], its buffer is
    /// freed by the next call that takes bytes.
    ///
    /// [`Limits::idle_bytes_max`]: crate::Limits::idle_bytes_max
    ///
    /// ```
    /// use mcp_proto::client::{Client, Config};
    /// use mcp_proto::stdio::Stdio;
    /// use mcp_proto::{Endpoint, Instant};
    ///
    /// let mut client = Stdio::new(Client::new(Instant::ZERO, Config::new("demo", "1.0.0")));
    /// let mut chunk = Vec::new();
    /// client.outbox().take_all(&mut chunk);
    /// assert!(chunk.ends_with(b"}\n") && client.outbox().is_empty());
    /// ```
    pub fn take_all(&mut self, chunk: &mut Vec<u8>) {
        chunk.clear();
        self.taken = 0;
        if self.is_empty() {
            return;
        }
        if chunk.capacity() > self.idle_bytes_max {
            *chunk = Vec::new();
        }
        if self.sent > 0 {
            chunk.extend_from_slice(self.queued());
            self.advance(chunk.len());
        } else {
            mem::swap(&mut self.buffer, chunk);
            self.sent_total += chunk.len() as u64;
        }
        self.taken = chunk.len();
    }

    /// Takes back a buffer whose bytes were [taken](Self::take_all) and written.
    ///
    /// The queue can use this buffer again, so that the next large message needs no new buffer. It
    /// keeps none if [`Limits::idle_bytes_max`](crate::Limits::idle_bytes_max) is 0.
    pub fn reuse(&mut self, mut buffer: Vec<u8>) {
        let is_idle = self.is_empty() && self.sent == 0 && self.idle_bytes_max > 0;
        if is_idle && buffer.capacity() > self.buffer.capacity() {
            buffer.clear();
            self.buffer = buffer;
        }
    }

    /// Records that `bytes` of the bytes that [`take_all`](Self::take_all) returned were written.
    ///
    /// Call this method after each partial write. Written bytes no longer count as queued for
    /// backpressure.
    pub fn mark_written(&mut self, bytes: usize) {
        self.taken = self.taken.saturating_sub(bytes);
    }

    pub(crate) fn queued(&self) -> &[u8] {
        self.buffer.get(self.sent..).unwrap_or_default()
    }

    /// Returns the capacity that an empty outbox retains.
    pub(crate) const fn idle_bytes_max(&self) -> usize {
        self.idle_bytes_max
    }

    /// Takes the oldest `count` bytes.
    pub(crate) fn take(&mut self, count: usize) -> &[u8] {
        let start = self.sent;
        let count = count.min(self.len());
        self.sent += count;
        self.sent_total += count as u64;
        self.buffer.get(start..start + count).unwrap_or_default()
    }

    /// Releases unused capacity while idle.
    pub(crate) fn shrink(&mut self) {
        if self.is_empty() {
            (self.buffer, self.sent) = (Vec::new(), 0);
        }
    }

    /// Returns the number of bytes queued, or taken but not yet written.
    pub(crate) fn waiting(&self) -> usize {
        self.len() + self.taken
    }

    /// Returns the total number of bytes taken, without those not yet reported as written.
    pub(crate) fn written_total(&self) -> u64 {
        self.sent_total - self.taken as u64
    }

    /// Returns the total number of bytes appended: the position of the end of the queue.
    pub(crate) fn produced(&self) -> u64 {
        self.sent_total + self.len() as u64
    }

    /// Removes the bytes appended after position `mark`, unless already taken.
    pub(crate) fn truncate(&mut self, mark: u64) {
        let dropped = usize::try_from(self.produced().saturating_sub(mark)).unwrap_or(usize::MAX);
        self.buffer.truncate(self.buffer.len() - dropped.min(self.len()));
    }

    /// Appends the output of `write`, which receives the buffer and its length. The output may
    /// contain line breaks only at its end. On error nothing is appended.
    #[inline]
    pub(crate) fn try_append<T, E>(
        &mut self,
        write: impl FnOnce(&mut Vec<u8>, usize) -> Result<T, E>,
    ) -> Result<T, E> {
        if self.sent > 0 {
            self.compact();
        }
        let start = self.buffer.len();
        let written = write(&mut self.buffer, start);
        if written.is_err() {
            self.buffer.truncate(start);
        }
        // FRM-02: a line break would split the message.
        debug_assert!(
            self.buffer
                .get(start..)
                .unwrap_or_default()
                .trim_ascii_end()
                .iter()
                .all(|byte| !matches!(byte, b'\n' | b'\r')),
            "message contains a line break"
        );
        written
    }

    /// Appends the output of `write`.
    pub(crate) fn append(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let Ok(()) = self.try_append(|out, _| {
            write(out);
            Ok::<(), core::convert::Infallible>(())
        });
    }

    /// Reclaims the space of sent bytes.
    pub(crate) fn compact(&mut self) {
        if self.sent == 0 {
            return;
        }
        if self.sent == self.buffer.len() {
            if self.buffer.capacity() > self.idle_bytes_max {
                // `shrink_to` would return the pages one by one, and the next large message would
                // request them again.
                self.buffer = Vec::new();
            }
            self.buffer.clear();
            self.sent = 0;
        } else if self.sent > self.idle_bytes_max && self.sent > self.buffer.len() / 2 {
            // Each byte is moved at most once per byte sent.
            self.buffer.drain(..self.sent);
            self.buffer.shrink_to(self.buffer.len() * 2);
            self.sent = 0;
        }
    }
}

impl Buf for Outbox {
    fn remaining(&self) -> usize {
        self.len()
    }

    fn chunk(&self) -> &[u8] {
        self.queued()
    }

    fn advance(&mut self, count: usize) {
        self.advance(count);
    }
}

#[cfg(test)]
mod tests;
