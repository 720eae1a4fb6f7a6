//! The peer's requests that are not answered yet; knows nothing of what they ask for, except that some ask back.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use super::StreamId;
use super::batch::BatchId;
use super::calls::CallId;
use super::peer::{Peer, Request};
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
    Peer {
        wire: RequestId,
        stream: StreamId,
        /// The batch that the response goes into.
        batch: Option<BatchId>,
    },
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
    /// The peer wants to hear of progress, under this token.
    pub(crate) progress_token: Option<RequestId>,
    /// The last progress told, which the next must pass. (PRG-05)
    pub(crate) progress: Option<f64>,
    /// Progress that could not be sent yet: the params of the latest.
    pub(crate) deferred: Option<Vec<u8>>,
    /// What was asked, for asking again once input is there; only where that can be.
    pub(crate) again: Option<Again>,
    /// Set while the client is asked; the application has no say until the answers are in.
    pub(crate) asking: Option<Box<Asking>>,
    /// Bytes of params that are counted against the limit.
    pub(crate) bytes: usize,
}

/// What it takes to deliver a request once more, besides what is known of it while it is open.
#[derive(Debug)]
pub(crate) struct Again {
    pub(crate) request: Request,
    pub(crate) rounds: u32,
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
    open: BTreeMap<IncomingId, Open>,
    by_wire: ByWire,
    /// Requests with deferred progress.
    deferred: BTreeSet<IncomingId>,
    next: u64,
    bytes: usize,
}

/// What the peer calls its requests.
#[derive(Debug, Default)]
struct ByWire {
    /// Nearly all ids are numbers, which are quickly compared.
    numbers: BTreeMap<u64, IncomingId>,
    others: BTreeMap<RequestId, IncomingId>,
}

impl ByWire {
    fn find(&self, wire: &RequestId) -> Option<IncomingId> {
        match wire.as_u64() {
            Some(number) => {
                // Ids mostly count up.
                let (last, _) = self.numbers.last_key_value()?;
                if number > *last { None } else { self.numbers.get(&number).copied() }
            }
            None => self.others.get(wire).copied(),
        }
    }

    fn insert(&mut self, wire: &RequestId, id: IncomingId) {
        match wire.as_u64() {
            Some(number) => self.numbers.insert(number, id),
            None => self.others.insert(wire.clone(), id),
        };
    }

    fn remove(&mut self, wire: &RequestId) {
        match wire.as_u64() {
            Some(number) => self.numbers.remove(&number),
            None => self.others.remove(wire),
        };
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
            ReplyTo::Peer { wire, stream, batch } if self.asking.is_none() => {
                Some((wire.clone(), *stream, *batch))
            }
            ReplyTo::Peer { .. } | ReplyTo::Call { .. } => None,
        }
    }

    /// The batch that the response goes into.
    pub(crate) fn batch(&self) -> Option<BatchId> {
        match &self.reply {
            ReplyTo::Peer { batch, .. } => *batch,
            ReplyTo::Call { .. } => None,
        }
    }
}

impl IncomingTable {
    pub(crate) fn len(&self) -> usize {
        self.open.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Bytes of params that the open requests hold.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn insert(&mut self, open: Open) -> IncomingId {
        self.next += 1;
        let id = IncomingId(self.next);
        self.bytes += open.bytes;
        if let ReplyTo::Peer { wire, .. } = &open.reply {
            self.by_wire.insert(wire, id);
        }
        self.open.insert(id, open);
        id
    }

    pub(crate) fn find(&self, wire: &RequestId) -> Option<IncomingId> {
        self.by_wire.find(wire)
    }

    /// An open request holds more than it did.
    pub(crate) fn add_bytes(&mut self, id: IncomingId, bytes: usize) {
        if let Some(open) = self.open.get_mut(&id) {
            open.bytes += bytes;
            self.bytes += bytes;
        }
    }

    pub(crate) fn get(&self, id: IncomingId) -> Option<&Open> {
        self.open.get(&id)
    }

    pub(crate) fn get_mut(&mut self, id: IncomingId) -> Option<&mut Open> {
        self.open.get_mut(&id)
    }

    pub(crate) fn remove(&mut self, id: IncomingId) -> Option<Open> {
        let open = self.open.remove(&id)?;
        self.bytes -= open.bytes;
        self.deferred.remove(&id);
        if let ReplyTo::Peer { wire, .. } = &open.reply {
            self.by_wire.remove(wire);
        }
        Some(open)
    }

    /// Gives back what empty tables keep.
    #[cfg(feature = "http")]
    pub(crate) fn rest(&mut self) {
        if self.open.is_empty() {
            *self = Self { next: self.next, ..Self::default() };
        }
    }

    pub(crate) fn first(&self) -> Option<IncomingId> {
        self.open.keys().next().copied()
    }

    /// Keeps `params` of a progress notification for later, in place of what was kept before.
    pub(crate) fn defer(&mut self, id: IncomingId, params: Vec<u8>) {
        if let Some(open) = self.open.get_mut(&id) {
            open.deferred = Some(params);
            self.deferred.insert(id);
        }
    }

    /// Whether there is any deferred progress.
    pub(crate) fn has_deferred(&self) -> bool {
        !self.deferred.is_empty()
    }

    /// Takes the deferred progress of one request.
    pub(crate) fn take_deferred(&mut self, id: IncomingId) -> Option<Vec<u8>> {
        if !self.deferred.remove(&id) {
            return None;
        }
        self.open.get_mut(&id)?.deferred.take()
    }

    /// Takes the deferred progress of the oldest request that has any and whose path has room.
    pub(crate) fn next_deferred(
        &mut self,
        has_room: impl Fn(StreamId) -> bool,
    ) -> Option<(StreamId, Vec<u8>)> {
        let (id, stream) = self.deferred.iter().find_map(|id| {
            let stream = self.open.get(id)?.stream()?;
            has_room(stream).then_some((*id, stream))
        })?;
        Some((stream, self.take_deferred(id)?))
    }

    /// The oldest request that came on this path.
    #[cfg(feature = "http")]
    pub(crate) fn first_on(&self, stream: StreamId) -> Option<IncomingId> {
        self.open.iter().find(|(_, open)| open.stream() == Some(stream)).map(|(id, _)| *id)
    }
}
