//! [`ChangedList`]: the list affected by a change to the catalog.

use crate::revision::Capability;
use crate::schema::{
    PromptsListChanged, ResourcesListChanged, ServerNotification, ToolsListChanged,
};

/// The list affected by a change to the catalog.
///
/// If the server declared `listChanged`, the application must notify the clients of the change. One
/// notification may cover several changes.
///
/// ```
/// use mcp_proto::catalog::{Catalog, ChangedList};
/// use mcp_proto::schema::{Prompt, ServerNotification, PromptsListChanged};
///
/// let mut catalog = Catalog::new().declare_list_changed();
/// let changed = catalog.add_prompt(Prompt::new("greet"), "handler").unwrap();
/// assert_eq!(changed, ChangedList::Prompts);
/// assert_eq!(changed.method(), PromptsListChanged::METHOD);
/// ```
// CAP-12: see `Catalog::declare_list_changed`.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum ChangedList {
    /// The list of prompts.
    Prompts,
    /// The list of resources or the list of resource templates.
    Resources,
    /// The list of tools.
    Tools,
}

impl ChangedList {
    /// Returns the method of the notification that reports a change to this list.
    #[must_use]
    pub const fn method(self) -> &'static str {
        match self {
            Self::Prompts => PromptsListChanged::METHOD,
            Self::Resources => ResourcesListChanged::METHOD,
            Self::Tools => ToolsListChanged::METHOD,
        }
    }

    /// Returns the capability that declares the list.
    pub(super) const fn capability(self) -> Capability {
        match self {
            Self::Prompts => Capability::Prompts,
            Self::Resources => Capability::Resources,
            Self::Tools => Capability::Tools,
        }
    }

    /// Returns the capability that declares change notifications for the list.
    pub(super) const fn list_changed(self) -> Capability {
        match self {
            Self::Prompts => Capability::PromptsListChanged,
            Self::Resources => Capability::ResourcesListChanged,
            Self::Tools => Capability::ToolsListChanged,
        }
    }
}
