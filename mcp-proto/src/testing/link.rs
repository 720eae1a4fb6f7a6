//! [`Pipe`]: one direction of a byte stream in virtual time, with fault injection.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use bytes::Buf;

use super::seed::Seed;
use crate::time::Instant;

/// How a [`Pipe`] splits bytes into pieces.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Chunking {
    /// Pieces of this many bytes; the last one can be shorter.
    Bytes(usize),
    /// Pieces of random sizes, from 1 to this many bytes, drawn from the seed.
    Seeded(Seed, usize),
    /// No splitting. This is a pipe's default.
    Whole,
}

/// One direction of a byte stream in virtual time, with faults that a test can inject.
///
/// Like a real byte stream, a pipe can delay and split bytes, stall, fill up, break, and be closed
/// by its sender. A pipe never reorders or repeats bytes. Bytes are lost only if the pipe breaks or
/// if they are sent after the sender has closed the pipe.
///
/// ```
/// use bytes::Buf;
/// use core::time::Duration;
/// use mcp_proto::Instant;
/// use mcp_proto::testing::{Chunking, Pipe};
///
/// let mut link = Pipe::default();
/// link.latency = Duration::from_millis(5);
/// link.chunking = Chunking::Bytes(2);
/// link.send(Instant::ZERO, &mut &b"abc"[..], |_| ());
/// let later = link.next_arrival().unwrap();
/// assert_eq!(later, Instant::from_millis(5));
/// assert_eq!(link.receive(later).unwrap(), b"ab");
/// link.cut(later);
/// assert!(link.receive(later).is_none() && link.receive_end(later));
/// ```
#[derive(Clone, Debug)]
pub struct Pipe {
    /// The minimum delay of each piece. Default: 1 ms.
    pub latency: Duration,
    /// A random delay added to each piece: its seed and its maximum. Default: no random delay.
    ///
    /// A piece never overtakes an earlier one.
    pub jitter: (Seed, Duration),
    /// How bytes are split. Default: not at all.
    pub chunking: Chunking,
    /// The maximum number of bytes in flight. Default: unlimited.
    ///
    /// Further bytes stay in the sender's outbox.
    pub capacity: usize,
    /// Whether the pipe is stalled. Default: false.
    ///
    /// A stalled pipe delivers no bytes, but still accepts bytes until it is full.
    pub is_stalled: bool,
    /// The number of bytes after which the pipe breaks; `None` for never. Default: `None`.
    ///
    /// Bytes up to this number still arrive, followed by the end of the stream.
    pub bytes_max: Option<u64>,
    /// Whether sent bytes are lost.
    is_cut: bool,
    /// Pieces in flight, each with its time of arrival.
    in_flight: VecDeque<(Instant, Vec<u8>)>,
    /// The number of bytes in flight.
    bytes: usize,
    /// The number of bytes ever sent.
    bytes_total: u64,
    /// When the end of the stream arrives.
    end: Option<Instant>,
    is_end_received: bool,
}

impl Default for Pipe {
    fn default() -> Self {
        Self {
            latency: Duration::from_millis(1),
            jitter: (Seed(0), Duration::ZERO),
            chunking: Chunking::Whole,
            capacity: usize::MAX,
            is_stalled: false,
            bytes_max: None,
            is_cut: false,
            in_flight: VecDeque::new(),
            bytes: 0,
            bytes_total: 0,
            end: None,
            is_end_received: false,
        }
    }
}

impl Pipe {
    /// Returns the number of bytes in flight.
    #[must_use]
    pub const fn bytes_in_flight(&self) -> usize {
        self.bytes
    }

    /// Breaks the pipe: bytes in flight are lost, and the receiver reaches the end of the stream.
    pub fn cut(&mut self, now: Instant) {
        self.is_cut = true;
        self.in_flight.clear();
        self.bytes = 0;
        self.end = Some(now);
    }

    /// Closes the pipe from the sender's side. Bytes in flight still arrive.
    pub fn close(&mut self, now: Instant) {
        if self.end.is_none() {
            self.end = Some(self.arrival(now));
        }
    }

    /// Moves bytes from `outbox` into the pipe until the outbox is empty or the pipe is full.
    ///
    /// Passes each piece to `witness`. Returns whether any bytes were moved.
    pub fn send(
        &mut self,
        now: Instant,
        outbox: &mut impl Buf,
        mut witness: impl FnMut(&[u8]),
    ) -> bool {
        let mut moved = false;
        while outbox.has_remaining() && self.bytes < self.capacity {
            let size = self.next_size().min(outbox.chunk().len()).min(self.capacity - self.bytes);
            let piece = outbox.chunk().get(..size).unwrap_or_default().to_vec();
            outbox.advance(size);
            witness(&piece);
            moved = true;
            self.put(now, piece);
        }
        moved
    }

    /// Adds `bytes` to the pipe, as if the sender had sent them. Ignores the pipe's capacity.
    pub fn insert(&mut self, now: Instant, bytes: &[u8]) {
        self.put(now, bytes.to_vec());
    }

    /// Removes and returns the next piece that has arrived by `now`, if any.
    pub fn receive(&mut self, now: Instant) -> Option<Vec<u8>> {
        if self.is_stalled || self.in_flight.front().is_none_or(|(at, _)| *at > now) {
            return None;
        }
        let (_, piece) = self.in_flight.pop_front()?;
        self.bytes -= piece.len();
        Some(piece)
    }

    /// Returns whether the end of the stream has arrived. Returns `true` only once.
    pub fn receive_end(&mut self, now: Instant) -> bool {
        let arrived =
            !self.is_stalled && self.in_flight.is_empty() && self.end.is_some_and(|at| at <= now);
        arrived && !core::mem::replace(&mut self.is_end_received, true)
    }

    /// Returns the time at which the next piece or the end of the stream arrives.
    ///
    /// Returns `None` if nothing is in flight or the pipe is stalled.
    #[must_use]
    pub fn next_arrival(&self) -> Option<Instant> {
        if self.is_stalled {
            return None;
        }
        let end = self.end.filter(|_| !self.is_end_received);
        self.in_flight.front().map(|(at, _)| *at).or(end)
    }

    fn put(&mut self, now: Instant, mut piece: Vec<u8>) {
        // A broken or closed pipe accepts bytes and loses them.
        if self.is_cut || self.end.is_some() {
            return;
        }
        let room = self.bytes_max.map_or(u64::MAX, |max| max.saturating_sub(self.bytes_total));
        let breaks = piece.len() as u64 >= room;
        piece.truncate(usize::try_from(room).unwrap_or(usize::MAX));
        self.bytes += piece.len();
        self.bytes_total += piece.len() as u64;
        let at = self.arrival(now);
        self.in_flight.push_back((at, piece));
        if breaks {
            self.end = Some(at);
        }
    }

    /// Returns when a piece sent now arrives, unless an earlier piece arrives later.
    fn arrival(&mut self, now: Instant) -> Instant {
        let (seed, longest) = &mut self.jitter;
        let extra = match u64::try_from(longest.as_nanos()).unwrap_or(u64::MAX) {
            0 => Duration::ZERO,
            longest => Duration::from_nanos(seed.next() % longest),
        };
        now + self.latency + extra
    }

    fn next_size(&mut self) -> usize {
        match &mut self.chunking {
            Chunking::Bytes(size) => (*size).max(1),
            Chunking::Seeded(seed, size_max) => 1 + seed.below(*size_max),
            Chunking::Whole => usize::MAX,
        }
    }
}
