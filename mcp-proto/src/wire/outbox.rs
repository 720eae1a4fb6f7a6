//! Bytes that wait to be sent: whole lines in, any number of bytes out; knows nothing of what they say.

use alloc::vec::Vec;

use bytes::{Buf, Bytes};

/// The bytes that a machine wants sent, oldest first: always whole messages, each one line.
///
/// The driver reads it through [`Buf`]: it writes what [`chunk`](Buf::chunk) shows and then
/// [`advance`](Buf::advance)s by as many bytes as it wrote. Taking bytes never fails and never loses any.
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

    /// Takes the oldest message whole, without its line end: the seam for transports that carry messages.
    ///
    /// `None` when nothing waits. Do not mix it with [`Buf::advance`] in the middle of a message.
    pub fn poll_message(&mut self) -> Option<Bytes> {
        let waiting = self.chunk();
        let end = memchr::memchr(b'\n', waiting)?;
        let message = Bytes::copy_from_slice(waiting.get(..end)?);
        self.advance(end + 1);
        Some(message)
    }

    /// Where the buffer ends.
    pub(crate) fn mark(&self) -> usize {
        self.buffer.len()
    }

    /// Drops the lines that were added since `mark` was taken, if none were sent since.
    pub(crate) fn take_back(&mut self, mark: usize) {
        self.buffer.truncate(mark.max(self.sent));
    }

    /// Adds what `write` writes as one line. What it writes must not hold a line break; on an error nothing
    /// is added.
    pub(crate) fn line<E>(&mut self, write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>) -> Result<(), E> {
        let start = self.buffer.len();
        match write(&mut self.buffer) {
            Ok(()) => {
                debug_assert!(
                    memchr::memchr2(b'\n', b'\r', self.buffer.get(start..).unwrap_or_default()).is_none(),
                    "a message holds a line break"
                );
                self.buffer.push(b'\n');
                Ok(())
            }
            Err(error) => {
                self.buffer.truncate(start);
                Err(error)
            }
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
        let count = count.min(self.len());
        self.sent += count;
        self.sent_total += count as u64;
        if self.sent == self.buffer.len() {
            self.buffer.clear();
            self.buffer.shrink_to(KEPT_BYTES_MAX);
            self.sent = 0;
        } else if self.sent > KEPT_BYTES_MAX && self.sent > self.buffer.len() / 2 {
            // Each byte is moved at most once for each byte sent.
            self.buffer.drain(..self.sent);
            self.buffer.shrink_to(self.buffer.len() * 2);
            self.sent = 0;
        }
    }
}

#[cfg(test)]
mod tests;
