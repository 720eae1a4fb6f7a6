//! The entries that a caller may see.

use std::cell::RefCell;
use std::ptr::from_ref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mcp_proto::catalog::{Catalog, CatalogEntry, CatalogView, resource_not_found};
use mcp_proto::schema::{ClientRequest as _, ReadResource};
use mcp_proto::{Caller, ErrorObject, Request, Revision};

use crate::server::handler::EntryHandler;

/// A decision of the application about an entry.
pub(crate) type EntryFilter = Arc<dyn Fn(CatalogEntry<'_>, &Caller) -> bool + Send + Sync>;

/// The sender of a request that has no identity and no data, as over stdio.
pub(in crate::server) static UNKNOWN: Caller = Caller::new();

/// Decides which entries a caller sees. By default, all.
#[derive(Clone)]
pub(crate) struct Visibility {
    /// The decision of the application.
    pub(crate) filter: Option<EntryFilter>,
    /// Hides the entries for which the access token of the caller lacks scopes.
    pub(crate) hides_forbidden: bool,
    /// Set once an entry decides who sees it.
    has_hidden: Arc<AtomicBool>,
}

/// What a caller sees of a catalog during one request. The application decides on each entry once.
pub(crate) struct CallerView<'a> {
    visibility: &'a Visibility,
    catalog: &'a Catalog<EntryHandler>,
    caller: Option<&'a Caller>,
    /// The addresses of the first entries that the application decided on, with its decisions.
    decided: RefCell<Vec<(usize, bool)>>,
}

/// The number of decisions that are kept. Only lists have more, and ask for none again.
const DECIDED_MAX: usize = 16;

impl<'a> CallerView<'a> {
    /// Calls `read` with the entries that the caller sees.
    pub(crate) fn read<T>(&self, read: impl FnOnce(CatalogView<'_, EntryHandler>) -> T) -> T {
        let hides_forbidden = self.visibility.hides_forbidden;
        if !self.visibility.has_filter() && !hides_forbidden {
            return read(self.catalog.all());
        }
        read(
            self.catalog.visible(&|entry| {
                (!hides_forbidden || self.is_allowed(entry)) && self.shows(entry)
            }),
        )
    }

    /// Returns the sender of the request.
    pub(crate) const fn caller(&self) -> Option<&'a Caller> {
        self.caller
    }

    /// Returns whether a resource is hidden from the caller because its access token lacks scopes
    /// of the entry that serves the resource.
    ///
    /// A less specific template, or a callback of the application, must not serve it instead, nor
    /// an entry that serves another spelling.
    pub(crate) fn hides_resource(&self, uri: &str) -> bool {
        let is_shown = |entry: CatalogEntry<'_>| self.shows(entry);
        let view = self.catalog.visible(&is_shown);
        let handlers =
            || view.resource_handler(uri).into_iter().chain(view.lookalike_handlers(uri));
        self.visibility.hides_forbidden
            && handlers().any(|it| it.scopes().check(self.caller).is_err())
    }

    /// Returns whether a tool is hidden from the caller because its access token lacks scopes of
    /// the tool. A fallback must not serve it instead.
    pub(crate) fn hides_tool(&self, name: &str) -> bool {
        self.hides_found(self.catalog.all().tool(name).map(Into::into))
    }

    /// Like [`hides_tool`](Self::hides_tool), for a prompt.
    pub(crate) fn hides_prompt(&self, name: &str) -> bool {
        self.hides_found(self.catalog.all().prompt(name).map(Into::into))
    }

    /// Returns whether an entry that the application shows is hidden because of its scopes.
    fn hides_found(&self, entry: Option<CatalogEntry<'_>>) -> bool {
        self.visibility.hides_forbidden
            && entry.is_some_and(|entry| self.shows(entry) && !self.is_allowed(entry))
    }

    /// Returns the error for a request to read a [hidden](Self::hides_resource) resource.
    pub(crate) fn hidden_read(&self, request: &Request, revision: Revision) -> Option<ErrorObject> {
        if !self.visibility.hides_forbidden || request.method != ReadResource::METHOD {
            return None;
        }
        let uri = request.params.as_ref()?.member("uri")?;
        let uri = uri.to_text()?;
        self.hides_resource(&uri).then(|| resource_not_found(&uri, revision))
    }

    /// Returns whether the application and the entry itself show an entry to the caller.
    fn shows(&self, entry: CatalogEntry<'_>) -> bool {
        if !self.visibility.has_filter() {
            return true;
        }
        let address = address(entry);
        let known =
            |(decided, is_shown): &(usize, bool)| (*decided == address).then_some(*is_shown);
        let decided = self.decided.borrow().iter().find_map(known);
        decided.unwrap_or_else(|| {
            let visible_to = self.catalog.handler(entry).and_then(EntryHandler::visible_to);
            let caller = self.caller.unwrap_or(&UNKNOWN);
            let is_shown = visible_to.is_none_or(|is_visible| is_visible(caller))
                && self.visibility.shows(self.caller, entry);
            let mut decided = self.decided.borrow_mut();
            if decided.len() < DECIDED_MAX {
                decided.push((address, is_shown));
            }
            is_shown
        })
    }

    /// Returns whether the access token of the caller has the scopes of an entry.
    fn is_allowed(&self, entry: CatalogEntry<'_>) -> bool {
        let scopes = self.catalog.handler(entry).map(EntryHandler::scopes);
        scopes.is_none_or(|scopes| scopes.check(self.caller).is_ok())
    }
}

/// Returns the address of an entry, which identifies it while its catalog is borrowed.
fn address(entry: CatalogEntry<'_>) -> usize {
    match entry {
        CatalogEntry::Prompt(entry) => from_ref(entry).addr(),
        CatalogEntry::Resource(entry) => from_ref(entry).addr(),
        CatalogEntry::Template(entry) => from_ref(entry).addr(),
        CatalogEntry::Tool(entry) => from_ref(entry).addr(),
        // Of a kind that this crate never registers.
        _ => 0,
    }
}

impl Visibility {
    pub(crate) const fn new(has_hidden: Arc<AtomicBool>) -> Self {
        Self { filter: None, hides_forbidden: false, has_hidden }
    }

    /// Returns whether functions of the application decide what a caller sees.
    fn has_filter(&self) -> bool {
        self.filter.is_some() || self.has_hidden.load(Ordering::SeqCst)
    }

    /// Returns what a caller sees of a catalog.
    pub(crate) const fn view<'a>(
        &'a self,
        catalog: &'a Catalog<EntryHandler>,
        caller: Option<&'a Caller>,
    ) -> CallerView<'a> {
        CallerView { visibility: self, catalog, caller, decided: RefCell::new(Vec::new()) }
    }

    /// Returns whether the application shows an entry to a caller.
    pub(crate) fn shows(&self, caller: Option<&Caller>, entry: CatalogEntry<'_>) -> bool {
        self.filter.as_ref().is_none_or(|filter| filter(entry, caller.unwrap_or(&UNKNOWN)))
    }
}
