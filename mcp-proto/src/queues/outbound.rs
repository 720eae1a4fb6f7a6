//! The messages that wait to be sent: in the order they were written, each with its destination and
//! kind.
//!
//! All of them lie in one buffer, so that a message costs no allocation. A byte stream reads the
//! buffer itself; a transport of whole messages takes them one by one.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::ops::Range;

use crate::collections::SmallMap;
use crate::error::Misuse;
use crate::limits::Limits;
use crate::revision::Revision;
use crate::time::{Instant, PERIOD_MIN};
use crate::vocabulary::{Outgoing, OutgoingKind, Route};
use crate::wire::Outbox;

/// What is known of a message besides its bytes.
#[derive(Debug)]
struct Entry {
    route: Route,
    kind: OutgoingKind,
    last: bool,
    revision: Revision,
    bytes: usize,
    params: Option<Range<usize>>,
    /// The position of its last byte, counted from the beginning of the connection.
    end: u64,
}

/// A message about to be written: everything but its bytes.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) route: Route,
    pub(crate) kind: OutgoingKind,
    pub(crate) last: bool,
}

impl Draft {
    pub(crate) const fn new(route: Route, kind: OutgoingKind) -> Self {
        Self { route, kind, last: false }
    }

    pub(crate) const fn last(mut self) -> Self {
        self.last = true;
        self
    }
}

/// How messages leave.
#[derive(Debug)]
enum Framing {
    /// As bytes, each message on a line of its own; nothing else is kept of them.
    Lines,
    /// Message by message.
    Messages(Queue),
}

#[derive(Debug, Default)]
struct Queue {
    entries: VecDeque<Entry>,
    /// Whether the transport has several streams, each with a share of the buffer.
    has_streams: bool,
    /// Bytes in the buffer, by route; only with several streams.
    queued: SmallMap<Route, usize, 1>,
    /// Bytes that the transport has taken and not sent yet, by route.
    held: SmallMap<Route, usize, 1>,
    held_total: usize,
}

/// One stream of several may fill this part of the buffer.
const STREAM_SHARE: usize = 8;

/// The outbound queue of a connection.
#[derive(Debug)]
pub(crate) struct Outbound {
    buffer: Outbox,
    framing: Framing,
    stall: Option<Stall>,
}

/// The peer has left more unread than allowed.
#[derive(Debug)]
struct Stall {
    /// When it is given up.
    due: Instant,
    /// What it had read when this began.
    read: u64,
}

impl Default for Outbound {
    fn default() -> Self {
        Self {
            buffer: Outbox::default(),
            framing: Framing::Messages(Queue::default()),
            stall: None,
        }
    }
}

impl Outbound {
    /// The transport has several streams from now on.
    pub(crate) fn use_streams(&mut self) {
        if let Framing::Messages(queue) = &mut self.framing {
            queue.has_streams = true;
        }
    }

    /// Whether the transport has several streams.
    pub(crate) fn has_streams(&self) -> bool {
        matches!(&self.framing, Framing::Messages(queue) if queue.has_streams)
    }

    /// The transport is a byte stream from now on: the one place where messages become lines.
    pub(crate) fn use_lines(&mut self) {
        let Framing::Messages(queue) = core::mem::replace(&mut self.framing, Framing::Lines) else {
            return;
        };
        let mut messages = core::mem::take(&mut self.buffer);
        for entry in queue.entries {
            self.buffer.append(|out| {
                out.extend_from_slice(messages.take(entry.bytes));
                out.push(b'\n');
            });
        }
    }

    /// The bytes to send, of a byte stream.
    pub(crate) fn lines(&mut self) -> &mut Outbox {
        &mut self.buffer
    }

    /// Whether a message waits.
    pub(crate) fn is_empty(&self) -> bool {
        match &self.framing {
            Framing::Lines => self.buffer.is_empty(),
            Framing::Messages(queue) => queue.entries.is_empty(),
        }
    }

    /// Takes the oldest message.
    pub(crate) fn poll(&mut self) -> Option<Outgoing<'_>> {
        let Framing::Messages(queue) = &mut self.framing else { return None };
        let Some(entry) = queue.entries.pop_front() else {
            self.buffer.compact();
            return None;
        };
        let Entry { route, kind, last, revision, bytes, params, .. } = entry;
        if queue.has_streams {
            take(&mut queue.queued, route, bytes);
        }
        Some(Outgoing { route, kind, last, revision, body: self.buffer.take(bytes), params })
    }

    /// The transport keeps `bytes` of a message that it took: they count as unsent until they are
    /// released.
    pub(crate) fn hold(&mut self, route: Route, bytes: usize) {
        if let Framing::Messages(queue) = &mut self.framing
            && bytes > 0
        {
            add(&mut queue.held, route, bytes);
            queue.held_total += bytes;
        }
    }

    /// What the transport held was sent, or never will be.
    pub(crate) fn release(&mut self, route: Route, bytes: usize) {
        if let Framing::Messages(queue) = &mut self.framing {
            queue.held_total -= take(&mut queue.held, route, bytes);
        }
    }

    /// Returns whether there is room for new traffic: for anything but responses.
    pub(crate) fn has_room(&self, route: Route, limits: &Limits) -> bool {
        let bytes_max = limits.outbox_bytes_max;
        match &self.framing {
            Framing::Messages(queue) if queue.has_streams => {
                let of_route =
                    |bytes: &SmallMap<Route, usize, 1>| bytes.get(&route).copied().unwrap_or(0);
                let unsent = of_route(&queue.held) + of_route(&queue.queued);
                self.buffer.len() + queue.held_total <= bytes_max
                    && unsent <= bytes_max / STREAM_SHARE
            }
            Framing::Messages(_) | Framing::Lines => self.unsent() <= bytes_max,
        }
    }

    /// As [`has_room`](Self::has_room).
    pub(crate) fn require_room(&self, route: Route, limits: &Limits) -> Result<(), Misuse> {
        if self.has_room(route, limits) { Ok(()) } else { Err(Misuse::Blocked) }
    }

    /// Bytes that are not sent yet, in the buffer or held by the transport.
    pub(crate) fn unsent(&self) -> usize {
        let held = match &self.framing {
            Framing::Lines => 0,
            Framing::Messages(queue) => queue.held_total,
        };
        self.buffer.waiting() + held
    }

    /// The position after the last message, for [`truncate`](Self::truncate).
    pub(crate) fn mark(&self) -> u64 {
        self.buffer.produced()
    }

    /// Drops the messages written since `mark`; none of them was taken.
    pub(crate) fn truncate(&mut self, mark: u64) {
        self.buffer.truncate(mark);
        let Framing::Messages(queue) = &mut self.framing else { return };
        while queue.entries.back().is_some_and(|entry| entry.end > mark) {
            let Some(entry) = queue.entries.pop_back() else { return };
            if queue.has_streams {
                take(&mut queue.queued, entry.route, entry.bytes);
            }
        }
    }

    /// Drops every message that was not taken.
    pub(crate) fn clear(&mut self) {
        self.buffer.truncate(0);
        if let Framing::Messages(queue) = &mut self.framing {
            queue.entries.clear();
            queue.queued = SmallMap::default();
        }
    }

    /// Appends the message that `write` writes: one JSON value on one line. `write` returns where
    /// its params begin, as an offset into the buffer it was given. On an error nothing is
    /// appended.
    #[inline]
    pub(crate) fn append<E>(
        &mut self,
        draft: Draft,
        revision: Revision,
        now: Instant,
        limits: &Limits,
        write: impl FnOnce(&mut Vec<u8>) -> Result<Option<usize>, E>,
    ) -> Result<(), E> {
        match &mut self.framing {
            Framing::Lines => self.buffer.try_append(|out, _| {
                write(out)?;
                out.push(b'\n');
                Ok(())
            })?,
            Framing::Messages(queue) => {
                let Draft { route, kind, last } = draft;
                let (bytes, params) = self.buffer.try_append(|out, start| {
                    let params = write(out)?;
                    // The brace after the params closes the message.
                    let params = params.map(|at| at - start..out.len() - start - 1);
                    Ok((out.len() - start, params))
                })?;
                if queue.has_streams && bytes > 0 {
                    add(&mut queue.queued, route, bytes);
                }
                let end = self.buffer.produced();
                queue.entries.push_back(Entry { route, kind, last, revision, bytes, params, end });
            }
        }
        if self.stall.is_none() && self.buffer.waiting() > limits.replies_bytes_max {
            self.start_stall_timer(now, limits);
        }
        Ok(())
    }

    /// Appends the end of a stream, where the transport has several.
    pub(crate) fn end_stream(&mut self, route: Route, last: bool, revision: Revision) {
        let end = self.buffer.produced();
        if let Framing::Messages(queue) = &mut self.framing
            && queue.has_streams
        {
            let kind = OutgoingKind::EndOfStream;
            queue.entries.push_back(Entry {
                route,
                kind,
                last,
                revision,
                bytes: 0,
                params: None,
                end,
            });
        }
    }

    fn start_stall_timer(&mut self, now: Instant, limits: &Limits) {
        let due = now + limits.stall_timeout.max(PERIOD_MIN);
        self.stall = Some(Stall { due, read: self.buffer.written_total() });
    }

    /// When to ask whether the peer reads.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.stall.as_ref().map(|stall| stall.due)
    }

    /// Stops watching the peer.
    pub(crate) fn stop_stall_timer(&mut self) {
        self.stall = None;
    }

    /// Returns whether the peer has read nothing for as long as it may, while more than allowed
    /// waits for it.
    pub(crate) fn has_stalled(&mut self, now: Instant, limits: &Limits) -> bool {
        let Some(Stall { read, .. }) = self.stall.take_if(|stall| stall.due <= now) else {
            return false;
        };
        if self.buffer.waiting() <= limits.replies_bytes_max {
            return false;
        }
        let has_stalled = self.buffer.written_total() == read;
        if !has_stalled {
            self.start_stall_timer(now, limits);
        }
        has_stalled
    }

    /// Releases unused capacity while idle.
    pub(crate) fn shrink(&mut self) {
        if self.is_empty() {
            self.buffer.shrink();
            if let Framing::Messages(queue) = &mut self.framing {
                queue.entries = VecDeque::new();
            }
        }
    }
}

fn add(bytes: &mut SmallMap<Route, usize, 1>, route: Route, count: usize) {
    match bytes.get_mut(&route) {
        Some(has) => *has += count,
        None => bytes.insert(route, count),
    }
}

/// Subtracts up to `count` bytes from those of a route; returns how many.
fn take(bytes: &mut SmallMap<Route, usize, 1>, route: Route, count: usize) -> usize {
    let Some(has) = bytes.get_mut(&route) else { return 0 };
    let count = count.min(*has);
    *has -= count;
    if *has == 0 {
        bytes.remove(&route);
    }
    count
}

#[cfg(test)]
mod tests;
