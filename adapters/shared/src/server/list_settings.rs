//! Which entries of the lists callers see, and how long lists may be cached.

use std::sync::Arc;
use std::time::Duration;

#[cfg(feature = "http")]
use mcp_proto::Caller;
use mcp_proto::catalog::{Catalog, CatalogEntry};

use super::Server;
use crate::server::visibility::CallerCx;
#[cfg(feature = "http")]
use crate::server::visibility::with_view;

/// Settings of lists.
impl Server {
    /// Sets a function that decides which entries a caller may see.
    ///
    /// An entry for which `is_visible` returns false is missing in lists. Requests to call, read,
    /// get or complete it are answered as if it did not exist, and so are subscriptions, unless
    /// [`accept_subscriptions`](Self::accept_subscriptions) decides about them. A request to read a
    /// hidden resource therefore reaches the handler of a visible template that matches its URI.
    /// Requests in flight and existing subscriptions are not affected by later decisions. A
    /// [change](crate::Changes::edit) of a hidden entry is announced to all clients, as a change of
    /// the list without the name of the entry.
    ///
    /// `is_visible` must not block. It is called for each entry on a page, for hidden entries
    /// before it, and for the entry that a request is about. If it panics, the request fails with
    /// an internal error. When its decisions about a principal change, call
    /// [`Changes::visibility_changed`](crate::Changes::visibility_changed).
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::Server;
    /// use mcp_tokio::proto::Principal;
    ///
    /// let server = Server::new("notes", "1.0.0")
    ///     .tool("today", "Today's notes", |(), _cx| Ok("buy milk"))
    ///     .tool("admin_reset", "Deletes all notes", |(), _cx| Ok(()))
    ///     .visible_to(|entry, cx| {
    ///         !entry.name().starts_with("admin_")
    ///             || cx.principal().map(Principal::id) == Some("ada")
    ///     });
    /// # drop(server);
    /// ```
    pub fn visible_to(
        mut self,
        is_visible: impl Fn(CatalogEntry<'_>, &CallerCx<'_>) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.entry_filter = Some(Arc::new(is_visible));
        self
    }

    /// Sets how long clients may cache lists (since 2026-07-28). Default: not at all.
    ///
    /// A client drops a cached list earlier if it subscribed to the list and is notified of a
    /// change. The cache of a list serves only the user who requested it, unless
    /// [`cache_lists_publicly`](Self::cache_lists_publicly) is set.
    pub fn list_ttl(self, ttl: Duration) -> Self {
        let ttl_ms = u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX);
        self.builder.configure(|catalog| catalog.ttl_ms(ttl_ms));
        self
    }

    /// Allows caches to share lists between users (since 2026-07-28). Default: not allowed.
    ///
    /// Has no effect with [`visible_to`](Self::visible_to): such lists depend on the user.
    pub fn cache_lists_publicly(self) -> Self {
        self.builder.configure(Catalog::cache_publicly);
        self
    }

    /// Returns whether callers may see different entries.
    #[cfg(feature = "http")]
    pub(crate) fn has_entry_filter(&self) -> bool {
        self.entry_filter.is_some()
    }

    /// Returns the input schema of a tool; `None` if the caller sees no such tool.
    #[cfg(feature = "http")]
    pub(crate) fn schema_of(&self, tool: &str, caller: &Caller) -> Option<mcp_proto::Raw> {
        let catalog = self.builder.changes.catalog();
        let schema = || {
            with_view(&catalog, self.entry_filter.as_ref(), Some(caller), |view| {
                view.tool(tool).map(|tool| tool.input_schema.0.clone())
            })
        };
        // A panic is reported when the call itself is decided on.
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(schema)).ok().flatten()
    }
}
