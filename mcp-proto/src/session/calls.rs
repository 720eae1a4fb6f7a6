//! Our requests that are not answered yet: their ids, their deadlines, their progress.
//!
//! It does not know what was asked, except for who wants the answer. Wire ids are integers that count up and are
//! never used again in a connection (ID-01, ID-06); the progress token of a call is its wire id. A call that is made
//! again with input gets a new wire id and stays the same call (ID-11).

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use super::cache::Place;
use super::incoming::IncomingId;
use super::rounds::{Input, Retry};
use crate::collections::{DeadlineHeap, Empty, IdMap};
use crate::limits::Limits;
use crate::revision::Patience;
use crate::time::Instant;
use crate::wire::{StreamId, To};

/// A request that we sent, until it is completed.
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct CallId(pub(crate) u64);

impl fmt::Debug for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "call#{}", self.0)
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// How to make a call.
///
/// ```
/// use core::time::Duration;
/// use mcp_proto::CallOptions;
///
/// let patient = CallOptions { timeout: Some(Duration::from_secs(300)), ..CallOptions::default() };
/// assert!(!patient.progress);
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct CallOptions {
    /// Asks the peer to tell of its progress (PRG-01). A `progressToken` in the params does the same; the token on
    /// the wire is the session's own.
    pub progress: bool,
    /// How long to wait for an answer or for further progress; `None` for the limit that fits the method.
    /// (TMO-03)
    pub timeout: Option<Duration>,
    /// How long to wait in all; `None` for the limit that fits the method, or `timeout` if that is longer.
    pub timeout_max: Option<Duration>,
    /// The request of the peer that this call is made for. (D-32)
    pub parent: Option<IncomingId>,
    /// Asks the server even where the cache holds an answer that is still good. (STL-42)
    pub fresh: bool,
}

/// Who wants the answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Asker {
    /// The application.
    Application,
    /// The session itself: it is `initialize`.
    Handshake,
    /// The session itself: it is a ping that keeps the connection alive.
    KeepAlive,
    /// The application listens to changes with it.
    Listen,
    /// The session itself: it is `server/discover`, to find out which era the server is of.
    Probe,
    /// A request that asked for input: the answer to its question number so-and-so.
    Question(IncomingId, u32),
    /// Calls that listen: it subscribes to a resource for them.
    Subscribe,
    /// Nobody: it ends the subscription to a resource that nobody listens to any more.
    Unsubscribe,
}

#[derive(Debug)]
pub(crate) struct Call {
    /// What the application knows it by: the wire id of its first round.
    pub(crate) id: CallId,
    pub(crate) asker: Asker,
    /// The peer has the request and owes the answer.
    pub(crate) is_sent: bool,
    /// How long to wait from each sign of life.
    patience: Duration,
    /// When to give up, whatever signs of life there are. (TMO-05, T-57)
    give_up: Instant,
    deadline: Option<Instant>,
    pub(crate) wants_progress: bool,
    /// The request asked for log messages. (T-92)
    pub(crate) wants_logs: bool,
    /// The last progress, which the next must pass; before there is any, less than all. (PRG-05)
    pub(crate) progress: f64,
    rare: Option<Box<Rare>>,
}

/// What many calls have nothing of.
#[derive(Debug, Default)]
pub(crate) struct Rare {
    stream: Option<StreamId>,
    retry: Option<Retry>,
    input: Option<Box<Input>>,
    cache_as: Option<Place>,
}

impl Call {
    /// Whether the application may cancel it.
    pub(crate) fn is_application(&self) -> bool {
        matches!(self.asker, Asker::Application | Asker::Listen)
    }

    /// Where what belongs to it goes.
    pub(crate) fn to(&self) -> To {
        self.rare.as_ref().and_then(|rare| rare.stream).map_or(To::ANY, To::along)
    }

    /// It was sent on this path, because it is made for a request of the peer's.
    pub(crate) fn set_stream(&mut self, stream: StreamId) {
        self.rare().stream = Some(stream);
    }

    /// What it takes to make the call again, where the peer may ask for input.
    pub(crate) fn retry(&self) -> Option<&Retry> {
        self.rare.as_ref()?.retry.as_ref()
    }

    pub(crate) fn retry_mut(&mut self) -> Option<&mut Retry> {
        self.rare.as_mut()?.retry.as_mut()
    }

    /// The input that the peer asked for, while it is gathered.
    pub(crate) fn input(&self) -> Option<&Input> {
        self.rare.as_ref()?.input.as_deref()
    }

    pub(crate) fn input_mut(&mut self) -> Option<&mut Input> {
        self.rare.as_mut()?.input.as_deref_mut()
    }

    /// Where the result goes in the cache, if it may.
    pub(crate) fn take_cache_as(&mut self) -> Option<Place> {
        self.rare.as_mut()?.cache_as.take()
    }

    pub(crate) fn set_cache_as(&mut self, place: Place) {
        self.rare().cache_as = Some(place);
    }

    fn rare(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// Bytes that are kept for making the call again.
    fn kept(&self) -> usize {
        self.retry().map_or(0, |retry| retry.params.len()) + self.input().map_or(0, Input::kept)
    }
}

/// The open calls, by wire id.
#[derive(Debug)]
pub(crate) struct Calls {
    open: IdMap<Call>,
    /// Settled whenever a call ends or waits anew, so that the first one holds.
    deadlines: DeadlineHeap<Instant>,
    next_wire: u64,
    /// Ended while something more may come: an answer (T-44), and for those that listened all that crossed their end.
    retired: BTreeMap<u64, bool>,
    /// Calls whose time stands still, because whoever has to answer first is on this side.
    held: BTreeSet<u64>,
    /// The latest wire id of each call that was made again.
    moved: BTreeMap<CallId, u64>,
    /// Bytes that are kept for making calls again.
    bytes: usize,
    /// Wire ids that are over and that nobody asked for yet, if somebody asks.
    ended: Option<Vec<u64>>,
}

impl Default for Calls {
    fn default() -> Self {
        Self::new()
    }
}

/// Many a server never calls.
impl Empty for Calls {
    const EMPTY: &'static Self = &Self::new();
}

impl Calls {
    const fn new() -> Self {
        Self {
            open: IdMap::new(),
            deadlines: DeadlineHeap::new(),
            next_wire: 1,
            retired: BTreeMap::new(),
            held: BTreeSet::new(),
            moved: BTreeMap::new(),
            bytes: 0,
            ended: None,
        }
    }

    /// Keeps the wire ids that are over for `take_ended`.
    #[cfg(feature = "http")]
    pub(crate) fn record_ended(&mut self) {
        self.ended.get_or_insert_default();
    }

    /// Moves the wire ids that are over since this was asked last to `ended`.
    #[cfg(feature = "http")]
    pub(crate) fn take_ended(&mut self, ended: &mut Vec<u64>) {
        if let Some(recorded) = &mut self.ended {
            ended.append(recorded);
        }
    }

    /// Gives back what empty tables keep.
    #[cfg(feature = "http")]
    pub(crate) fn rest(&mut self) {
        if self.open.is_empty() {
            (self.open, self.deadlines) = (IdMap::new(), DeadlineHeap::new());
            (self.held, self.moved) = (BTreeSet::new(), BTreeMap::new());
        }
    }

    fn end(&mut self, wire: u64) -> Option<Call> {
        let call = self.open.remove(wire)?;
        if let Some(ended) = &mut self.ended {
            ended.push(wire);
        }
        Some(call)
    }

    pub(crate) fn len(&self) -> usize {
        self.open.len()
    }

    /// The wire id that the next call gets.
    pub(crate) fn next_wire(&self) -> u64 {
        self.next_wire
    }

    pub(crate) fn insert(
        &mut self,
        now: Instant,
        asker: Asker,
        wants_progress: bool,
        wait: (Duration, Duration),
    ) -> u64 {
        let wire = self.next_wire;
        self.next_wire += 1;
        let give_up = now + wait.1;
        let deadline = (now + wait.0).min(give_up);
        let call = Call {
            id: CallId(wire),
            asker,
            is_sent: true,
            patience: wait.0,
            give_up,
            deadline: Some(deadline),
            wants_progress,
            wants_logs: false,
            progress: f64::NEG_INFINITY,
            rare: None,
        };
        self.add(wire, call);
        self.deadlines.push(deadline, wire);
        wire
    }

    fn add(&mut self, wire: u64, call: Call) {
        let added = self.open.insert(wire, call);
        debug_assert!(added.is_ok(), "wire ids count up");
    }

    /// Adds a call that is not on its way by itself, and waits for as long as it takes.
    pub(crate) fn insert_unsent(&mut self, asker: Asker) -> u64 {
        let wire = self.insert(Instant::ZERO, asker, false, (Duration::MAX, Duration::MAX));
        self.set_deadline(wire, None);
        if let Some(call) = self.open.get_mut(wire) {
            call.is_sent = false;
        }
        wire
    }

    /// Keeps what it takes to make a call again.
    pub(crate) fn keep_retry(&mut self, wire: u64, retry: Retry) {
        if let Some(call) = self.open.get_mut(wire) {
            self.bytes += retry.params.len();
            call.rare().retry = Some(retry);
        }
    }

    /// Keeps the input that the peer asked for; until it is there, the call is not on its way.
    pub(crate) fn keep_input(&mut self, wire: u64, input: Input) {
        if let Some(call) = self.open.get_mut(wire) {
            self.bytes += input.kept();
            call.is_sent = false;
            call.rare().input = Some(Box::new(input));
        }
    }

    pub(crate) fn take_input(&mut self, wire: u64) -> Option<Input> {
        let input = self.open.get_mut(wire)?.rare.as_mut()?.input.take()?;
        self.bytes -= input.kept();
        Some(*input)
    }

    /// Bytes that are kept for making calls again.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The wire id that `call` has now.
    pub(crate) fn wire_of(&self, call: CallId) -> Option<u64> {
        let wire = self.moved.get(&call).copied().unwrap_or(call.0);
        self.open.get(wire).filter(|open| open.id == call).map(|_| wire)
    }

    /// Gives a call that is made again its new wire id; it waits anew, up to its cap. (ID-11, T-98)
    pub(crate) fn renew(&mut self, now: Instant, wire: u64) -> Option<u64> {
        self.set_deadline(wire, None);
        self.held.remove(&wire);
        let mut call = self.end(wire)?;
        let renewed = self.next_wire;
        self.next_wire += 1;
        call.progress = f64::NEG_INFINITY;
        call.is_sent = true;
        let deadline = (now + call.patience).min(call.give_up);
        self.moved.insert(call.id, renewed);
        self.add(renewed, call);
        self.set_deadline(renewed, Some(deadline));
        Some(renewed)
    }

    pub(crate) fn get(&self, wire: u64) -> Option<&Call> {
        self.open.get(wire)
    }

    pub(crate) fn get_mut(&mut self, wire: u64) -> Option<&mut Call> {
        self.open.get_mut(wire)
    }

    /// The open calls with their wire ids, oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &Call)> + '_ {
        self.open.iter()
    }

    /// Ends a call.
    pub(crate) fn remove(&mut self, wire: u64) -> Option<Call> {
        self.held.remove(&wire);
        let call = self.end(wire)?;
        self.settle_deadlines();
        self.moved.remove(&call.id);
        self.bytes -= call.kept();
        Some(call)
    }

    /// Ends a call whose answer may still come, and is then ignored in silence. (CAN-05, TMO-07)
    pub(crate) fn retire(&mut self, wire: u64, limits: &Limits) -> Option<Call> {
        let call = self.remove(wire)?;
        self.expect_late(wire, call.asker == Asker::Listen, limits);
        Some(call)
    }

    /// Something more may come for `wire`, which is over.
    pub(crate) fn expect_late(&mut self, wire: u64, listened: bool, limits: &Limits) {
        self.retired.insert(wire, listened);
        while self.retired.len() > limits.retired_max {
            self.retired.pop_first();
        }
    }

    /// Whether something more may come for `wire`, which is over.
    pub(crate) fn is_retired(&self, wire: u64) -> bool {
        self.retired.contains_key(&wire)
    }

    /// Whether an answer to `wire` was to be expected late; it is expected once. A subscription's last word may be
    /// followed by its withdrawal. (T-101)
    pub(crate) fn forget_retired(&mut self, wire: u64) -> bool {
        match self.retired.get(&wire) {
            Some(true) => true,
            Some(false) => self.retired.remove(&wire).is_some(),
            None => false,
        }
    }

    /// There was a sign of life: the call may wait anew, up to its cap; one that waits for ever goes on so. (TMO-04)
    pub(crate) fn extend(&mut self, now: Instant, wire: u64) {
        let Some(call) = self.open.get(wire).filter(|call| call.deadline.is_some()) else { return };
        let deadline = (now + call.patience).min(call.give_up);
        self.set_deadline(wire, Some(deadline));
    }

    /// The call's time stands still, up to its cap.
    pub(crate) fn hold(&mut self, wire: u64) {
        let cap = self.open.get(wire).map(|call| call.give_up);
        self.set_deadline(wire, cap);
        self.held.insert(wire);
    }

    /// Whether the time of any call stands still.
    pub(crate) fn holds_any(&self) -> bool {
        !self.held.is_empty()
    }

    /// The time of all calls runs again.
    pub(crate) fn release(&mut self, now: Instant) {
        for wire in core::mem::take(&mut self.held) {
            self.extend(now, wire);
        }
    }

    /// Whether the call may wait longer than it has.
    pub(crate) fn may_extend(&self, now: Instant, wire: u64) -> bool {
        self.open.get(wire).is_some_and(|call| now < call.give_up)
    }

    /// Has the call looked at again at `at`, or never; not later than its cap.
    pub(crate) fn wait_until(&mut self, wire: u64, at: Option<Instant>) {
        let capped = self.open.get(wire).and_then(|call| at.map(|at| at.min(call.give_up)));
        self.set_deadline(wire, capped);
    }

    fn set_deadline(&mut self, wire: u64, deadline: Option<Instant>) {
        let Some(call) = self.open.get_mut(wire) else { return };
        if core::mem::replace(&mut call.deadline, deadline) == deadline {
            return;
        }
        if let Some(deadline) = deadline {
            self.deadlines.push(deadline, wire);
        }
        self.settle_deadlines();
    }

    fn settle_deadlines(&mut self) {
        let Self { open, deadlines, .. } = self;
        deadlines.prune(open.len(), |deadline, wire| {
            open.get(wire).is_some_and(|call| call.deadline == Some(deadline))
        });
    }

    /// A call whose time is up, the longest overdue first.
    pub(crate) fn overdue(&self, now: Instant) -> Option<u64> {
        self.deadlines.peek().filter(|(deadline, _)| *deadline <= now).map(|(_, wire)| wire)
    }

    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.deadlines.earliest()
    }
}

/// How long a call waits for a sign of life, and in all.
pub(crate) fn wait(options: &CallOptions, patience: Patience, limits: &Limits) -> (Duration, Duration) {
    let (timeout, timeout_max) = match patience {
        Patience::Call => (limits.call_timeout, limits.call_timeout_max),
        Patience::Human => (limits.human_timeout, limits.human_timeout_max),
    };
    let timeout = options.timeout.unwrap_or(timeout);
    (timeout, options.timeout_max.unwrap_or_else(|| timeout_max.max(timeout)))
}
