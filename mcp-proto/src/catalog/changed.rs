//! Which of the lists a change concerns, and what tells clients of it; knows nothing of
//! connections.

use crate::revision::Capability;
use crate::schema::{
    PromptsListChanged, ResourcesListChanged, ServerNotification, ToolsListChanged,
};

/// The list that a change of the catalogue concerns.
///
/// A server that declared so tells its clients, after each change or once after several. (CAP-12)
///
/// ```
/// use mcp_proto::catalog::{Catalog, Changed};
/// use mcp_proto::schema::{Prompt, ServerNotification, PromptsListChanged};
///
/// let mut catalog = Catalog::new().changing();
/// let changed = catalog.add_prompt(Prompt::new("greet"), "handler").unwrap();
/// assert_eq!(changed, Changed::Prompts);
/// assert_eq!(changed.method(), PromptsListChanged::METHOD);
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Changed {
    /// The list of prompts.
    Prompts,
    /// The list of resources, or that of their templates.
    Resources,
    /// The list of tools.
    Tools,
}

impl Changed {
    /// The notification that tells clients.
    #[must_use]
    pub const fn method(self) -> &'static str {
        match self {
            Self::Prompts => PromptsListChanged::METHOD,
            Self::Resources => ResourcesListChanged::METHOD,
            Self::Tools => ToolsListChanged::METHOD,
        }
    }

    /// What a server declares that has the list.
    pub(super) const fn capability(self) -> Capability {
        match self {
            Self::Prompts => Capability::Prompts,
            Self::Resources => Capability::Resources,
            Self::Tools => Capability::Tools,
        }
    }

    /// What a server declares that tells of changes.
    pub(super) const fn list_changed(self) -> Capability {
        match self {
            Self::Prompts => Capability::PromptsListChanged,
            Self::Resources => Capability::ResourcesListChanged,
            Self::Tools => Capability::ToolsListChanged,
        }
    }
}
