//! Batches of 2025-03-26: gathers the responses to the members of one array.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use crate::collections::Empty;
use crate::rpc::RequestId;
use crate::vocabulary::StreamId;

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct BatchId(u64);

#[derive(Debug)]
struct Batch {
    stream: StreamId,
    /// Answers that are to come; one more while the array is still being read.
    waiting: usize,
    /// The answers so far, with commas between them.
    answers: Vec<u8>,
    /// The ids of its requests, which are taken until the reply is sent.
    ids: Vec<RequestId>,
}

/// The batches that are not answered yet.
#[derive(Debug, Default)]
pub(crate) struct Batches {
    open: BTreeMap<BatchId, Batch>,
    ids: BTreeSet<RequestId>,
    next: u64,
    bytes: usize,
}

impl Empty for Batches {
    const EMPTY: &'static Self =
        &Self { open: BTreeMap::new(), ids: BTreeSet::new(), next: 0, bytes: 0 };
}

impl Batches {
    /// Starts a batch; `close` it once all of its members are read.
    pub(crate) fn begin(&mut self, stream: StreamId) -> BatchId {
        self.next += 1;
        let id = BatchId(self.next);
        self.open.insert(id, Batch { stream, waiting: 1, answers: Vec::new(), ids: Vec::new() });
        id
    }

    /// Bytes of answers that wait for others of their batch, and of the ids that are taken
    /// meanwhile.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether a request of an open batch has this id. (BAT-18)
    pub(crate) fn has_id(&self, id: &RequestId) -> bool {
        !self.ids.is_empty() && self.ids.contains(id)
    }

    /// A request of the batch has this id.
    pub(crate) fn take_id(&mut self, batch: BatchId, id: &RequestId) {
        if let Some(open) = self.open.get_mut(&batch) {
            self.ids.insert(id.clone());
            open.ids.push(id.clone());
            self.bytes += id_cost(id);
        }
    }

    /// One more answer is to come.
    pub(crate) fn expect(&mut self, id: BatchId) {
        if let Some(batch) = self.open.get_mut(&id) {
            batch.waiting += 1;
        }
    }

    /// Adds the answer that `write` writes; on an error none is added.
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

    /// An expected answer is in, or will never come; the whole reply when it was the last, empty
    /// when there is none to be sent. (BAT-06, BAT-07, BAT-14)
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

    /// Whether answers wait for others of their batch.
    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }
}

/// Bytes that it takes to hold an id twice.
fn id_cost(id: &RequestId) -> usize {
    4 * id.as_text().map_or(0, str::len) + 128
}

#[cfg(test)]
mod tests;
