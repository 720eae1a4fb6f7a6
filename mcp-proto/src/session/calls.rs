//! Our requests that are not answered yet: their ids, their deadlines, their progress.
//!
//! It does not know what was asked, except for who wants the answer. Wire ids are integers that count up and are
//! never used again in a connection (ID-01, ID-06); the progress token of a call is its wire id.

use alloc::collections::{BTreeMap, BTreeSet};
use core::fmt;
use core::time::Duration;

use super::incoming::IncomingId;
use crate::limits::Limits;
use crate::revision::Patience;
use crate::time::Instant;

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
    /// A request that asked for input: the answer to its question number so-and-so.
    Question(IncomingId, usize),
}

#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) asker: Asker,
    /// How long to wait from each sign of life.
    patience: Duration,
    /// When to give up, whatever signs of life there are. (TMO-05, T-57)
    give_up: Instant,
    deadline: Instant,
    pub(crate) wants_progress: bool,
    /// The last progress, which the next must pass. (PRG-05)
    pub(crate) progress: Option<f64>,
}

/// The open calls, by wire id.
#[derive(Debug)]
pub(crate) struct Calls {
    open: BTreeMap<u64, Call>,
    deadlines: BTreeSet<(Instant, u64)>,
    /// The first of `deadlines`, kept so that asking costs nothing.
    next_deadline: Option<Instant>,
    next_wire: u64,
    /// Ended without an answer, which may still come. (T-44)
    retired: BTreeSet<u64>,
}

impl Calls {
    pub(crate) fn new() -> Self {
        Self {
            open: BTreeMap::new(),
            deadlines: BTreeSet::new(),
            next_deadline: None,
            next_wire: 1,
            retired: BTreeSet::new(),
        }
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
        let call = Call { asker, patience: wait.0, give_up, deadline, wants_progress, progress: None };
        self.open.insert(wire, call);
        self.deadlines.insert((deadline, wire));
        self.cache_deadline();
        wire
    }

    pub(crate) fn get_mut(&mut self, wire: u64) -> Option<&mut Call> {
        self.open.get_mut(&wire)
    }

    /// The open calls' wire ids and who wants their answers, oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, Asker)> + '_ {
        self.open.iter().map(|(wire, call)| (*wire, call.asker))
    }

    /// Ends a call.
    pub(crate) fn remove(&mut self, wire: u64) -> Option<Call> {
        let call = self.open.remove(&wire)?;
        self.deadlines.remove(&(call.deadline, wire));
        self.cache_deadline();
        Some(call)
    }

    /// Ends a call whose answer may still come, and is then ignored in silence. (CAN-05, TMO-07)
    pub(crate) fn retire(&mut self, wire: u64, limits: &Limits) -> Option<Call> {
        let call = self.remove(wire)?;
        self.retired.insert(wire);
        while self.retired.len() > limits.retired_max {
            self.retired.pop_first();
        }
        Some(call)
    }

    /// Whether an answer to `wire` was to be expected late; it is expected once.
    pub(crate) fn forget_retired(&mut self, wire: u64) -> bool {
        self.retired.remove(&wire)
    }

    /// There was a sign of life: the call may wait anew, up to its cap. (TMO-04)
    pub(crate) fn extend(&mut self, now: Instant, wire: u64) {
        if let Some(call) = self.open.get_mut(&wire) {
            let deadline = (now + call.patience).min(call.give_up);
            self.deadlines.remove(&(call.deadline, wire));
            call.deadline = deadline;
            self.deadlines.insert((deadline, wire));
            self.cache_deadline();
        }
    }

    /// A call whose time is up, the longest overdue first.
    pub(crate) fn overdue(&self, now: Instant) -> Option<u64> {
        self.deadlines.first().filter(|(deadline, _)| *deadline <= now).map(|(_, wire)| *wire)
    }

    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.next_deadline
    }

    fn cache_deadline(&mut self) {
        self.next_deadline = self.deadlines.first().map(|(deadline, _)| *deadline);
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
