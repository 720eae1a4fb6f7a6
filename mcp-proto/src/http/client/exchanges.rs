//! The open and waiting exchanges of a client: by id, by the call they serve, and by timer.
//!
//! ```text
//!      POST, DELETE          GET, a repeated probe
//!           │                       │
//!           │                    Waiting ◄──── a new exchange for that stream or probe
//!           │         sent at once  │                                 ▲
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
//!
//! ¹ if resumable; ² if the status is transient; ³ also if the stream was open before, unless the
//! status is 405 or 501.
//!
//! A probe is repeated after a status or a failure that says nothing about the server's era.
//!
//! A 404 to an exchange that carries the session id means that the session is lost: it ends every
//! exchange. To a Listen that was never open, it means that the server has no such stream.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;
use core::time::Duration;

use super::action::{ExchangeId, HttpRequest};
use super::event_stream::EventStream;
use crate::time::Instant;

/// How long an ignored response is read: a connection can be reused if its response has ended.
const LINGER: Duration = Duration::from_secs(1);

/// The maximum number of ignored responses being read.
const LINGERING_MAX: usize = 32;

/// An action to perform before any further message is sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum QueuedAction {
    Abort(ExchangeId),
    /// Send the request of a waiting exchange.
    Start(ExchangeId),
}

/// An exchange, from its creation to its end.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) purpose: Purpose,
    pub(super) state: ExchangeState,
    /// The request carries the session id.
    pub(super) in_session: bool,
    /// The event stream that the exchange carries or will resume.
    pub(super) stream: Option<Box<EventStream>>,
    /// The probe that the exchange carries or will repeat.
    pub(super) probe: Option<Box<ProbeRequest>>,
    due: Option<Instant>,
}

/// A `server/discover` request, kept in case that it must be repeated.
#[derive(Debug)]
pub(super) struct ProbeRequest {
    pub(super) request: HttpRequest,
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
    /// The request was sent; the head of the response has not arrived.
    Sent,
    /// Receiving a JSON body.
    Json(Vec<u8>),
    /// Receiving the body of an error status.
    ErrorBody { status: u16, body: Vec<u8> },
    /// Receiving an event stream.
    Events,
    /// Receiving a body that is not needed.
    Ignored,
}

impl Exchange {
    pub(super) fn new(purpose: Purpose, state: ExchangeState, in_session: bool) -> Self {
        Self { purpose, state, in_session, stream: None, probe: None, due: None }
    }

    pub(super) fn is_waiting(&self) -> bool {
        matches!(self.state, ExchangeState::Waiting)
    }

    pub(super) fn is_ignored(&self) -> bool {
        matches!(self.state, ExchangeState::Ignored)
    }

    pub(super) fn call_info(&self) -> Option<CallInfo> {
        self.purpose.call_info()
    }

    fn is_counted_call(&self) -> bool {
        !self.is_ignored() && self.call_info().is_some_and(|call| call.kind.is_counted())
    }
}

impl Purpose {
    pub(super) fn call_info(self) -> Option<CallInfo> {
        match self {
            Self::Call(call_info) => Some(call_info),
            Self::EndSession | Self::Listen | Self::OneWay => None,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Exchanges {
    open: BTreeMap<ExchangeId, Exchange>,
    by_wire: BTreeMap<u64, ExchangeId>,
    due: BTreeSet<(Instant, ExchangeId)>,
    queue: VecDeque<QueuedAction>,
    next: u64,
    /// The number of exchanges with one-way messages.
    one_way: usize,
    /// The number of exchanges with calls whose number is limited.
    calls: usize,
    /// The number of ignored exchanges.
    ignored: usize,
}

impl Exchanges {
    pub(super) fn insert(&mut self, exchange: Exchange) -> ExchangeId {
        self.next += 1;
        let id = ExchangeId(self.next);
        if let Some(call_info) = exchange.call_info() {
            self.by_wire.insert(call_info.wire, id);
        }
        self.one_way += usize::from(exchange.purpose == Purpose::OneWay);
        self.calls += usize::from(exchange.is_counted_call());
        self.open.insert(id, exchange);
        id
    }

    pub(super) fn get(&self, id: ExchangeId) -> Option<&Exchange> {
        self.open.get(&id)
    }

    /// Returns an exchange to modify, except for its purpose and whether it is ignored.
    pub(super) fn get_mut(&mut self, id: ExchangeId) -> Option<&mut Exchange> {
        self.open.get_mut(&id)
    }

    pub(super) fn remove(&mut self, id: ExchangeId) -> Option<Exchange> {
        self.set_due(id, None);
        let exchange = self.open.remove(&id)?;
        if let Some(call_info) =
            exchange.call_info().filter(|call_info| self.by_wire.get(&call_info.wire) == Some(&id))
        {
            self.by_wire.remove(&call_info.wire);
        }
        self.one_way -= usize::from(exchange.purpose == Purpose::OneWay);
        self.calls -= usize::from(exchange.is_counted_call());
        self.ignored -= usize::from(exchange.is_ignored());
        Some(exchange)
    }

    /// Returns the next queued action.
    pub(super) fn next_queued(&mut self) -> Option<QueuedAction> {
        self.queue.pop_front()
    }

    pub(super) fn queue_start(&mut self, id: ExchangeId) {
        self.queue.push_back(QueuedAction::Start(id));
    }

    pub(super) fn queue_abort(&mut self, id: ExchangeId) {
        self.queue.push_back(QueuedAction::Abort(id));
    }

    /// Removes an exchange and aborts its request.
    pub(super) fn abort(&mut self, id: ExchangeId) {
        let Some(exchange) = self.remove(id) else { return };
        if !exchange.is_waiting() {
            self.queue_abort(id);
        }
    }

    /// Ignores the rest of a response, or aborts it if too many are ignored already.
    pub(super) fn discard(&mut self, id: ExchangeId, now: Instant) {
        if self.ignored < LINGERING_MAX {
            self.ignore(id, now);
        } else {
            self.abort(id);
        }
    }

    /// Ignores the rest of a response and aborts it after a second.
    pub(super) fn ignore(&mut self, id: ExchangeId, now: Instant) {
        self.set_due(id, Some(now + LINGER));
        let Some(exchange) = self.open.get_mut(&id).filter(|exchange| !exchange.is_ignored())
        else {
            return;
        };
        self.calls -= usize::from(exchange.is_counted_call());
        exchange.state = ExchangeState::Ignored;
        exchange.stream = None;
        self.ignored += 1;
        if let Some(call_info) = exchange.call_info() {
            self.by_wire.remove(&call_info.wire);
        }
    }

    /// Returns the exchange of the call with this wire id.
    pub(super) fn by_wire(&self, wire: u64) -> Option<ExchangeId> {
        self.by_wire.get(&wire).copied()
    }

    pub(super) fn ids(&self) -> Vec<ExchangeId> {
        self.open.keys().copied().collect()
    }

    /// Returns the number of one-way messages in flight.
    pub(super) fn one_way(&self) -> usize {
        self.one_way
    }

    /// Returns the number of calls in flight, of those whose number is limited.
    pub(super) fn calls(&self) -> usize {
        self.calls
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.open.len()
    }

    pub(super) fn set_due(&mut self, id: ExchangeId, due: Option<Instant>) {
        let Some(exchange) = self.open.get_mut(&id) else { return };
        if let Some(old) = core::mem::replace(&mut exchange.due, due) {
            self.due.remove(&(old, id));
        }
        if let Some(due) = due {
            self.due.insert((due, id));
        }
    }

    pub(super) fn next_due(&self) -> Option<Instant> {
        self.due.first().map(|(due, _)| *due)
    }

    /// Returns an exchange whose timer has expired, and clears the timer.
    pub(super) fn take_due(&mut self, now: Instant) -> Option<ExchangeId> {
        let (_, id) = self.due.first().copied().filter(|(due, _)| *due <= now)?;
        self.set_due(id, None);
        Some(id)
    }
}
