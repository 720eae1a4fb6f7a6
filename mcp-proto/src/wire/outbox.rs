//! Bytes that wait to be sent: whole lines in, any number of bytes out; knows nothing of what they say.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::mem;

use bytes::{Buf, Bytes};

use crate::collections::SmallMap;

/// A path that messages travel on.
///
/// A byte stream is one path for both directions, [`StreamId::ONLY`]. Over HTTP each request is one, and what belongs
/// to it comes back on it.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct StreamId(pub u64);

impl StreamId {
    /// The one path of a transport that has one.
    pub const ONLY: Self = Self(0);
}

/// Where a message goes, where there is more than one path.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct To {
    /// The path of the request that it belongs to; none for what belongs to no request.
    pub(crate) stream: Option<StreamId>,
    /// Nothing follows on this path.
    pub(crate) ends: bool,
}

impl To {
    /// It belongs to no request of the peer's.
    pub(crate) const ANY: Self = Self { stream: None, ends: false };

    /// Along with the answer to come.
    pub(crate) const fn along(stream: StreamId) -> Self {
        Self { stream: Some(stream), ends: false }
    }

    /// As the answer.
    pub(crate) const fn back(stream: StreamId) -> Self {
        Self { stream: Some(stream), ends: true }
    }
}

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
    /// Bytes that were taken from here as a whole and are not written yet.
    taken: usize,
    /// Where each message goes and where it ends, counted from the beginning; only where there are paths.
    paths: Option<Paths>,
}

#[derive(Debug, Default)]
struct Paths {
    waiting: VecDeque<(To, u64)>,
    /// Bytes of messages that wait here, by path.
    queued: ByPath,
    /// Bytes that were taken from here and not sent yet, by path.
    held: ByPath,
    held_total: usize,
}

type ByPath = SmallMap<Option<StreamId>, usize, 1>;

/// One path of many has this part of what may wait.
const PATH_SHARE: usize = 8;

/// What a buffer that is given back again and again begins with.
const FIRST_BYTES: usize = 256;

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

    /// Takes all that waits, in exchange for the buffer of `chunk`, whose bytes are forgotten: nothing is copied, unless a
    /// part of it was taken before.
    ///
    /// What was taken counts as waiting until it is [`written`](Self::written), or this is called anew. A buffer that a
    /// large message needed is freed once there is something else to take: freed at once, its pages would go back to the
    /// system after each of many large messages.
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

    /// Takes a buffer back that was [taken](Self::take_all) and is written: the next message that needs a large one is
    /// written into it, and not into another one beside it. It is handed out with whatever is taken next.
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

    /// From now on it is remembered where messages go.
    #[cfg(feature = "http")]
    pub(crate) fn have_paths(&mut self) {
        self.paths = Some(Paths::default());
    }

    /// Nothing goes on: what is empty is given back.
    #[cfg(feature = "http")]
    pub(crate) fn rest(&mut self) {
        if self.is_empty() {
            (self.buffer, self.sent) = (Vec::new(), 0);
            if let Some(paths) = self.paths.as_mut().filter(|paths| paths.waiting.is_empty()) {
                paths.waiting = VecDeque::new();
            }
        }
    }

    /// Whether it is remembered where messages go.
    pub(crate) fn has_paths(&self) -> bool {
        self.paths.is_some()
    }

    /// Takes the oldest message whole, and where it goes. An empty one says that its path is to be closed for now.
    /// It is held until it is [released](Self::release).
    #[cfg(feature = "http")]
    pub(crate) fn poll_routed(&mut self) -> Option<(To, Bytes)> {
        let (to, _) = self.paths.as_mut()?.waiting.pop_front()?;
        let message = self.poll_message()?;
        if let Some(paths) = &mut self.paths {
            let bytes = take(&mut paths.queued, to.stream, message.len());
            if bytes > 0 {
                add(&mut paths.held, to.stream, bytes);
                paths.held_total += bytes;
            }
        }
        Some((to, message))
    }

    /// What was held was sent, or never will be.
    #[cfg(feature = "http")]
    pub(crate) fn release(&mut self, stream: Option<StreamId>, bytes: usize) {
        if let Some(paths) = &mut self.paths {
            paths.held_total -= take(&mut paths.held, stream, bytes);
        }
    }

    /// Whether `bytes_max` leave room for what is no answer. Of many paths, one has an eighth of it.
    pub(crate) fn has_room(&self, stream: Option<StreamId>, bytes_max: usize) -> bool {
        let Some(paths) = &self.paths else { return self.unsent() <= bytes_max };
        let of_path = |bytes: &ByPath| bytes.get(&stream).copied().unwrap_or_default();
        let unsent = of_path(&paths.held) + of_path(&paths.queued);
        self.len() + paths.held_total <= bytes_max && unsent <= bytes_max / PATH_SHARE
    }

    /// Bytes that wait here, or were taken as a whole and are not written yet.
    pub(crate) fn waiting(&self) -> usize {
        self.len() + self.taken
    }

    /// Bytes that were taken and, where that is told, written.
    pub(crate) fn written_total(&self) -> u64 {
        self.sent_total - self.taken as u64
    }

    /// Bytes that wait in any way, also in the hands of whoever sends them.
    pub(crate) fn unsent(&self) -> usize {
        self.waiting() + self.paths.as_ref().map_or(0, |paths| paths.held_total)
    }

    /// Where the buffer ends.
    pub(crate) fn mark(&self) -> usize {
        self.buffer.len()
    }

    /// Drops the lines that were added since `mark` was taken, if none were sent since.
    pub(crate) fn take_back(&mut self, mark: usize) {
        self.buffer.truncate(mark.max(self.sent));
        let end = self.sent_total + self.len() as u64;
        let Some(paths) = &mut self.paths else { return };
        while let Some((to, last)) = paths.waiting.back().copied().filter(|(_, last)| *last > end) {
            paths.waiting.pop_back();
            let start = paths.waiting.back().map_or(self.sent_total, |(_, before)| *before);
            take(&mut paths.queued, to.stream, usize::try_from(last - start - 1).unwrap_or(usize::MAX));
        }
    }

    /// Adds what `write` writes as one line. What it writes must not hold a line break; on an error nothing
    /// is added.
    pub(crate) fn line<E>(
        &mut self,
        to: To,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.paths.is_some() && self.buffer.capacity() == 0 {
            self.buffer.reserve(FIRST_BYTES);
        }
        let start = self.buffer.len();
        match write(&mut self.buffer) {
            Ok(()) => {
                debug_assert!(
                    memchr::memchr2(b'\n', b'\r', self.buffer.get(start..).unwrap_or_default()).is_none(),
                    "a message holds a line break"
                );
                self.buffer.push(b'\n');
                let end = self.sent_total + self.len() as u64;
                if let Some(paths) = &mut self.paths {
                    paths.waiting.push_back((to, end));
                    add(&mut paths.queued, to.stream, self.buffer.len() - start - 1);
                }
                Ok(())
            }
            Err(error) => {
                self.buffer.truncate(start);
                Err(error)
            }
        }
    }
}

fn add(bytes: &mut ByPath, stream: Option<StreamId>, count: usize) {
    match bytes.get_mut(&stream) {
        Some(has) => *has += count,
        None => bytes.insert(stream, count),
    }
}

/// Takes bytes from those of a path, as many as it has; how many that were.
fn take(bytes: &mut ByPath, stream: Option<StreamId>, count: usize) -> usize {
    let Some(has) = bytes.get_mut(&stream) else { return 0 };
    let count = count.min(*has);
    *has -= count;
    if *has == 0 {
        bytes.remove(&stream);
    }
    count
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
            if self.buffer.capacity() > KEPT_BYTES_MAX {
                // To shrink it would give its pages back one by one, for the next large message to ask for them anew.
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

#[cfg(test)]
mod tests;
