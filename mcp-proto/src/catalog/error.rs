//! Why the catalogue was not changed; knows nothing of peers.

use core::fmt;

use super::uri_template::TemplateError;

/// Why nothing was added or removed.
///
/// ```
/// use mcp_proto::catalog::{Catalog, Refused};
/// use mcp_proto::schema::Prompt;
///
/// let mut catalog = Catalog::new();
/// catalog.add_prompt(Prompt::new("greet"), 1).unwrap();
/// assert_eq!(catalog.add_prompt(Prompt::new("greet"), 2), Err(Refused::Duplicate));
/// assert_eq!(catalog.remove_tool("greet"), Err(Refused::Unknown));
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Refused {
    /// There is one of this name, URI or pattern.
    Duplicate,
    /// What was to be added is not well formed: the sentence says why.
    Invalid(&'static str),
    /// The pattern is no URI template, or none that is supported.
    Template(TemplateError),
    /// As JSON it is longer than a page may be: see [`Pages`](super::Pages).
    TooLong,
    /// There is none of this name, URI or pattern, or it has no such argument.
    Unknown,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Duplicate => "it is in the catalogue already",
            Self::Invalid(reason) => reason,
            Self::Template(error) => return write!(f, "the URI template is not usable: {error}"),
            Self::TooLong => "it is longer than a page may be",
            Self::Unknown => "it is not in the catalogue",
        })
    }
}

impl core::error::Error for Refused {}

impl From<TemplateError> for Refused {
    fn from(error: TemplateError) -> Self {
        Self::Template(error)
    }
}
