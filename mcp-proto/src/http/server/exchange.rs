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
//! over once its empty reply was polled. A POST whose client accepts JSON only stays `Undecided`
//! until its response is complete.
//!
//! | state        | `on_due` with bytes | `on_cut`       | `on_head`                | client gone |
//! |--------------|---------------------|----------------|--------------------------|-------------|
//! | Undecided    | Begun(Done)         | Begun(Cut)     | over, or Streaming(Done) | over        |
//! | Begun(e)     | Begun(e)            | Begun(Cut)     | Streaming(e)             | over        |
//! | Streaming(e) | Streaming(e)        | Streaming(Cut) | (head was polled)        | over        |

use alloc::vec::Vec;
use core::num::NonZeroU64;

use crate::time::Instant;
use crate::vocabulary::StreamId;

/// The id of an HTTP request and its response; never reused within a session.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ServerExchangeId(pub(crate) NonZeroU64);

/// The state of a response.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum ResponseState {
    /// The response may become one JSON value or an event stream.
    Undecided {
        /// The POST carried a message that requires a response.
        is_request: bool,
        /// The kinds of responses that the client accepts.
        kinds: Kinds,
    },
    /// The response is an event stream whose head was not polled.
    Begun(Ending),
    /// The response is an event stream.
    Streaming(Ending),
    /// The response is empty, and the client must not resume the stream again.
    Finished,
}

/// The kinds of responses that a client accepts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kinds {
    /// JSON and event streams.
    Any,
    /// JSON only. The messages before the response have no place in it.
    Json,
}

/// The condition on which an event stream ends.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Ending {
    /// The message stream is done.
    Done,
    /// The waiting messages were sent; the client resumes the stream later.
    Cut,
}

/// The response that an exchange sends.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum ResponseKind {
    /// One JSON value; an empty body if there is no message.
    Json { is_request: bool },
    /// An event stream.
    Events,
    /// No body: the stream to resume has ended without a response.
    Empty,
}

/// The part of a message stream that its reader has yet to send.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unread {
    pub(super) messages: u64,
    /// No message will follow.
    pub(super) is_all: bool,
}

#[derive(Debug)]
pub(super) struct Exchange {
    stream: StreamId,
    state: ResponseState,
    /// When to send filler bytes if no message is ready.
    due: Instant,
    /// Bytes to send before any message.
    prefix: Vec<u8>,
    /// The exchange was reported as ready, and still has output as far as the driver knows.
    is_announced: bool,
}

impl Exchange {
    fn new(stream: StreamId, state: ResponseState, due: Instant) -> Self {
        Self { stream, state, due, prefix: Vec::new(), is_announced: false }
    }

    /// Creates the exchange of a POST, whose kind of response is undecided.
    pub(super) fn posted(stream: StreamId, is_request: bool, due: Instant) -> Self {
        Self::new(stream, ResponseState::Undecided { is_request, kinds: Kinds::Any }, due)
    }

    /// Creates the exchange of a GET, whose response is an event stream.
    pub(super) fn listening(stream: StreamId, due: Instant) -> Self {
        Self::new(stream, ResponseState::Begun(Ending::Done), due)
    }

    /// Sets the bytes to send before any message.
    pub(super) fn begin_with(&mut self, prefix: Vec<u8>) {
        self.prefix = prefix;
    }

    /// Creates the exchange of a GET that resumes a stream which has ended without a response.
    pub(super) fn finished(stream: StreamId, due: Instant) -> Self {
        Self::new(stream, ResponseState::Finished, due)
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

    /// Returns the response to send now, or `None` if it is undecided or its head was polled.
    ///
    /// `unread` is `None` if another exchange has taken over the stream; this response then begins
    /// and ends immediately. `is_closed` means that the session has ended.
    pub(super) fn response(&self, unread: Option<Unread>, is_closed: bool) -> Option<ResponseKind> {
        let (is_request, kinds) = match self.state {
            ResponseState::Undecided { is_request, kinds } => (is_request, kinds),
            ResponseState::Begun(_) => return Some(ResponseKind::Events),
            ResponseState::Streaming(_) => return None,
            ResponseState::Finished => return Some(ResponseKind::Empty),
        };
        let kind = match unread.map(|Unread { messages, is_all }| (messages, is_all)) {
            Some((0, _)) if is_closed => ResponseKind::Json { is_request },
            Some((0, false)) => return None,
            // A cancelled request has no response. Clients expect an event stream or JSON.
            Some((0, true)) if is_request => ResponseKind::Events,
            Some((0 | 1, true)) => ResponseKind::Json { is_request },
            None | Some(_) => ResponseKind::Events,
        };
        // Without the event stream, nothing is left to send.
        let is_refused = kind == ResponseKind::Events && kinds == Kinds::Json;
        Some(if is_refused { ResponseKind::Empty } else { kind })
    }

    /// Returns whether a head or a prefix is ready to be sent.
    pub(super) fn has_prefix(&self) -> bool {
        matches!(self.state, ResponseState::Begun(_) | ResponseState::Finished)
            || !self.prefix.is_empty()
    }

    /// Handles an idle timer: sends `filler`, which is empty if a message is ready.
    pub(super) fn on_due(&mut self, filler: Vec<u8>, next: Instant) {
        self.due = next;
        match self.state {
            ResponseState::Undecided { kinds: Kinds::Json, .. } => return,
            ResponseState::Undecided { .. } if !filler.is_empty() => {
                self.state = ResponseState::Begun(Ending::Done);
            }
            _ => {}
        }
        if self.prefix.is_empty() {
            self.prefix = filler;
        }
    }

    /// Handles an early end of the response by the application. Before its end, the response sends
    /// the bytes that `farewell` returns, given whether the response has begun.
    ///
    /// A response that must be JSON does not end early.
    pub(super) fn on_cut(&mut self, farewell: impl FnOnce(bool) -> Vec<u8>) {
        let (is_begun, cut) = match self.state {
            ResponseState::Undecided { kinds: Kinds::Any, .. } => {
                (false, ResponseState::Begun(Ending::Cut))
            }
            ResponseState::Begun(Ending::Done) => (true, ResponseState::Begun(Ending::Cut)),
            ResponseState::Streaming(Ending::Done) => (true, ResponseState::Streaming(Ending::Cut)),
            ResponseState::Undecided { kinds: Kinds::Json, .. }
            | ResponseState::Begun(Ending::Cut)
            | ResponseState::Streaming(Ending::Cut)
            | ResponseState::Finished => return,
        };
        self.prefix.extend(farewell(is_begun));
        self.state = cut;
    }

    /// Makes the response one JSON value, unless it has begun as an event stream.
    pub(super) fn require_json(&mut self) {
        if let ResponseState::Undecided { kinds, .. } = &mut self.state {
            *kinds = Kinds::Json;
        }
    }

    /// Returns whether the response must be one JSON value.
    pub(super) fn requires_json(&self) -> bool {
        matches!(self.state, ResponseState::Undecided { kinds: Kinds::Json, .. })
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

    /// Returns whether the driver knows that the exchange has output.
    pub(super) fn is_announced(&self) -> bool {
        self.is_announced
    }

    /// Records whether the driver knows that the exchange has output.
    pub(super) fn set_announced(&mut self, is_announced: bool) {
        self.is_announced = is_announced;
    }

    /// Takes the bytes to send before any message.
    pub(super) fn take_prefix(&mut self) -> Vec<u8> {
        core::mem::take(&mut self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Instant = Instant::ZERO;

    fn states(mut exchange: Exchange) -> [ResponseState; 3] {
        exchange.on_due(b":\n\n".to_vec(), NOW);
        let due = exchange.state();
        exchange.on_cut(|is_begun| if is_begun { Vec::new() } else { panic!("primed twice") });
        let cut = exchange.state();
        exchange.on_head(|| panic!("primed twice"), NOW);
        [due, cut, exchange.state()]
    }

    #[test]
    fn a_response_never_returns_to_an_earlier_state() {
        let (begun, cut) = (ResponseState::Begun(Ending::Done), ResponseState::Begun(Ending::Cut));
        let expected = [begun, cut, ResponseState::Streaming(Ending::Cut)];
        assert_eq!(states(Exchange::posted(StreamId(1), true, NOW)), expected);
        assert_eq!(states(Exchange::listening(StreamId(1), NOW)), expected);
    }

    #[test]
    fn an_undecided_response_with_a_ready_message_stays_undecided() {
        let mut exchange = Exchange::posted(StreamId(1), true, NOW);
        exchange.on_due(Vec::new(), NOW);
        let undecided = ResponseState::Undecided { is_request: true, kinds: Kinds::Any };
        assert_eq!(exchange.state(), undecided);
        assert!(!exchange.has_prefix());
        exchange.on_cut(|is_begun| if is_begun { Vec::new() } else { b"id: 1".to_vec() });
        exchange.on_cut(|_| panic!("cut twice"));
        assert!(exchange.has_prefix() && exchange.is_cut());
        assert_eq!(exchange.take_prefix(), b"id: 1");
    }

    #[test]
    fn a_response_that_must_be_json_never_becomes_an_event_stream() {
        let mut exchange = Exchange::posted(StreamId(1), true, NOW);
        exchange.require_json();
        exchange.on_due(b":\n\n".to_vec(), NOW);
        exchange.on_cut(|_| panic!("it has no early end"));
        assert!(!exchange.has_prefix() && exchange.requires_json());
        let response =
            |messages, is_all| exchange.response(Some(Unread { messages, is_all }), false);
        assert_eq!(response(0, false), None);
        assert_eq!(response(1, true), Some(ResponseKind::Json { is_request: true }));
        assert_eq!(response(0, true), Some(ResponseKind::Empty), "it was cancelled");
        assert_eq!(exchange.response(None, false), Some(ResponseKind::Empty), "taken over");
        let mut begun = Exchange::listening(StreamId(1), NOW);
        begun.require_json();
        assert!(!begun.requires_json());
    }

    #[test]
    fn a_response_is_json_only_if_its_single_message_is_complete() {
        let (json, events) =
            (|is_request| Some(ResponseKind::Json { is_request }), Some(ResponseKind::Events));
        for (messages, is_all, is_closed, to_request, to_other) in [
            (0, false, false, None, None),
            // A cancelled request; an accepted notification.
            (0, true, false, events, json(false)),
            // The session has ended.
            (0, false, true, json(true), json(false)),
            (0, true, true, json(true), json(false)),
            (1, false, false, events, events),
            (1, false, true, events, events),
            (1, true, false, json(true), json(false)),
            (1, true, true, json(true), json(false)),
            (2, true, false, events, events),
        ] {
            let unread = Some(Unread { messages, is_all });
            for (is_request, wanted) in [(true, to_request), (false, to_other)] {
                let exchange = Exchange::posted(StreamId(1), is_request, NOW);
                let response = exchange.response(unread, is_closed);
                assert_eq!(response, wanted, "{unread:?} {is_closed} {is_request}");
                assert_eq!(exchange.response(None, is_closed), events, "taken over");
            }
        }
        let mut listening = Exchange::listening(StreamId(1), NOW);
        let unread = Some(Unread { messages: 0, is_all: false });
        assert_eq!(listening.response(unread, false), events);
        listening.on_head(Vec::new, NOW);
        assert_eq!(listening.response(unread, false), None, "the head was polled");
        let finished = Exchange::finished(StreamId(1), NOW);
        assert_eq!(finished.response(None, false), Some(ResponseKind::Empty));
    }
}
