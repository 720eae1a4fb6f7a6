//! Looks at the entries of a catalog without resolving requests for them.

use alloc::vec::Vec;

use super::CatalogView;
use super::table::Entry;
use super::uri_template::{encodes_reserved, with_reserved_decoded};
use crate::schema::{Prompt, Resource, Tool};

impl<'a, H> CatalogView<'a, H> {
    /// Returns the visible tool named `name`, or `None` if there is none.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<&'a Tool> {
        self.find(&self.catalog.tools, name).map(|entry| &entry.item)
    }

    /// Returns the visible prompt named `name`, or `None` if there is none.
    #[must_use]
    pub fn prompt(&self, name: &str) -> Option<&'a Prompt> {
        self.find(&self.catalog.prompts, name).map(|entry| &entry.item)
    }

    /// Returns the visible resource with this URI, or `None` if there is none. Ignores templates.
    #[must_use]
    pub fn resource(&self, uri: &str) -> Option<&'a Resource> {
        self.find(&self.catalog.resources, uri).map(|entry| &entry.item)
    }

    /// Returns whether a visible resource has this URI or a visible resource template matches it.
    #[must_use]
    pub fn has_resource(&self, uri: &str) -> bool {
        self.find(&self.catalog.resources, uri).is_some() || self.find_template(uri).is_some()
    }

    /// Returns the handler of the visible resource with this URI, or else of the visible resource
    /// template that matches it.
    #[must_use]
    pub fn resource_handler(&self, uri: &str) -> Option<&'a H> {
        let resource = self.find(&self.catalog.resources, uri).map(|entry| &entry.handler);
        resource.or_else(|| self.find_template(uri).map(|(entry, _)| &entry.handler))
    }

    /// Returns the handlers of the visible entries that would serve a URI if it made no difference
    /// whether reserved characters are percent-encoded. Empty if no such character is encoded in
    /// the URI, in those of resources and in templates, and if the URI is that of a resource.
    ///
    /// Spellings that differ in this way, such as `file:///a/b` and `file:///a%2Fb`, are different
    /// URIs, which different entries may serve. The variables of a template are decoded, however:
    /// `file:///{name}` matches the second one with the name `a/b`. A server that protects a
    /// resource must therefore protect its lookalikes, too.
    ///
    /// ```
    /// use mcp_proto::catalog::Catalog;
    /// use mcp_proto::schema::{Resource, ResourceTemplate};
    ///
    /// let mut catalog = Catalog::new();
    /// catalog.add_resource(Resource::new("file:///a/b", "b"), "protected").unwrap();
    /// catalog.add_template(ResourceTemplate::new("file:///{name}", "files"), "open").unwrap();
    /// let view = catalog.all();
    /// assert_eq!(view.resource_handler("file:///a%2Fb"), Some(&"open"));
    /// assert_eq!(view.lookalike_handlers("file:///a%2Fb"), [&"protected", &"open"]);
    /// ```
    #[must_use]
    pub fn lookalike_handlers(&self, uri: &str) -> Vec<&'a H> {
        if self.find(&self.catalog.resources, uri).is_some() {
            return Vec::new();
        }
        let mut templates = self.catalog.patterns.values();
        let is_plain = !uri.contains('%')
            && !self.catalog.resources.has_lookalikes()
            && !templates.any(|template| template.as_str().contains('%'));
        let decoded = if is_plain { None } else { with_reserved_decoded(uri) };
        let Some(decoded) = decoded else { return Vec::new() };
        let resources = self.catalog.resources.lookalikes(&decoded);
        let resources = resources.into_iter().filter(|entry| self.filter.shows(&entry.item));
        let templates = self.catalog.patterns.iter().filter_map(|((_, number), pattern)| {
            let matched = pattern.matches_decoded(uri).then_some(*number)?;
            self.catalog.templates.at(matched).filter(|entry| self.filter.shows(&entry.item))
        });
        // Spellings of a URI that encodes reserved characters may lead to several templates.
        let templates_max = if encodes_reserved(uri) { usize::MAX } else { 1 };
        resources.map(handler).chain(templates.take(templates_max).map(handler)).collect()
    }
}

const fn handler<T, H>(entry: &Entry<T, H>) -> &H {
    &entry.handler
}
