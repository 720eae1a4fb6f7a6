//! A map keyed by mostly increasing integers, stored in chunks of eight.
//!
//! A chunk of consecutive keys is one allocation. Lookup is an index computation, and removing an
//! entry moves no other entry. A chunk is freed with its last entry.
//!
//! Measured against `BTreeMap<u64, V>`, which costs 20 % more instructions for "encode result" and
//! "round trip, 10^5 calls in flight", 12 % for "decode call", and 201 B instead of 111 B for a
//! call in flight (server: 284 B instead of 157 B).

use alloc::boxed::Box;
use alloc::collections::VecDeque;

/// The number of keys per chunk. A single remaining entry keeps the memory of its whole chunk.
pub(crate) const CHUNK: u64 = 8;

type Slots<V> = Box<[Option<V>; CHUNK as usize]>;

/// A map from `u64` keys that mostly increase. Refuses keys below a freed chunk.
#[derive(Debug)]
pub(crate) struct IdMap<V> {
    /// Sorted by `start`; the first chunk is not empty.
    chunks: VecDeque<Chunk<V>>,
    len: usize,
    /// The number of empty chunks.
    freed: usize,
    /// The slots of the chunk that became empty last, reused by the next new chunk.
    spare: Option<Slots<V>>,
}

#[derive(Debug)]
struct Chunk<V> {
    /// The first key of this chunk, a multiple of [`CHUNK`].
    start: u64,
    /// `None` if every entry was removed.
    slots: Option<Slots<V>>,
}

impl<V> Default for IdMap<V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<V> IdMap<V> {
    pub(crate) const fn new() -> Self {
        Self { chunks: VecDeque::new(), len: 0, freed: 0, spare: None }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Inserts a value and returns a reference to it, or the value if the key is taken or its chunk
    /// was freed; never fails for a new highest key.
    #[inline]
    pub(crate) fn insert(&mut self, key: u64, value: V) -> Result<&mut V, V> {
        let start = chunk_start(key);
        let index = if self.chunks.back().is_none_or(|last| last.start < start) {
            self.chunks.push_back(Chunk { start, slots: None });
            self.freed += 1;
            self.chunks.len() - 1
        } else {
            match self.chunk_index(start) {
                Some(index) => index,
                None => return Err(value),
            }
        };
        let Some(chunk) = self.chunks.get_mut(index) else { return Err(value) };
        if chunk.slots.is_none() {
            self.freed -= 1;
        }
        let slots = chunk.slots.get_or_insert_with(|| {
            self.spare.take().unwrap_or_else(|| Box::new([const { None }; CHUNK as usize]))
        });
        match slots.get_mut(slot_index(key)) {
            Some(slot @ None) => {
                self.len += 1;
                Ok(slot.insert(value))
            }
            _ => Err(value),
        }
    }

    pub(crate) fn get(&self, key: u64) -> Option<&V> {
        let chunk = self.chunks.get(self.chunk_index(chunk_start(key))?)?;
        chunk.slots.as_ref()?.get(slot_index(key))?.as_ref()
    }

    pub(crate) fn get_mut(&mut self, key: u64) -> Option<&mut V> {
        let index = self.chunk_index(chunk_start(key))?;
        self.chunks.get_mut(index)?.slots.as_mut()?.get_mut(slot_index(key))?.as_mut()
    }

    pub(crate) fn remove(&mut self, key: u64) -> Option<V> {
        let index = self.chunk_index(chunk_start(key))?;
        let chunk = self.chunks.get_mut(index)?;
        let slots = chunk.slots.as_mut()?;
        // Returned as it is, so that a large value is moved only once.
        let value = slots.get_mut(slot_index(key))?.take();
        value.as_ref()?;
        self.len -= 1;
        if slots.iter().all(Option::is_none) {
            self.spare = chunk.slots.take();
            self.freed += 1;
            self.compact();
        }
        value
    }

    /// Iterates over all entries in key order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &V)> + '_ {
        self.chunks.iter().flat_map(|chunk| {
            let slots = chunk.slots.iter().flat_map(|slots| slots.iter());
            (chunk.start..=u64::MAX)
                .zip(slots)
                .filter_map(|(key, slot)| Some((key, slot.as_ref()?)))
        })
    }

    /// Returns the index of the chunk that begins with the key `start`.
    #[inline]
    fn chunk_index(&self, start: u64) -> Option<usize> {
        let first = self.chunks.front()?.start;
        // The oldest entries are looked up most.
        if start == first {
            return Some(0);
        }
        // Without gaps the index follows from the first chunk.
        let ahead = start.checked_sub(first)? / CHUNK;
        let index = usize::try_from(ahead).unwrap_or(usize::MAX);
        if self.chunks.get(index).is_some_and(|chunk| chunk.start == start) {
            return Some(index);
        }
        self.search(start)
    }

    /// Like [`chunk_index`](Self::chunk_index), with gaps.
    // Not part of `chunk_index`, which is then small enough to be inlined: 3 % of "encode result".
    #[cold]
    fn search(&self, start: u64) -> Option<usize> {
        self.chunks.binary_search_by_key(&start, |chunk| chunk.start).ok()
    }

    /// Drops empty chunks: those at the front immediately, the others when they are the majority.
    fn compact(&mut self) {
        while self.chunks.front().is_some_and(|chunk| chunk.slots.is_none()) {
            self.chunks.pop_front();
            self.freed -= 1;
        }
        if self.freed > self.chunks.len() / 2 {
            self.chunks.retain(|chunk| chunk.slots.is_some());
            self.freed = 0;
        }
        if self.chunks.capacity() / 4 > self.chunks.len() + 4 {
            self.chunks.shrink_to(self.chunks.len() * 2);
        }
    }
}

/// Returns the first key of the chunk of `key`.
const fn chunk_start(key: u64) -> u64 {
    key - key % CHUNK
}

/// Returns the index of `key` within its chunk.
const fn slot_index(key: u64) -> usize {
    (key % CHUNK) as usize
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeMap;
    use alloc::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Debug)]
    enum Step {
        Push(u64),
        Insert(u64),
        Remove(usize),
        RemoveOther(u64),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            4 => (0_u64..20).prop_map(Step::Push),
            1 => any::<u64>().prop_map(Step::Push),
            1 => (0_u64..200).prop_map(Step::Insert),
            4 => any::<usize>().prop_map(Step::Remove),
            1 => (0_u64..200).prop_map(Step::RemoveOther),
        ];
        proptest::collection::vec(step, 0..200)
    }

    proptest! {
        #[test]
        fn behaves_like_a_map_for_accepted_keys(steps in steps()) {
            let (mut ids, mut map, mut highest) = (IdMap::default(), BTreeMap::new(), 0_u64);
            for step in steps {
                match step {
                    Step::Push(ahead) => {
                        let key = highest.saturating_add(ahead).saturating_add(1);
                        if key > highest {
                            highest = key;
                            prop_assert!(ids.insert(key, key).is_ok());
                            map.insert(key, key);
                        }
                    }
                    Step::Insert(key) => {
                        let is_taken = map.contains_key(&key);
                        if ids.insert(key, key).is_ok() {
                            prop_assert!(!is_taken);
                            highest = highest.max(key);
                            map.insert(key, key);
                        }
                    }
                    Step::Remove(index) => {
                        let key = map.keys().nth(index % map.len().max(1));
                        let key = key.copied().unwrap_or_default();
                        prop_assert_eq!(ids.remove(key), map.remove(&key));
                    }
                    Step::RemoveOther(key) => prop_assert_eq!(ids.remove(key), map.remove(&key)),
                }
                prop_assert_eq!(ids.len(), map.len());
                prop_assert_eq!(ids.is_empty(), map.is_empty());
                prop_assert!(ids.iter().map(|(key, value)| (key, *value)).eq(map.clone()));
                let mut keys: Vec<u64> = map.keys().copied().collect();
                keys.extend([0, 1, highest.saturating_add(1), u64::MAX]);
                for key in keys {
                    prop_assert_eq!(ids.get(key), map.get(&key));
                    prop_assert_eq!(ids.get_mut(key), map.get_mut(&key));
                }
            }
        }
    }

    #[test]
    fn memory_is_released_after_a_burst() {
        let mut ids = IdMap::default();
        for key in 0..100_000 {
            ids.insert(key, key).unwrap();
        }
        // Key 0 stays, and so does every hundredth key.
        for key in (0..100_000).filter(|key| key % 100 != 0) {
            ids.remove(key).unwrap();
        }
        assert!(
            ids.chunks.len() <= 2_000 && ids.chunks.capacity() <= 8_000,
            "{}",
            ids.chunks.capacity()
        );
        assert_eq!(ids.iter().count(), 1_000);
        for key in (0..1000).rev().map(|hundred| hundred * 100) {
            ids.remove(key).unwrap();
        }
        assert!(ids.chunks.capacity() <= 32, "{}", ids.chunks.capacity());
    }

    #[test]
    fn a_long_lived_entry_does_not_make_the_map_grow() {
        let mut ids = IdMap::default();
        ids.insert(1, 1).unwrap();
        for key in 2..100_000 {
            ids.insert(key, key).unwrap();
            ids.remove(key).unwrap();
        }
        assert!(ids.chunks.capacity() <= 32, "{}", ids.chunks.capacity());
        assert_eq!(ids.get(1), Some(&1));
    }
}
