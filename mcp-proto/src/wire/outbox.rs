//! Bytes that wait to be sent: whole messages in, any number of bytes out.

use alloc::vec::Vec;
use core::mem;

use bytes::{Buf, Bytes};

/// The bytes that a machine wants sent, oldest first: always whole messages, each one line.
///
/// The driver reads it through [`Buf`]: it writes what [`chunk`](Buf::chunk) shows and then
/// [`advance`](Buf::advance)s by as many bytes as it wrote. Taking bytes never fails and never
/// loses any.
///
/// ```
/// use bytes::Buf;
/// use mcp_proto::client::{Client, Config};
/// use mcp_proto::stdio::Stdio;
/// use mcp_proto::{Endpoint, Instant};
///
/// let mut client = Stdio::new(Client::new(Instant::ZERO, Config::new("demo", "1.0.0")));
/// let mut pipe = Vec::new();
/// let outbox = client.outbox();
/// while outbox.has_remaining() {
///     let written = outbox.chunk().len().min(7); // a pipe takes what it takes
///     pipe.extend_from_slice(&outbox.chunk()[..written]);
///     outbox.advance(written);
/// }
/// assert!(pipe.starts_with(b"{\"jsonrpc\":\"2.0\"") && pipe.ends_with(b"}\n"));
/// ```
#[derive(Debug, Default)]
pub struct Outbox {
    buffer: Vec<u8>,
    /// Bytes at the front of the buffer that were sent.
    sent: usize,
    /// Bytes sent in all.
    sent_total: u64,
    /// Bytes that were taken from here as a whole and are not written yet.
    taken: usize,
}

/// What an empty outbox keeps of its buffer.
const KEPT_BYTES_MAX: usize = 64 * 1024;

impl Outbox {
    /// Bytes that wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.buffer.len() - self.sent
    }

    /// Whether nothing waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes taken so far, since the beginning.
    #[must_use]
    pub fn sent_total(&self) -> u64 {
        self.sent_total
    }

    /// Takes the oldest message whole, without its line end: the seam for transports that carry
    /// messages.
    ///
    /// `None` when nothing waits. Do not mix it with [`Buf::advance`] in the middle of a message.
    pub fn poll_message(&mut self) -> Option<Bytes> {
        let waiting = self.chunk();
        let end = memchr::memchr(b'\n', waiting)?;
        let message = Bytes::copy_from_slice(waiting.get(..end)?);
        self.advance(end + 1);
        Some(message)
    }

    /// Takes all that waits, in exchange for the buffer of `chunk`, whose bytes are forgotten:
    /// nothing is copied, unless a part of it was taken before.
    ///
    /// What was taken counts as waiting until it is [`written`](Self::written), or this is called
    /// anew. A buffer that a large message needed is freed once there is something else to
    /// take: freed at once, its pages would go back to the system after each of many large
    /// messages.
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
        if chunk.capacity() > KEPT_BYTES_MAX {
            *chunk = Vec::new();
        }
        if self.sent > 0 {
            chunk.extend_from_slice(self.chunk());
            self.advance(chunk.len());
        } else {
            mem::swap(&mut self.buffer, chunk);
            self.sent_total += chunk.len() as u64;
        }
        self.taken = chunk.len();
    }

    /// Takes a buffer back that was [taken](Self::take_all) and is written: the next message that
    /// needs a large one is written into it, and not into another one beside it. It is handed
    /// out with whatever is taken next.
    pub fn reuse(&mut self, mut buffer: Vec<u8>) {
        if self.is_empty() && self.sent == 0 && buffer.capacity() > self.buffer.capacity() {
            buffer.clear();
            self.buffer = buffer;
        }
    }

    /// So many bytes of what was taken last are written, and leave room for others.
    pub fn written(&mut self, bytes: usize) {
        self.taken = self.taken.saturating_sub(bytes);
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

    /// Bytes that wait here, or were taken as a whole and are not written yet.
    pub(crate) fn waiting(&self) -> usize {
        self.len() + self.taken
    }

    /// Bytes that were taken and, where that is told, written.
    pub(crate) fn written_total(&self) -> u64 {
        self.sent_total - self.taken as u64
    }

    /// Bytes ever appended: the position after the last one.
    pub(crate) fn produced(&self) -> u64 {
        self.sent_total + self.len() as u64
    }

    /// Drops what was appended after the position `mark`, as far as it was not taken.
    pub(crate) fn truncate(&mut self, mark: u64) {
        let dropped = usize::try_from(self.produced().saturating_sub(mark)).unwrap_or(usize::MAX);
        self.buffer.truncate(self.buffer.len() - dropped.min(self.len()));
    }

    /// Appends what `write` writes to the buffer that it is given, with the offset at which it
    /// begins. What it writes holds line breaks at its end only; on an error nothing is
    /// appended.
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
        debug_assert!(
            self.buffer
                .get(start..)
                .unwrap_or_default()
                .trim_ascii_end()
                .iter()
                .all(|byte| !matches!(byte, b'\n' | b'\r')),
            "a message holds a line break"
        );
        written
    }

    /// Appends what `write` writes.
    pub(crate) fn append(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let Ok(()) = self.try_append(|out, _| {
            write(out);
            Ok::<(), core::convert::Infallible>(())
        });
    }

    /// Gives back the space of what was taken.
    pub(crate) fn compact(&mut self) {
        if self.sent == 0 {
            return;
        }
        if self.sent == self.buffer.len() {
            if self.buffer.capacity() > KEPT_BYTES_MAX {
                // To shrink it would give its pages back one by one, for the next large message to
                // ask for them anew.
                self.buffer = Vec::new();
            }
            self.buffer.clear();
            self.sent = 0;
        } else if self.sent > KEPT_BYTES_MAX && self.sent > self.buffer.len() / 2 {
            // Each byte is moved at most once for each byte sent.
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
        self.buffer.get(self.sent..).unwrap_or_default()
    }

    /// Takes `count` bytes; more than there are takes them all.
    fn advance(&mut self, count: usize) {
        self.take(count);
        self.compact();
    }
}

#[cfg(test)]
mod tests;
