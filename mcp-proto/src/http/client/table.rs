//! The exchanges that are open, or wait for their turn: by id, by the call they serve, and by when something is due;
//! knows nothing of what is sent in them.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::action::ExchangeId;
use super::stream::Stream;
use crate::time::Instant;

/// One exchange, from when it is decided on to its end.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) purpose: Purpose,
    pub(super) stage: Stage,
    /// It tells the server our session's id.
    pub(super) in_session: bool,
    /// The event stream that it carries, and carries on.
    pub(super) stream: Option<Box<Stream>>,
    due: Option<Instant>,
}

/// What an exchange is for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Purpose {
    /// To ask, and hear the answer.
    Call(Errand),
    /// To say that the session is over.
    End,
    /// To hear what the server says by itself.
    Listen,
    /// To tell something that has no answer.
    Tell,
}

/// A call, as far as its exchanges need to know it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Errand {
    pub(super) wire: u64,
    pub(super) kind: Kind,
    /// Its stream may be resumed, and carry what belongs to others. (T-76)
    pub(super) in_era_of_sessions: bool,
    /// This is not the first exchange for it.
    pub(super) is_resumed: bool,
}

/// Calls that are different from the others.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    Initialize,
    ListTools,
    Other,
    Subscription,
}

/// How far an exchange is.
#[derive(Debug)]
pub(super) enum Stage {
    /// It is not sent yet.
    Waiting,
    /// There was no head yet.
    Sent,
    /// A JSON text is coming.
    Json(Vec<u8>),
    /// What is coming explains a status that is no success.
    Refused { status: u16, body: Vec<u8> },
    /// Events are coming.
    Events,
    /// What is coming means nothing.
    Ignored,
}

impl Exchange {
    pub(super) fn new(purpose: Purpose, stage: Stage, in_session: bool) -> Self {
        Self { purpose, stage, in_session, stream: None, due: None }
    }

    pub(super) fn is_waiting(&self) -> bool {
        matches!(self.stage, Stage::Waiting)
    }

    pub(super) fn is_ignored(&self) -> bool {
        matches!(self.stage, Stage::Ignored)
    }

    pub(super) fn errand(&self) -> Option<Errand> {
        match self.purpose {
            Purpose::Call(errand) => Some(errand),
            Purpose::End | Purpose::Listen | Purpose::Tell => None,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Exchanges {
    open: BTreeMap<ExchangeId, Exchange>,
    by_wire: BTreeMap<u64, ExchangeId>,
    due: BTreeSet<(Instant, ExchangeId)>,
    next: u64,
    /// Those that tell something and those that mean nothing any more, counted.
    telling: usize,
    ignored: usize,
}

impl Exchanges {
    pub(super) fn insert(&mut self, exchange: Exchange) -> ExchangeId {
        self.next += 1;
        let id = ExchangeId(self.next);
        if let Some(errand) = exchange.errand() {
            self.by_wire.insert(errand.wire, id);
        }
        self.telling += usize::from(exchange.purpose == Purpose::Tell);
        self.open.insert(id, exchange);
        id
    }

    pub(super) fn get(&self, id: ExchangeId) -> Option<&Exchange> {
        self.open.get(&id)
    }

    /// To change the exchange, but for its purpose and whether it is ignored.
    pub(super) fn get_mut(&mut self, id: ExchangeId) -> Option<&mut Exchange> {
        self.open.get_mut(&id)
    }

    pub(super) fn remove(&mut self, id: ExchangeId) -> Option<Exchange> {
        self.set_due(id, None);
        let exchange = self.open.remove(&id)?;
        if let Some(errand) = exchange.errand().filter(|errand| self.by_wire.get(&errand.wire) == Some(&id)) {
            self.by_wire.remove(&errand.wire);
        }
        self.telling -= usize::from(exchange.purpose == Purpose::Tell);
        self.ignored -= usize::from(exchange.is_ignored());
        Some(exchange)
    }

    /// What comes means nothing from now on, and may come until then.
    pub(super) fn ignore(&mut self, id: ExchangeId, until: Instant) {
        self.set_due(id, Some(until));
        let Some(exchange) = self.open.get_mut(&id).filter(|exchange| !exchange.is_ignored()) else { return };
        exchange.stage = Stage::Ignored;
        exchange.stream = None;
        self.ignored += 1;
        if let Some(errand) = exchange.errand() {
            self.by_wire.remove(&errand.wire);
        }
    }

    pub(super) fn of_wire(&self, wire: u64) -> Option<ExchangeId> {
        self.by_wire.get(&wire).copied()
    }

    pub(super) fn ids(&self) -> Vec<ExchangeId> {
        self.open.keys().copied().collect()
    }

    pub(super) fn telling(&self) -> usize {
        self.telling
    }

    pub(super) fn ignored(&self) -> usize {
        self.ignored
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

    /// An exchange for which something is due; it is no longer.
    pub(super) fn take_due(&mut self, now: Instant) -> Option<ExchangeId> {
        let (_, id) = self.due.first().copied().filter(|(due, _)| *due <= now)?;
        self.set_due(id, None);
        Some(id)
    }
}
