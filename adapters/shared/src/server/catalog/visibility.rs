//! The entries that a caller may see.

use std::sync::Arc;

use mcp_proto::catalog::{Catalog, CatalogEntry, CatalogView, resource_not_found};
use mcp_proto::schema::{ClientRequest as _, ReadResource};
use mcp_proto::{Caller, ErrorObject, Request, Revision};

use crate::server::handler::EntryHandler;

/// A decision of the application about an entry.
pub(crate) type EntryFilter = Arc<dyn Fn(CatalogEntry<'_>, &Caller) -> bool + Send + Sync>;

/// The sender of a request that has no identity and no data, as over stdio.
pub(in crate::server) static UNKNOWN: Caller = Caller::new();

/// Decides which entries a caller sees. By default, all.
#[derive(Clone, Default)]
pub(crate) struct Visibility {
    /// The decision of the application.
    pub(crate) filter: Option<EntryFilter>,
    /// Hides the entries for which the access token of the caller lacks scopes.
    pub(crate) hides_forbidden: bool,
}

impl Visibility {
    /// Calls `read` with the entries that a caller sees.
    pub(crate) fn with_view<T>(
        &self,
        catalog: &Catalog<EntryHandler>,
        caller: Option<&Caller>,
        read: impl FnOnce(CatalogView<'_, EntryHandler>) -> T,
    ) -> T {
        if self.filter.is_none() && !self.hides_forbidden {
            return read(catalog.all());
        }
        read(catalog.visible(&|entry| {
            (!self.hides_forbidden || is_allowed(catalog, caller, entry))
                && self.shows(caller, entry)
        }))
    }

    /// Returns whether a resource is hidden from a caller because its access token lacks scopes of
    /// the entry that serves the resource.
    ///
    /// A less specific template, or a callback of the application, must not serve it instead, nor
    /// an entry that serves another spelling.
    pub(crate) fn hides_resource(
        &self,
        catalog: &Catalog<EntryHandler>,
        caller: Option<&Caller>,
        uri: &str,
    ) -> bool {
        let is_shown = |entry: CatalogEntry<'_>| self.shows(caller, entry);
        let view = catalog.visible(&is_shown);
        let handlers =
            || view.resource_handler(uri).into_iter().chain(view.lookalike_handlers(uri));
        self.hides_forbidden && handlers().any(|it| it.scopes().check(caller).is_err())
    }

    /// Returns whether a tool is hidden from a caller because its access token lacks scopes of the
    /// tool. A fallback must not serve it instead.
    pub(crate) fn hides_tool(
        &self,
        catalog: &Catalog<EntryHandler>,
        caller: Option<&Caller>,
        name: &str,
    ) -> bool {
        self.hides_found(catalog, caller, |view| view.tool(name).map(Into::into))
    }

    /// Like [`hides_tool`](Self::hides_tool), for a prompt.
    pub(crate) fn hides_prompt(
        &self,
        catalog: &Catalog<EntryHandler>,
        caller: Option<&Caller>,
        name: &str,
    ) -> bool {
        self.hides_found(catalog, caller, |view| view.prompt(name).map(Into::into))
    }

    /// Returns whether an entry that the application shows is hidden because of its scopes.
    fn hides_found(
        &self,
        catalog: &Catalog<EntryHandler>,
        caller: Option<&Caller>,
        find: impl for<'a> Fn(CatalogView<'a, EntryHandler>) -> Option<CatalogEntry<'a>>,
    ) -> bool {
        let is_shown = |entry: CatalogEntry<'_>| self.shows(caller, entry);
        self.hides_forbidden
            && find(catalog.visible(&is_shown))
                .is_some_and(|entry| !is_allowed(catalog, caller, entry))
    }

    /// Returns the error for a request to read a [hidden](Self::hides_resource) resource.
    pub(crate) fn hidden_read(
        &self,
        catalog: &Catalog<EntryHandler>,
        caller: Option<&Caller>,
        request: &Request,
        revision: Revision,
    ) -> Option<ErrorObject> {
        if !self.hides_forbidden || request.method != ReadResource::METHOD {
            return None;
        }
        let uri = request.params.as_ref()?.member("uri")?;
        let uri = uri.to_text()?;
        let is_hidden = self.hides_resource(catalog, caller, &uri);
        is_hidden.then(|| resource_not_found(&uri, revision))
    }

    /// Returns whether the application shows an entry to a caller.
    pub(crate) fn shows(&self, caller: Option<&Caller>, entry: CatalogEntry<'_>) -> bool {
        self.filter.as_ref().is_none_or(|filter| filter(entry, caller.unwrap_or(&UNKNOWN)))
    }
}

/// Returns whether the access token of a caller has the scopes of an entry.
fn is_allowed(
    catalog: &Catalog<EntryHandler>,
    caller: Option<&Caller>,
    entry: CatalogEntry<'_>,
) -> bool {
    let scopes = catalog.handler(entry).map(EntryHandler::scopes);
    scopes.is_none_or(|scopes| scopes.check(caller).is_ok())
}
