//! Which of many things is due next; knows nothing of what they are.
//!
//! A deadline that was moved or is over stays where it is until it comes up or there are too many of its kind: whoever
//! holds the things says which still hold.

use alloc::collections::BinaryHeap;
use core::cmp::Reverse;

use crate::time::Instant;

#[derive(Debug)]
pub(crate) struct Deadlines {
    /// Each with the number of what is due then.
    all: BinaryHeap<Reverse<(Instant, u64)>>,
    /// The first of them, kept so that asking costs nothing.
    next: Option<Instant>,
}

/// So many that hold no longer are not worth looking for.
const STALE: usize = 16;

impl Deadlines {
    pub(crate) const fn new() -> Self {
        Self { all: BinaryHeap::new(), next: None }
    }

    pub(crate) fn add(&mut self, deadline: Instant, number: u64) {
        self.all.push(Reverse((deadline, number)));
        self.next = Some(self.next.map_or(deadline, |next| next.min(deadline)));
    }

    pub(crate) fn next(&self) -> Option<Instant> {
        self.next
    }

    /// The earliest, and of those the one with the lowest number.
    pub(crate) fn first(&self) -> Option<(Instant, u64)> {
        self.all.peek().map(|Reverse(first)| *first)
    }

    /// Drops what does not hold any more, so that the first does; `count` things have a deadline at most.
    pub(crate) fn settle(&mut self, count: usize, holds: impl Fn(Instant, u64) -> bool) {
        while self.first().is_some_and(|(deadline, number)| !holds(deadline, number)) {
            self.all.pop();
        }
        if self.all.len() > 2 * count + STALE {
            self.all.retain(|Reverse((deadline, number))| holds(*deadline, *number));
        }
        if self.all.capacity() / 4 > self.all.len() + STALE {
            self.all.shrink_to(self.all.len() * 2);
        }
        self.next = self.first().map(|(deadline, _)| deadline);
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeMap;

    use super::*;

    #[test]
    fn what_was_moved_or_is_over_is_not_kept_for_long() {
        let (mut deadlines, mut things) = (Deadlines::new(), BTreeMap::new());
        for step in 0..100_000 {
            // Of ten things, each is put off again and again, but for the last.
            let number = if step < 10 { step } else { step % 9 };
            let deadline = Instant::from_nanos(step + 5);
            things.insert(number, deadline);
            deadlines.add(deadline, number);
            deadlines.settle(things.len(), |at, number| things.get(&number) == Some(&at));
            let first = things.iter().map(|(number, at)| (*at, *number)).min();
            assert_eq!((deadlines.first(), deadlines.next()), (first, first.map(|(at, _)| at)));
            assert!(deadlines.all.len() <= 2 * things.len() + STALE);
        }
        things.clear();
        deadlines.settle(0, |_, _| false);
        assert!(deadlines.first().is_none() && deadlines.all.capacity() <= 4 * (STALE + 4));
    }
}
