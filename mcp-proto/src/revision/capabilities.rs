//! The capabilities in all revisions: one row per capability and side.

use core::fmt;

use Capability as C;

use super::Revision::{
    self, V2024_11_05 as R1, V2025_03_26 as R2, V2025_06_18 as R3, V2025_11_25 as R4,
    V2026_07_28 as R5,
};
use super::Side::{self, Client, Server};

// Requirements §2.3.
/// A capability that the client, the server or both can declare.
///
/// The description of each variant begins with the side that declares the capability.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Capability {
    /// Server: suggests values for prompt and template arguments. (since 2025-03-26)
    Completions,
    /// Client: shows elicitation forms to its user. (since 2025-06-18)
    ElicitationForm,
    /// Client: directs its user to a URL for elicitation. (since 2025-11-25)
    ElicitationUrl,
    /// Server: sends log messages.
    Logging,
    /// Server: provides prompts.
    Prompts,
    /// Server: reports changes to the list of prompts.
    PromptsListChanged,
    /// Server: provides resources.
    Resources,
    /// Server: reports changes to the list of resources.
    ResourcesListChanged,
    /// Server: notifies subscribers of changes to a resource.
    ResourcesSubscribe,
    /// Client: provides roots.
    Roots,
    /// Client: reports changes to its roots. (up to 2025-11-25)
    ///
    /// An application that declares this capability must send `notifications/roots/list_changed`
    /// whenever its roots change. The connection does not know the roots and cannot send the
    /// notification itself.
    // CAP-13: roots belong to the application.
    RootsListChanged,
    /// Client: generates text with a language model at the server's request.
    Sampling,
    /// Client: adds context from servers to sampling prompts. (since 2025-11-25)
    SamplingContext,
    /// Client: supports tools in sampling requests. (since 2025-11-25)
    SamplingTools,
    /// Client or server: supports tasks. (2025-11-25 only)
    Tasks,
    /// Client or server: cancels tasks at the peer's request. (2025-11-25 only)
    TasksCancel,
    /// Client: runs elicitations as tasks. (2025-11-25 only)
    TasksElicitation,
    /// Client or server: lists tasks at the peer's request. (2025-11-25 only)
    TasksList,
    /// Client: runs sampling requests as tasks. (2025-11-25 only)
    TasksSampling,
    /// Server: runs tool calls as tasks. (2025-11-25 only)
    TasksToolsCall,
    /// Server: provides tools.
    Tools,
    /// Server: reports changes to the list of tools.
    ToolsListChanged,
}

impl Capability {
    /// Returns the capability with this name: its members in the capability object, joined by dots.
    ///
    /// ```
    /// use mcp_proto::Capability;
    ///
    /// assert_eq!(Capability::from_name("tools.listChanged"), Some(Capability::ToolsListChanged));
    /// assert_eq!(Capability::ElicitationForm.to_string(), "elicitation.form");
    /// ```
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let is_named = |rule: &&CapabilityRule| rule.path.iter().copied().eq(name.split('.'));
        CAPABILITIES.iter().find(is_named).map(|rule| rule.capability)
    }

    /// Iterates over all capabilities, each once.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let is_first = |(index, rule): &(usize, &CapabilityRule)| {
            CAPABILITIES.iter().position(|it| it.capability == rule.capability) == Some(*index)
        };
        CAPABILITIES.iter().enumerate().filter(is_first).map(|(_, rule)| rule.capability)
    }
}

/// Writes the name.
impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = CAPABILITIES.iter().find(|rule| rule.capability == *self).map(|rule| rule.path);
        f.write_str(&path.unwrap_or_default().join("."))
    }
}

/// The place of a capability in the capability object, and the revisions that define it.
#[derive(Debug)]
pub(crate) struct CapabilityRule {
    pub(crate) capability: Capability,
    pub(crate) side: Side,
    /// The member names from the root down.
    pub(crate) path: &'static [&'static str],
    /// Whether the capability is written as `true` instead of an object.
    pub(crate) flag: bool,
    pub(crate) since: Revision,
    pub(crate) until: Revision,
    /// The first revision in which a peer's declaration is honored. Capability objects are open,
    /// so a peer may declare a capability that only later revisions define.
    pub(crate) accepted_since: Revision,
}

impl CapabilityRule {
    const fn accepted_since(mut self, revision: Revision) -> Self {
        self.accepted_since = revision;
        self
    }

    /// Returns whether `side` declares the capability in a handshake of `revision`.
    pub(crate) fn is_declared(&self, side: Side, revision: Revision) -> bool {
        self.side == side && self.since <= revision && revision <= self.until
    }
}

const fn object(
    capability: C,
    side: Side,
    path: &'static [&'static str],
    since: Revision,
    until: Revision,
) -> CapabilityRule {
    CapabilityRule { capability, side, path, flag: false, since, until, accepted_since: since }
}

const fn flag(
    capability: C,
    side: Side,
    path: &'static [&'static str],
    since: Revision,
    until: Revision,
) -> CapabilityRule {
    CapabilityRule { capability, side, path, flag: true, since, until, accepted_since: since }
}

/// All capabilities. Parents precede their children, and siblings are adjacent.
pub(crate) const CAPABILITIES: &[CapabilityRule] = &[
    object(C::Completions, Server, &["completions"], R2, R5),
    object(C::ElicitationForm, Client, &["elicitation", "form"], R3, R5).accepted_since(R1),
    object(C::ElicitationUrl, Client, &["elicitation", "url"], R4, R5),
    object(C::Logging, Server, &["logging"], R1, R5),
    object(C::Prompts, Server, &["prompts"], R1, R5),
    flag(C::PromptsListChanged, Server, &["prompts", "listChanged"], R1, R5),
    object(C::Resources, Server, &["resources"], R1, R5),
    flag(C::ResourcesListChanged, Server, &["resources", "listChanged"], R1, R5),
    flag(C::ResourcesSubscribe, Server, &["resources", "subscribe"], R1, R5),
    object(C::Roots, Client, &["roots"], R1, R5),
    flag(C::RootsListChanged, Client, &["roots", "listChanged"], R1, R4),
    object(C::Sampling, Client, &["sampling"], R1, R5),
    object(C::SamplingContext, Client, &["sampling", "context"], R4, R5),
    object(C::SamplingTools, Client, &["sampling", "tools"], R4, R5),
    // CAP-20: only 2025-11-25 has tasks.
    object(C::Tasks, Client, &["tasks"], R4, R4),
    object(C::TasksCancel, Client, &["tasks", "cancel"], R4, R4),
    object(C::TasksList, Client, &["tasks", "list"], R4, R4),
    object(C::TasksElicitation, Client, &["tasks", "requests", "elicitation", "create"], R4, R4),
    object(C::TasksSampling, Client, &["tasks", "requests", "sampling", "createMessage"], R4, R4),
    object(C::Tasks, Server, &["tasks"], R4, R4),
    object(C::TasksCancel, Server, &["tasks", "cancel"], R4, R4),
    object(C::TasksList, Server, &["tasks", "list"], R4, R4),
    object(C::TasksToolsCall, Server, &["tasks", "requests", "tools", "call"], R4, R4),
    object(C::Tools, Server, &["tools"], R1, R5),
    flag(C::ToolsListChanged, Server, &["tools", "listChanged"], R1, R5),
];
