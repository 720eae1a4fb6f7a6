//! A catalog of tools, resources and prompts, each with a handler.
//!
//! A [`Catalog`] answers list requests itself, rejects requests for unknown entries, and resolves
//! each other request to a handler with decoded and checked params. A catalog never calls a
//! handler, so handlers can be of any type, such as a function, a number or a name.

mod changed;
mod error;
mod lookup;
mod quote;
mod resolved;
mod table;
mod uri_template;

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use core::fmt;

pub use changed::ChangedList;
pub use error::CatalogError;
pub use resolved::{CatalogResult, Resolved, completion, resource_not_found};
pub use table::Pages;
use table::{Entry, Table};
use uri_template::Rank;
pub use uri_template::{TemplateError, UriTemplate, Variable, Variables};

use crate::json::Raw;
use crate::revision::Capability;
use crate::schema::{CacheScope, Capabilities, Prompt, Resource, ResourceTemplate, Tool, scheme};

/// The tools, resources, resource templates and prompts of a server, with handlers of type `H`.
///
/// Lists are in insertion order, for every client and revision. Memory use depends only on the
/// entries: requests from peers do not increase it. Methods that add or remove an entry return
/// which list changed, as a [`ChangedList`], so that clients can be notified.
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
pub struct Catalog<H> {
    tools: Table<Tool, H>,
    resources: Table<Resource, H>,
    templates: Table<ResourceTemplate, H>,
    prompts: Table<Prompt, H>,
    /// The parsed templates, most specific first, then in insertion order.
    patterns: BTreeMap<(Rank, u64), UriTemplate>,
    pages: Pages,
    changing: bool,
    replacing: bool,
    ttl_ms: u64,
    public: bool,
    check: Option<Check>,
}

type Check = Box<dyn Fn(&Tool, &Raw) -> Result<(), String> + Send + Sync>;

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
            resources: Table::new('r'),
            templates: Table::new('u'),
            prompts: Table::new('p'),
            patterns: BTreeMap::new(),
            pages,
            changing: false,
            replacing: false,
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

    /// Makes a new entry replace an existing one with an equal name, URI or URI template.
    ///
    /// The new entry takes the old entry's position in the list; the old entry's completion
    /// handlers are dropped. By default, adding a duplicate fails with [`CatalogError::Duplicate`].
    #[must_use]
    pub const fn replace_duplicates(mut self) -> Self {
        self.replacing = true;
        self
    }

    /// Sets the maximum number of entries on a page. Default: 1,000.
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
    /// The function can, for example, run a JSON Schema validator. The arguments that it receives
    /// are always a JSON object.
    ///
    /// If the function returns an error message, the handler is not used: the lookup resolves to a
    /// tool error with this message. The client receives the message, and the model can correct the
    /// call. The message must not reveal anything that the client should not see.
    // T-117: invalid arguments are a tool error.
    #[must_use]
    pub fn check_arguments(
        mut self,
        check: impl Fn(&Tool, &Raw) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        self.check = Some(Box::new(check));
        self
    }

    /// Adds a tool at the end of the list.
    ///
    /// # Errors
    /// Fails if
    /// - a tool with this name exists (see [`replace_duplicates`](Self::replace_duplicates));
    /// - the name is empty;
    /// - the input schema is not an object with `"type":"object"`;
    /// - the output schema is not an object;
    /// - the tool does not fit on a page.
    pub fn add_tool(&mut self, tool: Tool, handler: H) -> Result<ChangedList, CatalogError> {
        if tool.name.is_empty() {
            return Err(CatalogError::Invalid("the name is empty"));
        }
        let kind = tool.input_schema.member("type");
        if kind.is_none_or(|kind| kind.to_text().as_deref() != Some("object")) {
            return Err(CatalogError::Invalid("the input schema lacks `\"type\":\"object\"`"));
        }
        if tool.output_schema.as_ref().is_some_and(|schema| !schema.is_object()) {
            return Err(CatalogError::Invalid("the output schema is not an object"));
        }
        let name = tool.name.clone();
        self.tools.add(&name, tool, handler, self.pages, self.replacing).map(|_| ChangedList::Tools)
    }

    /// Adds a resource at the end of the list.
    ///
    /// # Errors
    /// Fails if
    /// - a resource with this URI exists (see [`replace_duplicates`](Self::replace_duplicates));
    /// - the URI has no scheme;
    /// - the resource does not fit on a page.
    pub fn add_resource(
        &mut self,
        resource: Resource,
        handler: H,
    ) -> Result<ChangedList, CatalogError> {
        if scheme(&resource.uri).is_none() {
            return Err(CatalogError::Invalid("the URI has no scheme"));
        }
        let uri = resource.uri.clone();
        self.resources
            .add(&uri, resource, handler, self.pages, self.replacing)
            .map(|_| ChangedList::Resources)
    }

    /// Adds a resource template at the end of the list.
    ///
    /// A read request resolves to the resource with the requested URI. If there is none, the
    /// request resolves to the most specific template that matches the URI. These criteria decide
    /// which template is the most specific; each one applies if those before it result in a tie:
    /// 1. the most literal characters;
    /// 2. the fewest `{+x}` and `{#x}` expressions;
    /// 3. the fewest variables;
    /// 4. the earliest position in the list.
    ///
    /// # Errors
    /// Fails if
    /// - an entry with this URI template exists (see
    ///   [`replace_duplicates`](Self::replace_duplicates));
    /// - the URI template is invalid or not supported (see [`UriTemplate`]);
    /// - the entry does not fit on a page.
    pub fn add_template(
        &mut self,
        template: ResourceTemplate,
        handler: H,
    ) -> Result<ChangedList, CatalogError> {
        let pattern = UriTemplate::parse(&template.uri_template)?;
        let number =
            self.templates.add(pattern.as_str(), template, handler, self.pages, self.replacing)?;
        self.patterns.insert((pattern.rank(), number), pattern);
        Ok(ChangedList::Resources)
    }

    /// Adds a prompt at the end of the list.
    ///
    /// # Errors
    /// Fails if
    /// - a prompt with this name exists (see [`replace_duplicates`](Self::replace_duplicates));
    /// - the name is empty;
    /// - the argument names are not unique;
    /// - the prompt does not fit on a page.
    pub fn add_prompt(&mut self, prompt: Prompt, handler: H) -> Result<ChangedList, CatalogError> {
        if prompt.name.is_empty() {
            return Err(CatalogError::Invalid("the name is empty"));
        }
        let mut names = alloc::collections::BTreeSet::new();
        if !prompt.arguments.iter().flatten().all(|argument| names.insert(&*argument.name)) {
            return Err(CatalogError::Invalid("argument names are not unique"));
        }
        let name = prompt.name.clone();
        self.prompts
            .add(&name, prompt, handler, self.pages, self.replacing)
            .map(|_| ChangedList::Prompts)
    }

    /// Adds a handler that completes an argument of a prompt.
    ///
    /// The handler is removed together with the prompt.
    ///
    /// # Errors
    /// Fails with [`CatalogError::Unknown`] if the prompt or its argument does not exist, and with
    /// [`CatalogError::Duplicate`] if the argument already has a completion handler.
    pub fn add_prompt_completion(
        &mut self,
        prompt: &str,
        argument: &str,
        handler: H,
    ) -> Result<(), CatalogError> {
        let entry = self.prompts.find_mut(prompt).ok_or(CatalogError::Unknown)?;
        let is_known = entry.item.has_argument(argument);
        entry.add_completion(argument, handler, is_known)
    }

    /// Adds a handler that completes a variable of the resource template `uri_template`.
    ///
    /// The handler is removed together with the template.
    ///
    /// # Errors
    /// Fails with [`CatalogError::Unknown`] if the template or its variable does not exist, and
    /// with [`CatalogError::Duplicate`] if the variable already has a completion handler.
    pub fn add_template_completion(
        &mut self,
        uri_template: &str,
        variable: &str,
        handler: H,
    ) -> Result<(), CatalogError> {
        let is_known = self.has_variable(uri_template, variable);
        let entry = self.templates.find_mut(uri_template).ok_or(CatalogError::Unknown)?;
        entry.add_completion(variable, handler, is_known)
    }

    /// Removes a tool and returns its handler.
    ///
    /// # Errors
    /// Fails with [`CatalogError::Unknown`] if there is no such tool.
    pub fn remove_tool(&mut self, name: &str) -> Result<(ChangedList, H), CatalogError> {
        self.tools.remove(name).map(|(_, handler)| (ChangedList::Tools, handler))
    }

    /// Removes a resource and returns its handler.
    ///
    /// # Errors
    /// Fails with [`CatalogError::Unknown`] if there is no such resource.
    pub fn remove_resource(&mut self, uri: &str) -> Result<(ChangedList, H), CatalogError> {
        self.resources.remove(uri).map(|(_, handler)| (ChangedList::Resources, handler))
    }

    /// Removes a resource template and returns its handler.
    ///
    /// # Errors
    /// Fails with [`CatalogError::Unknown`] if there is no such template.
    pub fn remove_template(
        &mut self,
        uri_template: &str,
    ) -> Result<(ChangedList, H), CatalogError> {
        let (number, handler) = self.templates.remove(uri_template)?;
        self.patterns.retain(|(_, other), _| *other != number);
        Ok((ChangedList::Resources, handler))
    }

    /// Removes a prompt and returns its handler.
    ///
    /// # Errors
    /// Fails with [`CatalogError::Unknown`] if there is no such prompt.
    pub fn remove_prompt(&mut self, name: &str) -> Result<(ChangedList, H), CatalogError> {
        self.prompts.remove(name).map(|(_, handler)| (ChangedList::Prompts, handler))
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

    const fn cache_scope(&self) -> CacheScope {
        if self.public { CacheScope::Public } else { CacheScope::Private }
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

impl<T, H> Entry<T, H> {
    const fn pair(&self) -> (&T, &H) {
        (&self.item, &self.handler)
    }

    fn add_completion(
        &mut self,
        argument: &str,
        handler: H,
        is_known: bool,
    ) -> Result<(), CatalogError> {
        if !is_known {
            return Err(CatalogError::Unknown);
        }
        if self.completions.contains_key(argument) {
            return Err(CatalogError::Duplicate);
        }
        self.completions.insert(argument.into(), handler);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
