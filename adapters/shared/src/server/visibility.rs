//! The entries that a caller may see.

use std::fmt;
use std::sync::Arc;

use mcp_proto::catalog::{Catalog, CatalogEntry, CatalogView};
use mcp_proto::{Caller, Principal};

#[cfg(feature = "http")]
use crate::http::RequestHead;
use crate::server::handler::Handler;

/// A decision of the application about an entry.
pub(crate) type EntryFilter = Arc<dyn Fn(CatalogEntry<'_>, &CallerCx<'_>) -> bool + Send + Sync>;

/// The sender of a request, for [`Server::visible_to`](crate::Server::visible_to).
#[derive(Clone, Copy)]
pub struct CallerCx<'a> {
    caller: Option<&'a Caller>,
}

impl<'a> CallerCx<'a> {
    /// Returns the authenticated sender of the request.
    ///
    /// Returns `None` if the sender is not authenticated, as over stdio.
    #[must_use]
    pub fn principal(&self) -> Option<&'a Principal> {
        self.caller.and_then(Caller::principal)
    }

    /// Returns the head of the HTTP request that carried this request.
    ///
    /// Returns `None` if the client is not connected over HTTP.
    #[cfg(feature = "http")]
    #[must_use]
    pub fn head(&self) -> Option<&'a RequestHead> {
        self.caller?.data()
    }
}

impl fmt::Debug for CallerCx<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallerCx").field("principal", &self.principal()).finish_non_exhaustive()
    }
}

/// Calls `read` with the entries that `filter` shows to a caller.
pub(crate) fn with_view<T>(
    catalog: &Catalog<Handler>,
    filter: Option<&EntryFilter>,
    caller: Option<&Caller>,
    read: impl FnOnce(CatalogView<'_, Handler>) -> T,
) -> T {
    let Some(filter) = filter else { return read(catalog.all()) };
    let cx = CallerCx { caller };
    read(catalog.visible(&|entry| filter(entry, &cx)))
}

/// Returns whether `filter` shows an entry to a caller.
pub(crate) fn is_visible(
    filter: Option<&EntryFilter>,
    caller: Option<&Caller>,
    entry: CatalogEntry<'_>,
) -> bool {
    filter.is_none_or(|filter| filter(entry, &CallerCx { caller }))
}
