//! Batches of 2025-03-26: gathering the answers to the members of one array; knows nothing of what they say.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::StreamId;

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct BatchId(u64);

#[derive(Debug)]
struct Batch {
    stream: StreamId,
    /// Answers that are to come; one more while the array is still being read.
    waiting: usize,
    /// The answers so far, with commas between them.
    answers: Vec<u8>,
}

/// The batches that are not answered yet.
#[derive(Debug, Default)]
pub(crate) struct Batches {
    open: BTreeMap<BatchId, Batch>,
    next: u64,
}

impl Batches {
    /// Starts a batch; `close` it once all of its members are read.
    pub(crate) fn begin(&mut self, stream: StreamId) -> BatchId {
        self.next += 1;
        let id = BatchId(self.next);
        self.open.insert(id, Batch { stream, waiting: 1, answers: Vec::new() });
        id
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
        write(&mut batch.answers).inspect_err(|_| batch.answers.truncate(start))
    }

    /// An expected answer is in, or will never come; the whole reply when it was the last and there is any.
    /// (BAT-06, BAT-07, BAT-14)
    pub(crate) fn settle(&mut self, id: BatchId) -> Option<(StreamId, Vec<u8>)> {
        let batch = self.open.get_mut(&id)?;
        batch.waiting -= 1;
        if batch.waiting > 0 {
            return None;
        }
        let batch = self.open.remove(&id)?;
        (!batch.answers.is_empty()).then_some((batch.stream, batch.answers))
    }

    pub(crate) fn clear(&mut self) {
        self.open.clear();
    }

    /// Whether answers wait for others of their batch.
    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }
}
