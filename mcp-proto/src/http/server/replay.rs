//! The replay buffer: the numbered messages of one stream, and the byte budget shared by all
//! streams of a session.

use alloc::collections::VecDeque;

use bytes::Bytes;

use crate::vocabulary::StreamId;

/// The messages of one stream: those kept for replay, followed by those not yet read.
#[derive(Debug)]
pub(super) struct Replay {
    /// Oldest first.
    messages: VecDeque<Bytes>,
    /// The number of the first message in the buffer.
    first: u64,
    /// The number of the next message to read.
    next: u64,
    /// No message will be pushed.
    is_done: bool,
}

impl Replay {
    pub(super) fn new() -> Self {
        Self { messages: VecDeque::new(), first: 1, next: 1, is_done: false }
    }

    /// Appends a message and returns its number.
    pub(super) fn push(&mut self, message: Bytes) -> u64 {
        self.messages.push_back(message);
        self.end() - 1
    }

    /// Marks the stream as complete: no message will be pushed.
    pub(super) fn finish(&mut self) {
        self.is_done = true;
    }

    pub(super) fn is_done(&self) -> bool {
        self.is_done
    }

    /// Returns the number of the next message to be pushed.
    pub(super) fn end(&self) -> u64 {
        self.first + self.messages.len() as u64
    }

    /// Returns the number of the last message that was read.
    pub(super) fn read(&self) -> u64 {
        self.next - 1
    }

    /// Reads the next message, with its number.
    pub(super) fn poll(&mut self) -> Option<(u64, Bytes)> {
        let at = usize::try_from(self.next.checked_sub(self.first)?).ok()?;
        let message = self.messages.get(at)?.clone();
        self.next += 1;
        Some((self.next - 1, message))
    }

    /// Returns the next message, and drops the others.
    pub(super) fn into_next(mut self) -> Option<Bytes> {
        let at = usize::try_from(self.next.checked_sub(self.first)?).ok()?;
        self.messages.swap_remove_back(at)
    }

    /// Returns whether every message was read and none will be pushed.
    pub(super) fn is_over(&self) -> bool {
        self.is_done && self.is_read()
    }

    /// Returns whether every message was read.
    pub(super) fn is_read(&self) -> bool {
        self.next == self.end()
    }

    /// Returns the number of unread messages.
    pub(super) fn unread(&self) -> u64 {
        self.end() - self.next
    }

    /// Returns whether the buffer holds no message, read or not.
    pub(super) fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Returns whether message `last` exists and every message after it is still in the buffer.
    pub(super) fn can_resume_after(&self, last: u64) -> bool {
        last + 1 >= self.first && last < self.end()
    }

    /// Continues reading after message `last`. Returns false, and does nothing, if
    /// [`can_resume_after`](Self::can_resume_after) returns false.
    pub(super) fn resume(&mut self, last: u64) -> bool {
        let can_resume_after = self.can_resume_after(last);
        if can_resume_after {
            self.next = last + 1;
        }
        can_resume_after
    }

    /// Returns the numbers and lengths of the messages from number `first` on.
    pub(super) fn since(&self, first: u64) -> impl Iterator<Item = (u64, usize)> + '_ {
        let numbered = (self.first..).zip(&self.messages);
        numbered
            .map(|(number, message)| (number, message.len()))
            .filter(move |(number, _)| *number >= first)
    }

    /// Drops the messages up to and including `number` and returns their length in bytes.
    pub(super) fn evict_through(&mut self, number: u64) -> usize {
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

/// The cost of a kept message beyond its length, in bytes.
const MESSAGE_COST: usize = 128;

/// The byte budget of all replay buffers: tracks their messages, oldest first.
#[derive(Debug)]
pub(super) struct ReplayBudget {
    messages: VecDeque<(StreamId, u64)>,
    bytes: usize,
    bytes_max: usize,
}

impl ReplayBudget {
    pub(super) fn new(bytes_max: usize) -> Self {
        Self { messages: VecDeque::new(), bytes: 0, bytes_max }
    }

    /// Adds a message.
    pub(super) fn add(&mut self, stream: StreamId, number: u64, bytes: usize) {
        self.messages.push_back((stream, number));
        self.bytes += bytes + MESSAGE_COST;
    }

    /// Removes and returns the oldest message if the budget is exceeded. Its bytes still count
    /// until they are [subtracted](Self::subtract).
    pub(super) fn pop_excess(&mut self) -> Option<(StreamId, u64)> {
        if self.bytes > self.bytes_max { self.pop() } else { None }
    }

    /// Removes and returns the oldest message. Its bytes still count until they are
    /// [subtracted](Self::subtract).
    pub(super) fn pop(&mut self) -> Option<(StreamId, u64)> {
        self.messages.pop_front()
    }

    /// Returns the cost of all messages.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Subtracts the cost of a dropped message of `bytes` bytes.
    pub(super) fn subtract(&mut self, bytes: usize) {
        self.bytes -= bytes + MESSAGE_COST;
    }

    /// Releases unused capacity.
    pub(super) fn shrink(&mut self) {
        if self.messages.is_empty() {
            self.messages = VecDeque::new();
        }
    }
}

#[cfg(test)]
impl ReplayBudget {
    /// Panics unless the byte count matches the messages and is within the budget.
    pub(super) fn check(&self, bytes_of: impl Fn(StreamId, u64) -> usize) {
        let count = |(stream, number): &(StreamId, u64)| bytes_of(*stream, *number) + MESSAGE_COST;
        assert_eq!(self.messages.iter().map(count).sum::<usize>(), self.bytes);
        assert!(self.bytes <= self.bytes_max);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replay(texts: &[&'static str]) -> Replay {
        let mut stream = Replay::new();
        for text in texts {
            stream.push(Bytes::from_static(text.as_bytes()));
        }
        stream
    }

    #[test]
    fn read_messages_can_be_read_again_from_any_number() {
        let mut stream = replay(&["a", "b", "c"]);
        assert_eq!(core::iter::from_fn(|| stream.poll()).map(|(number, _)| number).last(), Some(3));
        assert!(stream.resume(1));
        assert_eq!(stream.poll(), Some((2, Bytes::from_static(b"b"))));
        assert!(stream.resume(3) && stream.poll().is_none());
        assert!(!stream.resume(4), "no such message");
    }

    #[test]
    fn forgotten_messages_cannot_be_read_again() {
        let mut stream = replay(&["a", "bb", "c"]);
        assert_eq!(stream.evict_through(2), 3);
        assert!(!stream.resume(0) && !stream.resume(1));
        assert!(stream.resume(2));
        assert_eq!(stream.poll(), Some((3, Bytes::from_static(b"c"))));
    }

    #[test]
    fn the_next_message_is_the_first_that_was_not_read() {
        let mut stream = replay(&["a", "b", "c"]);
        stream.poll();
        assert_eq!(stream.into_next(), Some(Bytes::from_static(b"b")));
        let mut stream = replay(&["a", "b"]);
        stream.evict_through(1);
        assert_eq!(stream.into_next(), Some(Bytes::from_static(b"b")));
        assert_eq!(replay(&[]).into_next(), None);
    }

    #[test]
    fn a_stream_is_over_once_its_last_message_was_read() {
        let mut stream = replay(&["a"]);
        stream.finish();
        assert!(!stream.is_over());
        stream.poll();
        assert!(stream.is_over());
        assert!(stream.resume(0) && !stream.is_over());
    }

    #[test]
    fn the_oldest_message_exceeds_the_budget_first() {
        let mut budget = ReplayBudget::new(2 * MESSAGE_COST + 3);
        budget.add(StreamId(1), 1, 2);
        budget.add(StreamId(2), 1, 1);
        assert_eq!(budget.pop_excess(), None);
        budget.add(StreamId(1), 2, 1);
        assert_eq!(budget.pop_excess(), Some((StreamId(1), 1)));
        budget.subtract(2);
        assert_eq!(budget.pop_excess(), None);
    }
}
