//! A store that lasts as long as the process.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use mcp_proto::Secret;
use mcp_proto::auth::RecordKey;

use super::{LockedRecord, Store, check_length, still_locked};

/// The maximum number of records, each at most [`RECORD_BYTES_MAX`](super::RECORD_BYTES_MAX) long.
const RECORDS_MAX: usize = 256;

/// A [`Store`] in memory: users sign in again after the process has ended.
///
/// Clones share their records. The store keeps at most 256 records and drops the one that was
/// saved least recently to make room for another.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// let store = mcp_tokio::auth::MemoryStore::new();
/// # drop(store);
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct MemoryStore(Arc<Shared>);

#[derive(Default)]
struct Shared {
    records: Mutex<BTreeMap<RecordKey, Record>>,
    released: Condvar,
}

#[derive(Default)]
struct Record {
    is_locked: bool,
    text: Option<Secret>,
    saved: Option<Instant>,
}

impl MemoryStore {
    /// Creates an empty store.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Shared {
    fn records(&self) -> MutexGuard<'_, BTreeMap<RecordKey, Record>> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for MemoryStore {
    fn acquire(&self, key: &RecordKey, timeout: Duration) -> io::Result<Box<dyn LockedRecord>> {
        let is_locked = |records: &mut BTreeMap<RecordKey, Record>| {
            records.get(key).is_some_and(|record| record.is_locked)
        };
        let waited = self.0.released.wait_timeout_while(self.0.records(), timeout, is_locked);
        let (mut records, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if is_locked(&mut records) {
            return Err(still_locked(timeout));
        }
        records.entry(key.clone()).or_default().is_locked = true;
        Ok(Box::new(LentRecord { shared: Arc::clone(&self.0), key: key.clone() }))
    }
}

/// Drops the record that was saved least recently if there are too many.
fn limit(records: &mut BTreeMap<RecordKey, Record>) {
    if records.len() <= RECORDS_MAX {
        return;
    }
    let free = records.iter().filter(|(_, record)| !record.is_locked);
    let oldest = free.min_by_key(|(_, record)| record.saved).map(|(key, _)| key.clone());
    if let Some(oldest) = oldest {
        records.remove(&oldest);
    }
}

/// A locked record of a [`MemoryStore`].
struct LentRecord {
    shared: Arc<Shared>,
    key: RecordKey,
}

impl LockedRecord for LentRecord {
    fn read(&mut self) -> io::Result<Option<Secret>> {
        Ok(self.shared.records().get(&self.key).and_then(|record| record.text.clone()))
    }

    fn save(&mut self, record: &Secret) -> io::Result<()> {
        check_length(record)?;
        let mut records = self.shared.records();
        if let Some(stored) = records.get_mut(&self.key) {
            stored.text = Some(record.clone());
            stored.saved = Some(Instant::now());
        }
        limit(&mut records);
        Ok(())
    }

    fn remove(&mut self) -> io::Result<()> {
        if let Some(stored) = self.shared.records().get_mut(&self.key) {
            stored.text = None;
        }
        Ok(())
    }
}

impl Drop for LentRecord {
    fn drop(&mut self) {
        let mut records = self.shared.records();
        if let Some(record) = records.get_mut(&self.key) {
            record.is_locked = false;
            // A record that was never saved leaves nothing behind.
            if record.text.is_none() {
                records.remove(&self.key);
            }
        }
        drop(records);
        self.shared.released.notify_all();
    }
}

opaque_debug!(MemoryStore, it => records: it.0.records().len());

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::thread;

    use super::*;
    use crate::auth::RECORD_BYTES_MAX;

    const SOON: Duration = Duration::from_secs(40);

    fn key(name: &str) -> RecordKey {
        RecordKey::grant("https://mcp.example", name, [])
    }

    fn read(store: &MemoryStore, name: &str) -> Option<Secret> {
        store.acquire(&key(name), SOON).unwrap().read().unwrap()
    }

    #[test]
    fn a_locked_record_is_waited_for() {
        let store = MemoryStore::new();
        let mut first = store.acquire(&key("a"), SOON).unwrap();
        let error = store.acquire(&key("a"), Duration::from_millis(1)).err().unwrap();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert_eq!(read(&store, "b"), None, "other records are free");
        let (says, hears) = channel();
        let waiting = store.clone();
        let second = thread::spawn(move || {
            says.send(()).unwrap();
            waiting.acquire(&key("a"), SOON).unwrap().read().unwrap()
        });
        hears.recv().unwrap();
        first.save(&"one".into()).unwrap();
        drop(first);
        assert_eq!(second.join().unwrap(), Some("one".into()));
    }

    #[test]
    fn the_number_and_length_of_records_are_bounded() {
        let store = MemoryStore::new();
        for n in 0..=RECORDS_MAX {
            store.acquire(&key(&n.to_string()), SOON).unwrap().save(&"x".into()).unwrap();
        }
        assert_eq!(read(&store, "0"), None);
        assert_eq!(read(&store, "1"), Some("x".into()));
        assert_eq!(store.0.records().len(), RECORDS_MAX);
        let too_long = Secret::new("x".repeat(RECORD_BYTES_MAX + 1));
        let error = store.acquire(&key("1"), SOON).unwrap().save(&too_long).unwrap_err();
        assert!(error.to_string().contains("262145"), "{error}");
        assert_eq!(read(&store, "1"), Some("x".into()));
    }

    #[test]
    fn a_removed_record_is_gone() {
        let store = MemoryStore::new();
        let mut record = store.acquire(&key("a"), SOON).unwrap();
        record.save(&"one".into()).unwrap();
        record.remove().unwrap();
        record.remove().unwrap();
        assert_eq!(record.read().unwrap(), None);
        drop(record);
        assert_eq!(read(&store, "a"), None);
        assert!(store.0.records().is_empty());
    }

    #[test]
    fn debug_shows_no_record() {
        let store = MemoryStore::new();
        store.acquire(&key("a"), SOON).unwrap().save(&"hunter2".into()).unwrap();
        assert_eq!(format!("{store:?}"), "MemoryStore { records: 1, .. }");
    }
}
