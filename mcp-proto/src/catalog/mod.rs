//! A catalog of tools, resources and prompts, each with a handler.
//!
//! A [`Catalog`] answers list requests itself, rejects requests for unknown entries, and resolves
//! each other request to a handler with decoded and checked params. A catalog never calls a
//! handler, so handlers can be of any type, such as a function, a number or a name.

mod changed;
mod entries;
mod error;
mod lookup;
mod not_found;
mod quote;
mod registration;
mod resolved;
mod table;
mod uri_template;
mod visibility;

use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;

pub use changed::ChangedList;
pub use error::CatalogError;
pub use not_found::{prompt_not_found, resource_not_found, tool_not_found};
pub use resolved::{CatalogResult, Resolved, completion};
pub use table::Pages;
use table::{Entry, Table};
use uri_template::Rank;
pub use uri_template::{TemplateError, UriTemplate, Variable, Variables};
pub use visibility::CatalogEntry;
use visibility::Filter;

use crate::collections::SortedMap;
use crate::json::Raw;
use crate::revision::Capability;
use crate::schema::{Capabilities, Prompt, Resource, ResourceTemplate, Tool};

/// The tools, resources, resource templates and prompts of a server, with handlers of type `H`.
///
/// Lists are in insertion order, for every client and revision. Memory use depends only on the
/// entries: requests from peers do not increase it. Methods that add, replace or remove an entry
/// return which list changed, as a [`ChangedList`], so that clients can be notified.
///
/// A clone is independent of the original. Cloning takes time proportional to the number of
/// entries.
///
/// ```
/// use mcp_proto::catalog::{Catalog, Resolved};
/// use mcp_proto::schema::Tool;
/// use mcp_proto::{Capability, Raw, Revision};
///
/// let schema = Raw::from_text(r#"{"type":"object"}"#).unwrap();
/// let mut catalog = Catalog::new();
/// catalog.add_tool(Tool::new("today", schema), || "sunny").unwrap();
/// assert!(catalog.capabilities().has(Capability::Tools));
///
/// let params = Raw::from_text(r#"{"name":"today"}"#).unwrap();
/// match catalog.lookup_raw("tools/call", Some(&params), Revision::V2025_11_25) {
///     Ok(Resolved::Tool { handler, .. }) => assert_eq!(handler(), "sunny"),
///     other => panic!("{other:?}"),
/// }
/// ```
// STL-11: lists do not depend on the connection. STL-12: their order is deterministic.
#[derive(Clone)]
pub struct Catalog<H> {
    tools: Table<Tool, H>,
    resources: Table<Resource, H>,
    templates: Table<ResourceTemplate, H>,
    prompts: Table<Prompt, H>,
    /// The parsed templates, most specific first, then in insertion order.
    patterns: SortedMap<(Rank, u64), UriTemplate>,
    pages: Pages,
    changing: bool,
    ttl_ms: u64,
    public: bool,
    check: Option<Check<H>>,
}

/// The part of a catalog that one caller may see; created by [`Catalog::visible`].
pub struct CatalogView<'a, H> {
    catalog: &'a Catalog<H>,
    filter: Filter<'a>,
}

type Check<H> = Arc<dyn Fn(&Tool, &H, &Raw) -> Result<(), String> + Send + Sync>;

impl<H> Catalog<H> {
    /// Creates an empty catalog with pages of the default size; see [`Pages`].
    #[must_use]
    pub fn new() -> Self {
        Self::with_pages(Pages::default())
    }

    /// Creates an empty catalog whose lists are split into pages of at most the given size.
    #[must_use]
    pub const fn with_pages(pages: Pages) -> Self {
        Self {
            tools: Table::new('t'),
            resources: Table::with_keys('r', uri_template::normalize),
            templates: Table::new('u'),
            prompts: Table::new('p'),
            patterns: SortedMap::new(),
            pages,
            changing: false,
            ttl_ms: 0,
            public: false,
            check: None,
        }
    }

    /// Declares `listChanged` in [`capabilities`](Self::capabilities).
    ///
    /// Call this method if entries will be added or removed while clients are connected. By
    /// default, `listChanged` is not declared.
    // CAP-12: changes are notified only if declared.
    #[must_use]
    pub const fn declare_list_changed(mut self) -> Self {
        self.changing = true;
        self
    }

    /// Sets the maximum number of entries on a page. Default: none; see [`Pages`].
    ///
    /// Zero is treated as one.
    #[must_use]
    pub const fn entries_max(mut self, entries_max: usize) -> Self {
        self.pages.entries_max = entries_max;
        self
    }

    /// Sets how long clients may cache lists (since 2026-07-28), in milliseconds. Default: 0.
    // STL-39: list results carry a lifetime.
    #[must_use]
    pub const fn ttl_ms(mut self, ttl_ms: u64) -> Self {
        self.ttl_ms = ttl_ms;
        self
    }

    /// Allows caches to share lists between users (since 2026-07-28). Default: not allowed.
    // STL-44: every page of a list has an equal scope.
    #[must_use]
    pub const fn cache_publicly(mut self) -> Self {
        self.public = true;
        self
    }

    /// Sets a function that checks the arguments of every tool call. Default: no check.
    ///
    /// The function receives the tool with its handler, and the arguments, which are always a JSON
    /// object. It can, for example, run a JSON Schema validator.
    ///
    /// If the function returns an error message, the handler is not used: the lookup resolves to a
    /// tool error with this message. The client receives the message, and the model can correct the
    /// call. The message must not reveal anything that the client should not see.
    // T-117: invalid arguments are a tool error.
    #[must_use]
    pub fn check_arguments(
        mut self,
        check: impl Fn(&Tool, &H, &Raw) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        self.check = Some(Arc::new(check));
        self
    }

    /// Iterates over the tools in insertion order.
    pub fn tools(&self) -> impl Iterator<Item = (&Tool, &H)> {
        self.tools.iter().map(Entry::pair)
    }

    /// Returns the tool named `name`, or `None` if there is none.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.find(name).map(|entry| entry.pair().0)
    }

    /// Iterates over the resources in insertion order.
    pub fn resources(&self) -> impl Iterator<Item = (&Resource, &H)> {
        self.resources.iter().map(Entry::pair)
    }

    /// Iterates over the resource templates in insertion order.
    pub fn templates(&self) -> impl Iterator<Item = (&ResourceTemplate, &H)> {
        self.templates.iter().map(Entry::pair)
    }

    /// Iterates over the prompts in insertion order.
    pub fn prompts(&self) -> impl Iterator<Item = (&Prompt, &H)> {
        self.prompts.iter().map(Entry::pair)
    }

    /// Returns the handler of the entry of this kind and [name](CatalogEntry::name).
    #[must_use]
    pub fn handler(&self, entry: CatalogEntry<'_>) -> Option<&H> {
        let name = entry.name();
        match entry {
            CatalogEntry::Prompt(_) => self.prompts.find(name).map(|entry| entry.pair().1),
            CatalogEntry::Resource(_) => self.resources.find(name).map(|entry| entry.pair().1),
            CatalogEntry::Template(_) => self.templates.find(name).map(|entry| entry.pair().1),
            CatalogEntry::Tool(_) => self.tools.find(name).map(|entry| entry.pair().1),
        }
    }

    /// Returns the capabilities that a server with the current entries should declare.
    ///
    /// The capabilities include `listChanged` if
    /// [`declare_list_changed`](Self::declare_list_changed) was called.
    ///
    /// The capability of an empty list is not included. If entries will be added to the list later,
    /// add its capability with [`Capabilities::with`].
    // CAP-01: a server declares what it offers.
    #[must_use]
    pub fn capabilities(&self) -> Capabilities {
        let lists = [
            (ChangedList::Prompts, !self.prompts.is_empty()),
            (ChangedList::Resources, !self.resources.is_empty() || !self.templates.is_empty()),
            (ChangedList::Tools, !self.tools.is_empty()),
        ];
        let mut capabilities = Capabilities::none();
        for (list, _) in lists.into_iter().filter(|(_, has)| *has) {
            let capability = if self.changing { list.list_changed() } else { list.capability() };
            capabilities = capabilities.with(capability);
        }
        let of_prompts = self.prompts.iter().any(|prompt| !prompt.completions.is_empty());
        let of_templates = self.templates.iter().any(|template| !template.completions.is_empty());
        if of_prompts || of_templates {
            capabilities = capabilities.with(Capability::Completions);
        }
        capabilities
    }

    fn has_variable(&self, uri_template: &str, variable: &str) -> bool {
        let mut patterns = self.patterns.values();
        let pattern = patterns.find(|pattern| pattern.as_str() == uri_template);
        pattern.is_some_and(|pattern| pattern.names().any(|name| name == variable))
    }
}

impl<H> Default for Catalog<H> {
    fn default() -> Self {
        Self::new()
    }
}

impl<H> fmt::Debug for Catalog<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Catalog")
            .field("tools", &self.tools.len())
            .field("resources", &self.resources.len())
            .field("templates", &self.templates.len())
            .field("prompts", &self.prompts.len())
            .finish_non_exhaustive()
    }
}

impl<H> Clone for CatalogView<'_, H> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<H> Copy for CatalogView<'_, H> {}

impl<H> fmt::Debug for CatalogView<'_, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CatalogView").finish_non_exhaustive()
    }
}

impl<T, H> Entry<T, H> {
    const fn pair(&self) -> (&T, &H) {
        (&self.item, &self.handler)
    }
}

#[cfg(test)]
mod tests;
