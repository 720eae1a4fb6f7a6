//! A list collected from its pages, within the limits of the client.

use std::collections::HashSet;

use mcp_proto::Limits;

use crate::error::ListError;

/// The pages of a list so far.
#[derive(Debug)]
pub(crate) struct Pages<T, C> {
    entries: Vec<T>,
    bytes: usize,
    /// The cursors of all pages but the first. Their bytes count as part of their pages.
    cursors: HashSet<C>,
    next: Option<C>,
    entries_max: usize,
    bytes_max: usize,
}

/// The maximum number of pages of a list.
const PAGES_MAX: usize = 10_000;

impl<T, C: Clone + Eq + std::hash::Hash> Pages<T, C> {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            entries: Vec::new(),
            bytes: 0,
            cursors: HashSet::new(),
            next: None,
            entries_max: limits.list_entries_max,
            bytes_max: limits.list_bytes_max,
        }
    }

    /// Returns the cursor of the next page; `None` for the first one.
    pub(crate) fn cursor(&self) -> Option<C> {
        self.next.clone()
    }

    /// Adds a page of `bytes` JSON text. Returns the whole list if it is the last one.
    ///
    /// # Errors
    /// Fails if the list exceeds a limit, or if the page repeats a cursor.
    // PAG-07: bounds the pages and refuses a repeated cursor.
    pub(crate) fn add(
        &mut self,
        bytes: usize,
        entries: impl IntoIterator<Item = T>,
        next: Option<C>,
    ) -> Result<Option<Vec<T>>, ListError> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > self.bytes_max {
            return Err(ListError::TooManyBytes { max: self.bytes_max });
        }
        // One more entry than allowed is enough to notice.
        let room = self.entries_max.saturating_sub(self.entries.len()).saturating_add(1);
        self.entries.extend(entries.into_iter().take(room));
        if self.entries.len() > self.entries_max {
            return Err(ListError::TooManyEntries { max: self.entries_max });
        }
        let Some(next) = next else { return Ok(Some(std::mem::take(&mut self.entries))) };
        if self.cursors.len() + 1 >= PAGES_MAX {
            return Err(ListError::TooManyPages);
        }
        if !self.cursors.insert(next.clone()) {
            return Err(ListError::RepeatedCursor);
        }
        self.next = Some(next);
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(entries_max: usize, bytes_max: usize) -> Pages<u32, u32> {
        let limits = Limits {
            list_entries_max: entries_max,
            list_bytes_max: bytes_max,
            ..Limits::default()
        };
        Pages::new(&limits)
    }

    #[test]
    fn a_list_may_reach_each_limit_and_not_exceed_it() {
        let mut at_limits = pages(3, 10);
        assert_eq!(at_limits.add(5, [1, 2], Some(7)), Ok(None));
        assert_eq!(at_limits.cursor(), Some(7));
        assert_eq!(at_limits.add(5, [3], None), Ok(Some(vec![1, 2, 3])));

        let mut too_many = pages(3, 10);
        assert_eq!(too_many.add(5, [1, 2], Some(7)), Ok(None));
        assert_eq!(too_many.add(5, 3..1000, None), Err(ListError::TooManyEntries { max: 3 }));

        let mut too_long = pages(3, 10);
        assert_eq!(too_long.add(5, [], Some(7)), Ok(None));
        assert_eq!(too_long.add(6, [], None), Err(ListError::TooManyBytes { max: 10 }));
    }

    #[test]
    fn the_number_of_pages_is_bounded_and_no_cursor_repeats() {
        let mut endless = pages(3, usize::MAX);
        let pages_read = (0..).find(|page| endless.add(1, [], Some(*page)).is_err());
        assert_eq!(pages_read, u32::try_from(PAGES_MAX - 1).ok());
        let mut circle = pages(3, 10);
        assert_eq!(circle.add(1, [], Some(7)), Ok(None));
        assert_eq!(circle.add(1, [], Some(8)), Ok(None));
        assert_eq!(circle.add(1, [], Some(7)), Err(ListError::RepeatedCursor));
    }
}
