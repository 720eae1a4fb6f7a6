//! The ceiling of what one connection can hold, from its limits; knows what is bounded by which,
//! and nothing of how.

use super::Limits;

/// What a long list of small things takes for each byte of its text, once it is read as a type.
pub(crate) const IDENTITY_FACTOR: usize = 24;

/// Who makes a request, up to which length this is not counted: nearly everybody's is shorter.
pub(crate) const IDENTITY_BYTES_FREE: usize = 256;

/// An event, in a queue that grows by doubling, and the words that come with a violation.
pub(crate) const EVENT_BYTES: usize = 2 * 256 + 128;

/// An open request of the peer's: its places in two tables, where the last one left of eight holds
/// the room of all, and what it takes to deliver it again. Its ids are counted apart.
pub(crate) const REQUEST_BYTES: usize = 2048;

/// An open call: its place in such a table, its deadlines, and what it takes to make it again.
pub(crate) const CALL_BYTES: usize = 1152;

/// Who makes a request, where each says it for itself.
const PEER_BYTES: usize = 1024 + IDENTITY_FACTOR * IDENTITY_BYTES_FREE;

/// One resource of one subscription: a place in its filter, and an entry in a tree.
const URI_BYTES: usize = 160;

/// A small map, a buffer that is kept, and all that does not grow.
const FIXED_BYTES: usize = 256 << 10;

/// A part of a message is kept with the message if it is at least half of it, and the buffer of a
/// message that came in pieces is up to twice as long as the message.
const KEPT_FACTOR: usize = 4;

/// A buffer that bytes are added to and taken from is up to twice as long as what is in it, of
/// which up to half is sent.
const OUTBOX_FACTOR: usize = 4;

impl Limits {
    /// The largest piece that [`memory_max`](Self::memory_max) expects a driver to hand over at a
    /// time, 64 KiB.
    pub const INPUT_BYTES_MAX: usize = 64 << 10;

    /// The most bytes that a connection with these limits holds, whatever its peer does: about 2
    /// GiB with the defaults (30 MiB of it for events that one piece of input can make,
    /// whatever the other limits).
    ///
    /// It is a ceiling and no estimate: a peer would have to drive every table and every buffer to
    /// its bound at once. It counts bytes as they are asked of the allocator, and holds on a
    /// 64-bit machine for a driver that hands over [`INPUT_BYTES_MAX`](Self::INPUT_BYTES_MAX)
    /// at a time, and only while [`wants_input`](crate::Endpoint::wants_input) says so.
    ///
    /// It counts what the peer makes a connection hold. What the application hands over itself
    /// comes on top: its configuration, what it answers (answers are never refused), what it
    /// makes calls with and listens to, and events that it took.
    ///
    /// ```
    /// use mcp_proto::Limits;
    ///
    /// let tight = Limits { message_bytes_max: 64 << 10, events_bytes_max: 1 << 20, ..Limits::default() };
    /// assert!(tight.memory_max() < Limits::default().memory_max());
    /// ```
    #[must_use]
    pub fn memory_max(&self) -> usize {
        let terms = [
            FIXED_BYTES,
            self.input_max(),
            self.events_memory_max(),
            self.requests_memory_max(),
            self.calls_memory_max(),
            self.batches_memory_max(),
            self.outbox_memory_max(),
            self.subscriptions_memory_max(),
            // The cache counts its results by their length.
            times(self.cache_bytes_max, KEPT_FACTOR),
            // Who the other side of a handshake is, while it is read and once it is.
            times(self.peer_bytes_max, IDENTITY_FACTOR + 8),
        ];
        terms.into_iter().fold(0, plus)
    }

    /// A message that has not ended, in a buffer that grows by doubling; and one that is being
    /// read, with copies of its parts and what it is answered.
    const fn input_max(&self) -> usize {
        plus(times(self.message_bytes_max, 6), Self::INPUT_BYTES_MAX)
    }

    /// What one piece of input can hold: the end of one long message, and short ones.
    const fn piece_max(&self) -> usize {
        plus(self.message_bytes_max, Self::INPUT_BYTES_MAX)
    }

    /// The events that wait, those that one more piece of input can make, and those that the end
    /// can.
    const fn events_memory_max(&self) -> usize {
        // The shortest line that breaks a rule has two bytes.
        let mut count = plus(self.events_max, Self::INPUT_BYTES_MAX / 2);
        // One change of a list can be told to all who listen; it takes 60 bytes.
        count = plus(count, times(Self::INPUT_BYTES_MAX / 60, self.subscriptions_max));
        // A subscription can end with an event for each resource, and all can end at once; so can
        // calls and requests.
        count = plus(count, times(self.subscriptions_max, self.subscription_uris_max));
        count = plus(count, plus(self.calls_max, self.requests_max));
        let peers = times(plus(self.events_max, Self::INPUT_BYTES_MAX / 128), PEER_BYTES);
        let bytes = times(plus(self.events_bytes_max, self.piece_max()), KEPT_FACTOR);
        plus(plus(times(count, EVENT_BYTES), peers), bytes)
    }

    /// The peer's open requests: tables, ids and tokens in two places and two spellings, who made
    /// them, their params.
    const fn requests_memory_max(&self) -> usize {
        let each = plus(plus(REQUEST_BYTES, PEER_BYTES), times(self.id_bytes_max, 8));
        let bytes = times(plus(self.requests_bytes_max, self.message_bytes_max), KEPT_FACTOR);
        plus(times(self.requests_max, each), bytes)
    }

    /// Our open calls and pings, the questions that each can have been answered with, and what it
    /// takes to repeat them.
    const fn calls_memory_max(&self) -> usize {
        let each = plus(CALL_BYTES, times(self.questions_max, 64));
        let bytes = times(plus(self.calls_bytes_max, self.message_bytes_max), 2);
        let calls = plus(plus(self.calls_max, self.pings_max()), 4);
        plus(plus(times(calls, each), bytes), times(self.retired_max, 64))
    }

    /// Pings that can be open at a time.
    const fn pings_max(&self) -> usize {
        match self.ping_every {
            None => 0,
            Some(every) => {
                let every = if every.as_millis() == 0 { 1 } else { every.as_millis() };
                let open = self.ping_timeout.as_millis() / every;
                if open > u32::MAX as u128 { u32::MAX as usize } else { open as usize + 1 }
            }
        }
    }

    /// Batches that are not answered: each has an open request. Their answers and ids are counted
    /// before one begins, and grow by doubling.
    const fn batches_memory_max(&self) -> usize {
        let last = times(self.batch_members_max, plus(512, times(self.id_bytes_max, 8)));
        let bytes = times(plus(self.replies_bytes_max, last), 2);
        plus(times(self.requests_max, 512), bytes)
    }

    /// What waits to be sent: all that is ever let in, the replies to one more piece of input, and
    /// what is sent without being asked for: repeated calls, cancels, pings, the ends of
    /// subscriptions.
    const fn outbox_memory_max(&self) -> usize {
        let admitted = if self.outbox_bytes_max > self.replies_bytes_max {
            self.outbox_bytes_max
        } else {
            self.replies_bytes_max
        };
        // A short request can be refused in eight times its length, and a long one told what it
        // said.
        let mut bytes =
            plus(plus(admitted, self.message_bytes_max), times(Self::INPUT_BYTES_MAX, 16));
        // All calls that wait can be made again at once, twice until input is needed.
        bytes = plus(bytes, times(self.calls_bytes_max, 2));
        bytes = plus(bytes, times(plus(self.calls_max, self.pings_max()), 1024));
        bytes = plus(bytes, times(self.subscriptions_max, plus(512, times(self.id_bytes_max, 4))));
        times(plus(bytes, self.subscriptions_bytes_max), OUTBOX_FACTOR)
    }

    /// Who listens to what: filters, and a table of resources.
    const fn subscriptions_memory_max(&self) -> usize {
        let each = plus(
            plus(512, times(self.id_bytes_max, 4)),
            times(self.subscription_uris_max, URI_BYTES),
        );
        plus(times(self.subscriptions_max, each), times(self.subscriptions_bytes_max, 4))
    }
}

const fn plus(one: usize, other: usize) -> usize {
    one.saturating_add(other)
}

const fn times(one: usize, other: usize) -> usize {
    one.saturating_mul(other)
}
