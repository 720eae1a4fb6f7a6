//! One exchange of a client: its purpose and its states.
//!
//! ```text
//!      POST, DELETE          GET, a repeated probe
//!           │                       │
//!           │                    Waiting ◄──── a new exchange for that stream or probe
//!           │         sent first    │                                 ▲
//!           ▼         or by backoff ▼                                 │
//!          Sent ◄───────────────────┘                                 │
//!           │ head                                                    │
//!     ┌─────┴──┬─────────┬──────────┐                                 │
//!     ▼        ▼         ▼          │  resumable, and its call open   │
//!    Json  ErrorBody  Events ───────┼─────────────────────────────────┤
//!     │        │         │          ▼
//!     │        │         ├───────► Ignored: not needed any more, read to its end for up to 1 s
//!     ▼        ▼         ▼          ▼
//!     end of the body, failure, or abort: over
//! ```
//!
//! | purpose      | success              | other status      | 401, 403          | end of events |
//! |--------------|----------------------|-------------------|-------------------|---------------|
//! | Call         | Json, Events or over | ErrorBody         | over              | Waiting¹, over |
//! | resumed Call | Events or over       | Waiting² or over  | over              | Waiting       |
//! | Listen       | Events or over       | Waiting³ or over  | Waiting           | Waiting       |
//! | OneWay       | Ignored              | Ignored, reported | Ignored, reported |               |
//! | EndSession   | Ignored              | Ignored           | Ignored           |               |
//! | Call over HTTP+SSE | Ignored        | ErrorBody         | over              |               |
//! | SseStream    | Events               | over, or Waiting⁴ | over              | over⁵         |
//!
//! ¹ if resumable; ² if the status is transient; ³ also if the stream was open before, unless the
//! status is 405 or 501; ⁴ if the status is transient and a session was open before; ⁵ a new
//! SseStream waits if a session was open before, see `sse_transport`.
//!
//! A probe is repeated after a status or a failure that says nothing about the server's era.
//!
//! With [`HttpConfig::parks`](super::HttpConfig::parks), a request that the server rejects for its
//! credentials is kept in a new exchange, instead of the transition in the column "401, 403":
//!
//! ```text
//!          401, or 403 insufficient_scope         authorize
//!   Sent ────────────────────────────────► Parked ─────────► Released ────► Sent
//!     │                                      │                 ▲    in order, as the number
//!     │                                      ├─ deny: over     │    of calls in flight allows
//!     │                                      └─ end: over      │
//!     └────────────────────────────────────────────────────────┘
//!       401, and newer credentials than those of the request are known
//!       401 with a new DPoP nonce, also without `parks`
//! ```
//!
//! A request that is rejected with three tokens in a row, each newer than the one before, is denied
//! without another event: other requests may be accepted with them, and renewals would never end.
//!
//! A DELETE is repeated with a DPoP nonce, but never parked. A Listen that is denied stays Parked
//! until the next `authorize`.
//!
//! A 404 to an exchange that carries the session id means that the session is lost: it ends every
//! exchange. To a Listen that was never open, it means that the server has no such stream.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::action::HttpRequest;
use super::credentials::Generation;
use super::event::ParkedRequest;
use super::event_stream::EventStream;
use crate::time::Instant;

/// The estimated overhead of a kept request in bytes.
const REQUEST_BYTES: usize = 256;

/// The number of different tokens after whose rejection a request fails.
const REJECTED_TOKENS_MAX: u8 = 3;

/// An exchange, from its creation to its end.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) purpose: Purpose,
    pub(super) state: ExchangeState,
    /// The request carries the session id.
    pub(super) in_session: bool,
    /// The event stream that the exchange carries or will resume.
    pub(super) stream: Option<Box<EventStream>>,
    /// The message that the exchange carries, in case that it must be repeated.
    pub(super) kept: Option<Box<KeptRequest>>,
    /// The generation of the credentials in the request, or in the rejected one.
    pub(super) generation: Option<Generation>,
    /// How often the request was repeated with another DPoP nonce.
    pub(super) nonce_repetitions: u8,
    pub(super) rejected_tokens: RejectedTokens,
    pub(super) due: Option<Instant>,
}

/// A POST or DELETE without credentials, kept in case that it must be repeated.
#[derive(Debug)]
pub(super) struct KeptRequest {
    pub(super) request: HttpRequest,
    /// The number of repetitions of a probe.
    pub(super) repetitions: u32,
}

/// The purpose of an exchange.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Purpose {
    /// A request and its response.
    Call(CallInfo),
    /// The DELETE that ends the session.
    EndSession,
    /// The stream for messages that belong to no call.
    Listen,
    /// A message without a response: a notification, a response, or a cancellation.
    OneWay,
    /// The stream of HTTP+SSE, which carries all messages of the server.
    SseStream,
}

/// The properties of a call that its exchanges need.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct CallInfo {
    /// The wire id.
    pub(super) wire: u64,
    pub(super) kind: CallKind,
    /// The call is legacy: its stream may be resumed and may carry messages of other calls.
    // T-76: in the legacy era, a disconnection is not a cancellation.
    pub(super) is_legacy: bool,
    /// The exchange resumes the stream of an earlier one.
    pub(super) is_resumed: bool,
    /// The response of the server arrives on the stream of HTTP+SSE.
    pub(super) over_sse: bool,
}

/// The kind of a call, by how HTTP treats it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum CallKind {
    /// `tools/call`, in the modern era.
    CallTool,
    Discover,
    Initialize,
    ListTools,
    Other,
    Ping,
    Subscription,
}

impl CallKind {
    /// Returns whether the number of such calls in flight is limited.
    pub(super) const fn is_counted(self) -> bool {
        matches!(self, Self::CallTool | Self::ListTools | Self::Other)
    }
}

/// The state of an exchange.
#[derive(Debug)]
pub(super) enum ExchangeState {
    /// The request was not sent.
    Waiting,
    /// The rejected request waits for credentials.
    Parked(ParkedState),
    /// The rejected request is going to be sent again.
    Released,
    /// The request was sent; the head of the response has not arrived.
    Sent,
    /// Receiving a JSON body.
    Json(Vec<u8>),
    /// Receiving the body of an error status.
    ErrorBody { status: u16, reason: Option<Box<str>>, body: Vec<u8> },
    /// Receiving an event stream.
    Events,
    /// Receiving a body that is not needed.
    Ignored,
}

/// The access tokens with which the server has rejected one request.
///
/// Other requests may be accepted with these tokens, so that renewals alone would never end.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RejectedTokens {
    latest: Option<Generation>,
    count: u8,
}

impl RejectedTokens {
    /// Counts a token. A missing or repeated one does not count.
    pub(super) fn add(&mut self, token: Option<Generation>) {
        if token > self.latest {
            self.latest = token;
            self.count = self.count.saturating_add(1);
        }
    }

    /// Returns whether a token was rejected that is newer than the first rejected one.
    pub(super) const fn has_newer(self) -> bool {
        self.count > 1
    }

    /// Returns whether no other token would help.
    pub(super) const fn is_final(self) -> bool {
        self.count >= REJECTED_TOKENS_MAX
    }
}

/// The state of a parked request.
#[derive(Debug)]
pub(super) enum ParkedState {
    /// The event was not polled.
    Unreported(Box<ParkedRequest>),
    /// The event was polled.
    Reported,
    /// There are no credentials for now.
    Denied,
}

impl Exchange {
    pub(super) fn new(purpose: Purpose, state: ExchangeState, in_session: bool) -> Self {
        let (stream, kept, generation) = (None, None, None);
        let (nonce_repetitions, rejected_tokens) = (0, RejectedTokens::default());
        Self {
            purpose,
            state,
            in_session,
            stream,
            kept,
            generation,
            nonce_repetitions,
            rejected_tokens,
            due: None,
        }
    }

    /// Returns whether no request was sent in this exchange.
    pub(super) fn is_unsent(&self) -> bool {
        use ExchangeState::{Parked, Released, Waiting};
        matches!(self.state, Waiting | Parked(_) | Released)
    }

    /// Returns whether the request may be sent in this exchange.
    pub(super) fn may_start(&self) -> bool {
        matches!(self.state, ExchangeState::Waiting | ExchangeState::Released)
    }

    pub(super) fn is_parked(&self) -> bool {
        matches!(self.state, ExchangeState::Parked(_))
    }

    pub(super) fn is_ignored(&self) -> bool {
        matches!(self.state, ExchangeState::Ignored)
    }

    pub(super) fn call_info(&self) -> Option<CallInfo> {
        self.purpose.call_info()
    }

    pub(super) fn is_call_of(&self, kind: CallKind) -> bool {
        self.call_info().is_some_and(|call| call.kind == kind)
    }

    /// Returns whether the exchange is opened by GET.
    pub(super) fn is_get(&self) -> bool {
        matches!(self.purpose, Purpose::Listen | Purpose::SseStream)
            || self.call_info().is_some_and(|call| call.is_resumed)
    }

    /// Returns whether the exchange counts toward the maximum of calls in flight.
    pub(super) fn is_counted_call(&self) -> bool {
        use ExchangeState::{Ignored, Parked, Released};
        let is_in_flight = !matches!(self.state, Ignored | Parked(_) | Released);
        is_in_flight && self.call_info().is_some_and(|call| call.kind.is_counted())
    }

    /// Returns the bytes retained for repeating the request.
    pub(super) fn kept_bytes(&self) -> usize {
        let request = self.kept.as_ref().map_or(0, |kept| kept.bytes());
        match &self.state {
            ExchangeState::Parked(ParkedState::Unreported(event)) => request + event.bytes(),
            _ => request,
        }
    }
}

impl Purpose {
    pub(super) fn call_info(self) -> Option<CallInfo> {
        match self {
            Self::Call(call_info) => Some(call_info),
            Self::EndSession | Self::Listen | Self::OneWay | Self::SseStream => None,
        }
    }
}

impl KeptRequest {
    fn bytes(&self) -> usize {
        let headers = self.request.headers.iter().map(|(name, value)| name.len() + value.len());
        REQUEST_BYTES + headers.sum::<usize>() + self.request.body.len()
    }
}
