//! The peer's open requests, by `IncomingId` and by wire id.

use alloc::vec::Vec;
use core::num::NonZeroU64;

use super::super::eras::rules::WrittenQuestion;
use super::request::{InboundRequest, ReplyTo};
use crate::collections::{Empty, IdMap, LazyBox, SortedMap};
use crate::rpc::RequestId;
use crate::vocabulary::{IncomingId, StreamId};

#[derive(Debug, Default)]
pub(crate) struct RequestTable {
    tables: LazyBox<Tables>,
    next: u64,
    bytes: usize,
}

/// Allocated on first use; freed by `shrink` while no request is open.
#[derive(Debug, Default)]
struct Tables {
    open: IdMap<InboundRequest>,
    by_wire: ByWire,
    /// Requests with deferred progress.
    deferred: SortedMap<IncomingId, ()>,
    // T-28: a server asks nothing before the client has completed the handshake.
    /// The questions of requests that wait for the end of the handshake.
    held: SortedMap<IncomingId, Vec<WrittenQuestion>>,
}

impl Empty for Tables {
    const EMPTY: &'static Self = &Self {
        open: IdMap::new(),
        by_wire: ByWire { numbers: IdMap::new(), others: SortedMap::new() },
        deferred: SortedMap::new(),
        held: SortedMap::new(),
    };
}

/// Handles by wire id.
#[derive(Debug, Default)]
struct ByWire {
    /// Numeric ids, which are usually consecutive.
    numbers: IdMap<NonZeroU64>,
    others: SortedMap<RequestId, IncomingId>,
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
        let is_numbered =
            numbers.is_some_and(|(number, id)| self.numbers.insert(number, id).is_ok());
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

impl RequestTable {
    pub(crate) fn len(&self) -> usize {
        self.tables.open.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.tables.open.is_empty()
    }

    /// Returns the bytes held by the open requests.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn insert(&mut self, open: InboundRequest) -> IncomingId {
        self.next += 1;
        let id = IncomingId(self.next);
        self.bytes += open.bytes;
        let tables = &mut *self.tables;
        if let ReplyTo::Peer { wire, .. } = &open.reply {
            tables.by_wire.insert(wire, id);
        }
        let added = tables.open.insert(id.0, open);
        debug_assert!(added.is_ok(), "ids are unique");
        id
    }

    pub(crate) fn find(&self, wire: &RequestId) -> Option<IncomingId> {
        self.tables.by_wire.find(wire)
    }

    /// Adds to the bytes held by an open request.
    pub(crate) fn add_bytes(&mut self, id: IncomingId, bytes: usize) {
        if let Some(open) = self.tables.open.get_mut(id.0) {
            open.bytes += bytes;
            self.bytes += bytes;
        }
    }

    pub(crate) fn get(&self, id: IncomingId) -> Option<&InboundRequest> {
        self.tables.open.get(id.0)
    }

    pub(crate) fn get_mut(&mut self, id: IncomingId) -> Option<&mut InboundRequest> {
        self.tables.allocated_mut()?.open.get_mut(id.0)
    }

    pub(crate) fn remove(&mut self, id: IncomingId) -> Option<InboundRequest> {
        let tables = self.tables.allocated_mut()?;
        let removed = tables.open.remove(id.0);
        let open = removed.as_ref()?;
        self.bytes -= open.bytes;
        tables.deferred.remove(&id);
        tables.held.remove(&id);
        if let ReplyTo::Peer { wire, .. } = &open.reply {
            tables.by_wire.remove(wire);
        }
        removed
    }

    /// Releases unused capacity while idle.
    pub(crate) fn shrink(&mut self) {
        if self.tables.open.is_empty() {
            self.tables = LazyBox::default();
        }
    }

    pub(crate) fn first(&self) -> Option<IncomingId> {
        self.tables.open.iter().next().map(|(id, _)| IncomingId(id))
    }

    /// Defers a progress notification with `params`, replacing an earlier one.
    pub(crate) fn defer(&mut self, id: IncomingId, params: Vec<u8>) {
        if let Some(open) = self.tables.open.get_mut(id.0) {
            open.rare().deferred = Some(params);
            self.tables.deferred.insert(id, ());
        }
    }

    /// Returns whether any progress is deferred.
    pub(crate) fn has_deferred(&self) -> bool {
        !self.tables.deferred.is_empty()
    }

    /// Takes the deferred progress of one request.
    pub(crate) fn take_deferred(&mut self, id: IncomingId) -> Option<Vec<u8>> {
        let tables = self.tables.allocated_mut()?;
        tables.deferred.remove(&id)?;
        tables.open.get_mut(id.0)?.rare.as_mut()?.deferred.take()
    }

    /// Takes the deferred progress of the oldest request whose stream has room.
    pub(crate) fn next_deferred(
        &mut self,
        has_room: impl Fn(StreamId) -> bool,
    ) -> Option<(StreamId, Vec<u8>)> {
        let (id, stream) = self.tables.deferred.keys().find_map(|id| {
            let stream = self.tables.open.get(id.0)?.stream()?;
            has_room(stream).then_some((*id, stream))
        })?;
        Some((stream, self.take_deferred(id)?))
    }

    /// Holds the questions of a request. Their bytes count towards those of the request.
    pub(crate) fn hold(&mut self, id: IncomingId, questions: Vec<WrittenQuestion>) {
        let bytes = questions.iter().map(|question| question.params.len()).sum();
        self.add_bytes(id, bytes);
        self.tables.held.insert(id, questions);
    }

    /// Returns the number of held questions.
    pub(crate) fn held_questions(&self) -> usize {
        let held = &self.tables.held;
        // Checked first, because each call asks for it.
        if held.is_empty() { 0 } else { held.values().map(Vec::len).sum() }
    }

    /// Takes the held questions of the oldest request that has any.
    pub(crate) fn next_held(&mut self) -> Option<(IncomingId, Vec<WrittenQuestion>)> {
        let tables = self.tables.allocated_mut()?;
        let (id, questions) = tables.held.pop_first()?;
        let bytes: usize = questions.iter().map(|question| question.params.len()).sum();
        if let Some(open) = tables.open.get_mut(id.0) {
            open.bytes -= bytes;
            self.bytes -= bytes;
        }
        Some((id, questions))
    }

    /// Returns the oldest request received on `stream`.
    pub(crate) fn first_on(&self, stream: StreamId) -> Option<IncomingId> {
        self.first_that(|open| open.stream() == Some(stream))
    }

    /// Returns the oldest request that `is_it` selects.
    pub(crate) fn first_that(&self, is_it: impl Fn(&InboundRequest) -> bool) -> Option<IncomingId> {
        self.tables.open.iter().find(|(_, open)| is_it(open)).map(|(id, _)| IncomingId(id))
    }
}
