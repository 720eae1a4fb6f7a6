//! One list of the catalog: entries in insertion order, with lookup by key and pagination.
//!
//! Each entry has a unique, increasing number. A cursor contains the last number of the previous
//! page, so it stays valid while entries are added and removed.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::error::CatalogError;
use super::uri_template::with_reserved_decoded;
use super::visibility::{CatalogEntry, Filter};
use crate::collections::SortedMap;
use crate::revision::Revision;
use crate::schema::Encode;

/// The maximum size of the pages into which a [`Catalog`](super::Catalog) splits its lists.
///
/// By default, a page holds all entries that fit into a message: many clients ignore cursors.
///
/// ```
/// use mcp_proto::catalog::{Catalog, Pages};
///
/// let catalog: Catalog<fn()> = Catalog::with_pages(Pages { entries_max: 50, ..Pages::default() });
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Pages {
    /// Maximum number of entries on a page. Default: `usize::MAX`. Zero is treated as one.
    pub entries_max: usize,
    /// Maximum size of a page (the result of one list request), in bytes of JSON. Default: 15 MiB.
    ///
    /// An entry that is larger than a whole page cannot be added. The response that contains a page
    /// is a few hundred bytes larger than the page, so choose a maximum below the message size that
    /// clients accept, such as their [`message_bytes_max`](crate::Limits::message_bytes_max).
    pub bytes_max: usize,
}

impl Default for Pages {
    fn default() -> Self {
        Self { entries_max: usize::MAX, bytes_max: 15 << 20 }
    }
}

/// Upper bound of a page's size without its entries.
const ENVELOPE_BYTES_MAX: usize = 256;

impl Pages {
    /// Returns the bytes available for entries and their separators.
    const fn entries_bytes_max(self) -> usize {
        self.bytes_max.saturating_sub(ENVELOPE_BYTES_MAX)
    }
}

/// A catalog entry with its handlers.
#[derive(Clone, Debug)]
pub(super) struct Entry<T, H> {
    pub(super) item: T,
    pub(super) handler: H,
    /// Completion handlers, by argument name.
    pub(super) completions: SortedMap<Box<str>, H>,
    number: u64,
    /// Upper bound of the encoded size over all revisions, with a comma.
    bytes: usize,
}

#[derive(Clone, Debug)]
pub(super) struct Table<T, H> {
    entries: SortedMap<u64, Entry<T, H>>,
    /// The number of each entry, by normalized key.
    numbers: SortedMap<Box<str>, u64>,
    /// The number of each entry whose key has encoded reserved characters, by its decoded key.
    decoded: SortedMap<(Box<str>, u64), ()>,
    normalize: Normalize,
    /// Prefix of this list's cursors.
    cursor_prefix: char,
    /// The last number assigned.
    last_number: u64,
}

/// Returns the form of a key that all equal keys share.
type Normalize = fn(&str) -> Cow<'_, str>;

/// Where an entry is inserted.
#[derive(Clone, Copy)]
pub(super) enum Position {
    /// At the end, as a new entry.
    End,
    /// In place of the entry with this key.
    Same,
}

impl<T: Encode, H> Table<T, H> {
    /// Creates a table whose keys are compared as text.
    pub(super) const fn new(cursor_prefix: char) -> Self {
        Self::with_keys(cursor_prefix, |key| Cow::Borrowed(key))
    }

    /// Creates a table whose keys are equal if `normalize` returns equal texts for them.
    pub(super) const fn with_keys(cursor_prefix: char, normalize: Normalize) -> Self {
        Self {
            entries: SortedMap::new(),
            numbers: SortedMap::new(),
            decoded: SortedMap::new(),
            normalize,
            cursor_prefix,
            last_number: 0,
        }
    }

    /// Inserts an entry. Returns its number.
    pub(super) fn insert(
        &mut self,
        key: &str,
        item: T,
        handler: H,
        pages: Pages,
        position: Position,
    ) -> Result<u64, CatalogError> {
        let bytes = encoded_bytes_max(&item)?;
        if bytes > pages.entries_bytes_max() {
            return Err(CatalogError::TooLong);
        }
        let number = match (self.number(key), position) {
            (Some(_), Position::End) => return Err(CatalogError::Duplicate),
            (Some(number), Position::Same) => number,
            (None, Position::Same) => return Err(CatalogError::Unknown),
            (None, Position::End) => {
                self.last_number += 1;
                self.numbers.insert((self.normalize)(key).into(), self.last_number);
                self.last_number
            }
        };
        if let Some(decoded) = self.decoded_key(key) {
            self.decoded.insert((decoded, number), ());
        }
        self.entries
            .insert(number, Entry { item, handler, completions: SortedMap::new(), number, bytes });
        Ok(number)
    }

    pub(super) fn remove(&mut self, key: &str) -> Result<(u64, H), CatalogError> {
        let number = self.numbers.remove(&*(self.normalize)(key)).ok_or(CatalogError::Unknown)?;
        if let Some(decoded) = self.decoded_key(key) {
            self.decoded.remove(&(decoded, number));
        }
        let entry = self.entries.remove(&number).ok_or(CatalogError::Unknown)?;
        Ok((number, entry.handler))
    }
}

impl<T, H> Table<T, H> {
    pub(super) fn find(&self, key: &str) -> Option<&Entry<T, H>> {
        self.at(self.number(key)?)
    }

    pub(super) fn find_mut(&mut self, key: &str) -> Option<&mut Entry<T, H>> {
        self.entries.get_mut(&self.number(key)?)
    }

    /// Returns whether some keys have encoded reserved characters.
    pub(super) fn has_lookalikes(&self) -> bool {
        !self.decoded.is_empty()
    }

    /// Returns the entries whose keys, with reserved characters decoded, are `decoded`.
    pub(super) fn lookalikes(&self, decoded: &str) -> Vec<&Entry<T, H>> {
        let encoded = self.decoded.range_from(&(decoded.into(), 0)).map(|(key, ())| key);
        let equal = encoded.take_while(|(key, _)| **key == *decoded).map(|(_, number)| *number);
        self.number(decoded).into_iter().chain(equal).filter_map(|number| self.at(number)).collect()
    }

    /// Returns a URI with reserved characters decoded; `None` if none of them is encoded.
    fn decoded_key(&self, key: &str) -> Option<Box<str>> {
        let key = (self.normalize)(key);
        let decoded = with_reserved_decoded(&key)?;
        (decoded != *key).then(|| decoded.into())
    }

    fn number(&self, key: &str) -> Option<u64> {
        self.numbers.get(&*(self.normalize)(key)).copied()
    }

    /// Returns the entry with this number.
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

    /// Returns the entries after `cursor` that fit on a page, and the cursor of the next page, if
    /// any. Returns `None` for an invalid cursor.
    // PAG-05: a cursor that this list never issued is invalid.
    pub(super) fn page<'a>(
        &'a self,
        cursor: Option<&str>,
        pages: Pages,
        filter: Filter<'_>,
    ) -> Option<(Vec<T>, Option<String>)>
    where
        T: Clone,
        CatalogEntry<'a>: From<&'a T>,
    {
        let after = match cursor {
            Some(cursor) => self.parse_cursor(cursor, filter)?,
            None => 0,
        };
        let rest = self.entries.range_from(&after.saturating_add(1));
        let mut rest = rest.filter(|(_, entry)| filter.shows(&entry.item)).peekable();
        let mut last = None;
        let mut page = Vec::new();
        let mut room = pages.entries_bytes_max();
        while let Some((_, entry)) = rest.peek() {
            let is_full = page.len() >= pages.entries_max.max(1);
            let Some(left) = room.checked_sub(entry.bytes).filter(|_| !is_full) else { break };
            room = left;
            last = Some(*entry);
            page.push(entry.item.clone());
            rest.next();
        }
        let last = last.filter(|_| rest.peek().is_some());
        let next = last.map(|last| filter.cursor(self.cursor_prefix, last.number, &last.item));
        Some((page, next))
    }

    /// Returns the number in a cursor. Returns `None` if this list cannot have issued it.
    fn parse_cursor<'a>(&'a self, cursor: &str, filter: Filter<'_>) -> Option<u64>
    where
        CatalogEntry<'a>: From<&'a T>,
    {
        let digits = cursor.strip_prefix(self.cursor_prefix)?;
        if filter.0.is_some() {
            let entry = self.find(digits).filter(|entry| filter.shows(&entry.item));
            return entry.map(|entry| entry.number);
        }
        let number =
            digits.parse().ok().filter(|number| (1..=self.last_number).contains(number))?;
        (digits.starts_with(|first: char| matches!(first, '1'..='9'))).then_some(number)
    }
}

/// Returns the longest encoding of `item` over all revisions, with a comma.
fn encoded_bytes_max<T: Encode>(item: &T) -> Result<usize, CatalogError> {
    let mut longest = 0;
    let mut out = Vec::new();
    for revision in Revision::ALL {
        out.clear();
        item.encode(revision, &mut out)
            .map_err(|_| CatalogError::Invalid("the entry cannot be encoded as JSON"))?;
        longest = longest.max(out.len());
    }
    Ok(longest + 1)
}
