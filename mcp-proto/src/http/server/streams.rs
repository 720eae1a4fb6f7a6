//! The message streams of a server over HTTP, and the exchange that reads each.
//!
//! Messages without a reader and messages already sent are kept for replay and count against the
//! replay budget. Messages that wait for their reader count as unsent bytes of the connection
//! instead.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use bytes::Bytes;

use super::event_id::{event_id, priming_id};
use super::exchange::{ServerExchangeId, Unread};
use super::replay::{Replay, ReplayBudget};
use crate::collections::SmallMap;
use crate::http::refusal::Refusal;
use crate::http::sse;
use crate::message_endpoint::MessageEndpoint as _;
use crate::server::Server;
use crate::vocabulary::{Route, StreamId};

/// The stream of messages that belong to no request.
pub(super) const UNSOLICITED: StreamId = StreamId(0);

/// A chunk of an event stream gets no further event above this length.
const FRAME_BYTES: usize = 16 * 1024;

/// The number of streams to remember that ended without a response.
const UNANSWERED_MAX: usize = 64;

/// The error for a stream that cannot be resumed after the given event id.
///
/// The event is unknown, a message after that event was evicted, or the server handles a modern
/// request, whose stream cannot be resumed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Unresumable;

impl fmt::Display for Unresumable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("stream cannot be resumed after this event id")
    }
}

impl core::error::Error for Unresumable {}

impl From<Unresumable> for Refusal {
    fn from(unresumable: Unresumable) -> Self {
        Self::new(400, alloc::format!("{unresumable}"))
    }
}

/// A stream of messages with at most one reader.
#[derive(Debug)]
pub(super) struct MessageStream {
    pub(super) replay: Replay,
    reader: Option<ServerExchangeId>,
    /// The JSON-RPC error code of the response, if it is an error.
    error: Option<i64>,
    /// Messages from this number on wait for the reader and count as unsent; earlier ones count
    /// against the replay budget.
    held_from: u64,
}

impl MessageStream {
    /// Returns what the reader has yet to send.
    pub(super) fn unread(&self) -> Unread {
        Unread { messages: self.replay.unread(), is_all: self.replay.is_done() }
    }

    /// Returns whether the stream has no reader and nothing to send to a future one.
    fn is_spent(&self) -> bool {
        self.reader.is_none() && self.replay.is_done() && self.replay.is_empty()
    }
}

/// All streams of a session, with their shared replay budget.
#[derive(Debug)]
pub(super) struct Streams {
    streams: SmallMap<StreamId, MessageStream, 2>,
    budget: ReplayBudget,
    /// The latest streams that ended without a response.
    #[expect(clippy::box_collection, reason = "most sessions have none")]
    unanswered: Option<Box<VecDeque<StreamId>>>,
}

impl Streams {
    pub(super) fn new(replay_bytes_max: usize) -> Self {
        Self {
            streams: SmallMap::default(),
            budget: ReplayBudget::new(replay_bytes_max),
            unanswered: None,
        }
    }

    /// Opens a stream.
    pub(super) fn open(&mut self, id: StreamId, reader: Option<ServerExchangeId>) {
        self.streams
            .insert(id, MessageStream { replay: Replay::new(), reader, error: None, held_from: 1 });
    }

    /// Returns a stream if `reader` is its reader.
    pub(super) fn read_by(&self, id: StreamId, reader: ServerExchangeId) -> Option<&MessageStream> {
        self.streams.get(&id).filter(|stream| stream.reader == Some(reader))
    }

    /// Returns the exchange that reads a stream.
    pub(super) fn reader(&self, id: StreamId) -> Option<ServerExchangeId> {
        self.streams.get(&id)?.reader
    }

    /// Ends a stream without a response.
    pub(super) fn end_unanswered(&mut self, id: StreamId) {
        self.finish(id);
        let unanswered = self.unanswered.get_or_insert_default();
        if unanswered.len() >= UNANSWERED_MAX {
            unanswered.pop_front();
        }
        unanswered.push_back(id);
    }

    /// Returns whether a stream has ended without a response, and no message after `last` is left.
    pub(super) fn is_finished_after(&self, id: StreamId, last: u64) -> bool {
        self.unanswered.as_ref().is_some_and(|unanswered| unanswered.contains(&id))
            && self.streams.get(&id).is_none_or(|stream| {
                stream.reader.is_none() && stream.replay.since(last + 1).next().is_none()
            })
    }

    pub(super) fn contains(&self, id: StreamId) -> bool {
        self.streams.get(&id).is_some()
    }

    /// Returns whether messages can be added to a stream.
    pub(super) fn is_open(&self, id: StreamId) -> bool {
        self.streams.get(&id).is_some_and(|stream| !stream.replay.is_done())
    }

    /// Returns whether a request is unanswered.
    pub(super) fn has_unanswered(&self) -> bool {
        self.streams.iter().any(|(id, stream)| *id != UNSOLICITED && !stream.replay.is_done())
    }

    /// Marks a stream as complete: no message will be pushed.
    pub(super) fn finish(&mut self, id: StreamId) {
        if let Some(stream) = self.streams.get_mut(&id) {
            stream.replay.finish();
        }
    }

    /// Appends a message, which is the last one of its stream if `is_last`. Without a reader it is
    /// kept for replay, otherwise it waits for the reader.
    ///
    /// `error` is the JSON-RPC error code of a response, if it is an error.
    pub(super) fn push(
        &mut self,
        server: &mut Server,
        id: StreamId,
        message: Bytes,
        error: Option<i64>,
        is_last: bool,
    ) {
        let Some(stream) = self.streams.get_mut(&id) else { return };
        stream.error = error;
        if is_last {
            stream.replay.finish();
        }
        let bytes = message.len();
        let number = stream.replay.push(message);
        if stream.reader.is_some() {
            server.hold(route(id), bytes);
        } else {
            self.budget.add(id, number, bytes);
            self.evict(server);
        }
    }

    /// Removes a stream and returns its only message, with its JSON-RPC error code.
    pub(super) fn take_single(
        &mut self,
        server: &mut Server,
        id: StreamId,
    ) -> (Option<Bytes>, Option<i64>) {
        let stream = self.streams.remove(&id);
        server.release(route(id), usize::MAX);
        stream.map_or((None, None), |stream| (stream.replay.into_next(), stream.error))
    }

    /// Appends events to `frame`, up to about 16 KiB, and returns whether the stream is over.
    /// With a `tag`, events have ids and their messages are kept for replay.
    pub(super) fn write_events(
        &mut self,
        server: &mut Server,
        id: StreamId,
        tag: Option<u32>,
        frame: &mut Vec<u8>,
    ) -> bool {
        let Some(MessageStream { replay, held_from, .. }) = self.streams.get_mut(&id) else {
            return true;
        };
        let mut sent = 0;
        while frame.len() < FRAME_BYTES {
            let Some((number, message)) = replay.poll() else { break };
            write_event(frame, tag.map(|tag| event_id(tag, id, number)), &message);
            if number < *held_from {
                continue;
            }
            sent += message.len();
            match tag {
                Some(_) => self.budget.add(id, number, message.len()),
                None => {
                    replay.evict_through(number);
                }
            }
        }
        let is_over = replay.is_over();
        if sent > 0 {
            server.release(route(id), sent);
            self.evict(server);
        }
        is_over
    }

    /// Returns a priming event: an id to resume from, perhaps with the reconnection time, and no
    /// message. It has no type, because some clients take each event of type `message` for one.
    // HTTP-16: a stream starts with an event id and empty data.
    // SSE-14: the id differs from that of the last message, which may have been sent before.
    pub(super) fn priming(
        &self,
        id: StreamId,
        exchange: ServerExchangeId,
        tag: u32,
        retry: Option<Duration>,
    ) -> Vec<u8> {
        let read = self.streams.get(&id).map_or(0, |stream| stream.replay.read());
        let mut out = Vec::new();
        let id = priming_id(tag, id, read, exchange.0.get());
        let event = sse::OutgoingEvent { id: Some(&id), retry, ..sse::OutgoingEvent::default() };
        let _always_fits = event.write(&mut out);
        out
    }

    /// Detaches the reader of a stream and rewinds it to the message after `last`, if given.
    pub(super) fn rewind(
        &mut self,
        server: &mut Server,
        id: StreamId,
        last: Option<u64>,
    ) -> Result<(), Unresumable> {
        let stream = self.streams.get(&id).ok_or(Unresumable)?;
        if last.is_some_and(|last| !stream.replay.can_resume_after(last)) {
            return Err(Unresumable);
        }
        self.detach(server, id);
        // Detaching the reader moves messages to the replay budget, which may evict those after
        // `last`.
        let stream = self.streams.get_mut(&id).ok_or(Unresumable)?;
        if last.is_some_and(|last| !stream.replay.resume(last)) {
            return Err(Unresumable);
        }
        Ok(())
    }

    /// Sets the reader of a stream.
    pub(super) fn attach(&mut self, id: StreamId, reader: ServerExchangeId) {
        if let Some(stream) = self.streams.get_mut(&id) {
            stream.reader = Some(reader);
            stream.held_from = stream.replay.end();
        }
    }

    /// Removes the reader of a stream: waiting messages are kept for the next one.
    pub(super) fn detach(&mut self, server: &mut Server, id: StreamId) {
        self.detach_unbounded(server, id);
        self.evict(server);
        self.sweep(id);
    }

    /// Like `detach`, but only if `reader` is the current reader.
    pub(super) fn detach_if_reader(
        &mut self,
        server: &mut Server,
        id: StreamId,
        reader: ServerExchangeId,
    ) {
        if self.reader(id) == Some(reader) {
            self.detach(server, id);
        }
    }

    /// Like `detach`, but may leave the budget exceeded.
    fn detach_unbounded(&mut self, server: &mut Server, id: StreamId) {
        let Some(stream) = self.streams.get_mut(&id).filter(|stream| stream.reader.is_some())
        else {
            return;
        };
        stream.reader = None;
        let first = stream.held_from.max(stream.replay.read() + 1);
        for (number, bytes) in stream.replay.since(first) {
            self.budget.add(id, number, bytes);
        }
        server.release(route(id), usize::MAX);
    }

    /// Drops the oldest kept messages until they fit the budget.
    fn evict(&mut self, server: &mut Server) {
        while let Some(oldest) = self.budget.pop_excess() {
            self.drop_message(server, oldest);
        }
    }

    /// Drops a message that was removed from the budget, the oldest of its stream.
    fn drop_message(&mut self, server: &mut Server, (id, number): (StreamId, u64)) {
        let Some(stream) = self.streams.get_mut(&id) else { return };
        let is_unread = stream.replay.read() < number;
        self.budget.subtract(stream.replay.evict_through(number));
        // The reader has not received this message, so it must not receive later ones.
        if is_unread {
            self.detach_unbounded(server, id);
        }
        self.sweep(id);
    }

    /// Removes a stream that has nothing to send to any reader.
    pub(super) fn sweep(&mut self, id: StreamId) {
        if id != UNSOLICITED && self.streams.get(&id).is_some_and(MessageStream::is_spent) {
            self.streams.remove(&id);
        }
    }

    /// Removes a stream whose messages do not count against the replay budget.
    pub(super) fn remove(&mut self, server: &mut Server, id: StreamId) {
        self.streams.remove(&id);
        server.release(route(id), usize::MAX);
    }

    /// Returns the cost of the messages kept for replay.
    pub(super) fn kept_bytes(&self) -> usize {
        self.budget.bytes()
    }

    /// Drops the messages kept for replay.
    pub(super) fn drop_kept(&mut self, server: &mut Server) {
        while let Some(oldest) = self.budget.pop() {
            self.drop_message(server, oldest);
        }
        self.budget.shrink();
    }

    /// Releases unused capacity.
    pub(super) fn shrink(&mut self) {
        self.budget.shrink();
    }
}

/// Returns the route of messages on a stream.
fn route(id: StreamId) -> Route {
    if id == UNSOLICITED { Route::Any } else { Route::Stream(id) }
}

/// Returns a comment, which keeps intermediaries from closing the stream.
// HTTP-54: comments keep idle connections open.
pub(super) fn comment() -> Vec<u8> {
    b":\n\n".to_vec()
}

/// Returns an event that only sets the reconnection time.
// HTTP-16: sent before an early close.
pub(super) fn retry_event(retry: Duration) -> Vec<u8> {
    let mut out = Vec::new();
    let event = sse::OutgoingEvent { retry: Some(retry), ..sse::OutgoingEvent::default() };
    let _always_fits = event.write(&mut out);
    out
}

fn write_event(frame: &mut Vec<u8>, id: Option<String>, message: &[u8]) {
    // Some clients drop messages whose event has no type.
    let kind = Some(sse::MESSAGE);
    let data = &*sse::message_data(message);
    let event = sse::OutgoingEvent { id: id.as_deref(), kind, data, retry: None };
    // Infallible: the data is single-line JSON and the id is generated here.
    let _always_fits = event.write(frame);
}

#[cfg(test)]
impl Streams {
    pub(super) fn len(&self) -> usize {
        self.streams.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (StreamId, &MessageStream)> {
        self.streams.iter().map(|(id, stream)| (*id, stream))
    }

    /// Panics unless the replay budget matches the kept messages and is not exceeded.
    pub(super) fn check(&self) {
        self.budget.check(|id, number| {
            let stream = self.streams.get(&id).expect("no stream for a kept message");
            stream.replay.since(number).next().expect("kept message was dropped").1
        });
    }
}
