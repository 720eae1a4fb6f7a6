//! Values that a server keeps between the runs of a handler.

use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use mcp_proto::Principal;

use crate::exec::cancellation::Cancellation;
use crate::exec::random::random_id;

/// The maximum number of kept values, and of those of one authenticated principal.
const KEPT_MAX: usize = 1024;
const KEPT_OF_ONE_MAX: usize = 64;

/// Values that are kept until the client answers, each under an id that cannot be guessed.
#[derive(Default)]
pub(crate) struct Kept(Mutex<HashMap<String, Entry>>);

struct Entry {
    principal: Option<Principal>,
    value: Box<dyn Any + Send>,
    /// Set when the value is kept no longer.
    gone: Arc<Cancellation>,
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.gone.set();
    }
}

impl Kept {
    /// Keeps a value for a principal. Returns its id, and a flag that is set when it is taken or
    /// removed.
    ///
    /// # Errors
    /// Returns the value if there are too many.
    pub(crate) fn keep<T: Send + 'static>(
        &self,
        principal: Option<&Principal>,
        value: T,
    ) -> Result<(String, Arc<Cancellation>), T> {
        let Ok(id) = random_id() else { return Err(value) };
        let mut entries = self.lock();
        let is_of_principal = |entry: &&Entry| entry.principal.as_ref() == principal;
        let is_full = entries.len() >= KEPT_MAX
            || principal.is_some()
                && entries.values().filter(is_of_principal).count() >= KEPT_OF_ONE_MAX;
        if is_full {
            return Err(value);
        }
        let gone = Arc::<Cancellation>::default();
        let principal = principal.cloned();
        let entry = Entry { principal, value: Box::new(value), gone: Arc::clone(&gone) };
        entries.insert(id.clone(), entry);
        Ok((id, gone))
    }

    /// Takes the value of a principal.
    pub(crate) fn take<T: 'static>(&self, id: &str, principal: Option<&Principal>) -> Option<T> {
        let mut entries = self.lock();
        let is_own = entries.get(id)?.principal.as_ref() == principal;
        let mut entry = is_own.then(|| entries.remove(id)).flatten()?;
        drop(entries);
        let value = std::mem::replace(&mut entry.value, Box::new(()));
        value.downcast().ok().map(|value| *value)
    }

    /// Returns a guard that drops a value, if it is not taken before.
    pub(crate) fn remove_on_drop(self: &Arc<Self>, id: String) -> RemoveOnDrop {
        RemoveOnDrop { kept: Arc::downgrade(self), id }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Drops a kept value when it is dropped, also with a task that a runtime rejects or abandons.
pub(crate) struct RemoveOnDrop {
    kept: Weak<Kept>,
    id: String,
}

impl Drop for RemoveOnDrop {
    fn drop(&mut self) {
        let Some(kept) = self.kept.upgrade() else { return };
        // Dropped without the lock.
        let _removed = kept.lock().remove(&self.id);
    }
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kept").field("len", &self.lock().len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_taken_once_and_by_its_principal_only() {
        let kept = Kept::default();
        let (ada, bob) = (Principal::new("ada"), Principal::new("bob"));
        let (id, gone) = kept.keep(ada.as_ref(), 7_u8).unwrap();
        assert_eq!(kept.take::<u8>(&id, bob.as_ref()), None);
        assert_eq!(kept.take::<u8>(&id, None), None);
        assert!(!gone.is_set());
        assert_eq!(kept.take(&id, ada.as_ref()), Some(7_u8));
        assert!(gone.is_set());
        assert_eq!(kept.take::<u8>(&id, ada.as_ref()), None);
    }

    #[test]
    fn values_are_bounded_in_total_and_for_each_principal() {
        let kept = Arc::new(Kept::default());
        let ada = Principal::new("ada");
        let ids: Vec<String> =
            (0..KEPT_OF_ONE_MAX).map(|it| kept.keep(ada.as_ref(), it).unwrap().0).collect();
        assert_eq!(kept.keep(ada.as_ref(), 99).unwrap_err(), 99);
        drop(kept.remove_on_drop(ids[0].clone()));
        kept.keep(ada.as_ref(), 99).unwrap();
        for it in KEPT_OF_ONE_MAX..KEPT_MAX {
            kept.keep(None, it).unwrap();
        }
        assert_eq!(kept.keep(None, 100).unwrap_err(), 100);
    }
}
