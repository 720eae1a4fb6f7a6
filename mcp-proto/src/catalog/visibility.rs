//! Entries that are hidden from some callers.

use alloc::string::String;

use crate::schema::{Prompt, Resource, ResourceTemplate, Tool};

/// An entry of a catalog, of any kind.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum CatalogEntry<'a> {
    /// A prompt.
    Prompt(&'a Prompt),
    /// A resource.
    Resource(&'a Resource),
    /// A resource template.
    Template(&'a ResourceTemplate),
    /// A tool.
    Tool(&'a Tool),
}

impl<'a> CatalogEntry<'a> {
    /// Returns the name of a tool or prompt, the URI of a resource, or a URI template.
    #[must_use]
    pub fn name(self) -> &'a str {
        match self {
            Self::Prompt(prompt) => &prompt.name,
            Self::Resource(resource) => &resource.uri,
            Self::Template(template) => &template.uri_template,
            Self::Tool(tool) => &tool.name,
        }
    }
}

/// Decides which entries are visible; `None` shows all.
#[derive(Clone, Copy)]
pub(super) struct Filter<'a>(pub(super) Option<&'a dyn Fn(CatalogEntry<'_>) -> bool>);

impl Filter<'_> {
    pub(super) fn shows<'e>(self, entry: impl Into<CatalogEntry<'e>>) -> bool {
        self.0.is_none_or(|is_visible| is_visible(entry.into()))
    }

    /// Returns the cursor of the page after an entry.
    ///
    /// Numbers count all entries, so callers who do not see all of them get the entry's key.
    pub(super) fn cursor<'e>(
        self,
        prefix: char,
        number: u64,
        last: impl Into<CatalogEntry<'e>>,
    ) -> String {
        match self.0 {
            None => alloc::format!("{prefix}{number}"),
            Some(_) => alloc::format!("{prefix}{}", last.into().name()),
        }
    }
}

macro_rules! entries {
    ($($variant:ident($item:ty))*) => {$(
        impl<'a> From<&'a $item> for CatalogEntry<'a> {
            fn from(item: &'a $item) -> Self {
                Self::$variant(item)
            }
        }
    )*};
}

entries! { Prompt(Prompt) Resource(Resource) Template(ResourceTemplate) Tool(Tool) }
