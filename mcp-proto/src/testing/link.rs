//! One direction of a pipe in virtual time: latency, chunking, capacity, stalls and cuts; knows
//! nothing of what the bytes say.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use bytes::Buf;

use super::seed::Seed;
use crate::time::Instant;

/// How a link splits what it carries.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Chunking {
    /// Into pieces of so many bytes.
    Bytes(usize),
    /// Into pieces of random sizes, up to so many bytes.
    Seeded(Seed, usize),
    /// Not at all.
    Whole,
}

/// One direction of a pipe, and all that can go wrong with one.
///
/// A byte stream delays, splits, stalls, fills up and breaks, and its sender can hang up. It
/// neither reorders, repeats nor loses what it carries, except at its end, and so neither does a
/// link.
///
/// ```
/// use bytes::Buf;
/// use core::time::Duration;
/// use mcp_proto::Instant;
/// use mcp_proto::testing::{Chunking, Link};
///
/// let mut link = Link::default();
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
pub struct Link {
    /// How long bytes travel, 1 ms.
    pub latency: Duration,
    /// How much longer each piece travels at random, at most, from which seed; 0. What is behind
    /// waits for it.
    pub jitter: (Seed, Duration),
    /// How bytes are split; not at all.
    pub chunking: Chunking,
    /// How many bytes fit in; what does not fit stays in the sender's outbox. Any number.
    pub capacity: usize,
    /// Nothing arrives while this is set; the pipe fills up.
    pub is_stalled: bool,
    /// It breaks once it has taken so many bytes in all: these still arrive, then the receiver
    /// finds the end. Never.
    pub bytes_max: Option<u64>,
    /// What is sent is lost.
    is_cut: bool,
    flying: VecDeque<(Instant, Vec<u8>)>,
    bytes: usize,
    /// Bytes taken, since the beginning.
    bytes_total: u64,
    /// When the sender closed its end.
    end: Option<Instant>,
    is_end_told: bool,
}

impl Default for Link {
    fn default() -> Self {
        Self {
            latency: Duration::from_millis(1),
            jitter: (Seed(0), Duration::ZERO),
            chunking: Chunking::Whole,
            capacity: usize::MAX,
            is_stalled: false,
            bytes_max: None,
            is_cut: false,
            flying: VecDeque::new(),
            bytes: 0,
            bytes_total: 0,
            end: None,
            is_end_told: false,
        }
    }
}

impl Link {
    /// Bytes that are under way.
    #[must_use]
    pub const fn bytes_in_flight(&self) -> usize {
        self.bytes
    }

    /// Breaks the link: what is under way is lost, and the receiver finds the end.
    pub fn cut(&mut self, now: Instant) {
        self.is_cut = true;
        self.flying.clear();
        self.bytes = 0;
        self.end = Some(now);
    }

    /// The sender closes its end; what is under way still arrives.
    pub fn close(&mut self, now: Instant) {
        if self.end.is_none() {
            self.end = Some(self.arrival(now));
        }
    }

    /// Takes what fits from the outbox; shows it to `witness`, and is true if there was anything.
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

    /// Puts bytes in behind what was sent, whether they fit or not: noise of somebody else's.
    pub fn insert(&mut self, now: Instant, bytes: &[u8]) {
        self.put(now, bytes.to_vec());
    }

    /// The next piece that has arrived.
    pub fn receive(&mut self, now: Instant) -> Option<Vec<u8>> {
        if self.is_stalled || self.flying.front().is_none_or(|(at, _)| *at > now) {
            return None;
        }
        let (_, piece) = self.flying.pop_front()?;
        self.bytes -= piece.len();
        Some(piece)
    }

    /// Whether the end has arrived, once.
    pub fn receive_end(&mut self, now: Instant) -> bool {
        let arrived =
            !self.is_stalled && self.flying.is_empty() && self.end.is_some_and(|at| at <= now);
        arrived && !core::mem::replace(&mut self.is_end_told, true)
    }

    /// When something next arrives.
    #[must_use]
    pub fn next_arrival(&self) -> Option<Instant> {
        if self.is_stalled {
            return None;
        }
        let end = self.end.filter(|_| !self.is_end_told);
        self.flying.front().map(|(at, _)| *at).or(end)
    }

    fn put(&mut self, now: Instant, mut piece: Vec<u8>) {
        // A broken pipe takes bytes and loses them, and so does one whose end was sent.
        if self.is_cut || self.end.is_some() {
            return;
        }
        let room = self.bytes_max.map_or(u64::MAX, |max| max.saturating_sub(self.bytes_total));
        let breaks = piece.len() as u64 >= room;
        piece.truncate(usize::try_from(room).unwrap_or(usize::MAX));
        self.bytes += piece.len();
        self.bytes_total += piece.len() as u64;
        let at = self.arrival(now);
        self.flying.push_back((at, piece));
        if breaks {
            self.end = Some(at);
        }
    }

    /// When what is sent now arrives, unless what was sent earlier arrives later.
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
