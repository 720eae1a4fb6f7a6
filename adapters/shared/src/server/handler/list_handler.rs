//! Handlers that continue a list after the registered entries.

use std::borrow::Cow;
use std::convert::identity;
use std::sync::Arc;

use mcp_proto::catalog::{CatalogEntry, CatalogResult, CatalogView, Resolved};
use mcp_proto::schema::{
    CacheScope, Encode, ListPromptsResult, ListResourcesResult, ListToolsResult, Prompt, Resource,
    Tool,
};
use mcp_proto::{ErrorObject, Request, Revision};

use crate::server::handler::context::Cx;
use crate::server::handler::{EntryHandler, HandlerFn, Resolution};
use crate::validation::ToolChecks;

/// One page of a list, for [`Unregistered::list_resources`](crate::Unregistered::list_resources),
/// [`list_tools`](crate::Unregistered::list_tools) and
/// [`list_prompts`](crate::Unregistered::list_prompts).
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::Page;
///
/// let page = Page::new(vec!["a", "b"]).next("b");
/// assert_eq!((page.entries.len(), page.next_cursor.as_deref()), (2, Some("b")));
/// assert_eq!(Page::new(vec!["c"]).next_cursor, None); // the last page
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Page<T> {
    /// The entries of the page.
    pub entries: Vec<T>,
    /// What the handler receives for the next page; `None` on the last page.
    pub next_cursor: Option<String>,
}

impl<T> Page<T> {
    /// Creates the last page of a list.
    #[must_use]
    pub const fn new(entries: Vec<T>) -> Self {
        Self { entries, next_cursor: None }
    }

    /// Makes another page follow, for which the handler receives `cursor`.
    #[must_use]
    pub fn next(mut self, cursor: impl Into<String>) -> Self {
        self.next_cursor = Some(cursor.into());
        self
    }
}

/// A handler that lists entries. It receives its own cursor, or `None` for its first page.
pub(crate) type Lister<L> = Arc<HandlerFn<Option<String>, L>>;

/// A page of a list as a result.
pub(crate) trait ListResult: Encode + Sized + Send + 'static {
    type Entry;

    /// Returns a private page without a cursor.
    fn private(entries: Vec<Self::Entry>) -> Self;

    /// Returns the page in a result of the catalog, if the result is a page of this list.
    fn of_catalog(answer: CatalogResult) -> Option<Self>;

    fn is_empty(&self) -> bool;

    fn next_cursor(&mut self) -> &mut Option<String>;

    fn cache_scope(&mut self) -> &mut CacheScope;

    fn as_catalog_entry(entry: &Self::Entry) -> CatalogEntry<'_>;

    /// Returns an entry in the form in which the catalog publishes it.
    fn published(entry: Self::Entry) -> Self::Entry;
}

macro_rules! list_result {
    ($result:ty, $entry:ty, $entries:ident, $answer:path, $published:path) => {
        impl ListResult for $result {
            type Entry = $entry;

            fn private(entries: Vec<$entry>) -> Self {
                Self::new(entries)
            }

            fn of_catalog(answer: CatalogResult) -> Option<Self> {
                if let $answer(page) = answer { Some(page) } else { None }
            }

            fn is_empty(&self) -> bool {
                self.$entries.is_empty()
            }

            fn next_cursor(&mut self) -> &mut Option<String> {
                &mut self.next_cursor
            }

            fn cache_scope(&mut self) -> &mut CacheScope {
                &mut self.cache_scope
            }

            fn as_catalog_entry(entry: &$entry) -> CatalogEntry<'_> {
                entry.into()
            }

            fn published(entry: $entry) -> $entry {
                $published(entry)
            }
        }
    };
}

list_result!(ListPromptsResult, Prompt, prompts, CatalogResult::Prompts, identity);
list_result!(ListResourcesResult, Resource, resources, CatalogResult::Resources, identity);
list_result!(ListToolsResult, Tool, tools, CatalogResult::Tools, Tool::with_readable_schemas);

/// The cursor of the handler's first page, and the beginning of those of its other pages. The
/// catalog's cursors begin with another character.
const FIRST: &str = "h";
const NEXT: &str = "h:";

/// Answers a request for a page: with registered entries first, then from the handler.
pub(in crate::server) fn list<L: ListResult>(
    lister: &Lister<L>,
    view: CatalogView<'_, EntryHandler>,
    request: &Request,
    revision: Revision,
) -> Result<Resolution, ErrorObject> {
    let cursor = request.params.as_ref().and_then(|params| params.member("cursor"));
    let cursor = cursor.and_then(|cursor| cursor.to_text().map(Cow::into_owned));
    if let Some(cursor) = cursor {
        if cursor == FIRST {
            return Ok(lister.run(None, None));
        }
        if let Some(cursor) = cursor.strip_prefix(NEXT) {
            return Ok(lister.run(Some(cursor.to_owned()), None));
        }
        // PAG-05: the catalog refuses the cursors that are not its own.
    }
    let answer = match view.lookup(request, revision)? {
        Resolved::Answer(answer) => answer,
        other => return Ok(Resolution::new(other, &ToolChecks::default())),
    };
    let Some(mut page) = L::of_catalog(answer) else { return Ok(Resolution::Unknown) };
    if page.next_cursor().is_none() {
        if page.is_empty() {
            return Ok(lister.run(None, None));
        }
        *page.next_cursor() = Some(FIRST.to_owned());
    }
    // STL-44: the pages of the handler are private, too.
    *page.cache_scope() = CacheScope::Private;
    Ok(Resolution::Answer(Box::new(page)))
}

/// Returns the result for a page of the handler, with the entries that the caller may see.
pub(in crate::server) fn listed<L: ListResult>(mut page: Page<L::Entry>, cx: &Cx) -> L {
    let visibility = &cx.request.link.shared.visibility;
    let caller = cx.request.context.caller.as_deref();
    page.entries.retain(|entry| visibility.shows(caller, L::as_catalog_entry(entry)));
    let mut result = L::private(page.entries.into_iter().map(L::published).collect());
    *result.next_cursor() = page.next_cursor.map(|cursor| format!("{NEXT}{cursor}"));
    result
}
