//! One HTTP request and how far its response is.
//!
//! ```text
//!            handle_post                                      handle_get
//!                 │                                                │
//!                 ▼   due, nothing to send; or stream cut          ▼
//!             Undecided ─────────────────────────────────────►  Begun
//!              │     │                                             │
//!   answer is  │     │ poll_reply: anything but                    │ poll_reply
//!   all there  │     │ one answer                                  │
//!   is         │     └──────────────────► Streaming ◄──────────────┘
//!              │                              │  poll_frame: all was sent of a stream
//!              ▼                              ▼  that is done, cut, or another reader's
//!        over: one JSON value             over: `Frame::End`
//! ```
//!
//! | stage     | `on_due` with bytes | `on_cut`       | `on_head`           | client gone |
//! |-----------|---------------------|----------------|---------------------|-------------|
//! | Undecided | Begun(Done)         | Begun(Cut)     | over, or Streaming(Done) | over   |
//! | Begun(e)  | the same            | Begun(Cut)     | Streaming(e)        | over        |
//! | Streaming(e) | the same         | Streaming(Cut) | (has its head)      | over        |

use alloc::vec::Vec;

use crate::collections::SmallMap;
use crate::connection::StreamId;
use crate::time::Instant;

/// One HTTP request and its response, while both last.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ExchangeId(pub(crate) u64);

/// How far a response is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Stage {
    /// The response may become one JSON value or an event stream.
    Undecided {
        /// The POST carried a message that is to be answered.
        is_request: bool,
    },
    /// The response is an event stream whose head was not polled yet.
    Begun(Ending),
    /// The response is an event stream.
    Streaming(Ending),
}

/// When an event stream ends.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Ending {
    /// Once the stream has nothing more to carry.
    Done,
    /// As soon as what waits was sent: the client resumes it later.
    Cut,
}

#[derive(Debug)]
pub(super) struct Exchange {
    stream: StreamId,
    stage: Stage,
    /// When to send something although no message waits.
    due: Instant,
    /// Bytes to send before any message.
    prefix: Vec<u8>,
}

impl Exchange {
    /// A POST: nothing is known of its response.
    pub(super) fn posted(stream: StreamId, is_request: bool, due: Instant) -> Self {
        Self { stream, stage: Stage::Undecided { is_request }, due, prefix: Vec::new() }
    }

    /// A GET: its response is an event stream.
    pub(super) fn listening(stream: StreamId, prefix: Vec<u8>, due: Instant) -> Self {
        Self { stream, stage: Stage::Begun(Ending::Done), due, prefix }
    }

    pub(super) fn stream(&self) -> StreamId {
        self.stream
    }

    pub(super) fn stage(&self) -> Stage {
        self.stage
    }

    pub(super) fn due(&self) -> Instant {
        self.due
    }

    pub(super) fn is_cut(&self) -> bool {
        matches!(self.stage, Stage::Begun(Ending::Cut) | Stage::Streaming(Ending::Cut))
    }

    /// Returns whether the head of an event stream, or bytes before its messages, wait to be sent.
    pub(super) fn has_prefix(&self) -> bool {
        matches!(self.stage, Stage::Begun(_)) || !self.prefix.is_empty()
    }

    /// Nothing was sent for long: sends `filler`, which is empty if a message waits.
    pub(super) fn on_due(&mut self, filler: Vec<u8>, next: Instant) {
        self.due = next;
        if matches!(self.stage, Stage::Undecided { .. }) && !filler.is_empty() {
            self.stage = Stage::Begun(Ending::Done);
        }
        if self.prefix.is_empty() {
            self.prefix = filler;
        }
    }

    /// The application ends the response early; one that has not begun begins with `priming`.
    pub(super) fn on_cut(&mut self, priming: impl FnOnce() -> Vec<u8>) {
        self.stage = match self.stage {
            Stage::Undecided { .. } => {
                self.prefix = priming();
                Stage::Begun(Ending::Cut)
            }
            Stage::Begun(_) => Stage::Begun(Ending::Cut),
            Stage::Streaming(_) => Stage::Streaming(Ending::Cut),
        };
    }

    /// The head of an event stream was polled; one that had not begun begins with `priming`.
    pub(super) fn on_head(&mut self, priming: impl FnOnce() -> Vec<u8>, next: Instant) {
        self.due = next;
        self.stage = match self.stage {
            Stage::Undecided { .. } => {
                self.prefix = priming();
                Stage::Streaming(Ending::Done)
            }
            Stage::Begun(ending) | Stage::Streaming(ending) => Stage::Streaming(ending),
        };
    }

    /// Bytes were sent.
    pub(super) fn on_sent(&mut self, next: Instant) {
        self.due = next;
    }

    /// Takes the bytes to send before any message.
    pub(super) fn take_prefix(&mut self) -> Vec<u8> {
        core::mem::take(&mut self.prefix)
    }
}

/// The exchanges that are not over.
#[derive(Debug)]
pub(super) struct Exchanges {
    open: SmallMap<ExchangeId, Exchange, 1>,
    next: u64,
}

impl Exchanges {
    pub(super) fn new() -> Self {
        Self { open: SmallMap::default(), next: 1 }
    }

    /// Returns an id that was never used.
    pub(super) fn next_id(&mut self) -> ExchangeId {
        self.next += 1;
        ExchangeId(self.next - 1)
    }

    pub(super) fn insert(&mut self, id: ExchangeId, exchange: Exchange) {
        self.open.insert(id, exchange);
    }

    pub(super) fn get(&self, id: ExchangeId) -> Option<&Exchange> {
        self.open.get(&id)
    }

    pub(super) fn get_mut(&mut self, id: ExchangeId) -> Option<&mut Exchange> {
        self.open.get_mut(&id)
    }

    pub(super) fn remove(&mut self, id: ExchangeId) -> Option<Exchange> {
        self.open.remove(&id)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (ExchangeId, &Exchange)> {
        self.open.iter().map(|(id, exchange)| (*id, exchange))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Returns when the first of them is due.
    pub(super) fn next_due(&self) -> Option<Instant> {
        self.open.values().map(Exchange::due).min()
    }

    /// Returns those that are due.
    pub(super) fn due(&self, now: Instant) -> Vec<ExchangeId> {
        self.iter().filter(|(_, exchange)| exchange.due <= now).map(|(id, _)| id).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Instant = Instant::ZERO;

    fn stages(mut exchange: Exchange) -> [Stage; 3] {
        exchange.on_due(b":\n\n".to_vec(), NOW);
        let due = exchange.stage();
        exchange.on_cut(|| panic!("it has begun"));
        let cut = exchange.stage();
        exchange.on_head(|| panic!("it has begun"), NOW);
        [due, cut, exchange.stage()]
    }

    #[test]
    fn a_response_moves_on_and_never_back() {
        let (begun, cut) = (Stage::Begun(Ending::Done), Stage::Begun(Ending::Cut));
        let expected = [begun, cut, Stage::Streaming(Ending::Cut)];
        assert_eq!(stages(Exchange::posted(StreamId(1), true, NOW)), expected);
        assert_eq!(stages(Exchange::listening(StreamId(1), Vec::new(), NOW)), expected);
    }

    #[test]
    fn an_undecided_response_that_is_due_waits_for_its_message() {
        let mut exchange = Exchange::posted(StreamId(1), true, NOW);
        exchange.on_due(Vec::new(), NOW);
        assert_eq!(exchange.stage(), Stage::Undecided { is_request: true });
        assert!(!exchange.has_prefix());
        exchange.on_cut(|| b"id: 1".to_vec());
        assert!(exchange.has_prefix() && exchange.is_cut());
        assert_eq!(exchange.take_prefix(), b"id: 1");
    }
}
