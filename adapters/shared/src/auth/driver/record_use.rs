//! [`RecordUse`]: one use of the store, from locking a record to releasing it.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mcp_proto::Secret;
use mcp_proto::auth::{RecordKey, StoreFailure};

use crate::auth::store::{LockedRecord, Store};

/// How long a lock is waited for: as long as an authorization waits for it.
const LOCK_TIMEOUT: Duration = Duration::from_secs(45);

/// One use of the store. Its methods block.
#[derive(Default)]
pub(super) struct RecordUse(Mutex<Phase>);

#[derive(Default)]
enum Phase {
    #[default]
    Unlocked,
    Locked(Box<dyn LockedRecord>),
    Released,
}

impl RecordUse {
    /// Locks and reads a record. A damaged one counts as empty text.
    pub(super) fn acquire(
        &self,
        store: &dyn Store,
        key: &RecordKey,
    ) -> Result<Option<Secret>, StoreFailure> {
        // Held during that, so that `release` comes after it.
        let mut phase = self.lock();
        if matches!(*phase, Phase::Released) {
            return Err(StoreFailure::Unavailable);
        }
        let (record, read) = catching(|| {
            let mut record = store.acquire(key, LOCK_TIMEOUT)?;
            let read = match record.read() {
                Err(error) if error.kind() == io::ErrorKind::InvalidData => Some(Secret::new("")),
                read => read?,
            };
            Ok((record, read))
        })?;
        *phase = Phase::Locked(record);
        Ok(read)
    }

    /// Saves the locked record; `None` removes it.
    pub(super) fn save(&self, text: Option<&Secret>) -> Result<(), StoreFailure> {
        match &mut *self.lock() {
            Phase::Locked(record) => catching(|| match text {
                Some(text) => record.save(text),
                None => record.remove(),
            }),
            Phase::Unlocked | Phase::Released => Err(StoreFailure::Unavailable),
        }
    }

    /// Releases the record.
    pub(super) fn release(&self) {
        let used = std::mem::replace(&mut *self.lock(), Phase::Released);
        let _panicked = catching(|| {
            drop(used);
            Ok(())
        });
    }

    fn lock(&self) -> MutexGuard<'_, Phase> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs a function of a store, which may panic.
fn catching<T>(run: impl FnOnce() -> io::Result<T>) -> Result<T, StoreFailure> {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(error)) if error.kind() == io::ErrorKind::TimedOut => Err(StoreFailure::Locked),
        Ok(Err(_)) | Err(_) => Err(StoreFailure::Unavailable),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::store::MemoryStore;

    fn key() -> RecordKey {
        RecordKey::grant("https://mcp.example", "default", [])
    }

    #[test]
    fn a_record_is_saved_and_removed_while_it_is_locked() {
        let store = MemoryStore::new();
        let first = RecordUse::default();
        assert_eq!(first.save(None), Err(StoreFailure::Unavailable), "nothing is locked");
        assert_eq!(first.acquire(&store, &key()), Ok(None));
        assert_eq!(first.save(Some(&"one".into())), Ok(()));
        first.release();
        assert_eq!(first.save(Some(&"two".into())), Err(StoreFailure::Unavailable));
        let second = RecordUse::default();
        assert_eq!(second.acquire(&store, &key()), Ok(Some("one".into())));
        assert_eq!(second.save(None), Ok(()));
        drop(second);
        assert_eq!(RecordUse::default().acquire(&store, &key()), Ok(None));
    }

    #[test]
    fn a_use_that_was_released_locks_nothing() {
        let released = RecordUse::default();
        released.release();
        let store = MemoryStore::new();
        assert_eq!(released.acquire(&store, &key()), Err(StoreFailure::Unavailable));
        assert_eq!(RecordUse::default().acquire(&store, &key()), Ok(None));
    }

    #[test]
    fn failures_are_told_apart() {
        struct Broken(Option<io::ErrorKind>);
        impl Store for Broken {
            fn acquire(&self, _: &RecordKey, _: Duration) -> io::Result<Box<dyn LockedRecord>> {
                Err(self.0.expect("on purpose").into())
            }
        }
        for (kind, failure) in [
            (Some(io::ErrorKind::TimedOut), StoreFailure::Locked),
            (Some(io::ErrorKind::PermissionDenied), StoreFailure::Unavailable),
            (None, StoreFailure::Unavailable),
        ] {
            assert_eq!(RecordUse::default().acquire(&Broken(kind), &key()), Err(failure));
        }
    }
}
