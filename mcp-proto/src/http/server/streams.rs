//! The streams of a server over HTTP, and which exchange reads each.
//!
//! A message without a reader is kept for the next; a message that was sent is kept for a client
//! that resumes. Both count against the replay budget. A message that waits for its reader counts
//! as unsent on the connection instead.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use bytes::Bytes;

use super::event_id::event_id;
use super::exchange::ExchangeId;
use super::replay::{Kept, Replay};
use crate::collections::SmallMap;
use crate::connection::{Route, Session as _, StreamId};
use crate::http::refusal::Refusal;
use crate::http::sse;
use crate::server::Server;

/// The stream of what belongs to no request.
pub(super) const UNSOLICITED: StreamId = StreamId(0);

/// What one piece of an event stream may hold before its last event.
const FRAME_BYTES: usize = 16 * 1024;

/// The messages after an event are not kept, or never existed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Unresumable;

impl fmt::Display for Unresumable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("what follows this event is not kept")
    }
}

impl core::error::Error for Unresumable {}

impl From<Unresumable> for Refusal {
    fn from(unresumable: Unresumable) -> Self {
        Self::new(400, alloc::format!("{unresumable}"))
    }
}

/// One stream.
#[derive(Debug)]
pub(super) struct Stream {
    replay: Replay,
    reader: Option<ExchangeId>,
    /// The code of the error that was the response.
    error: Option<i64>,
    /// Messages from this number on wait for the reader and count as unsent; those before are
    /// kept.
    held_from: u64,
}

impl Stream {
    /// Returns whether no message will be added.
    pub(super) fn is_done(&self) -> bool {
        self.replay.is_done()
    }

    /// Returns whether every message was read.
    pub(super) fn is_read(&self) -> bool {
        self.replay.is_read()
    }

    /// Returns whether one message at most is left to read, and none will be added.
    pub(super) fn is_one_message(&self) -> bool {
        self.replay.is_done() && self.replay.unread() <= 1
    }

    /// Returns whether nothing of it can be sent to anybody.
    fn is_spent(&self) -> bool {
        self.reader.is_none() && self.replay.is_done() && self.replay.is_empty()
    }
}

/// All streams.
#[derive(Debug)]
pub(super) struct Streams {
    streams: SmallMap<StreamId, Stream, 2>,
    kept: Kept,
}

impl Streams {
    pub(super) fn new(replay_bytes_max: usize) -> Self {
        Self { streams: SmallMap::default(), kept: Kept::new(replay_bytes_max) }
    }

    /// Opens a stream.
    pub(super) fn open(&mut self, id: StreamId, reader: Option<ExchangeId>) {
        self.streams
            .insert(id, Stream { replay: Replay::new(), reader, error: None, held_from: 1 });
    }

    /// Returns a stream, if this exchange reads it.
    pub(super) fn read_by(&self, id: StreamId, reader: ExchangeId) -> Option<&Stream> {
        self.streams.get(&id).filter(|stream| stream.reader == Some(reader))
    }

    /// Returns which exchange reads a stream.
    pub(super) fn reader(&self, id: StreamId) -> Option<ExchangeId> {
        self.streams.get(&id)?.reader
    }

    pub(super) fn contains(&self, id: StreamId) -> bool {
        self.streams.get(&id).is_some()
    }

    /// Returns whether a request was not answered yet.
    pub(super) fn has_unanswered(&self) -> bool {
        self.streams.iter().any(|(id, stream)| *id != UNSOLICITED && !stream.replay.is_done())
    }

    /// Declares that a stream carries nothing more than it holds.
    pub(super) fn finish(&mut self, id: StreamId) {
        if let Some(stream) = self.streams.get_mut(&id) {
            stream.replay.finish();
        }
    }

    /// Sets the code of the error that the response on a stream is.
    pub(super) fn set_error(&mut self, id: StreamId, error: Option<i64>) {
        if let Some(stream) = self.streams.get_mut(&id) {
            stream.error = error;
        }
    }

    /// Adds a message: it waits for the reader, or is kept.
    pub(super) fn push(&mut self, server: &mut Server, id: StreamId, message: Bytes) {
        let Some(stream) = self.streams.get_mut(&id) else { return };
        let bytes = message.len();
        let number = stream.replay.push(message);
        if stream.reader.is_some() {
            server.hold(route(id), bytes);
        } else {
            self.kept.add(id, number, bytes);
            self.evict(server);
        }
    }

    /// Takes the only message of a stream, with the code of the error that it is, and forgets the
    /// stream.
    pub(super) fn take_whole(
        &mut self,
        server: &mut Server,
        id: StreamId,
    ) -> (Option<Bytes>, Option<i64>) {
        let stream = self.streams.get_mut(&id);
        let whole = stream.map_or((None, None), |stream| {
            (stream.replay.poll().map(|(_, message)| message), stream.error)
        });
        self.forget(server, id);
        whole
    }

    /// Appends events to `frame`, up to about 16 KiB, and returns whether the stream is over then.
    /// With a `tag` events have ids and their messages are kept.
    pub(super) fn write_events(
        &mut self,
        server: &mut Server,
        id: StreamId,
        tag: Option<u32>,
        frame: &mut Vec<u8>,
    ) -> bool {
        let Some(Stream { replay, held_from, .. }) = self.streams.get_mut(&id) else { return true };
        let mut sent = 0;
        while frame.len() < FRAME_BYTES {
            let Some((number, message)) = replay.poll() else { break };
            write_event(frame, tag.map(|tag| event_id(tag, id, number)), &message);
            if number < *held_from {
                continue;
            }
            sent += message.len();
            match tag {
                Some(_) => self.kept.add(id, number, message.len()),
                None => {
                    replay.forget(number);
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

    /// Returns an event without a message, from which a client can resume, with how long it waits
    /// before. (HTTP-16)
    pub(super) fn priming(&self, id: StreamId, tag: u32, retry: Duration) -> Vec<u8> {
        let read = self.streams.get(&id).map_or(0, |stream| stream.replay.read());
        let mut out = Vec::new();
        let id = event_id(tag, id, read);
        let event = sse::Frame { id: Some(&id), retry: Some(retry), ..sse::Frame::default() };
        let _always_fits = event.write(&mut out);
        out
    }

    /// Dismisses the reader of a stream and continues after message number `last`, if given.
    pub(super) fn rewind(
        &mut self,
        server: &mut Server,
        id: StreamId,
        last: Option<u64>,
    ) -> Result<(), Unresumable> {
        let stream = self.streams.get(&id).ok_or(Unresumable)?;
        if last.is_some_and(|last| !stream.replay.has_after(last)) {
            return Err(Unresumable);
        }
        self.detach(server, id);
        // Keeping what waited for the reader may have evicted what is asked for.
        let stream = self.streams.get_mut(&id).ok_or(Unresumable)?;
        if last.is_some_and(|last| !stream.replay.resume(last)) {
            return Err(Unresumable);
        }
        Ok(())
    }

    /// Gives a stream a reader.
    pub(super) fn attach(&mut self, id: StreamId, reader: ExchangeId) {
        if let Some(stream) = self.streams.get_mut(&id) {
            stream.reader = Some(reader);
            stream.held_from = stream.replay.end();
        }
    }

    /// Dismisses the reader of a stream: what waited for it is kept for the next.
    pub(super) fn detach(&mut self, server: &mut Server, id: StreamId) {
        self.dismiss(server, id);
        self.evict(server);
        self.sweep(id);
    }

    /// Like `detach`, if this exchange is the reader.
    pub(super) fn leave(&mut self, server: &mut Server, id: StreamId, reader: ExchangeId) {
        if self.reader(id) == Some(reader) {
            self.detach(server, id);
        }
    }

    /// Like `detach`, but may exceed the budget.
    fn dismiss(&mut self, server: &mut Server, id: StreamId) {
        let Some(stream) = self.streams.get_mut(&id).filter(|stream| stream.reader.is_some())
        else {
            return;
        };
        stream.reader = None;
        let first = stream.held_from.max(stream.replay.read() + 1);
        for (number, bytes) in stream.replay.since(first) {
            self.kept.add(id, number, bytes);
        }
        server.release(route(id), usize::MAX);
    }

    /// Drops the oldest kept messages until the budget suffices.
    fn evict(&mut self, server: &mut Server) {
        while let Some((id, number)) = self.kept.pop_excess() {
            let Some(stream) = self.streams.get_mut(&id) else { continue };
            let is_unread = stream.replay.read() < number;
            self.kept.subtract(stream.replay.forget(number));
            // A reader that was behind cannot catch up, and must not receive what follows the gap.
            if is_unread {
                self.dismiss(server, id);
            }
            self.sweep(id);
        }
    }

    /// Forgets a stream that has nothing more to send to any reader.
    pub(super) fn sweep(&mut self, id: StreamId) {
        if id != UNSOLICITED && self.streams.get(&id).is_some_and(Stream::is_spent) {
            self.streams.remove(&id);
        }
    }

    /// Forgets a stream of which nothing is kept.
    pub(super) fn forget(&mut self, server: &mut Server, id: StreamId) {
        self.streams.remove(&id);
        server.release(route(id), usize::MAX);
    }

    /// Releases unused capacity.
    pub(super) fn shrink(&mut self) {
        self.kept.shrink();
    }
}

/// Returns the route of what is sent on a stream.
fn route(id: StreamId) -> Route {
    if id == UNSOLICITED { Route::Any } else { Route::Stream(id) }
}

/// Returns a comment, which shows intermediaries that the stream is in use. (HTTP-54)
pub(super) fn comment() -> Vec<u8> {
    b":\n\n".to_vec()
}

fn write_event(frame: &mut Vec<u8>, id: Option<String>, message: &[u8]) {
    let event = sse::Frame { id: id.as_deref(), data: message, ..sse::Frame::default() };
    // The data is JSON on one line, and the id is ours.
    let _always_fits = event.write(frame);
}

#[cfg(test)]
impl Streams {
    pub(super) fn len(&self) -> usize {
        self.streams.len()
    }

    pub(super) fn kept_bytes(&self) -> usize {
        self.kept.bytes()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (StreamId, &Stream)> {
        self.streams.iter().map(|(id, stream)| (*id, stream))
    }

    /// Panics unless what is kept is what is counted, within the budget.
    pub(super) fn check(&self) {
        self.kept.check(|id, number| {
            let stream = self.streams.get(&id).expect("a stream of which messages are kept");
            stream.replay.since(number).next().expect("a kept message").1
        });
    }
}
