//! Computes the upper bound of a connection's memory from its limits.

use super::Limits;

/// Worst-case ratio of decoded size to text size, reached by a long list of small values.
pub(crate) const IDENTITY_FACTOR: usize = 24;

/// Length up to which an identity is not counted; nearly all identities are shorter.
pub(crate) const IDENTITY_BYTES_FREE: usize = 112;

/// The part of [`Limits::peer_bytes_max`] that the name and version of a peer may take.
const IDENTITY_SHARE: usize = 4;

/// An event in a queue that doubles its capacity, and the text of a violation.
pub(crate) const EVENT_BYTES: usize = 2 * 176 + 128;

/// A pending request of the peer: its slots in two tables, where the last of eight entries keeps
/// the chunk allocated, and the data to deliver it again. Ids are counted separately.
pub(crate) const REQUEST_BYTES: usize = 2048;

/// A pending call: its slot in a chunked table, its deadlines, and the data to retry it.
pub(crate) const CALL_BYTES: usize = 1184;

/// The identity that every modern request carries.
const PEER_BYTES: usize = 640 + IDENTITY_FACTOR * IDENTITY_BYTES_FREE;

/// One resource of one subscription: a slot in its filter, and an entry in a tree.
const URI_BYTES: usize = 160;

/// Smaller values are copied out of a shared message, so that they do not keep it alive.
pub(crate) const SHARED_BYTES_MIN: usize = 4096;

/// Everything that does not grow, such as boxes of rarely used state.
const FIXED_BYTES: usize = 2 << 10;

/// The buffer of the queue is up to twice its content, of which up to half has been sent.
const OUTBOX_FACTOR: usize = 4;

impl Limits {
    /// Returns the maximum memory, in bytes, that a peer can make a connection hold.
    ///
    /// This is about 2 GiB with the default limits, and less than 64 KiB with
    /// [`small`](Self::small) ones.
    ///
    /// The value is an upper bound, not an estimate: to reach it, a peer would have to fill every
    /// table and buffer together. The value counts the bytes requested from the allocator on a
    /// 64-bit machine. The bound holds only if input is passed while
    /// [`wants_input`](crate::Endpoint::wants_input) is true, at most
    /// [`input_bytes_max`](Self::input_bytes_max) bytes at a time.
    ///
    /// Over a transport of messages, each queued message costs another 208 bytes.
    ///
    /// Memory that the application supplies is not counted: its configuration, its responses (which
    /// are never refused), the params of its calls and subscriptions, and events that it has
    /// polled.
    ///
    /// ```
    /// use mcp_proto::Limits;
    ///
    /// let tight = Limits {
    ///     message_bytes_max: 64 << 10,
    ///     events_bytes_max: 1 << 20,
    ///     ..Limits::default()
    /// };
    /// assert!(tight.memory_max() < Limits::default().memory_max());
    /// ```
    #[must_use]
    pub fn memory_max(&self) -> usize {
        let identity = times(self.identity_bytes_max(), IDENTITY_FACTOR);
        let terms = [
            // Four buffers, and that of output: twice four times as much, while a part is unsent.
            plus(FIXED_BYTES, times(self.idle_bytes_max, 12)),
            self.input_max(),
            self.events_memory_max(),
            self.requests_memory_max(),
            self.calls_memory_max(),
            self.batches_memory_max(),
            self.outbox_memory_max(),
            self.subscriptions_memory_max(),
            // Cached results are counted by their length.
            times(self.cache_bytes_max, self.retained_factor()),
            // The peer's identity in a handshake and in a request, as text and decoded.
            times(plus(identity, times(self.peer_bytes_max, 2)), 2),
        ];
        terms.into_iter().fold(0, plus)
    }

    /// Returns the maximum length of the text from which the name and version of a peer are read.
    pub(crate) fn identity_bytes_max(&self) -> usize {
        (self.peer_bytes_max / IDENTITY_SHARE).max(IDENTITY_BYTES_FREE)
    }

    /// Returns the memory of a retained part of a message by its length: a small part is a copy,
    /// which may be padded. A large part of at least half its message keeps the whole message
    /// alive, and the buffer of a fragmented message is up to twice its length.
    const fn retained_factor(&self) -> usize {
        if self.message_bytes_max < SHARED_BYTES_MIN { 2 } else { 4 }
    }

    /// Returns the memory of an incomplete message, in a buffer that doubles its capacity, and of a
    /// message being processed, with copies of its parts and its response.
    const fn input_max(&self) -> usize {
        plus(times(self.message_bytes_max, 6), self.input_bytes_max)
    }

    /// Returns the bytes of messages that one input can complete: one long message and short ones.
    const fn piece_max(&self) -> usize {
        plus(self.message_bytes_max, self.input_bytes_max)
    }

    /// Returns the memory of queued events, of those that one more input can cause, and of those
    /// that the end of the connection can cause.
    const fn events_memory_max(&self) -> usize {
        // The shortest line that breaks a rule has two bytes.
        let mut count = plus(self.events_max, self.input_bytes_max / 2);
        // A list change, in a message of 60 bytes, can reach all subscriptions.
        count = plus(count, times(self.input_bytes_max / 60 + 1, self.subscriptions_max));
        // A subscription can end with one event per resource, and all subscriptions, calls and
        // requests can end together.
        count = plus(count, times(self.subscriptions_max, self.subscription_uris_max));
        count = plus(count, plus(self.calls_max, self.requests_max));
        let peers = times(plus(self.events_max, self.input_bytes_max / 128), PEER_BYTES);
        let bytes = times(plus(self.events_bytes_max, self.piece_max()), self.retained_factor());
        plus(plus(times(count, EVENT_BYTES), peers), bytes)
    }

    /// Returns the memory of the peer's pending requests: tables, ids and tokens in two places and
    /// two encodings, identities, params.
    const fn requests_memory_max(&self) -> usize {
        let each = plus(plus(REQUEST_BYTES, PEER_BYTES), times(self.id_bytes_max, 8));
        let bytes = plus(self.requests_bytes_max, self.message_bytes_max);
        plus(times(self.requests_max, each), times(bytes, self.retained_factor()))
    }

    /// Returns the memory of our pending calls and pings, of the input requests received for each
    /// call, and of the data to retry the calls.
    const fn calls_memory_max(&self) -> usize {
        let each = plus(CALL_BYTES, times(self.input_requests_max, 64));
        let bytes = times(plus(self.calls_bytes_max, self.message_bytes_max), 2);
        let calls = plus(plus(self.calls_max, self.pings_max()), 4);
        plus(plus(times(calls, each), bytes), times(self.retired_calls_max, 64))
    }

    /// Returns the maximum number of pending pings.
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

    /// Returns the memory of unanswered batches, each with a pending request.
    ///
    /// Responses and ids are counted before a batch begins, in buffers that double their capacity.
    const fn batches_memory_max(&self) -> usize {
        let last = times(self.batch_members_max, plus(512, times(self.id_bytes_max, 8)));
        let bytes = times(plus(self.replies_bytes_max, last), 2);
        plus(times(self.requests_max, 512), bytes)
    }

    /// Returns the memory of queued messages: all that the limits admit, replies to one more input,
    /// and unsolicited messages (retried calls, cancellations, pings, ends of subscriptions).
    const fn outbox_memory_max(&self) -> usize {
        let admitted = if self.outbox_bytes_max > self.replies_bytes_max {
            self.outbox_bytes_max
        } else {
            self.replies_bytes_max
        };
        // The error for a short request can have eight times its length; the error for a long one
        // quotes it.
        let mut bytes =
            plus(plus(admitted, self.message_bytes_max), times(self.input_bytes_max, 16));
        // Replies that are queued while a response is awaited, besides those of the application.
        bytes = plus(bytes, times(self.requests_max, plus(512, times(self.id_bytes_max, 4))));
        // All pending calls can be retried together, and twice before they require input again.
        bytes = plus(bytes, times(self.calls_bytes_max, 2));
        bytes = plus(bytes, times(plus(self.calls_max, self.pings_max()), 512));
        bytes = plus(bytes, times(self.subscriptions_max, plus(512, times(self.id_bytes_max, 4))));
        times(plus(bytes, self.subscriptions_bytes_max), OUTBOX_FACTOR)
    }

    /// Returns the memory of subscriptions: filters, and a table of resources.
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
