//! Tools, resources and prompts by name, each with a handler: lists, pages, finds and checks; never
//! calls.
//!
//! A [`Catalog`] is a table. It knows what a request asks for, and nothing of connections, of time
//! and of what a handler is: that is whatever the application says, a function, a number, a name.
//! Give it each request; it answers those that ask for lists and refuses those that ask for what is
//! not there, and for the others it says which handler is meant, with the params read and checked.

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

pub use changed::Changed;
pub use error::Refused;
pub use resolved::{Answer, Found, completion, no_resource};
pub use table::Pages;
use table::{Entry, Table};
use uri_template::Rank;
pub use uri_template::{TemplateError, UriTemplate, Variable, Variables};

use crate::json::Raw;
use crate::revision::Capability;
use crate::schema::{CacheScope, Capabilities, Prompt, Resource, ResourceTemplate, Tool};

/// What a server offers: tools, resources, resource templates and prompts, each with a handler of
/// the type `H`.
///
/// Lists are in the order in which things were added, the same for every client and every revision
/// (STL-11, STL-12). Memory is what was added; peers add nothing.
///
/// ```
/// use mcp_proto::catalog::{Catalog, Found};
/// use mcp_proto::schema::Tool;
/// use mcp_proto::{Capability, Raw, Revision};
///
/// let schema = Raw::from_text(r#"{"type":"object"}"#).unwrap();
/// let mut catalog = Catalog::new();
/// catalog.add_tool(Tool::new("today", schema), || "sunny").unwrap();
/// assert!(catalog.capabilities().has(Capability::Tools));
///
/// let params = Raw::from_text(r#"{"name":"today"}"#).unwrap();
/// match catalog.find_raw("tools/call", Some(&params), Revision::V2025_11_25) {
///     Ok(Found::Tool { handler, .. }) => assert_eq!(handler(), "sunny"),
///     other => panic!("{other:?}"),
/// }
/// ```
pub struct Catalog<H> {
    tools: Table<Tool, H>,
    resources: Table<Resource, H>,
    templates: Table<ResourceTemplate, H>,
    prompts: Table<Prompt, H>,
    /// The templates, the most specific first, then by number.
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
    /// A catalogue with nothing in it, and pages of the default length.
    #[must_use]
    pub fn new() -> Self {
        Self::with_pages(Pages::default())
    }

    /// A catalogue with nothing in it.
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

    /// Things will be added and removed while clients are there:
    /// [`capabilities`](Self::capabilities) says that they are told. (CAP-12)
    #[must_use]
    pub const fn changing(mut self) -> Self {
        self.changing = true;
        self
    }

    /// What is added under a name, URI or pattern that is taken replaces what was there, and its
    /// completions, in its place of the list; by default it is refused.
    #[must_use]
    pub const fn replacing(mut self) -> Self {
        self.replacing = true;
        self
    }

    /// At most so many entries on a page, at least one; as many as [`Pages`] says by default.
    #[must_use]
    pub const fn entries_max(mut self, entries_max: usize) -> Self {
        self.pages.entries_max = entries_max;
        self
    }

    /// Lists are good for `ttl_ms` milliseconds, on every page of every list alike; 0 by default.
    /// (STL-39)
    #[must_use]
    pub const fn ttl_ms(mut self, ttl_ms: u64) -> Self {
        self.ttl_ms = ttl_ms;
        self
    }

    /// Lists may be shared between users, on every page of every list alike; by default they may
    /// not. (STL-44)
    #[must_use]
    pub const fn public(mut self) -> Self {
        self.public = true;
        self
    }

    /// Has `check` look at the arguments of every tool call, an object, before it is found.
    ///
    /// This is the place for a JSON Schema validator. What it says is the text of the tool's error,
    /// for the model to mend (T-117): say nothing in it that the client should not know.
    #[must_use]
    pub fn checking(
        mut self,
        check: impl Fn(&Tool, &Raw) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        self.check = Some(Box::new(check));
        self
    }

    /// Adds a tool at the end of the list.
    ///
    /// # Errors
    /// [`Refused`]: there is one of its name, it has none, its input schema is not an object of `"type":"object"`, its
    /// output schema is not an object, or it is too long.
    pub fn add_tool(&mut self, tool: Tool, handler: H) -> Result<Changed, Refused> {
        if tool.name.is_empty() {
            return Err(Refused::Invalid("the name is empty"));
        }
        let kind = tool.input_schema.member("type");
        if kind.is_none_or(|kind| kind.to_text().as_deref() != Some("object")) {
            return Err(Refused::Invalid("the input schema does not say `\"type\":\"object\"`"));
        }
        if tool.output_schema.as_ref().is_some_and(|schema| !schema.is_object()) {
            return Err(Refused::Invalid("the output schema is no object"));
        }
        let name = tool.name.clone();
        self.tools.add(&name, tool, handler, self.pages, self.replacing).map(|_| Changed::Tools)
    }

    /// Adds a resource at the end of the list.
    ///
    /// # Errors
    /// [`Refused`]: there is one of its URI, the URI has no scheme, or it is too long.
    pub fn add_resource(&mut self, resource: Resource, handler: H) -> Result<Changed, Refused> {
        if !has_scheme(&resource.uri) {
            return Err(Refused::Invalid("the URI has no scheme"));
        }
        let uri = resource.uri.clone();
        self.resources
            .add(&uri, resource, handler, self.pages, self.replacing)
            .map(|_| Changed::Resources)
    }

    /// Adds a resource template at the end of the list.
    ///
    /// A resource of a URI goes before the templates that match it. Of these goes first the one
    /// with the most literal characters; of those, the one with the fewest expressions of the
    /// kind `{+x}` and `{#x}`; of those, the one with the fewest variables; and of those, the
    /// one that was added first.
    ///
    /// # Errors
    /// [`Refused`]: there is one of its pattern, the pattern is not supported (see [`UriTemplate`]), or it is too long.
    pub fn add_template(
        &mut self,
        template: ResourceTemplate,
        handler: H,
    ) -> Result<Changed, Refused> {
        let pattern = UriTemplate::parse(&template.uri_template)?;
        let number =
            self.templates.add(pattern.as_str(), template, handler, self.pages, self.replacing)?;
        self.patterns.insert((pattern.rank(), number), pattern);
        Ok(Changed::Resources)
    }

    /// Adds a prompt at the end of the list.
    ///
    /// # Errors
    /// [`Refused`]: there is one of its name, it has none, two of its arguments have one name, or it is too long.
    pub fn add_prompt(&mut self, prompt: Prompt, handler: H) -> Result<Changed, Refused> {
        if prompt.name.is_empty() {
            return Err(Refused::Invalid("the name is empty"));
        }
        let mut names = alloc::collections::BTreeSet::new();
        if !prompt.arguments.iter().flatten().all(|argument| names.insert(&*argument.name)) {
            return Err(Refused::Invalid("two arguments have one name"));
        }
        let name = prompt.name.clone();
        self.prompts
            .add(&name, prompt, handler, self.pages, self.replacing)
            .map(|_| Changed::Prompts)
    }

    /// Has `handler` complete an argument of a prompt.
    ///
    /// It goes when the prompt is removed.
    ///
    /// # Errors
    /// [`Refused::Unknown`] when there is no such prompt or it has no such argument,
    /// [`Refused::Duplicate`] when the argument has a handler.
    pub fn add_prompt_completion(
        &mut self,
        prompt: &str,
        argument: &str,
        handler: H,
    ) -> Result<(), Refused> {
        let entry = self.prompts.find_mut(prompt).ok_or(Refused::Unknown)?;
        let is_known = entry.item.has_argument(argument);
        entry.add_completion(argument, handler, is_known)
    }

    /// Has `handler` complete a variable of a resource template, which is named by its pattern.
    ///
    /// It goes when the template is removed.
    ///
    /// # Errors
    /// [`Refused::Unknown`] when there is no such template or it has no such variable,
    /// [`Refused::Duplicate`] when the variable has a handler.
    pub fn add_template_completion(
        &mut self,
        uri_template: &str,
        variable: &str,
        handler: H,
    ) -> Result<(), Refused> {
        let is_known = self.has_variable(uri_template, variable);
        let entry = self.templates.find_mut(uri_template).ok_or(Refused::Unknown)?;
        entry.add_completion(variable, handler, is_known)
    }

    /// Takes a tool out, and hands its handler back.
    ///
    /// # Errors
    /// [`Refused::Unknown`].
    pub fn remove_tool(&mut self, name: &str) -> Result<(Changed, H), Refused> {
        self.tools.remove(name).map(|(_, handler)| (Changed::Tools, handler))
    }

    /// Takes a resource out, and hands its handler back.
    ///
    /// # Errors
    /// [`Refused::Unknown`].
    pub fn remove_resource(&mut self, uri: &str) -> Result<(Changed, H), Refused> {
        self.resources.remove(uri).map(|(_, handler)| (Changed::Resources, handler))
    }

    /// Takes a resource template out, named by its pattern, and hands its handler back.
    ///
    /// # Errors
    /// [`Refused::Unknown`].
    pub fn remove_template(&mut self, uri_template: &str) -> Result<(Changed, H), Refused> {
        let (number, handler) = self.templates.remove(uri_template)?;
        self.patterns.retain(|(_, other), _| *other != number);
        Ok((Changed::Resources, handler))
    }

    /// Takes a prompt out, and hands its handler back.
    ///
    /// # Errors
    /// [`Refused::Unknown`].
    pub fn remove_prompt(&mut self, name: &str) -> Result<(Changed, H), Refused> {
        self.prompts.remove(name).map(|(_, handler)| (Changed::Prompts, handler))
    }

    /// The tools, in the order of the list.
    pub fn tools(&self) -> impl Iterator<Item = (&Tool, &H)> {
        self.tools.iter().map(Entry::pair)
    }

    /// The tool of this name.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.find(name).map(|entry| entry.pair().0)
    }

    /// The resources, in the order of the list.
    pub fn resources(&self) -> impl Iterator<Item = (&Resource, &H)> {
        self.resources.iter().map(Entry::pair)
    }

    /// The resource templates, in the order of the list.
    pub fn templates(&self) -> impl Iterator<Item = (&ResourceTemplate, &H)> {
        self.templates.iter().map(Entry::pair)
    }

    /// The prompts, in the order of the list.
    pub fn prompts(&self) -> impl Iterator<Item = (&Prompt, &H)> {
        self.prompts.iter().map(Entry::pair)
    }

    /// What a server with this catalogue declares: what is in it, and whether it changes. (CAP-01)
    ///
    /// Nothing is declared for a list that is empty. A server that fills one only later adds that
    /// capability itself.
    #[must_use]
    pub fn capabilities(&self) -> Capabilities {
        let lists = [
            (Changed::Prompts, !self.prompts.is_empty()),
            (Changed::Resources, !self.resources.is_empty() || !self.templates.is_empty()),
            (Changed::Tools, !self.tools.is_empty()),
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
    ) -> Result<(), Refused> {
        if !is_known {
            return Err(Refused::Unknown);
        }
        if self.completions.contains_key(argument) {
            return Err(Refused::Duplicate);
        }
        self.completions.insert(argument.into(), handler);
        Ok(())
    }
}

/// Whether a URI begins with a scheme. (RFC 3986, section 3.1)
fn has_scheme(uri: &str) -> bool {
    let Some((scheme, _)) = uri.split_once(':') else { return false };
    scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme
            .chars()
            .all(|char| char.is_ascii_alphanumeric() || matches!(char, '+' | '-' | '.'))
}

#[cfg(test)]
mod tests;
