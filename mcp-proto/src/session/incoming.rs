//! The peer's requests that are not answered yet; knows nothing of what they ask for, except that some ask back.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::num::NonZeroU64;

use super::StreamId;
use super::batch::BatchId;
use super::calls::CallId;
use super::peer::Peer;
use crate::collections::{Empty, IdMap, LazyBox};
use crate::json::Raw;
use crate::revision::MethodRule;
use crate::rpc::RequestId;
use crate::schema::Level;

/// A request that the peer sent, until we have responded.
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct IncomingId(pub(crate) u64);

impl fmt::Debug for IncomingId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "request#{}", self.0)
    }
}

impl fmt::Display for IncomingId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// Where the answer to a request goes.
#[derive(Clone, Debug)]
pub(crate) enum ReplyTo {
    /// To the peer, as a response.
    Peer { wire: RequestId, stream: StreamId },
    /// Into the next round of a call of ours that asked for input, as the answer to its question number `index`.
    Call { call: CallId, index: usize },
}

#[derive(Debug)]
pub(crate) struct Open {
    pub(crate) reply: ReplyTo,
    /// Who asks, and in which revision the answer is written.
    pub(crate) peer: Arc<Peer>,
    /// What the tables say of the method, if they know it.
    pub(crate) rule: Option<&'static MethodRule>,
    /// The least grave log message that is wanted for this request, where each request says so for itself.
    pub(crate) log_level: Option<Level>,
    /// The params, for delivering the request once more when input is there; only where that can be.
    pub(crate) again: Option<Raw>,
    /// Bytes of params that are counted against the limit.
    pub(crate) bytes: usize,
    pub(crate) rare: Option<Box<Rare>>,
}

/// What many requests have nothing of.
#[derive(Debug)]
pub(crate) struct Rare {
    /// The batch that the response goes into.
    batch: Option<BatchId>,
    /// The peer wants to hear of progress, under this token.
    progress_token: Option<RequestId>,
    /// The last progress told, which the next must pass; before there is any, less than all. (PRG-05)
    pub(crate) progress: f64,
    /// Progress that could not be sent yet: the params of the latest.
    deferred: Option<Vec<u8>>,
    /// Set while the client is asked; the application has no say until the answers are in.
    pub(crate) asking: Option<Box<Asking>>,
    /// How often the request was delivered with input.
    pub(crate) rounds: u32,
}

impl Default for Rare {
    fn default() -> Self {
        Self {
            batch: None,
            progress_token: None,
            progress: f64::NEG_INFINITY,
            deferred: None,
            asking: None,
            rounds: 0,
        }
    }
}

/// Questions that are out.
#[derive(Debug)]
pub(crate) struct Asking {
    pub(crate) keys: Vec<Box<str>>,
    pub(crate) answers: Vec<Option<Raw>>,
    pub(crate) state: Option<Box<str>>,
}

/// The open requests, by the handle that the application has and by the id on the wire.
#[derive(Debug, Default)]
pub(crate) struct IncomingTable {
    tables: LazyBox<Tables>,
    next: u64,
    bytes: usize,
}

/// What there is only where something is open, or was a moment ago.
#[derive(Debug, Default)]
struct Tables {
    open: IdMap<Open>,
    by_wire: ByWire,
    /// Requests with deferred progress.
    deferred: BTreeSet<IncomingId>,
}

impl Empty for Tables {
    const EMPTY: &'static Self = &Self {
        open: IdMap::new(),
        by_wire: ByWire { numbers: IdMap::new(), others: BTreeMap::new() },
        deferred: BTreeSet::new(),
    };
}

/// What the peer calls its requests.
#[derive(Debug, Default)]
struct ByWire {
    /// Nearly all ids are numbers that count up.
    numbers: IdMap<NonZeroU64>,
    others: BTreeMap<RequestId, IncomingId>,
}

impl ByWire {
    fn find(&self, wire: &RequestId) -> Option<IncomingId> {
        if let Some(id) = wire.as_u64().and_then(|number| self.numbers.get(number)) {
            return Some(IncomingId(id.get()));
        }
        if self.others.is_empty() { None } else { self.others.get(wire).copied() }
    }

    fn insert(&mut self, wire: &RequestId, id: IncomingId) {
        let numbers = wire.as_u64().zip(NonZeroU64::new(id.0));
        let is_numbered = numbers.is_some_and(|(number, id)| self.numbers.insert(number, id).is_ok());
        if !is_numbered {
            self.others.insert(wire.clone(), id);
        }
    }

    fn remove(&mut self, wire: &RequestId) {
        let numbered = wire.as_u64().and_then(|number| self.numbers.remove(number));
        if numbered.is_none() {
            self.others.remove(wire);
        }
    }
}

impl Open {
    /// The path that it came on, if it came from the peer by itself.
    pub(crate) fn stream(&self) -> Option<StreamId> {
        match &self.reply {
            ReplyTo::Peer { stream, .. } => Some(*stream),
            ReplyTo::Call { .. } => None,
        }
    }

    /// What the peer calls it and where the answer goes, if the application may answer it now.
    pub(crate) fn to_answer(&self) -> Option<(RequestId, StreamId, Option<BatchId>)> {
        match &self.reply {
            ReplyTo::Peer { wire, stream } if self.asking().is_none() => {
                Some((wire.clone(), *stream, self.batch()))
            }
            ReplyTo::Peer { .. } | ReplyTo::Call { .. } => None,
        }
    }

    /// The batch that the response goes into.
    pub(crate) fn batch(&self) -> Option<BatchId> {
        self.rare.as_ref()?.batch
    }

    /// The peer wants to hear of progress, under this token.
    pub(crate) fn progress_token(&self) -> Option<&RequestId> {
        self.rare.as_ref()?.progress_token.as_ref()
    }

    /// Set while the client is asked; the application has no say until the answers are in.
    pub(crate) fn asking(&self) -> Option<&Asking> {
        self.rare.as_ref()?.asking.as_deref()
    }

    pub(crate) fn asking_mut(&mut self) -> Option<&mut Asking> {
        self.rare.as_mut()?.asking.as_deref_mut()
    }

    /// How often the request was delivered with input.
    pub(crate) fn rounds(&self) -> u32 {
        self.rare.as_ref().map_or(0, |rare| rare.rounds)
    }

    pub(crate) fn rare(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }
}

impl Rare {
    /// Of a request that comes in a batch, or wants progress under a token, if it does.
    pub(crate) fn new(batch: Option<BatchId>, progress_token: Option<RequestId>) -> Option<Box<Self>> {
        let is_any = batch.is_some() || progress_token.is_some();
        is_any.then(|| Box::new(Self { batch, progress_token, ..Self::default() }))
    }
}

impl IncomingTable {
    pub(crate) fn len(&self) -> usize {
        self.tables.open.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.tables.open.is_empty()
    }

    /// Bytes of params that the open requests hold.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn insert(&mut self, open: Open) -> IncomingId {
        self.next += 1;
        let id = IncomingId(self.next);
        self.bytes += open.bytes;
        let tables = &mut *self.tables;
        if let ReplyTo::Peer { wire, .. } = &open.reply {
            tables.by_wire.insert(wire, id);
        }
        let added = tables.open.insert(id.0, open);
        debug_assert!(added.is_ok(), "ids count up");
        id
    }

    pub(crate) fn find(&self, wire: &RequestId) -> Option<IncomingId> {
        self.tables.by_wire.find(wire)
    }

    /// An open request holds more than it did.
    pub(crate) fn add_bytes(&mut self, id: IncomingId, bytes: usize) {
        if let Some(open) = self.tables.open.get_mut(id.0) {
            open.bytes += bytes;
            self.bytes += bytes;
        }
    }

    pub(crate) fn get(&self, id: IncomingId) -> Option<&Open> {
        self.tables.open.get(id.0)
    }

    pub(crate) fn get_mut(&mut self, id: IncomingId) -> Option<&mut Open> {
        self.tables.open.get_mut(id.0)
    }

    pub(crate) fn remove(&mut self, id: IncomingId) -> Option<Open> {
        let tables = &mut *self.tables;
        let open = tables.open.remove(id.0)?;
        self.bytes -= open.bytes;
        tables.deferred.remove(&id);
        if let ReplyTo::Peer { wire, .. } = &open.reply {
            tables.by_wire.remove(wire);
        }
        Some(open)
    }

    /// Gives back what empty tables keep.
    #[cfg(feature = "http")]
    pub(crate) fn rest(&mut self) {
        if self.tables.open.is_empty() {
            self.tables = LazyBox::default();
        }
    }

    pub(crate) fn first(&self) -> Option<IncomingId> {
        self.tables.open.iter().next().map(|(id, _)| IncomingId(id))
    }

    /// Keeps `params` of a progress notification for later, in place of what was kept before.
    pub(crate) fn defer(&mut self, id: IncomingId, params: Vec<u8>) {
        if let Some(open) = self.tables.open.get_mut(id.0) {
            open.rare().deferred = Some(params);
            self.tables.deferred.insert(id);
        }
    }

    /// Whether there is any deferred progress.
    pub(crate) fn has_deferred(&self) -> bool {
        !self.tables.deferred.is_empty()
    }

    /// Takes the deferred progress of one request.
    pub(crate) fn take_deferred(&mut self, id: IncomingId) -> Option<Vec<u8>> {
        if !self.tables.deferred.remove(&id) {
            return None;
        }
        self.tables.open.get_mut(id.0)?.rare.as_mut()?.deferred.take()
    }

    /// Takes the deferred progress of the oldest request that has any and whose path has room.
    pub(crate) fn next_deferred(
        &mut self,
        has_room: impl Fn(StreamId) -> bool,
    ) -> Option<(StreamId, Vec<u8>)> {
        let (id, stream) = self.tables.deferred.iter().find_map(|id| {
            let stream = self.tables.open.get(id.0)?.stream()?;
            has_room(stream).then_some((*id, stream))
        })?;
        Some((stream, self.take_deferred(id)?))
    }

    /// The oldest request that came on this path.
    #[cfg(feature = "http")]
    pub(crate) fn first_on(&self, stream: StreamId) -> Option<IncomingId> {
        self.tables.open.iter().find(|(_, open)| open.stream() == Some(stream)).map(|(id, _)| IncomingId(id))
    }
}
