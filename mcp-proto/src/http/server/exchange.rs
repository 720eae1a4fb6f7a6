//! An HTTP request on a server and the state of its response.
//!
//! ```text
//!            handle_post                                      handle_get
//!                 │                                                │
//!                 ▼    timer without a message; or stream cut      ▼
//!             Undecided ─────────────────────────────────────►  Begun
//!              │     │                                             │
//!   complete   │     │ poll_reply: anything but                    │ poll_reply
//!   response   │     │ a single response                           │
//!              │     └──────────────────► Streaming ◄──────────────┘
//!              │                              │  poll_chunk: everything was sent, and the stream
//!              ▼                              ▼  is done, cut, or has another reader
//!        over: one JSON value             over: `BodyChunk::End`
//! ```
//!
//! A GET that resumes a stream which ended without a response is `Finished` from the start, and
//! over once its empty reply was polled.
//!
//! | state        | `on_due` with bytes | `on_cut`       | `on_head`                | client gone |
//! |--------------|---------------------|----------------|--------------------------|-------------|
//! | Undecided    | Begun(Done)         | Begun(Cut)     | over, or Streaming(Done) | over        |
//! | Begun(e)     | Begun(e)            | Begun(Cut)     | Streaming(e)             | over        |
//! | Streaming(e) | Streaming(e)        | Streaming(Cut) | (head was polled)        | over        |

use alloc::vec::Vec;

use crate::collections::SmallMap;
use crate::time::Instant;
use crate::vocabulary::StreamId;

/// The id of an HTTP request and its response; never reused within a session.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ServerExchangeId(pub(crate) u64);

/// The state of a response.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum ResponseState {
    /// The response may become one JSON value or an event stream.
    Undecided {
        /// The POST carried a message that requires a response.
        is_request: bool,
    },
    /// The response is an event stream whose head was not polled.
    Begun(Ending),
    /// The response is an event stream.
    Streaming(Ending),
    /// The response is empty, and the client must not resume the stream again.
    Finished,
}

/// The condition on which an event stream ends.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Ending {
    /// The message stream is done.
    Done,
    /// The waiting messages were sent; the client resumes the stream later.
    Cut,
}

#[derive(Debug)]
pub(super) struct Exchange {
    stream: StreamId,
    state: ResponseState,
    /// When to send filler bytes if no message is ready.
    due: Instant,
    /// Bytes to send before any message.
    prefix: Vec<u8>,
}

impl Exchange {
    /// Creates the exchange of a POST, whose kind of response is undecided.
    pub(super) fn posted(stream: StreamId, is_request: bool, due: Instant) -> Self {
        Self { stream, state: ResponseState::Undecided { is_request }, due, prefix: Vec::new() }
    }

    /// Creates the exchange of a GET, whose response is an event stream.
    pub(super) fn listening(stream: StreamId, prefix: Vec<u8>, due: Instant) -> Self {
        Self { stream, state: ResponseState::Begun(Ending::Done), due, prefix }
    }

    /// Creates the exchange of a GET that resumes a stream which has ended without a response.
    pub(super) fn finished(stream: StreamId, due: Instant) -> Self {
        Self { stream, state: ResponseState::Finished, due, prefix: Vec::new() }
    }

    pub(super) fn stream(&self) -> StreamId {
        self.stream
    }

    pub(super) fn state(&self) -> ResponseState {
        self.state
    }

    pub(super) fn due(&self) -> Instant {
        self.due
    }

    pub(super) fn is_cut(&self) -> bool {
        matches!(
            self.state,
            ResponseState::Begun(Ending::Cut) | ResponseState::Streaming(Ending::Cut)
        )
    }

    /// Returns whether a head or a prefix is ready to be sent.
    pub(super) fn has_prefix(&self) -> bool {
        matches!(self.state, ResponseState::Begun(_) | ResponseState::Finished)
            || !self.prefix.is_empty()
    }

    /// Handles an idle timer: sends `filler`, which is empty if a message is ready.
    pub(super) fn on_due(&mut self, filler: Vec<u8>, next: Instant) {
        self.due = next;
        if matches!(self.state, ResponseState::Undecided { .. }) && !filler.is_empty() {
            self.state = ResponseState::Begun(Ending::Done);
        }
        if self.prefix.is_empty() {
            self.prefix = filler;
        }
    }

    /// Handles an early end of the response by the application. If the response has not begun, it
    /// begins with `priming`.
    pub(super) fn on_cut(&mut self, priming: impl FnOnce() -> Vec<u8>) {
        self.state = match self.state {
            ResponseState::Undecided { .. } => {
                self.prefix = priming();
                ResponseState::Begun(Ending::Cut)
            }
            ResponseState::Begun(_) => ResponseState::Begun(Ending::Cut),
            ResponseState::Finished => ResponseState::Finished,
            ResponseState::Streaming(_) => ResponseState::Streaming(Ending::Cut),
        };
    }

    /// Handles the polling of an event stream's head. If the response had not begun, it begins with
    /// `priming`.
    pub(super) fn on_head(&mut self, priming: impl FnOnce() -> Vec<u8>, next: Instant) {
        self.due = next;
        self.state = match self.state {
            ResponseState::Undecided { .. } => {
                self.prefix = priming();
                ResponseState::Streaming(Ending::Done)
            }
            ResponseState::Begun(ending) | ResponseState::Streaming(ending) => {
                ResponseState::Streaming(ending)
            }
            ResponseState::Finished => ResponseState::Finished,
        };
    }

    /// Handles the sending of bytes: restarts the idle timer.
    pub(super) fn on_sent(&mut self, next: Instant) {
        self.due = next;
    }

    /// Takes the bytes to send before any message.
    pub(super) fn take_prefix(&mut self) -> Vec<u8> {
        core::mem::take(&mut self.prefix)
    }
}

/// The open exchanges.
#[derive(Debug)]
pub(super) struct Exchanges {
    open: SmallMap<ServerExchangeId, Exchange, 1>,
    next: u64,
}

impl Exchanges {
    pub(super) fn new() -> Self {
        Self { open: SmallMap::default(), next: 1 }
    }

    /// Returns an unused id.
    pub(super) fn next_id(&mut self) -> ServerExchangeId {
        self.next += 1;
        ServerExchangeId(self.next - 1)
    }

    pub(super) fn insert(&mut self, id: ServerExchangeId, exchange: Exchange) {
        self.open.insert(id, exchange);
    }

    pub(super) fn get(&self, id: ServerExchangeId) -> Option<&Exchange> {
        self.open.get(&id)
    }

    pub(super) fn get_mut(&mut self, id: ServerExchangeId) -> Option<&mut Exchange> {
        self.open.get_mut(&id)
    }

    pub(super) fn remove(&mut self, id: ServerExchangeId) -> Option<Exchange> {
        self.open.remove(&id)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (ServerExchangeId, &Exchange)> {
        self.open.iter().map(|(id, exchange)| (*id, exchange))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Returns when the next exchange is due.
    pub(super) fn next_due(&self) -> Option<Instant> {
        self.open.values().map(Exchange::due).min()
    }

    /// Returns the exchanges that are due.
    pub(super) fn due(&self, now: Instant) -> Vec<ServerExchangeId> {
        self.iter().filter(|(_, exchange)| exchange.due <= now).map(|(id, _)| id).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Instant = Instant::ZERO;

    fn states(mut exchange: Exchange) -> [ResponseState; 3] {
        exchange.on_due(b":\n\n".to_vec(), NOW);
        let due = exchange.state();
        exchange.on_cut(|| panic!("primed twice"));
        let cut = exchange.state();
        exchange.on_head(|| panic!("primed twice"), NOW);
        [due, cut, exchange.state()]
    }

    #[test]
    fn a_response_never_returns_to_an_earlier_state() {
        let (begun, cut) = (ResponseState::Begun(Ending::Done), ResponseState::Begun(Ending::Cut));
        let expected = [begun, cut, ResponseState::Streaming(Ending::Cut)];
        assert_eq!(states(Exchange::posted(StreamId(1), true, NOW)), expected);
        assert_eq!(states(Exchange::listening(StreamId(1), Vec::new(), NOW)), expected);
    }

    #[test]
    fn an_undecided_response_with_a_ready_message_stays_undecided() {
        let mut exchange = Exchange::posted(StreamId(1), true, NOW);
        exchange.on_due(Vec::new(), NOW);
        assert_eq!(exchange.state(), ResponseState::Undecided { is_request: true });
        assert!(!exchange.has_prefix());
        exchange.on_cut(|| b"id: 1".to_vec());
        assert!(exchange.has_prefix() && exchange.is_cut());
        assert_eq!(exchange.take_prefix(), b"id: 1");
    }
}
