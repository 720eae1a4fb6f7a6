//! A table of things by number, whose numbers mostly count up; knows nothing of what they are.
//!
//! Numbers that follow each other share a group, so that a thing takes little more than itself, is found at once and
//! moves nothing when it goes. A group is given back once nothing is left in it.

use alloc::boxed::Box;
use alloc::collections::VecDeque;

/// How many numbers share a group: the last one that is left of them holds the room of all.
const GROUP: u64 = 8;

type Slots<T> = Box<[Option<T>; GROUP as usize]>;

#[derive(Debug)]
pub(crate) struct Numbered<T> {
    /// In order; the first of them holds something.
    groups: VecDeque<Group<T>>,
    len: usize,
    /// How many of the groups hold nothing.
    gone: usize,
    /// What held the group that went last, for the next: few things at a time cost no allocation.
    spare: Option<Slots<T>>,
}

#[derive(Debug)]
struct Group<T> {
    /// The first of its numbers.
    start: u64,
    /// What its numbers stand for, while it is anything.
    slots: Option<Slots<T>>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Numbered<T> {
    pub(crate) const fn new() -> Self {
        Self { groups: VecDeque::new(), len: 0, gone: 0, spare: None }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds what is not there yet; gives it back where there is no place for it, which there is for every number that is
    /// higher than all that ever were.
    pub(crate) fn insert(&mut self, number: u64, value: T) -> Result<(), T> {
        let start = start(number);
        let place = if self.groups.back().is_none_or(|last| last.start < start) {
            self.groups.push_back(Group { start, slots: None });
            self.gone += 1;
            self.groups.len() - 1
        } else {
            match self.place(start) {
                Some(place) => place,
                None => return Err(value),
            }
        };
        let Some(group) = self.groups.get_mut(place) else { return Err(value) };
        if group.slots.is_none() {
            self.gone -= 1;
        }
        let slots = group.slots.get_or_insert_with(|| {
            self.spare.take().unwrap_or_else(|| Box::new([const { None }; GROUP as usize]))
        });
        match slots.get_mut(slot(number)) {
            Some(slot @ None) => {
                *slot = Some(value);
                self.len += 1;
                Ok(())
            }
            _ => Err(value),
        }
    }

    pub(crate) fn get(&self, number: u64) -> Option<&T> {
        let group = self.groups.get(self.place(start(number))?)?;
        group.slots.as_ref()?.get(slot(number))?.as_ref()
    }

    pub(crate) fn get_mut(&mut self, number: u64) -> Option<&mut T> {
        let place = self.place(start(number))?;
        self.groups.get_mut(place)?.slots.as_mut()?.get_mut(slot(number))?.as_mut()
    }

    pub(crate) fn remove(&mut self, number: u64) -> Option<T> {
        let place = self.place(start(number))?;
        let group = self.groups.get_mut(place)?;
        let slots = group.slots.as_mut()?;
        let value = slots.get_mut(slot(number))?.take()?;
        self.len -= 1;
        if slots.iter().all(Option::is_none) {
            self.spare = group.slots.take();
            self.gone += 1;
            self.tidy();
        }
        Some(value)
    }

    /// All there are with their numbers, lowest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &T)> + '_ {
        self.groups.iter().flat_map(|group| {
            let slots = group.slots.iter().flat_map(|slots| slots.iter());
            (group.start..=u64::MAX).zip(slots).filter_map(|(number, slot)| Some((number, slot.as_ref()?)))
        })
    }

    /// Where the group is that begins with `start`.
    fn place(&self, start: u64) -> Option<usize> {
        // Mostly no group is missing between the first and this.
        let ahead = start.checked_sub(self.groups.front()?.start)? / GROUP;
        let place = usize::try_from(ahead).unwrap_or(usize::MAX);
        if self.groups.get(place).is_some_and(|group| group.start == start) {
            return Some(place);
        }
        self.groups.binary_search_by_key(&start, |group| group.start).ok()
    }

    /// Drops groups that hold nothing: those at the front, and the others once they are most of all.
    fn tidy(&mut self) {
        while self.groups.front().is_some_and(|group| group.slots.is_none()) {
            self.groups.pop_front();
            self.gone -= 1;
        }
        if self.gone > self.groups.len() / 2 {
            self.groups.retain(|group| group.slots.is_some());
            self.gone = 0;
        }
        if self.groups.capacity() / 4 > self.groups.len() + 4 {
            self.groups.shrink_to(self.groups.len() * 2);
        }
    }
}

/// The number that the group of `number` begins with.
const fn start(number: u64) -> u64 {
    number - number % GROUP
}

/// Where in its group `number` is.
const fn slot(number: u64) -> usize {
    (number % GROUP) as usize
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeMap;
    use alloc::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Debug)]
    enum Act {
        Push(u64),
        Insert(u64),
        Remove(usize),
        RemoveOther(u64),
    }

    fn acts() -> impl Strategy<Value = Vec<Act>> {
        let act = prop_oneof![
            4 => (0_u64..20).prop_map(Act::Push),
            1 => any::<u64>().prop_map(Act::Push),
            1 => (0_u64..200).prop_map(Act::Insert),
            4 => any::<usize>().prop_map(Act::Remove),
            1 => (0_u64..200).prop_map(Act::RemoveOther),
        ];
        proptest::collection::vec(act, 0..200)
    }

    proptest! {
        #[test]
        fn it_is_a_map_as_far_as_it_takes_numbers(acts in acts()) {
            let (mut table, mut map, mut highest) = (Numbered::default(), BTreeMap::new(), 0_u64);
            for act in acts {
                match act {
                    Act::Push(ahead) => {
                        let number = highest.saturating_add(ahead).saturating_add(1);
                        if number > highest {
                            highest = number;
                            prop_assert_eq!(table.insert(number, number), Ok(()));
                            map.insert(number, number);
                        }
                    }
                    Act::Insert(number) => {
                        let is_there = map.contains_key(&number);
                        if table.insert(number, number).is_ok() {
                            prop_assert!(!is_there);
                            highest = highest.max(number);
                            map.insert(number, number);
                        }
                    }
                    Act::Remove(index) => {
                        let number = map.keys().nth(index % map.len().max(1)).copied().unwrap_or_default();
                        prop_assert_eq!(table.remove(number), map.remove(&number));
                    }
                    Act::RemoveOther(number) => prop_assert_eq!(table.remove(number), map.remove(&number)),
                }
                prop_assert_eq!(table.len(), map.len());
                prop_assert_eq!(table.is_empty(), map.is_empty());
                prop_assert!(table.iter().map(|(number, value)| (number, *value)).eq(map.clone()));
                let mut numbers: Vec<u64> = map.keys().copied().collect();
                numbers.extend([0, 1, highest.saturating_add(1), u64::MAX]);
                for number in numbers {
                    prop_assert_eq!(table.get(number), map.get(&number));
                    prop_assert_eq!(table.get_mut(number), map.get_mut(&number));
                }
            }
        }
    }

    #[test]
    fn what_a_crowd_took_is_given_back() {
        let mut table = Numbered::default();
        for number in 0..100_000 {
            table.insert(number, number).unwrap();
        }
        // The first stays, and so does one of each hundred.
        for number in (0..100_000).filter(|number| number % 100 != 0) {
            table.remove(number).unwrap();
        }
        assert!(
            table.groups.len() <= 2_000 && table.groups.capacity() <= 8_000,
            "{}",
            table.groups.capacity()
        );
        assert_eq!(table.iter().count(), 1_000);
        for number in (0..1000).rev().map(|hundred| hundred * 100) {
            table.remove(number).unwrap();
        }
        assert!(table.groups.capacity() <= 32, "{}", table.groups.capacity());
    }

    #[test]
    fn one_that_stays_while_others_pass_does_not_make_it_grow() {
        let mut table = Numbered::default();
        table.insert(1, 1).unwrap();
        for number in 2..100_000 {
            table.insert(number, number).unwrap();
            table.remove(number).unwrap();
        }
        assert!(table.groups.capacity() <= 32, "{}", table.groups.capacity());
        assert_eq!(table.get(1), Some(&1));
    }
}
