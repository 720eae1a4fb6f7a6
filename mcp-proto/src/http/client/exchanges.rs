//! The open and waiting exchanges of a client: by id, by the call they serve, and by timer.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;
use core::mem;
use core::time::Duration;

use super::action::ExchangeId;
use super::event::ParkedRequest;
use super::exchange::{Exchange, ExchangeState, KeptRequest, ParkedState, Purpose};
use crate::time::Instant;

/// How long an ignored response is read: a connection can be reused if its response has ended.
const LINGER: Duration = Duration::from_secs(1);

/// The maximum number of ignored responses being read.
const LINGERING_MAX: usize = 32;

/// The maximum size in bytes of the messages that are kept in case that they must be repeated. One
/// message may exceed it.
const KEPT_BYTES_MAX: usize = 16 << 20;

/// An action to perform before any further message is sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum QueuedAction {
    Abort(ExchangeId),
    /// Send the request of a waiting exchange.
    Start(ExchangeId),
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
    /// The bytes of the kept messages.
    kept_bytes: usize,
    /// The parked requests whose event was not polled.
    unreported: BTreeSet<ExchangeId>,
    /// The released calls, in order. Some may have ended.
    released: VecDeque<ExchangeId>,
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
        self.kept_bytes += exchange.kept_bytes();
        self.open.insert(id, exchange);
        id
    }

    pub(super) fn get(&self, id: ExchangeId) -> Option<&Exchange> {
        self.open.get(&id)
    }

    /// Returns an exchange to modify, except for what is counted: its purpose, its kept message,
    /// and whether it is ignored or parked.
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
        self.kept_bytes -= exchange.kept_bytes();
        self.unreported.remove(&id);
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

    /// Forgets the abort of an exchange that ended before the driver saw it.
    pub(super) fn forget_abort(&mut self, id: ExchangeId) {
        if !self.open.contains_key(&id) {
            self.queue.retain(|action| *action != QueuedAction::Abort(id));
        }
    }

    /// Removes an exchange and aborts its request.
    pub(super) fn abort(&mut self, id: ExchangeId) {
        let Some(exchange) = self.remove(id) else { return };
        if !exchange.is_unsent() {
            self.queue_abort(id);
        }
    }

    /// Removes the exchange of an HTTP+SSE stream and aborts its request; `None` if the exchange
    /// has another purpose, or is over and only reads the rest of a response.
    pub(super) fn take_sse_stream(&mut self, id: ExchangeId) -> Option<Exchange> {
        let is_stream = |it: &&Exchange| it.purpose == Purpose::SseStream && !it.is_ignored();
        self.get(id).filter(is_stream)?;
        self.queue_abort(id);
        self.remove(id)
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
        self.kept_bytes -= exchange.kept_bytes();
        exchange.state = ExchangeState::Ignored;
        exchange.stream = None;
        exchange.kept = None;
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
        if let Some(old) = mem::replace(&mut exchange.due, due) {
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
    /// Keeps a message in case that it must be repeated.
    pub(super) fn keep(&mut self, id: ExchangeId, request: KeptRequest) {
        self.change(id, |exchange| exchange.kept = Some(Box::new(request)));
    }

    /// Drops the kept message.
    pub(super) fn drop_kept(&mut self, id: ExchangeId) {
        let _accepted = self.take_kept(id);
    }

    /// Takes the kept message, if any.
    pub(super) fn take_kept(&mut self, id: ExchangeId) -> Option<Box<KeptRequest>> {
        let mut kept = None;
        self.change(id, |exchange| kept = exchange.kept.take());
        kept
    }

    /// Returns whether no further message should be kept.
    pub(super) fn keeps_enough(&self) -> bool {
        self.kept_bytes >= KEPT_BYTES_MAX
    }

    /// Marks the request of an exchange as sent.
    pub(super) fn on_started(&mut self, id: ExchangeId) {
        self.change(id, |exchange| exchange.state = ExchangeState::Sent);
    }

    /// Parks a rejected request in a new exchange.
    pub(super) fn park(&mut self, mut exchange: Exchange, mut event: ParkedRequest) -> ExchangeId {
        let id = ExchangeId(self.next + 1);
        event.exchange = id;
        exchange.state = ExchangeState::Parked(ParkedState::Unreported(event.into()));
        self.unreported.insert(id);
        self.insert(exchange)
    }

    /// Sends a rejected request again, in a new exchange.
    pub(super) fn repeat(&mut self, mut exchange: Exchange) -> ExchangeId {
        exchange.state = ExchangeState::Released;
        let id = self.insert(exchange);
        self.queue_released(id);
        id
    }

    /// Sends a parked request again.
    pub(super) fn release(&mut self, id: ExchangeId) {
        self.unreported.remove(&id);
        self.change(id, |exchange| exchange.state = ExchangeState::Released);
        self.queue_released(id);
    }

    fn queue_released(&mut self, id: ExchangeId) {
        match self.get(id).and_then(Exchange::call_info) {
            Some(call) if call.kind.is_counted() => self.released.push_back(id),
            _ => self.queue_start(id),
        }
    }

    /// Marks a parked request as denied: it stays parked, without credentials. Returns `false` if
    /// it was marked already.
    pub(super) fn on_denied(&mut self, id: ExchangeId) -> bool {
        self.unreported.remove(&id);
        let mut is_new = false;
        self.change(id, |exchange| {
            is_new = !matches!(exchange.state, ExchangeState::Parked(ParkedState::Denied));
            exchange.state = ExchangeState::Parked(ParkedState::Denied);
        });
        is_new
    }

    /// Returns the next released call, which may have ended in the meantime.
    pub(super) fn next_released(&mut self) -> Option<ExchangeId> {
        self.released.pop_front()
    }

    /// Returns the event of a parked request, once.
    pub(super) fn next_unreported(&mut self) -> Option<ParkedRequest> {
        let id = self.unreported.pop_first()?;
        let mut event = None;
        self.change(id, |exchange| {
            let reported = ExchangeState::Parked(ParkedState::Reported);
            event = Some(mem::replace(&mut exchange.state, reported));
        });
        match event? {
            ExchangeState::Parked(ParkedState::Unreported(event)) => Some(*event),
            _ => None,
        }
    }

    /// Changes an exchange, except for its purpose and whether it is ignored.
    fn change(&mut self, id: ExchangeId, change: impl FnOnce(&mut Exchange)) {
        let Some(exchange) = self.open.get_mut(&id) else { return };
        self.calls -= usize::from(exchange.is_counted_call());
        self.kept_bytes -= exchange.kept_bytes();
        change(exchange);
        self.calls += usize::from(exchange.is_counted_call());
        self.kept_bytes += exchange.kept_bytes();
    }
}
