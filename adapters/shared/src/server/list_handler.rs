//! A handler that continues a list after the registered entries.

use std::borrow::Cow;
use std::sync::Arc;

use mcp_proto::catalog::{CatalogResult, CatalogView, Resolved};
use mcp_proto::schema::{CacheScope, ListResourcesResult, Resource};
use mcp_proto::{ErrorObject, Request, Revision};

use crate::server::handler::context::Cx;
use crate::server::handler::{Handler, HandlerFn, Resolution};
use crate::server::visibility::is_visible;
use crate::validation::ToolChecks;

/// One page of a list, for [`Server::list_resources`](crate::Server::list_resources).
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

/// A handler that lists resources. It receives its own cursor, or `None` for its first page.
pub(crate) type ResourceLister = Arc<HandlerFn<Option<String>, ListResourcesResult>>;

/// The cursor of the handler's first page, and the beginning of those of its other pages. The
/// catalog's cursors of resources begin with another character.
const FIRST: &str = "h";
const NEXT: &str = "h:";

/// Answers a request for a page: with registered entries first, then from the handler.
pub(super) fn list_resources(
    lister: &ResourceLister,
    view: CatalogView<'_, Handler>,
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
    match view.lookup(request, revision)? {
        Resolved::Answer(CatalogResult::Resources(mut page)) => {
            if page.next_cursor.is_none() {
                if page.resources.is_empty() {
                    return Ok(lister.run(None, None));
                }
                page.next_cursor = Some(FIRST.to_owned());
            }
            // STL-44: the pages of the handler are private, too.
            page.cache_scope = CacheScope::Private;
            Ok(Resolution::Answer(Box::new(page)))
        }
        other => Ok(Resolution::new(other, &ToolChecks::default())),
    }
}

/// Returns the result for a page of the handler, with the entries that the caller may see.
pub(super) fn listed(mut page: Page<Resource>, cx: &Cx) -> ListResourcesResult {
    let filter = cx.request.link.shared.entry_filter.as_ref();
    let caller = cx.request.context.caller.as_deref();
    page.entries.retain(|resource| is_visible(filter, caller, resource.into()));
    let mut result = ListResourcesResult::new(page.entries);
    result.next_cursor = page.next_cursor.map(|cursor| format!("{NEXT}{cursor}"));
    result
}
