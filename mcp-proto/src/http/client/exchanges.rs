//! The exchanges that are open or wait for their turn: by id, by the call they serve, and by when
//! something is due.
//!
//! ```text
//!      POST, DELETE                GET
//!           │                       │
//!           │                    Waiting ◄───────────── a new exchange for the same stream
//!           │         its turn, or  │                                 ▲
//!           ▼         its backoff   ▼                                 │
//!          Sent ◄───────────────────┘                                 │
//!           │ head                                                    │
//!     ┌─────┴──┬─────────┬──────────┐                                 │
//!     ▼        ▼         ▼          │  resumable, and its call open   │
//!    Json   Refused   Events ───────┼─────────────────────────────────┘
//!     │        │         │          ▼
//!     │        │         ├───────► Ignored: its purpose is over, the rest may come for a second
//!     ▼        ▼         ▼          ▼
//!     end of the body, failure, or abort: over
//! ```
//!
//! | purpose | success | other status | 401, 403 | end of its events |
//! |---------|---------|--------------|----------|-------------------|
//! | Call    | Json or Events, else over | Refused | over | Waiting if resumable, else over |
//! | Call, resumed; Listen | Events, else over | Waiting if it may pass, else over | over; Waiting if it was open | Waiting |
//! | Tell    | Ignored | Ignored, reported | Ignored, reported | |
//! | End     | Ignored | Ignored      | Ignored  | |
//!
//! A 404 to an exchange that carries the id of the session ends every exchange: the session is
//! lost. Only a Listen that never was open is told by it that the server has no such stream.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;
use core::time::Duration;

use super::action::ExchangeId;
use super::stream::Stream;
use crate::time::Instant;

/// How long the rest of an ignored response may take: a connection that is read to the end can be
/// used again.
const LINGER: Duration = Duration::from_secs(1);

/// Responses that may linger at a time.
const LINGERING_MAX: usize = 32;

/// What to do before any message is sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Todo {
    Abort(ExchangeId),
    /// Send the GET of an exchange that waits.
    Get(ExchangeId),
}

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
        self.purpose.errand()
    }
}

impl Purpose {
    pub(super) fn errand(self) -> Option<Errand> {
        match self {
            Self::Call(errand) => Some(errand),
            Self::End | Self::Listen | Self::Tell => None,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Exchanges {
    open: BTreeMap<ExchangeId, Exchange>,
    by_wire: BTreeMap<u64, ExchangeId>,
    due: BTreeSet<(Instant, ExchangeId)>,
    todo: VecDeque<Todo>,
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
        if let Some(errand) =
            exchange.errand().filter(|errand| self.by_wire.get(&errand.wire) == Some(&id))
        {
            self.by_wire.remove(&errand.wire);
        }
        self.telling -= usize::from(exchange.purpose == Purpose::Tell);
        self.ignored -= usize::from(exchange.is_ignored());
        Some(exchange)
    }

    /// Takes what to do next.
    pub(super) fn next_todo(&mut self) -> Option<Todo> {
        self.todo.pop_front()
    }

    pub(super) fn queue_get(&mut self, id: ExchangeId) {
        self.todo.push_back(Todo::Get(id));
    }

    pub(super) fn queue_abort(&mut self, id: ExchangeId) {
        self.todo.push_back(Todo::Abort(id));
    }

    /// Ends an exchange at once.
    pub(super) fn abort(&mut self, id: ExchangeId) {
        let Some(exchange) = self.remove(id) else { return };
        if !exchange.is_waiting() {
            self.queue_abort(id);
        }
    }

    /// Ignores the rest of a response, or ends it at once if too many are ignored already.
    pub(super) fn let_go(&mut self, id: ExchangeId, now: Instant) {
        if self.ignored < LINGERING_MAX {
            self.ignore(id, now);
        } else {
            self.abort(id);
        }
    }

    /// Ignores the rest of a response, which may come for a while.
    pub(super) fn ignore(&mut self, id: ExchangeId, now: Instant) {
        self.set_due(id, Some(now + LINGER));
        let Some(exchange) = self.open.get_mut(&id).filter(|exchange| !exchange.is_ignored())
        else {
            return;
        };
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
