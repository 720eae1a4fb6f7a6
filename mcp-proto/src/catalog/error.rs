//! The error type for changes to the catalog.

use core::fmt;

use super::uri_template::TemplateError;

/// The reason why a change to a [`Catalog`](super::Catalog) failed.
///
/// ```
/// use mcp_proto::catalog::{Catalog, CatalogError};
/// use mcp_proto::schema::Prompt;
///
/// let mut catalog = Catalog::new();
/// // This catalog uses numbers as handlers.
/// catalog.add_prompt(Prompt::new("greet"), 1).unwrap();
/// assert_eq!(catalog.add_prompt(Prompt::new("greet"), 2), Err(CatalogError::Duplicate));
/// assert_eq!(catalog.remove_tool("greet"), Err(CatalogError::Unknown));
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum CatalogError {
    /// The entry already exists, or the argument already has a completion handler.
    Duplicate,
    /// The entry is malformed. The text states the reason.
    Invalid(&'static str),
    /// The URI template is invalid or not supported.
    Template(TemplateError),
    /// The entry does not fit on a page; see [`Pages`](super::Pages).
    TooLong,
    /// No entry has this name, URI or URI template, or the entry has no such argument.
    Unknown,
}

impl fmt::Display for CatalogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Duplicate => "already in the catalog",
            Self::Invalid(reason) => reason,
            Self::Template(error) => return write!(f, "unsupported URI template: {error}"),
            Self::TooLong => "entry exceeds the page size (`Pages::bytes_max`)",
            Self::Unknown => "not in the catalog",
        })
    }
}

impl core::error::Error for CatalogError {}

impl From<TemplateError> for CatalogError {
    fn from(error: TemplateError) -> Self {
        Self::Template(error)
    }
}
