//! The outbound queue: messages in sending order, each with its route and kind.
//!
//! All bodies share one buffer, so a message costs no allocation. A byte stream reads the buffer
//! directly; a message transport takes one message at a time.

use alloc::boxed::Box;
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

/// A queued message, except its body.
#[derive(Debug)]
struct Entry {
    route: Route,
    kind: OutgoingKind,
    last: bool,
    revision: Revision,
    bytes: usize,
    params: Option<Range<usize>>,
    /// The position after the body, counted in bytes since the connection was created.
    end: u64,
}

/// A message to be written, except its body.
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

/// The form in which the transport takes messages.
#[derive(Debug)]
enum Framing {
    /// A byte stream with one message per line; routes and kinds are not kept.
    Lines,
    /// One message at a time.
    Messages(Queue),
}

#[derive(Debug, Default)]
struct Queue {
    entries: VecDeque<Entry>,
    /// Whether the transport has several streams, each limited to a share of the buffer.
    has_streams: bool,
    /// The bytes in the buffer, by route. Counted only with several streams.
    queued: SmallMap<Route, usize, 1>,
    /// The bytes that the transport has taken but not yet sent, by route.
    held: SmallMap<Route, usize, 1>,
}

/// The divisor of `Limits::outbox_bytes_max` that gives the share of one stream of several.
const STREAM_SHARE: usize = 8;

/// The outbound queue of a connection.
#[derive(Debug)]
pub(crate) struct Outbound {
    buffer: Outbox,
    framing: Framing,
    /// All bytes that the transport has taken but not yet sent; zero for a byte stream.
    held_total: usize,
    /// Boxed to keep idle connections small.
    stall: Option<Box<Stall>>,
    /// Replies queued since more than `Limits::replies_bytes_max` bytes were unsent.
    excess_replies: usize,
}

/// The state of a peer that leaves more unread than allowed.
#[derive(Debug)]
struct Stall {
    /// The deadline for reading at least one byte.
    due: Instant,
    /// The total bytes sent when the timer started.
    read: u64,
}

impl Outbound {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            // A response is written in one piece, so this buffer is the largest.
            buffer: Outbox::new(limits.idle_bytes_max.saturating_mul(4)),
            framing: Framing::Messages(Queue::default()),
            held_total: 0,
            stall: None,
            excess_replies: 0,
        }
    }

    /// Declares that the transport has several streams.
    pub(crate) fn use_streams(&mut self) {
        if let Framing::Messages(queue) = &mut self.framing {
            queue.has_streams = true;
        }
    }

    /// Returns whether the transport has several streams.
    pub(crate) fn has_streams(&self) -> bool {
        matches!(&self.framing, Framing::Messages(queue) if queue.has_streams)
    }

    /// Declares that the transport is a byte stream, and converts queued messages to lines.
    pub(crate) fn use_lines(&mut self) {
        let Framing::Messages(queue) = core::mem::replace(&mut self.framing, Framing::Lines) else {
            return;
        };
        self.held_total = 0;
        let lines = Outbox::new(self.buffer.idle_bytes_max());
        let mut messages = core::mem::replace(&mut self.buffer, lines);
        for entry in queue.entries {
            self.buffer.append(|out| {
                out.extend_from_slice(messages.take(entry.bytes));
                out.push(b'\n');
            });
        }
    }

    /// Returns whether the transport is a byte stream.
    pub(crate) fn is_in_lines(&self) -> bool {
        matches!(self.framing, Framing::Lines)
    }

    /// Returns the bytes to send on a byte stream.
    pub(crate) fn lines(&mut self) -> &mut Outbox {
        &mut self.buffer
    }

    /// Returns whether no message is queued.
    pub(crate) fn is_empty(&self) -> bool {
        match &self.framing {
            Framing::Lines => self.buffer.is_empty(),
            Framing::Messages(queue) => queue.entries.is_empty(),
        }
    }

    /// Removes and returns the oldest message.
    pub(crate) fn poll(&mut self) -> Option<Outgoing<'_>> {
        let Framing::Messages(queue) = &mut self.framing else { return None };
        let Some(entry) = queue.entries.pop_front() else {
            self.buffer.compact();
            queue.entries.shrink_to(self.buffer.idle_bytes_max() / size_of::<Entry>());
            return None;
        };
        let Entry { route, kind, last, revision, bytes, params, .. } = entry;
        if queue.has_streams {
            take(&mut queue.queued, route, bytes);
        }
        Some(Outgoing { route, kind, last, revision, body: self.buffer.take(bytes), params })
    }

    /// Counts `bytes` of a message that the transport took as unsent, until they are released.
    pub(crate) fn hold(&mut self, route: Route, bytes: usize) {
        if let Framing::Messages(queue) = &mut self.framing
            && bytes > 0
        {
            add(&mut queue.held, route, bytes);
            self.held_total += bytes;
        }
    }

    /// Releases up to `bytes` held on `route`, because they were sent or discarded.
    pub(crate) fn release(&mut self, route: Route, bytes: usize) {
        if let Framing::Messages(queue) = &mut self.framing {
            self.held_total -= take(&mut queue.held, route, bytes);
        }
    }

    /// Returns whether the queue accepts new traffic on `route`. Responses are always accepted.
    pub(crate) fn has_room(&self, route: Route, limits: &Limits) -> bool {
        let bytes_max = limits.outbox_bytes_max;
        match &self.framing {
            Framing::Messages(queue) if queue.has_streams => {
                let of_route =
                    |bytes: &SmallMap<Route, usize, 1>| bytes.get(&route).copied().unwrap_or(0);
                let unsent = of_route(&queue.held) + of_route(&queue.queued);
                self.buffer.len() + self.held_total <= bytes_max
                    && unsent <= bytes_max / STREAM_SHARE
            }
            Framing::Messages(_) | Framing::Lines => self.unsent() <= bytes_max,
        }
    }

    /// Returns [`Misuse::Blocked`] unless the queue [has room](Self::has_room) on `route`.
    pub(crate) fn require_room(&self, route: Route, limits: &Limits) -> Result<(), Misuse> {
        if self.has_room(route, limits) { Ok(()) } else { Err(Misuse::Blocked) }
    }

    /// Returns the bytes not yet sent, in the buffer or held by the transport.
    pub(crate) fn unsent(&self) -> usize {
        self.buffer.waiting() + self.held_total
    }

    /// Counts one reply that is about to be queued.
    pub(crate) fn count_reply(&mut self, limits: &Limits) {
        let is_in_excess = self.unsent() > limits.replies_bytes_max;
        self.excess_replies = if is_in_excess { self.excess_replies + 1 } else { 0 };
    }

    /// Returns whether more input may cause more replies. If `is_awaiting` returns true, this side
    /// awaits a response, and the peer may be unable to read before its own output is read.
    // SEC-19: otherwise two peers could each wait for the other to read, or one could make this
    // side queue replies without bound.
    pub(crate) fn may_reply(&self, is_awaiting: impl FnOnce() -> bool, limits: &Limits) -> bool {
        self.unsent() <= limits.replies_bytes_max
            || is_awaiting() && self.excess_replies < limits.requests_max
    }

    /// Returns the position after the last message, for [`truncate`](Self::truncate).
    pub(crate) fn mark(&self) -> u64 {
        self.buffer.produced()
    }

    /// Drops the messages written since `mark`. None of them may have been taken.
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

    /// Drops all queued messages.
    pub(crate) fn clear(&mut self) {
        self.buffer.truncate(0);
        if let Framing::Messages(queue) = &mut self.framing {
            queue.entries.clear();
            queue.queued = SmallMap::default();
        }
    }

    /// Appends the message that `write` writes: one JSON value on one line.
    ///
    /// On an error nothing is appended.
    ///
    /// `write` returns the offset of the params in the buffer that it was passed.
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

    /// Appends the end of a stream, if the transport has several.
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
        self.stall = Some(Box::new(Stall { due, read: self.buffer.written_total() }));
    }

    /// Returns the time at which to call [`has_stalled`](Self::has_stalled).
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.stall.as_ref().map(|stall| stall.due)
    }

    /// Stops the timer that detects a peer that does not read.
    pub(crate) fn stop_stall_timer(&mut self) {
        self.stall = None;
    }

    /// Returns whether the peer read nothing for `Limits::stall_timeout` while more than
    /// `Limits::replies_bytes_max` bytes were queued. Restarts the timer if it read something.
    pub(crate) fn has_stalled(&mut self, now: Instant, limits: &Limits) -> bool {
        let Some(stall) = self.stall.take_if(|stall| stall.due <= now) else {
            return false;
        };
        if self.buffer.waiting() <= limits.replies_bytes_max {
            return false;
        }
        let has_stalled = self.buffer.written_total() == stall.read;
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

/// Subtracts up to `count` bytes from those of a route and returns the number subtracted.
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
