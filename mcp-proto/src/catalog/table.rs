//! One list of the catalogue: entries in the order in which they were added, found by key, cut into
//! pages.
//!
//! Each entry has a number that grows with every one that is added and is never used again. A
//! cursor names the last number of the page before it, so it stays right whatever is added and
//! removed between two pages.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, btree_map};
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Bound;

use super::refused::Refused;
use crate::revision::Revision;
use crate::schema::Encode;

/// How long a page of a list may be.
///
/// ```
/// use mcp_proto::catalog::{Catalog, Pages};
///
/// let catalog: Catalog<fn()> = Catalog::with_pages(Pages { entries_max: 50, ..Pages::default() });
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Pages {
    /// Entries on a page, 1,000; at least one.
    pub entries_max: usize,
    /// Bytes of JSON of a page, that is of one list's result, 1 MiB. No entry can be added that
    /// does not fit alone. The message around it has some hundred bytes more: stay under what
    /// clients take in.
    pub bytes_max: usize,
}

impl Default for Pages {
    fn default() -> Self {
        Self { entries_max: 1000, bytes_max: 1 << 20 }
    }
}

/// What a page holds besides its entries: its own members, each as long as it can be.
const FRAME_BYTES: usize = 256;

impl Pages {
    /// Bytes that the entries of a page and the commas behind them may have.
    const fn room(self) -> usize {
        self.bytes_max.saturating_sub(FRAME_BYTES)
    }
}

/// A thing with its handlers.
#[derive(Debug)]
pub(super) struct Entry<T, H> {
    pub(super) item: T,
    pub(super) handler: H,
    /// The handlers that complete its arguments, by their names.
    pub(super) completions: BTreeMap<Box<str>, H>,
    number: u64,
    /// Its length as JSON, in the revision that needs most, with a comma.
    bytes: usize,
}

#[derive(Debug)]
pub(super) struct Table<T, H> {
    entries: BTreeMap<u64, Entry<T, H>>,
    numbers: BTreeMap<Box<str>, u64>,
    /// What cursors of this list begin with.
    sign: char,
    /// The last number that was given.
    last: u64,
}

impl<T: Encode, H> Table<T, H> {
    pub(super) const fn new(sign: char) -> Self {
        Self { entries: BTreeMap::new(), numbers: BTreeMap::new(), sign, last: 0 }
    }

    /// Adds an entry at the end, or in place of one with this key if it `replaces`, and says which
    /// number it has.
    pub(super) fn add(
        &mut self,
        key: &str,
        item: T,
        handler: H,
        pages: Pages,
        replaces: bool,
    ) -> Result<u64, Refused> {
        let bytes = bytes_of(&item)?;
        if bytes > pages.room() {
            return Err(Refused::TooLong);
        }
        let number = match self.numbers.entry(key.into()) {
            btree_map::Entry::Occupied(_) if !replaces => return Err(Refused::Duplicate),
            btree_map::Entry::Occupied(place) => *place.get(),
            btree_map::Entry::Vacant(place) => {
                self.last += 1;
                *place.insert(self.last)
            }
        };
        self.entries
            .insert(number, Entry { item, handler, completions: BTreeMap::new(), number, bytes });
        Ok(number)
    }

    pub(super) fn remove(&mut self, key: &str) -> Result<(u64, H), Refused> {
        let number = self.numbers.remove(key).ok_or(Refused::Unknown)?;
        let entry = self.entries.remove(&number).ok_or(Refused::Unknown)?;
        Ok((number, entry.handler))
    }
}

impl<T, H> Table<T, H> {
    pub(super) fn find(&self, key: &str) -> Option<&Entry<T, H>> {
        self.at(*self.numbers.get(key)?)
    }

    pub(super) fn find_mut(&mut self, key: &str) -> Option<&mut Entry<T, H>> {
        self.entries.get_mut(self.numbers.get(key)?)
    }

    /// The entry that has this number.
    pub(super) fn at(&self, number: u64) -> Option<&Entry<T, H>> {
        self.entries.get(&number)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Entry<T, H>> {
        self.entries.values()
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entries behind `cursor`, as many as a page may have, and the cursor of the next page if
    /// there is one. `None` for a cursor that this list never gave. (PAG-05)
    pub(super) fn page(
        &self,
        cursor: Option<&str>,
        pages: Pages,
    ) -> Option<(Vec<T>, Option<String>)>
    where
        T: Clone,
    {
        let mut after = match cursor {
            Some(cursor) => self.number(cursor)?,
            None => 0,
        };
        let mut rest = self.entries.range((Bound::Excluded(after), Bound::Unbounded)).peekable();
        let mut page = Vec::new();
        let mut room = pages.room();
        while let Some((_, entry)) = rest.peek() {
            let is_full = page.len() >= pages.entries_max.max(1);
            let Some(left) = room.checked_sub(entry.bytes).filter(|_| !is_full) else { break };
            room = left;
            after = entry.number;
            page.push(entry.item.clone());
            rest.next();
        }
        let next = rest.peek().map(|_| alloc::format!("{}{after}", self.sign));
        Some((page, next))
    }

    /// The number that a cursor names: one that was given, and written as cursors are.
    fn number(&self, cursor: &str) -> Option<u64> {
        let digits = cursor.strip_prefix(self.sign)?;
        let number = digits.parse().ok().filter(|number| (1..=self.last).contains(number))?;
        (digits.starts_with(|first: char| matches!(first, '1'..='9'))).then_some(number)
    }
}

/// The longest that the item is as JSON, with a comma.
fn bytes_of<T: Encode>(item: &T) -> Result<usize, Refused> {
    let mut longest = 0;
    let mut out = Vec::new();
    for revision in Revision::ALL {
        out.clear();
        item.encode(revision, &mut out)
            .map_err(|_| Refused::Invalid("it cannot be written as JSON"))?;
        longest = longest.max(out.len());
    }
    Ok(longest + 1)
}
