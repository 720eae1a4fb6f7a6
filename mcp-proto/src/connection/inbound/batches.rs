//! JSON-RPC batches of 2025-03-26: gathers the responses to the members of one array.

use alloc::vec::Vec;

use crate::collections::{Empty, SortedMap};
use crate::rpc::RequestId;
use crate::vocabulary::StreamId;

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct BatchId(u64);

#[derive(Debug)]
struct Batch {
    stream: StreamId,
    /// Number of pending responses, plus one while the array is being read.
    waiting: usize,
    /// The responses so far, separated by commas.
    answers: Vec<u8>,
    /// The ids of its requests, reserved until the batch completes.
    ids: Vec<RequestId>,
}

/// The incomplete batches.
#[derive(Debug, Default)]
pub(crate) struct Batches {
    open: SortedMap<BatchId, Batch>,
    ids: SortedMap<RequestId, ()>,
    next: u64,
    bytes: usize,
}

impl Empty for Batches {
    const EMPTY: &'static Self =
        &Self { open: SortedMap::new(), ids: SortedMap::new(), next: 0, bytes: 0 };
}

impl Batches {
    /// Starts a batch; call [`settle`](Self::settle) after reading its members.
    pub(crate) fn begin(&mut self, stream: StreamId) -> BatchId {
        self.next += 1;
        let id = BatchId(self.next);
        self.open.insert(id, Batch { stream, waiting: 1, answers: Vec::new(), ids: Vec::new() });
        id
    }

    /// Returns the bytes of the gathered responses and reserved ids.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns whether an incomplete batch has reserved `id`.
    // BAT-18: ids must be unique, also within a batch.
    pub(crate) fn has_id(&self, id: &RequestId) -> bool {
        !self.ids.is_empty() && self.ids.contains_key(id)
    }

    /// Reserves the id of a request until the batch completes.
    pub(crate) fn reserve_id(&mut self, batch: BatchId, id: &RequestId) {
        if let Some(open) = self.open.get_mut(&batch) {
            self.ids.insert(id.clone(), ());
            open.ids.push(id.clone());
            self.bytes += id_cost(id);
        }
    }

    /// Counts one more pending response.
    pub(crate) fn expect(&mut self, id: BatchId) {
        if let Some(batch) = self.open.get_mut(&id) {
            batch.waiting += 1;
        }
    }

    /// Adds the response that `write` writes; adds nothing if it fails.
    pub(crate) fn add<E>(
        &mut self,
        id: BatchId,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(batch) = self.open.get_mut(&id) else { return Ok(()) };
        let start = batch.answers.len();
        if start > 0 {
            batch.answers.push(b',');
        }
        let written = write(&mut batch.answers).inspect_err(|_| batch.answers.truncate(start));
        self.bytes += batch.answers.len() - start;
        written
    }

    /// Counts one member as done. Returns the stream and all responses after the last.
    // BAT-06, BAT-07, BAT-14: one array of all responses, without cancelled members, never `[]`.
    pub(crate) fn settle(&mut self, id: BatchId) -> Option<(StreamId, Vec<u8>)> {
        let batch = self.open.get_mut(&id)?;
        batch.waiting -= 1;
        if batch.waiting > 0 {
            return None;
        }
        let batch = self.open.remove(&id)?;
        self.bytes -= batch.answers.len();
        for id in batch.ids {
            self.bytes -= id_cost(&id);
            self.ids.remove(&id);
        }
        Some((batch.stream, batch.answers))
    }

    /// Returns whether no batch is incomplete.
    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }
}

/// Returns the approximate bytes of holding an id in both collections.
fn id_cost(id: &RequestId) -> usize {
    4 * id.as_text().map_or(0, str::len) + 128
}

#[cfg(test)]
mod tests;
