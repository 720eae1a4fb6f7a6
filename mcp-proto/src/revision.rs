//! What the five protocol revisions say: every difference between them is a row here, and nowhere
//! else.
//!
//! Three tables: one row a revision, a capability, and a method in a span of revisions. The
//! rest of the crate asks these tables; it never compares revisions.

mod methods;

use core::fmt;

#[cfg(test)]
pub(crate) use methods::QUESTIONS;
pub(crate) use methods::{Condition, ConditionValue, METHODS, MethodRule, Patience};

/// A revision of the protocol, oldest first.
///
/// On the wire it is an opaque date that is compared for equality only.
///
/// ```
/// use mcp_proto::Revision;
///
/// assert_eq!(Revision::from_name("2025-06-18"), Some(Revision::V2025_06_18));
/// assert_eq!(Revision::V2025_06_18.name(), "2025-06-18");
/// assert_eq!(Revision::from_name("1999-01-01"), None);
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Revision {
    /// 2024-11-05.
    V2024_11_05,
    /// 2025-03-26.
    V2025_03_26,
    /// 2025-06-18.
    V2025_06_18,
    /// 2025-11-25.
    V2025_11_25,
    /// 2026-07-28.
    V2026_07_28,
}

impl Revision {
    /// All revisions, oldest first.
    pub const ALL: [Self; 5] = [
        Self::V2024_11_05,
        Self::V2025_03_26,
        Self::V2025_06_18,
        Self::V2025_11_25,
        Self::V2026_07_28,
    ];

    /// The revisions that open a session with `initialize`, oldest first.
    pub const LEGACY: [Self; 4] =
        [Self::V2024_11_05, Self::V2025_03_26, Self::V2025_06_18, Self::V2025_11_25];

    /// The revision that peers call `name`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|revision| revision.name() == name)
    }

    /// The date that peers know the revision by.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.rules().name
    }

    /// Whether it has a handshake and sessions, or neither.
    #[must_use]
    pub const fn era(self) -> Era {
        self.rules().era
    }

    /// Returns whether the revision belongs to `era`.
    pub(crate) fn is_of(self, era: Era) -> bool {
        self.era() == era
    }

    /// Returns whether each request carries its own context, without a handshake.
    pub(crate) const fn is_modern(self) -> bool {
        matches!(self.era(), Era::Modern)
    }

    /// What holds under this revision.
    #[must_use]
    pub const fn rules(self) -> &'static Rules {
        match self {
            Self::V2024_11_05 => &RULES[0],
            Self::V2025_03_26 => &RULES[1],
            Self::V2025_06_18 => &RULES[2],
            Self::V2025_11_25 => &RULES[3],
            Self::V2026_07_28 => &RULES[4],
        }
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Whether a revision has sessions.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Era {
    /// A handshake opens a session, and both sides ask: up to 2025-11-25.
    Legacy,
    /// Every request stands alone, and only clients ask: from 2026-07-28.
    Modern,
}

/// The spec's word.
impl fmt::Display for Era {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Legacy => "legacy",
            Self::Modern => "modern",
        })
    }
}

/// What holds under one revision.
#[derive(Debug)]
#[non_exhaustive]
pub struct Rules {
    /// The revision's date.
    pub name: &'static str,
    /// Whether there are sessions.
    pub era: Era,
    /// Whether an array of messages is received. (BAT-01, BAT-12)
    pub batches: bool,
    /// An error that answers a text without a readable id says `"id":null`; otherwise it has no
    /// id. (D-01)
    pub unknown_id_is_null: bool,
    /// Whether a progress notification has a `message`. (PRG-07)
    pub progress_message: bool,
    /// The code for a resource that does not exist. (STL-46)
    pub resource_not_found: i64,
    /// The code for a request that needs a capability of the client which it did not declare.
    /// (CAP-15)
    pub missing_capability: i64,
    /// Whether servers send requests, and clients responses. (STL-13, FRM-16, FRM-17)
    pub servers_ask: bool,
    /// Whether an event stream over HTTP begins with an event that has an id and no message, so
    /// that it can be closed early and resumed. (HTTP-15, HTTP-16)
    pub streams_are_primed: bool,
    /// Whether each HTTP request after the first says the revision in a header field. (HTTP-36,
    /// HTTP-39)
    pub version_header: bool,
    /// Whether one message of a conversation with a model can hold several blocks.
    pub(crate) content_lists: bool,
    /// Whether the structured content of a result can be any JSON, and not only an object.
    pub(crate) any_structured_content: bool,
    /// Whether capabilities name extensions.
    pub(crate) extensions: bool,
    /// Whether forms offer titled choices, and several at a time.
    pub(crate) titled_choices: bool,
    /// Whether `elicitation` declares modes; before, it stands alone and means forms.
    pub(crate) elicitation_modes: bool,
    /// Whether a cancellation may name no request.
    pub(crate) cancelled_without_id: bool,
    /// How a request to visit a URL is identified.
    pub(crate) elicitation_urls: UrlElicitation,
    /// The codes of errors that travel with an HTTP status other than 200, and that status.
    /// (HTTP-40…42, requirements §3.2)
    pub http_statuses: &'static [(i64, u16)],
}

const RULES: [Rules; 5] = [
    Rules {
        name: "2024-11-05",
        era: Era::Legacy,
        batches: false,
        unknown_id_is_null: true,
        progress_message: false,
        resource_not_found: -32002,
        missing_capability: -32603,
        servers_ask: true,
        streams_are_primed: false,
        version_header: false,
        content_lists: false,
        any_structured_content: false,
        extensions: false,
        titled_choices: false,
        elicitation_modes: false,
        cancelled_without_id: false,
        elicitation_urls: UrlElicitation::None,
        http_statuses: &[],
    },
    Rules {
        name: "2025-03-26",
        era: Era::Legacy,
        batches: true,
        unknown_id_is_null: true,
        progress_message: true,
        resource_not_found: -32002,
        missing_capability: -32603,
        servers_ask: true,
        streams_are_primed: false,
        version_header: false,
        content_lists: false,
        any_structured_content: false,
        extensions: false,
        titled_choices: false,
        elicitation_modes: false,
        cancelled_without_id: false,
        elicitation_urls: UrlElicitation::None,
        http_statuses: &[],
    },
    Rules {
        name: "2025-06-18",
        era: Era::Legacy,
        batches: false,
        unknown_id_is_null: true,
        progress_message: true,
        resource_not_found: -32002,
        missing_capability: -32603,
        servers_ask: true,
        streams_are_primed: false,
        version_header: true,
        content_lists: false,
        any_structured_content: false,
        extensions: false,
        titled_choices: false,
        elicitation_modes: false,
        cancelled_without_id: false,
        elicitation_urls: UrlElicitation::None,
        http_statuses: &[],
    },
    Rules {
        name: "2025-11-25",
        era: Era::Legacy,
        batches: false,
        unknown_id_is_null: false,
        progress_message: true,
        resource_not_found: -32002,
        missing_capability: -32603,
        servers_ask: true,
        streams_are_primed: true,
        version_header: true,
        content_lists: true,
        any_structured_content: false,
        extensions: false,
        titled_choices: true,
        elicitation_modes: true,
        cancelled_without_id: true,
        elicitation_urls: UrlElicitation::WithId,
        http_statuses: &[],
    },
    Rules {
        name: "2026-07-28",
        era: Era::Modern,
        batches: false,
        unknown_id_is_null: false,
        progress_message: true,
        resource_not_found: -32602,
        missing_capability: -32021,
        servers_ask: false,
        streams_are_primed: false,
        version_header: true,
        content_lists: true,
        any_structured_content: true,
        extensions: true,
        titled_choices: true,
        elicitation_modes: true,
        cancelled_without_id: false,
        elicitation_urls: UrlElicitation::Plain,
        http_statuses: &[(-32601, 404), (-32020, 400), (-32021, 400), (-32022, 400)],
    },
];

/// How a revision identifies a request to send the user to a URL.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum UrlElicitation {
    /// There is no such request.
    None,
    /// Each has an id.
    WithId,
    /// By the request that it stands in.
    Plain,
}

/// One side of a connection.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Side {
    /// The side that opens the session and calls tools.
    Client,
    /// The side that offers them.
    Server,
}

impl Side {
    /// The other side.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }
}

/// Something that one side declares it can do. (requirements §2.3)
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Capability {
    /// Server: completes arguments.
    Completions,
    /// Client: asks its user through a form.
    ElicitationForm,
    /// Client: sends its user to a URL.
    ElicitationUrl,
    /// Server: sends log messages.
    Logging,
    /// Server: has prompts.
    Prompts,
    /// Server: says when the list of prompts changed.
    PromptsListChanged,
    /// Server: has resources.
    Resources,
    /// Server: says when the list of resources changed.
    ResourcesListChanged,
    /// Server: says when a resource changed.
    ResourcesSubscribe,
    /// Client: has roots.
    Roots,
    /// Client: says when its roots changed.
    RootsListChanged,
    /// Client: samples a model.
    Sampling,
    /// Client: samples with context of servers.
    SamplingContext,
    /// Client: samples with tools.
    SamplingTools,
    /// Both: runs requests as tasks. (2025-11-25)
    Tasks,
    /// Both: cancels tasks.
    TasksCancel,
    /// Client: runs elicitations as tasks.
    TasksElicitation,
    /// Both: lists tasks.
    TasksList,
    /// Client: runs samplings as tasks.
    TasksSampling,
    /// Server: runs tool calls as tasks.
    TasksToolsCall,
    /// Server: has tools.
    Tools,
    /// Server: says when the list of tools changed.
    ToolsListChanged,
}

/// Where a capability stands in the capability object, and in which revisions.
#[derive(Debug)]
pub(crate) struct CapabilityRule {
    pub(crate) capability: Capability,
    pub(crate) side: Side,
    /// Members from the root down.
    pub(crate) path: &'static [&'static str],
    /// Written as `true` instead of as an object.
    pub(crate) flag: bool,
    pub(crate) since: Revision,
    pub(crate) until: Revision,
    /// From when on it counts if a peer declares it. Capability objects are open, and who declares
    /// more than its revision knows can do more.
    pub(crate) heard_since: Revision,
}

impl CapabilityRule {
    const fn heard_since(mut self, revision: Revision) -> Self {
        self.heard_since = revision;
        self
    }
}

use Capability as C;
pub(crate) use Revision::{
    V2024_11_05 as R1, V2025_03_26 as R2, V2025_06_18 as R3, V2025_11_25 as R4, V2026_07_28 as R5,
};
use Side::{Client, Server};

const fn object(
    capability: C,
    side: Side,
    path: &'static [&'static str],
    since: Revision,
    until: Revision,
) -> CapabilityRule {
    CapabilityRule { capability, side, path, flag: false, since, until, heard_since: since }
}

const fn flag(
    capability: C,
    side: Side,
    path: &'static [&'static str],
    since: Revision,
    until: Revision,
) -> CapabilityRule {
    CapabilityRule { capability, side, path, flag: true, since, until, heard_since: since }
}

/// Parents stand before their children, and what shares a parent stands together.
pub(crate) const CAPABILITIES: &[CapabilityRule] = &[
    object(C::Completions, Server, &["completions"], R2, R5),
    object(C::ElicitationForm, Client, &["elicitation", "form"], R3, R5).heard_since(R1),
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

impl Revision {
    /// Whether this is one of the revisions of `range`.
    pub(crate) fn is_in(self, range: &core::ops::RangeInclusive<Self>) -> bool {
        range.contains(&self)
    }
}

/// Types of content that the first revision lacks, and the first that has them. (requirements §2.4)
const CONTENT_TYPES: &[(&str, Revision)] =
    &[("audio", R2), ("resource_link", R3), ("tool_result", R4), ("tool_use", R4)];

impl Revision {
    /// Whether a peer of this revision may be sent content of the type `name`; a type of no
    /// revision may. (T-120)
    pub(crate) fn has_content_type(self, name: &str) -> bool {
        CONTENT_TYPES.iter().all(|(later, since)| *later != name || *since <= self)
    }
}

/// The member of the params that `Mcp-Name` repeats; the last ones are of the extension for tasks.
/// (HTTP-44, requirements §2.6)
#[cfg(feature = "http")]
const NAMES: &[(&str, &str)] = &[
    ("tools/call", "name"),
    ("prompts/get", "name"),
    ("resources/read", "uri"),
    ("tasks/get", "taskId"),
    ("tasks/update", "taskId"),
    ("tasks/cancel", "taskId"),
];

/// The member of the params of `method` that `Mcp-Name` repeats, if any does.
#[cfg(feature = "http")]
pub(crate) fn named_by(method: &str) -> Option<&'static str> {
    NAMES.iter().find(|(name, _)| *name == method).map(|(_, member)| *member)
}

#[cfg(test)]
mod tests;
