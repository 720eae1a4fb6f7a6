//! Values that layers attach to a request for inner layers and for its handler.

use std::any::{Any, TypeId};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

type Value = Arc<dyn Any + Send + Sync>;

/// The values attached to one request, at most one of each type.
///
/// Only the application adds values, so their number needs no limit.
#[derive(Default)]
pub(crate) struct Extensions(Mutex<Vec<(TypeId, Value)>>);

impl Extensions {
    /// Adds a value. Replaces an earlier value of that type.
    pub(crate) fn insert<T: Send + Sync + 'static>(&self, value: T) {
        let (key, value): (_, Value) = (TypeId::of::<T>(), Arc::new(value));
        let mut values = self.lock();
        let replaced = match values.iter_mut().find(|(other, _)| *other == key) {
            Some((_, old)) => Some(std::mem::replace(old, value)),
            None => {
                values.push((key, value));
                None
            }
        };
        // Dropped without the lock: it is code of the application.
        drop(values);
        drop(replaced);
    }

    /// Returns the value of type `T`, if there is one.
    pub(crate) fn get<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        let key = TypeId::of::<T>();
        let value =
            self.lock().iter().find(|(other, _)| *other == key).map(|(_, value)| Arc::clone(value));
        value?.downcast().ok()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(TypeId, Value)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::Extensions;

    #[test]
    fn a_value_is_found_by_its_type_and_replaced_by_the_next_one() {
        let values = Extensions::default();
        assert_eq!(values.get::<u8>(), None);
        values.insert(1_u8);
        values.insert("text");
        values.insert(2_u8);
        assert_eq!(values.get::<u8>().as_deref(), Some(&2));
        assert_eq!(values.get::<&str>().as_deref(), Some(&"text"));
        assert_eq!(values.get::<u16>(), None);
    }
}
