//! The messages of one event stream, numbered, as they wait to be sent and are kept to be sent again; knows neither who
//! reads them nor what they say.
//!
//! An event's id names its session, its stream and its number in it, so ids are unique in a session, and those of one
//! session are none of another. (SSE-14, SSE-15)

use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use bytes::Bytes;

use crate::connection::StreamId;
use crate::json::write_u64;

/// What there is to say on one path.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    /// Messages that wait or are kept, oldest first.
    messages: VecDeque<Bytes>,
    /// The number of the first of them.
    first: u64,
    /// The number of the next to be read.
    next: u64,
    /// Nothing will be added.
    pub(crate) is_done: bool,
}

impl Stream {
    pub(crate) fn new() -> Self {
        Self { first: 1, next: 1, ..Self::default() }
    }

    /// Adds a message; its number.
    pub(crate) fn push(&mut self, message: Bytes) -> u64 {
        self.messages.push_back(message);
        self.end() - 1
    }

    /// The number that the next message added will have.
    pub(crate) fn end(&self) -> u64 {
        self.first + self.messages.len() as u64
    }

    /// The number of the last message that was read.
    pub(crate) fn read(&self) -> u64 {
        self.next - 1
    }

    /// The next message, and its number.
    pub(crate) fn poll(&mut self) -> Option<(u64, Bytes)> {
        let message = self.peek()?.clone();
        self.next += 1;
        Some((self.next - 1, message))
    }

    pub(crate) fn peek(&self) -> Option<&Bytes> {
        self.messages.get(usize::try_from(self.next.checked_sub(self.first)?).ok()?)
    }

    /// Whether everything was read, and nothing will follow.
    pub(crate) fn is_over(&self) -> bool {
        self.is_done && self.next == self.end()
    }

    /// Whether no message waits to be read.
    pub(crate) fn is_read(&self) -> bool {
        self.next == self.end()
    }

    /// Whether all that followed message number `last` is there.
    pub(crate) fn has_after(&self, last: u64) -> bool {
        last + 1 >= self.first && last < self.end()
    }

    /// Reads on after message number `last`; false when what followed it is not there any more, or never was.
    pub(crate) fn resume(&mut self, last: u64) -> bool {
        let is_there = self.has_after(last);
        if is_there {
            self.next = last + 1;
        }
        is_there
    }

    /// How many messages wait to be read.
    pub(crate) fn unread(&self) -> u64 {
        self.end() - self.next
    }

    /// Whether there are no messages, read or not.
    pub(crate) fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// The messages from number `first` on: their numbers and lengths.
    pub(crate) fn since(&self, first: u64) -> impl Iterator<Item = (u64, usize)> + '_ {
        let numbered = (self.first..).zip(&self.messages);
        numbered.map(|(number, message)| (number, message.len())).filter(move |(number, _)| *number >= first)
    }

    /// Forgets message number `number` and those before it; the bytes that they had.
    pub(crate) fn forget(&mut self, number: u64) -> usize {
        let mut bytes = 0;
        while self.first <= number {
            let Some(message) = self.messages.pop_front() else { break };
            bytes += message.len();
            self.first += 1;
        }
        self.next = self.next.max(self.first);
        bytes
    }
}

/// What the ids of a session's events begin with: it tells sessions apart, and does not give their ids away.
pub(crate) fn tag(session: &str) -> u32 {
    // FNV-1a.
    session.bytes().fold(0x811c_9dc5, |tag, byte| (tag ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// What an id has room for at first.
const ID_BYTES: usize = 32;

/// The id of an event.
pub(crate) fn event_id(tag: u32, stream: StreamId, number: u64) -> String {
    // Each event has one.
    let mut id = Vec::with_capacity(ID_BYTES);
    let digits = tag.checked_ilog2().map_or(1, |highest| highest / 4 + 1);
    for place in (0..digits).rev() {
        let digit = char::from_digit(tag >> (4 * place) & 0xf, 16);
        id.extend(digit.map(|digit| digit as u8));
    }
    id.push(b'-');
    write_u64(&mut id, stream.0);
    id.push(b'-');
    write_u64(&mut id, number);
    String::from_utf8(id).unwrap_or_default()
}

/// Reads the id of an event of a session.
pub(crate) fn read_event_id(tag: u32, id: &str) -> Option<(StreamId, u64)> {
    let id = id.strip_prefix(&*format!("{tag:x}-"))?;
    let (stream, number) = id.split_once('-')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(stream) || !digits(number) {
        return None;
    }
    let number = number.parse().ok().filter(|number| *number < u64::MAX)?;
    Some((StreamId(stream.parse().ok()?), number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(texts: &[&'static str]) -> Stream {
        let mut stream = Stream::new();
        for text in texts {
            stream.push(Bytes::from_static(text.as_bytes()));
        }
        stream
    }

    #[test]
    fn what_was_read_is_read_again_from_where_one_likes() {
        let mut stream = stream(&["a", "b", "c"]);
        assert_eq!(core::iter::from_fn(|| stream.poll()).map(|(number, _)| number).last(), Some(3));
        assert!(stream.resume(1));
        assert_eq!(stream.poll(), Some((2, Bytes::from_static(b"b"))));
        assert!(stream.resume(3) && stream.poll().is_none());
        assert!(!stream.resume(4), "no such message");
    }

    #[test]
    fn what_is_forgotten_cannot_be_read_again() {
        let mut stream = stream(&["a", "bb", "c"]);
        assert_eq!(stream.forget(2), 3);
        assert!(!stream.resume(0) && !stream.resume(1));
        assert!(stream.resume(2));
        assert_eq!(stream.poll(), Some((3, Bytes::from_static(b"c"))));
    }

    #[test]
    fn a_stream_is_over_once_its_last_message_was_read() {
        let mut stream = stream(&["a"]);
        stream.is_done = true;
        assert!(!stream.is_over());
        stream.poll();
        assert!(stream.is_over());
        assert!(stream.resume(0) && !stream.is_over());
    }

    #[test]
    fn an_event_id_names_its_session_stream_and_number_and_nothing_else_is_one() {
        let id = event_id(0xa1, StreamId(7), 12);
        assert_eq!((&*id, read_event_id(0xa1, &id)), ("a1-7-12", Some((StreamId(7), 12))));
        assert_eq!(read_event_id(0xa, &id), None, "another session's");
        for id in ["", "-", "1", "1-", "-1", "+1-2", "1-+2", "a-1", "1-2-3", "1-18446744073709551615"] {
            assert_eq!(read_event_id(0xa1, &format!("a1-{id}")), None, "{id}");
            assert_eq!(read_event_id(0xa1, id), None, "{id}");
        }
    }

    #[test]
    fn ids_are_written_as_they_were_read_before() {
        for tag in [0, 1, 0xf, 0x10, 0x811c_9dc5, u32::MAX] {
            assert_eq!(event_id(tag, StreamId(u64::MAX), 0), format!("{tag:x}-{}-0", u64::MAX));
        }
    }

    #[test]
    fn sessions_have_tags_of_their_own() {
        assert_ne!(tag("7c1e"), tag("7c1f"));
    }
}
