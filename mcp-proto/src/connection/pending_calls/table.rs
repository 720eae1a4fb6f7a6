//! Pending calls by wire id, with their deadlines.
//!
//! Wire ids are consecutive integers, never reused within a connection, and double as progress
//! tokens. Retrying a call assigns a new wire id but keeps its `CallId`.
// ID-01…03, ID-06, PRG-01: unique integer ids. ID-11: a retry uses a new id.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::time::Duration;

use super::super::input_required::round::{Input, Recovery, Retry};
use super::call::{Call, CallState, Owner, ParkedTimeout, RareCall};
use crate::collections::{DeadlineHeap, Empty, IdMap, SortedMap};
use crate::limits::Limits;
use crate::method::MethodId;
use crate::time::Instant;
use crate::vocabulary::{CallId, CallTimeouts};

#[derive(Debug)]
pub(crate) struct CallTable {
    open: IdMap<Call>,
    /// Pruned whenever a call ends or its deadline moves, so that the first entry is valid.
    deadlines: DeadlineHeap<Instant>,
    // ID-13: keeps counting when a session replaces a lost one.
    next_id: u64,
    // T-44: ended calls that may receive a late response or, if true (subscriptions), several.
    retired: SortedMap<u64, bool>,
    /// Calls whose timeout is suspended until the application has answered the peer.
    suspended: SortedMap<u64, ()>,
    /// The latest wire id of each retried call.
    renewed: SortedMap<CallId, u64>,
    /// Bytes retained for retrying calls.
    bytes: usize,
    /// Wire ids that ended since the last poll, if recording is enabled.
    ended: Option<Vec<u64>>,
    /// The allocations of an ended call, for the next one: each modern call needs both.
    spare: Option<Box<RareCall>>,
    spare_params: Vec<u8>,
}

// Most servers never make a call, so an empty table is not allocated.
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
            retired: SortedMap::new(),
            suspended: SortedMap::new(),
            renewed: SortedMap::new(),
            bytes: 0,
            ended: None,
            spare: None,
            spare_params: Vec::new(),
        }
    }

    /// Enables recording for [`drain_ended`](Self::drain_ended).
    pub(crate) fn record_ended(&mut self) {
        self.ended.get_or_insert_default();
    }

    /// Returns whether the ends of calls are recorded: their requests are independent exchanges.
    pub(crate) fn has_exchanges(&self) -> bool {
        self.ended.is_some()
    }

    /// Moves the recorded wire ids into `ended`.
    pub(crate) fn drain_ended(&mut self, ended: &mut Vec<u64>) {
        if let Some(recorded) = &mut self.ended {
            ended.append(recorded);
        }
    }

    /// Releases unused capacity while idle.
    pub(crate) fn shrink(&mut self) {
        (self.spare, self.spare_params) = (None, Vec::new());
        if self.open.is_empty() {
            (self.open, self.deadlines) = (IdMap::new(), DeadlineHeap::new());
            (self.suspended, self.renewed) = (SortedMap::new(), SortedMap::new());
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

    /// Returns the wire id of the next call.
    pub(crate) fn next_id(&self) -> u64 {
        self.next_id
    }

    /// Adds a call that was sent at `now` with the wire id [`next_id`](Self::next_id).
    pub(crate) fn insert(
        &mut self,
        now: Instant,
        owner: Owner,
        wants_progress: bool,
        wait: CallTimeouts,
    ) -> Option<&mut Call> {
        let id = self.next_id;
        self.next_id += 1;
        let deadline_max = now + wait.total;
        let deadline = (now + wait.idle).min(deadline_max);
        let call = Call {
            id: CallId(id),
            owner,
            state: CallState::InFlight,
            timeout: wait.idle,
            is_strict: wait.is_strict,
            deadline_max,
            deadline: Some(deadline),
            wants_progress,
            is_read: false,
            wants_logs: false,
            progress: f64::NEG_INFINITY,
            rare: None,
        };
        self.deadlines.push(deadline, id);
        self.add(id, call)
    }

    // With `IdMap::insert`, copies the call once: 1 % of "encode call".
    #[inline]
    fn add(&mut self, id: u64, call: Call) -> Option<&mut Call> {
        let added = self.open.insert(id, call);
        debug_assert!(added.is_ok(), "wire ids are unique");
        added.ok()
    }

    /// Adds a call without a request and without a deadline.
    pub(crate) fn insert_local(&mut self, owner: Owner) -> u64 {
        let id = self.next_id;
        let wait = CallTimeouts::exactly(Duration::MAX);
        if let Some(call) = self.insert(Instant::ZERO, owner, false, wait) {
            call.state = CallState::Local;
        }
        self.set_deadline(id, None);
        id
    }

    /// Stores the data for retrying a call.
    pub(crate) fn keep_retry(&mut self, id: u64, method: MethodId, params: &[u8]) {
        let Some(call) = self.open.get_mut(id) else { return };
        self.bytes += params.len();
        let mut kept = core::mem::take(&mut self.spare_params);
        if kept.capacity() / 2 > params.len() {
            // The limits count the length of params, and allow for twice as much.
            kept = Vec::new();
        }
        kept.reserve_exact(params.len());
        kept.extend_from_slice(params);
        let rare = call.rare.get_or_insert_with(|| self.spare.take().unwrap_or_default());
        rare.retry = Some(Retry::new(method, kept));
    }

    /// Keeps the allocations of a call that has ended, unless they are larger than an idle
    /// connection may keep.
    pub(crate) fn recycle(&mut self, mut rare: Box<RareCall>, limits: &Limits) {
        let Some(Retry { mut params, .. }) = rare.retry.take() else { return };
        if (1..=limits.idle_bytes_max).contains(&params.capacity()) {
            params.clear();
            *rare = RareCall::default();
            (self.spare, self.spare_params) = (Some(rare), params);
        }
    }

    /// Starts a round of input. Returns the number of consecutive rounds without questions.
    // TMO-05, T-57: the server extends no call by asking for nothing.
    pub(crate) fn gather(
        &mut self,
        now: Instant,
        id: u64,
        input: Input,
        is_idle: bool,
    ) -> Option<u32> {
        let call = self.open.get_mut(id)?;
        self.bytes += input.retained_bytes();
        call.state = CallState::Gathering(Box::new(input));
        let until = call.deadline.filter(|_| is_idle || call.is_strict);
        let retry = call.retry_mut()?;
        retry.rounds += 1;
        retry.idle_rounds = if is_idle { retry.idle_rounds + 1 } else { 0 };
        retry.until = until;
        let idle_rounds = retry.idle_rounds;
        if until.is_none() {
            self.extend(now, id);
        }
        Some(idle_rounds)
    }

    /// Prepares a request that only reads to be sent again, once, because its response was lost.
    /// Returns whether that is possible. Its timeout keeps running.
    pub(crate) fn recover(&mut self, id: u64) -> bool {
        let Some(call) = self.open.get_mut(id) else { return false };
        let until = call.deadline;
        let may_recover = call.is_read && call.owner == Owner::Application && call.is_in_flight();
        let is_first =
            |retry: &&mut Retry| retry.rounds == 0 && retry.recovery == Recovery::Possible;
        let Some(retry) = call.retry_mut().filter(is_first).filter(|_| may_recover) else {
            return false;
        };
        (retry.recovery, retry.until) = (Recovery::Waiting, until);
        call.state = CallState::Gathering(Box::new(Input::none()));
        true
    }

    /// Takes the gathered input and marks the call as in flight.
    pub(crate) fn take_input(&mut self, id: u64) -> Option<Input> {
        let call = self.open.get_mut(id)?;
        call.input()?;
        let CallState::Gathering(input) = core::mem::replace(&mut call.state, CallState::InFlight)
        else {
            return None;
        };
        self.bytes -= input.retained_bytes();
        Some(*input)
    }

    /// Returns the bytes retained for retrying calls.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the current wire id of `call`.
    pub(crate) fn wire_id(&self, call: CallId) -> Option<u64> {
        let id = self.renewed.get(&call).copied().unwrap_or(call.0);
        self.open.get(id).filter(|open| open.id == call).map(|_| id)
    }

    /// Assigns a new wire id to a retried call and restarts its timeout, up to the maximum, unless
    /// the round does not restart it.
    // ID-11, T-98: a retry has its own id, progress token and timer.
    pub(crate) fn renew(&mut self, now: Instant, id: u64) -> Option<u64> {
        self.set_deadline(id, None);
        self.suspended.remove(&id);
        let mut call = self.end(id)?;
        let until = call.retry_mut().and_then(|retry| {
            if retry.recovery == Recovery::Waiting {
                retry.recovery = Recovery::Used;
            }
            retry.until.take()
        });
        let renewed = self.next_id;
        self.next_id += 1;
        if !call.is_recovered() {
            call.progress = f64::NEG_INFINITY;
        }
        call.state = CallState::InFlight;
        if let Some(rare) = &mut call.rare {
            rare.parked = None;
        }
        let deadline = until.unwrap_or(now + call.timeout).min(call.deadline_max);
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

    /// Iterates over the pending calls and their wire ids, oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &Call)> + '_ {
        self.open.iter()
    }

    /// Removes a call that has ended.
    pub(crate) fn remove(&mut self, id: u64) -> Option<Call> {
        self.suspended.remove(&id);
        let call = self.end(id)?;
        self.settle_deadlines();
        self.renewed.remove(&call.id);
        self.bytes -= call.retained_bytes();
        Some(call)
    }

    /// Removes a call; its late response will be ignored.
    // CAN-05, TMO-07: a response may cross a cancellation or follow a timeout.
    pub(crate) fn retire(&mut self, id: u64, limits: &Limits) -> Option<Call> {
        let call = self.remove(id)?;
        self.expect_late(id, call.owner == Owner::Listen, limits);
        Some(call)
    }

    /// Expects late messages for an ended call; evicts the oldest entry beyond the limit.
    pub(crate) fn expect_late(&mut self, id: u64, is_subscription: bool, limits: &Limits) {
        self.retired.insert(id, is_subscription);
        while self.retired.len() > limits.retired_calls_max {
            self.retired.pop_first();
        }
    }

    /// Returns whether late messages are expected for an ended call.
    pub(crate) fn is_retired(&self, id: u64) -> bool {
        self.retired.contains_key(&id)
    }

    /// Returns whether a call with the wire id `id` has received its response.
    pub(crate) fn has_ended(&self, id: u64) -> bool {
        (1..self.next_id).contains(&id) && self.open.get(id).is_none() && !self.is_retired(id)
    }

    /// Returns whether a late response was expected, and expects no other.
    // T-101: a subscription may receive both its result and a cancellation.
    pub(crate) fn forget_retired(&mut self, id: u64) -> bool {
        match self.retired.get(&id) {
            Some(true) => true,
            Some(false) => self.retired.remove(&id).is_some(),
            None => false,
        }
    }

    /// Restarts the timeout of a call, up to the maximum. A call without a deadline keeps none, and
    /// a parked call keeps its own.
    // TMO-04: progress restarts the timeout.
    pub(crate) fn extend(&mut self, now: Instant, id: u64) {
        let has_timeout = |call: &&Call| call.deadline.is_some() && !call.is_parked();
        let Some(call) = self.open.get(id).filter(has_timeout) else { return };
        let deadline = (now + call.timeout).min(call.deadline_max);
        self.set_deadline(id, Some(deadline));
    }

    /// Stops the timeout of a call whose request waits for credentials. Until it is sent again, the
    /// call waits for at most `patience`, or without limit.
    pub(crate) fn park(&mut self, now: Instant, id: u64, patience: Option<Duration>) {
        let Some(call) = self.open.get_mut(id).filter(|call| !call.is_parked()) else { return };
        let had_deadline = call.deadline.is_some();
        call.rare().parked = Some(ParkedTimeout { since: now, had_deadline });
        self.set_deadline(id, patience.map(|patience| now + patience));
    }

    /// Restarts the timeout of a parked call; the time that it was parked does not count.
    pub(crate) fn unpark(&mut self, now: Instant, id: u64) {
        let Some(call) = self.open.get_mut(id) else { return };
        let Some(parked) = call.rare.as_mut().and_then(|rare| rare.parked.take()) else { return };
        call.deadline_max += now.duration_since(parked.since);
        let deadline = (now + call.timeout).min(call.deadline_max);
        self.set_deadline(id, parked.had_deadline.then_some(deadline));
    }

    /// Suspends the timeout of a call; only the maximum applies.
    pub(crate) fn suspend(&mut self, id: u64) {
        let cap = self.open.get(id).map(|call| call.deadline_max);
        self.set_deadline(id, cap);
        self.suspended.insert(id, ());
    }

    /// Restarts all suspended timeouts.
    pub(crate) fn resume_all(&mut self, now: Instant) {
        for (id, ()) in core::mem::take(&mut self.suspended) {
            self.extend(now, id);
        }
    }

    /// Returns whether the call has not reached its latest possible deadline.
    pub(crate) fn may_extend(&self, now: Instant, id: u64) -> bool {
        self.open.get(id).is_some_and(|call| now < call.latest())
    }

    /// Sets the deadline of a call to `at`, up to the maximum; `None` removes it.
    pub(crate) fn wait_until(&mut self, id: u64, at: Option<Instant>) {
        let capped = self.open.get(id).and_then(|call| at.map(|at| at.min(call.latest())));
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

    /// Returns the call with the earliest deadline, if it has expired.
    pub(crate) fn overdue(&self, now: Instant) -> Option<u64> {
        self.deadlines.peek().filter(|(deadline, _)| *deadline <= now).map(|(_, id)| id)
    }

    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.deadlines.earliest()
    }
}
