//! The lists of a server: what they announce, who sees what, and how clients may cache them.

use std::sync::Arc;
use std::time::Duration;

use mcp_proto::Caller;
use mcp_proto::catalog::{Catalog, CatalogEntry};

use crate::server::settings::{ServerSettings, Setting};

/// The settings of the lists of a server, for [`Server::lists`](crate::Server::lists).
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use std::time::Duration;
///
/// use mcp_tokio::{Lists, Server};
///
/// let server = Server::new("notes", "1.0.0")
///     .lists(Lists::new().ttl(Duration::from_secs(60)).hide_forbidden());
/// # drop(server);
/// ```
#[derive(Default)]
#[must_use = "settings have no effect until they are set"]
pub struct Lists {
    settings: Vec<Setting>,
}

impl Lists {
    /// Creates the default settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a function that decides which entries a caller may see.
    ///
    /// A single entry can also decide itself; see [`Tool::visible_to`](crate::Tool::visible_to).
    ///
    /// An entry for which `is_visible` returns false is missing in lists. Requests to call, read,
    /// get or complete it are answered as if it did not exist, and so are subscriptions, unless
    /// [`SubscriptionSettings::accept`](crate::SubscriptionSettings::accept) decides about them. A
    /// request to read a hidden resource therefore reaches the handler of a visible template that
    /// matches its URI. Requests in flight and existing subscriptions are not affected by later
    /// decisions. A [change](crate::Changes::edit) of a hidden entry is announced to all clients,
    /// as a change of the list without the name of the entry.
    ///
    /// `is_visible` must not block. It is called once for each entry on a page, for hidden entries
    /// before it, and for the entry that a request is about. If it panics, the request fails with
    /// an internal error. When its decisions about a principal change, call
    /// [`Changes::visibility_changed`](crate::Changes::visibility_changed).
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::proto::Principal;
    /// use mcp_tokio::{Lists, Server};
    ///
    /// let server = Server::new("notes", "1.0.0")
    ///     .tool("today", "Today's notes", || "buy milk")
    ///     .tool("admin_reset", "Deletes all notes", || ())
    ///     .lists(Lists::new().visible_to(|entry, caller| {
    ///         !entry.name().starts_with("admin_")
    ///             || caller.principal().map(Principal::id) == Some("ada")
    ///     }));
    /// # drop(server);
    /// ```
    pub fn visible_to(
        self,
        is_visible: impl Fn(CatalogEntry<'_>, &Caller) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.set(|server| server.visibility.filter = Some(Arc::new(is_visible)))
    }

    /// Hides the entries from each caller for which its access token lacks
    /// [scopes](crate::Tool::requires). Default: off.
    ///
    /// Hidden entries are missing in lists, and requests for them are answered as if they did not
    /// exist, so that clients do not learn which scopes to ask for. A hidden resource is not served
    /// by a less specific template either. Lists are then never shared between users by caches.
    pub fn hide_forbidden(self) -> Self {
        self.set(|server| server.visibility.hides_forbidden = true)
    }

    /// Declares change notifications for tools, prompts and resources.
    ///
    /// The notification for a list is declared only if the list is not empty. Resource
    /// subscriptions are also declared if there are resources. Use [`Changes`](crate::Changes) to
    /// send the notifications.
    pub fn announce_changes(self) -> Self {
        self.set(|server| {
            server.builder.has_list_changed = true;
            server.builder.configure(Catalog::declare_list_changed);
            server.builder.has_subscriptions = true;
        })
    }

    /// Sets how long clients may cache lists (since 2026-07-28). Default: not at all.
    ///
    /// A client drops a cached list earlier if it subscribed to the list and is notified of a
    /// change. The cache of a list serves only the user who requested it, unless
    /// [`cache_publicly`](Self::cache_publicly) is set.
    pub fn ttl(self, ttl: Duration) -> Self {
        let ttl_ms = u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX);
        self.set(move |server| server.builder.configure(|catalog| catalog.ttl_ms(ttl_ms)))
    }

    /// Allows caches to share lists between users (since 2026-07-28). Default: not allowed.
    ///
    /// Has no effect with [`visible_to`](Self::visible_to), also that of an entry: such lists
    /// depend on the user.
    pub fn cache_publicly(self) -> Self {
        self.set(|server| server.builder.configure(Catalog::cache_publicly))
    }

    /// Sets the maximum number of entries on one page of a list. Default: none, minimum: 1.
    ///
    /// By default, a page holds all registered entries of its kind that fit into 15 MiB of JSON,
    /// because many hosts read only the first page: entries on other pages are missing there.
    pub fn page_max(self, page_max: usize) -> Self {
        self.set(move |server| server.builder.configure(|catalog| catalog.entries_max(page_max)))
    }

    fn set(mut self, setting: impl FnOnce(&mut ServerSettings) + Send + 'static) -> Self {
        self.settings.push(Box::new(setting));
        self
    }

    pub(in crate::server) fn apply(self, server: &mut ServerSettings) {
        self.settings.into_iter().for_each(|setting| setting(server));
    }
}

opaque_debug!(Lists);
