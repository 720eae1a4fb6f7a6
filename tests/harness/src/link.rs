//! One direction of a pipe in virtual time: latency, chunking, capacity, stalls and cuts; knows nothing of what the
//! bytes say.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Buf;
use mcp_proto::Instant;

use crate::seed::Seed;

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

/// One direction of a pipe.
#[derive(Clone, Debug)]
pub struct Link {
    /// How long bytes travel.
    pub latency: Duration,
    /// How they are split.
    pub chunking: Chunking,
    /// How many bytes fit in; what does not fit stays in the sender's outbox.
    pub capacity: usize,
    /// Nothing arrives while this is set; the pipe fills up.
    pub is_stalled: bool,
    /// The receiver finds the end, and what was under way is lost.
    is_cut: bool,
    flying: VecDeque<(Instant, Vec<u8>)>,
    bytes: usize,
    /// When the sender closed its end.
    end: Option<Instant>,
    is_end_told: bool,
}

impl Default for Link {
    fn default() -> Self {
        Self {
            latency: Duration::from_millis(1),
            chunking: Chunking::Whole,
            capacity: usize::MAX,
            is_stalled: false,
            is_cut: false,
            flying: VecDeque::new(),
            bytes: 0,
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
            self.end = Some(now + self.latency);
        }
    }

    /// Takes what fits from the outbox; shows it to `witness`, and is true if there was anything.
    pub fn send(&mut self, now: Instant, outbox: &mut impl Buf, mut witness: impl FnMut(&[u8])) -> bool {
        let mut moved = false;
        while outbox.has_remaining() && self.bytes < self.capacity {
            let size = self.next_size().min(outbox.chunk().len()).min(self.capacity - self.bytes);
            let piece = outbox.chunk().get(..size).unwrap_or_default().to_vec();
            outbox.advance(size);
            witness(&piece);
            moved = true;
            // A broken pipe takes bytes and loses them, and so does one whose end was sent.
            if !self.is_cut && self.end.is_none() {
                self.bytes += size;
                self.flying.push_back((now + self.latency, piece));
            }
        }
        moved
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
        let arrived = !self.is_stalled && self.flying.is_empty() && self.end.is_some_and(|at| at <= now);
        arrived && !std::mem::replace(&mut self.is_end_told, true)
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

    fn next_size(&mut self) -> usize {
        match &mut self.chunking {
            Chunking::Bytes(size) => (*size).max(1),
            Chunking::Seeded(seed, size_max) => 1 + seed.below(*size_max),
            Chunking::Whole => usize::MAX,
        }
    }
}
