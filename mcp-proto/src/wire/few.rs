//! A map that mostly holds a few things at a time; knows nothing of what they are.
//!
//! The first ones are held in place, so that they cost no allocation, and what it took to hold more is given back once they
//! are gone.

use alloc::collections::BTreeMap;

/// A map that holds `N` things in place, in no order.
#[derive(Debug)]
pub(crate) struct Few<K, V, const N: usize> {
    first: [Option<(K, V)>; N],
    more: BTreeMap<K, V>,
}

impl<K, V, const N: usize> Default for Few<K, V, N> {
    fn default() -> Self {
        Self { first: [const { None }; N], more: BTreeMap::new() }
    }
}

impl<K: Ord, V, const N: usize> Few<K, V, N> {
    fn place(&self, key: &K) -> Option<usize> {
        self.first.iter().position(|slot| slot.as_ref().is_some_and(|(held, _)| held == key))
    }

    /// Adds something, in place of what there was by the same key.
    pub(crate) fn insert(&mut self, key: K, value: V) {
        let in_place = self.place(&key).or_else(|| {
            let is_elsewhere = !self.more.is_empty() && self.more.contains_key(&key);
            self.first.iter().position(|slot| !is_elsewhere && slot.is_none())
        });
        match in_place.and_then(|place| self.first.get_mut(place)) {
            Some(slot) => *slot = Some((key, value)),
            None => drop(self.more.insert(key, value)),
        }
    }

    pub(crate) fn get(&self, key: &K) -> Option<&V> {
        match self.place(key) {
            Some(place) => self.first.get(place)?.as_ref().map(|(_, value)| value),
            None => self.more.get(key),
        }
    }

    pub(crate) fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        match self.place(key) {
            Some(place) => self.first.get_mut(place)?.as_mut().map(|(_, value)| value),
            None => self.more.get_mut(key),
        }
    }

    pub(crate) fn remove(&mut self, key: &K) -> Option<V> {
        if let Some(place) = self.place(key) {
            return self.first.get_mut(place)?.take().map(|(_, value)| value);
        }
        let removed = self.more.remove(key)?;
        if self.more.is_empty() {
            // An empty tree keeps its root.
            self.more = BTreeMap::new();
        }
        Some(removed)
    }

    #[cfg(any(feature = "http", test))]
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.first.iter().flatten().map(|(key, value)| (key, value)).chain(&self.more)
    }

    #[cfg(feature = "http")]
    pub(crate) fn values(&self) -> impl Iterator<Item = &V> {
        self.iter().map(|(_, value)| value)
    }

    #[cfg(any(feature = "http", test))]
    pub(crate) fn is_empty(&self) -> bool {
        self.more.is_empty() && self.first.iter().all(Option::is_none)
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.iter().count()
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeMap;
    use alloc::vec::Vec;

    use proptest::prelude::*;

    use super::Few;

    proptest! {
        #[test]
        fn it_holds_what_a_map_would(steps in prop::collection::vec((0_u8..6, any::<bool>(), any::<u8>()), 0..60)) {
            let (mut few, mut map) = (Few::<u8, u8, 2>::default(), BTreeMap::new());
            for (key, is_added, value) in steps {
                if is_added {
                    few.insert(key, value);
                    map.insert(key, value);
                } else {
                    prop_assert_eq!(few.remove(&key), map.remove(&key));
                }
                if let (Some(few), Some(map)) = (few.get_mut(&key), map.get_mut(&key)) {
                    *few = few.wrapping_add(1);
                    *map = map.wrapping_add(1);
                }
                prop_assert_eq!(few.get(&key), map.get(&key));
                let mut held: Vec<_> = few.iter().map(|(key, value)| (*key, *value)).collect();
                held.sort_unstable();
                prop_assert_eq!(held, map.clone().into_iter().collect::<Vec<_>>());
                prop_assert_eq!((few.is_empty(), few.len()), (map.is_empty(), map.len()));
            }
        }
    }
}
