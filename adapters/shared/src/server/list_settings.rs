//! Which entries of the lists callers see, and how long lists may be cached.

use std::sync::Arc;
use std::time::Duration;

#[cfg(feature = "http")]
use mcp_proto::Caller;
use mcp_proto::catalog::{Catalog, CatalogEntry};

use super::Server;
#[cfg(feature = "http")]
use crate::server::handler::EntryHandler;
use crate::server::visibility::CallerCx;

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
    ///     .tool("today", "Today's notes", || "buy milk")
    ///     .tool("admin_reset", "Deletes all notes", || ())
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
        self.visibility.filter = Some(Arc::new(is_visible));
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

    /// Returns whether functions of the application decide what a caller sees, or which schemas
    /// tools have.
    #[cfg(feature = "http")]
    pub(crate) fn has_entry_filter(&self) -> bool {
        self.visibility.filter.is_some() || self.unregistered.tool_schema.is_some()
    }

    /// Returns the input schema of a tool; `None` if the caller sees no such tool, or if its access
    /// token lacks scopes of the tool: errors must not describe the schema then.
    #[cfg(feature = "http")]
    pub(crate) fn schema_of(&self, tool: &str, caller: &Caller) -> Option<mcp_proto::Raw> {
        let catalog = self.builder.changes.catalog();
        let schema = || {
            self.visibility.with_view(&catalog, Some(caller), |view| {
                let Some(tool) = view.tool(tool) else {
                    return self.schema_of_unregistered(tool, &catalog, caller);
                };
                let handler = catalog.handler(tool.into())?;
                let is_allowed = handler.scopes().check(Some(caller)).is_ok();
                is_allowed.then(|| tool.input_schema.0.clone())
            })
        };
        // A panic is reported when the call itself is decided on.
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(schema)).ok().flatten()
    }

    /// Returns the input schema of a tool that the fallback serves, if the application says so.
    #[cfg(feature = "http")]
    fn schema_of_unregistered(
        &self,
        tool: &str,
        catalog: &Catalog<EntryHandler>,
        caller: &Caller,
    ) -> Option<mcp_proto::Raw> {
        let schema_of = self.unregistered.tool_schema.as_ref()?;
        let is_hidden = self.visibility.hides_tool(catalog, Some(caller), tool);
        if is_hidden { None } else { schema_of(tool, &CallerCx::new(Some(caller))) }
    }
}
