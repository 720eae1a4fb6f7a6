//! The open calls by wire id, with their deadlines.
//!
//! Wire ids are integers that count up and are never used again in a connection (ID-01, ID-06); the
//! progress token of a call is its wire id. A call that is repeated with input gets a new wire id
//! and stays the same call (ID-11).

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::time::Duration;

use super::super::input_required::round::{Input, Retry};
use super::call::{Call, CallState, Owner};
use crate::cache::CacheSlot;
use crate::collections::{DeadlineHeap, Empty, IdMap};
use crate::limits::Limits;
use crate::time::Instant;
use crate::vocabulary::{CallId, CallTimeouts, StreamId};

#[derive(Debug)]
pub(crate) struct CallTable {
    open: IdMap<Call>,
    /// Settled whenever a call ends or its deadline moves, so that the first one holds.
    deadlines: DeadlineHeap<Instant>,
    next_id: u64,
    /// Calls that ended while something more may come: an answer (T-44), and for subscriptions,
    /// where the value is true, everything that crossed their end.
    retired: BTreeMap<u64, bool>,
    /// Calls whose time stands still, because this side has to answer first.
    held: BTreeSet<u64>,
    /// The latest wire id of each call that was repeated.
    renewed: BTreeMap<CallId, u64>,
    /// Bytes that are kept for repeating calls.
    bytes: usize,
    /// Wire ids that ended and were not polled yet, once that was asked for.
    ended: Option<Vec<u64>>,
}

/// Many a server never calls.
impl Empty for CallTable {
    const EMPTY: &'static Self = &Self::new();
}

impl Default for CallTable {
    fn default() -> Self {
        Self::new()
    }
}

impl CallTable {
    const fn new() -> Self {
        Self {
            open: IdMap::new(),
            deadlines: DeadlineHeap::new(),
            next_id: 1,
            retired: BTreeMap::new(),
            held: BTreeSet::new(),
            renewed: BTreeMap::new(),
            bytes: 0,
            ended: None,
        }
    }

    /// Records the wire ids that end, for [`drain_ended`](Self::drain_ended).
    pub(crate) fn record_ended(&mut self) {
        self.ended.get_or_insert_default();
    }

    /// Moves the wire ids that ended since the last time to `ended`.
    pub(crate) fn drain_ended(&mut self, ended: &mut Vec<u64>) {
        if let Some(recorded) = &mut self.ended {
            ended.append(recorded);
        }
    }

    /// Releases unused capacity while idle.
    pub(crate) fn shrink(&mut self) {
        if self.open.is_empty() {
            (self.open, self.deadlines) = (IdMap::new(), DeadlineHeap::new());
            (self.held, self.renewed) = (BTreeSet::new(), BTreeMap::new());
        }
    }

    fn end(&mut self, id: u64) -> Option<Call> {
        let call = self.open.remove(id)?;
        if let Some(ended) = &mut self.ended {
            ended.push(id);
        }
        Some(call)
    }

    pub(crate) fn len(&self) -> usize {
        self.open.len()
    }

    /// The wire id of the next call.
    pub(crate) fn next_id(&self) -> u64 {
        self.next_id
    }

    /// Adds a call that was sent just now. Returns its wire id.
    pub(crate) fn insert(
        &mut self,
        now: Instant,
        owner: Owner,
        wants_progress: bool,
        wait: CallTimeouts,
    ) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        let give_up = now + wait.total;
        let deadline = (now + wait.idle).min(give_up);
        let call = Call {
            id: CallId(id),
            owner,
            state: CallState::InFlight,
            patience: wait.idle,
            give_up,
            deadline: Some(deadline),
            wants_progress,
            wants_logs: false,
            progress: f64::NEG_INFINITY,
            rare: None,
        };
        self.add(id, call);
        self.deadlines.push(deadline, id);
        id
    }

    fn add(&mut self, id: u64, call: Call) {
        let added = self.open.insert(id, call);
        debug_assert!(added.is_ok(), "wire ids count up");
    }

    /// Adds a call that no message stands for, and that waits without end.
    pub(crate) fn insert_local(&mut self, owner: Owner) -> u64 {
        let id = self.insert(Instant::ZERO, owner, false, CallTimeouts::exactly(Duration::MAX));
        self.set_deadline(id, None);
        if let Some(call) = self.open.get_mut(id) {
            call.state = CallState::Local;
        }
        id
    }

    /// Notes the stream that the call was sent on, because it is made for a request of the peer.
    pub(crate) fn set_stream(&mut self, id: u64, stream: StreamId) {
        if let Some(call) = self.open.get_mut(id) {
            call.rare().stream = Some(stream);
        }
    }

    /// Notes that the result may be cached.
    pub(crate) fn set_cache_as(&mut self, id: u64, place: CacheSlot) {
        if let Some(call) = self.open.get_mut(id) {
            call.rare().cache_as = Some(place);
        }
    }

    /// Keeps what it takes to repeat a call.
    pub(crate) fn keep_retry(&mut self, id: u64, retry: Retry) {
        if let Some(call) = self.open.get_mut(id) {
            self.bytes += retry.params.len();
            call.rare().retry = Some(retry);
        }
    }

    /// Starts to gather the input that the peer asked for. Returns how often in a row it asked no
    /// question.
    pub(crate) fn gather(&mut self, id: u64, input: Input, is_idle: bool) -> Option<u32> {
        let call = self.open.get_mut(id)?;
        self.bytes += input.kept();
        call.state = CallState::Gathering(Box::new(input));
        let retry = call.retry_mut()?;
        retry.rounds += 1;
        retry.idle_rounds = if is_idle { retry.idle_rounds + 1 } else { 0 };
        Some(retry.idle_rounds)
    }

    /// Takes the input that was being gathered; the call is in flight again, or about to end.
    pub(crate) fn take_input(&mut self, id: u64) -> Option<Input> {
        let call = self.open.get_mut(id)?;
        call.input()?;
        let CallState::Gathering(input) = core::mem::replace(&mut call.state, CallState::InFlight)
        else {
            return None;
        };
        self.bytes -= input.kept();
        Some(*input)
    }

    /// Bytes that are kept for repeating calls.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The wire id that `call` has now.
    pub(crate) fn wire_id(&self, call: CallId) -> Option<u64> {
        let id = self.renewed.get(&call).copied().unwrap_or(call.0);
        self.open.get(id).filter(|open| open.id == call).map(|_| id)
    }

    /// Gives a call that is repeated its new wire id; its time begins again, up to its cap. (ID-11,
    /// T-98)
    pub(crate) fn renew(&mut self, now: Instant, id: u64) -> Option<u64> {
        self.set_deadline(id, None);
        self.held.remove(&id);
        let mut call = self.end(id)?;
        let renewed = self.next_id;
        self.next_id += 1;
        call.progress = f64::NEG_INFINITY;
        call.state = CallState::InFlight;
        let deadline = (now + call.patience).min(call.give_up);
        self.renewed.insert(call.id, renewed);
        self.add(renewed, call);
        self.set_deadline(renewed, Some(deadline));
        Some(renewed)
    }

    pub(crate) fn get(&self, id: u64) -> Option<&Call> {
        self.open.get(id)
    }

    pub(crate) fn get_mut(&mut self, id: u64) -> Option<&mut Call> {
        self.open.get_mut(id)
    }

    /// The open calls with their wire ids, oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &Call)> + '_ {
        self.open.iter()
    }

    /// Ends a call.
    pub(crate) fn remove(&mut self, id: u64) -> Option<Call> {
        self.held.remove(&id);
        let call = self.end(id)?;
        self.settle_deadlines();
        self.renewed.remove(&call.id);
        self.bytes -= call.kept();
        Some(call)
    }

    /// Ends a call whose answer may still come and is then ignored. (CAN-05, TMO-07)
    pub(crate) fn retire(&mut self, id: u64, limits: &Limits) -> Option<Call> {
        let call = self.remove(id)?;
        self.expect_late(id, call.owner == Owner::Listen, limits);
        Some(call)
    }

    /// Expects something more for a call that is over.
    pub(crate) fn expect_late(&mut self, id: u64, listened: bool, limits: &Limits) {
        self.retired.insert(id, listened);
        while self.retired.len() > limits.retired_max {
            self.retired.pop_first();
        }
    }

    /// Whether something more may come for a call that is over.
    pub(crate) fn is_retired(&self, id: u64) -> bool {
        self.retired.contains_key(&id)
    }

    /// Whether a late answer was expected; it is expected once. A subscription's last message may
    /// be followed by its withdrawal. (T-101)
    pub(crate) fn forget_retired(&mut self, id: u64) -> bool {
        match self.retired.get(&id) {
            Some(true) => true,
            Some(false) => self.retired.remove(&id).is_some(),
            None => false,
        }
    }

    /// Restarts the call's time after a sign of life, up to its cap. A call without a deadline
    /// keeps none. (TMO-04)
    pub(crate) fn extend(&mut self, now: Instant, id: u64) {
        let Some(call) = self.open.get(id).filter(|call| call.deadline.is_some()) else { return };
        let deadline = (now + call.patience).min(call.give_up);
        self.set_deadline(id, Some(deadline));
    }

    /// Stops the call's time, up to its cap.
    pub(crate) fn hold(&mut self, id: u64) {
        let cap = self.open.get(id).map(|call| call.give_up);
        self.set_deadline(id, cap);
        self.held.insert(id);
    }

    /// Whether the time of any call stands still.
    pub(crate) fn holds_any(&self) -> bool {
        !self.held.is_empty()
    }

    /// Restarts the time of all calls.
    pub(crate) fn release(&mut self, now: Instant) {
        for id in core::mem::take(&mut self.held) {
            self.extend(now, id);
        }
    }

    /// Whether the call has not reached its cap.
    pub(crate) fn may_extend(&self, now: Instant, id: u64) -> bool {
        self.open.get(id).is_some_and(|call| now < call.give_up)
    }

    /// Moves the call's deadline to `at`, or its cap if that is earlier; `None` removes it.
    pub(crate) fn wait_until(&mut self, id: u64, at: Option<Instant>) {
        let capped = self.open.get(id).and_then(|call| at.map(|at| at.min(call.give_up)));
        self.set_deadline(id, capped);
    }

    fn set_deadline(&mut self, id: u64, deadline: Option<Instant>) {
        let Some(call) = self.open.get_mut(id) else { return };
        if core::mem::replace(&mut call.deadline, deadline) == deadline {
            return;
        }
        if let Some(deadline) = deadline {
            self.deadlines.push(deadline, id);
        }
        self.settle_deadlines();
    }

    fn settle_deadlines(&mut self) {
        let Self { open, deadlines, .. } = self;
        deadlines.prune(open.len(), |deadline, id| {
            open.get(id).is_some_and(|call| call.deadline == Some(deadline))
        });
    }

    /// The call that is overdue for the longest time.
    pub(crate) fn overdue(&self, now: Instant) -> Option<u64> {
        self.deadlines.peek().filter(|(deadline, _)| *deadline <= now).map(|(_, id)| id)
    }

    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.deadlines.earliest()
    }
}
