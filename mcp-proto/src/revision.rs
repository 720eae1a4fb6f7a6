//! What the five protocol revisions say: every difference between them is a row here, and nowhere else.
//!
//! Three tables: one row a revision, a capability, and a method in a span of revisions. The
//! rest of the crate asks these tables; it never compares revisions.

use core::fmt;

use crate::method::MethodId;

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
    pub const ALL: [Self; 5] =
        [Self::V2024_11_05, Self::V2025_03_26, Self::V2025_06_18, Self::V2025_11_25, Self::V2026_07_28];

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
    /// An error that answers a text without a readable id says `"id":null`; otherwise it has no id. (D-01)
    pub unknown_id_is_null: bool,
    /// Whether a progress notification has a `message`. (PRG-07)
    pub progress_message: bool,
    /// The code for a resource that does not exist. (STL-46)
    pub resource_not_found: i64,
    /// The code for a request that needs a capability of the client which it did not declare. (CAP-15)
    pub missing_capability: i64,
    /// Whether servers send requests, and clients responses. (STL-13, FRM-16, FRM-17)
    pub servers_ask: bool,
    /// Whether an event stream over HTTP begins with an event that has an id and no message, so that it can be closed
    /// early and resumed. (HTTP-15, HTTP-16)
    pub streams_are_primed: bool,
    /// Whether each HTTP request after the first says the revision in a header field. (HTTP-36, HTTP-39)
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
    /// The codes of errors that travel with an HTTP status other than 200, and that status. (HTTP-40…42,
    /// requirements §3.2)
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
    /// From when on it counts if a peer declares it. Capability objects are open, and who declares more than its
    /// revision knows can do more.
    pub(crate) heard_since: Revision,
}

impl CapabilityRule {
    const fn heard_since(mut self, revision: Revision) -> Self {
        self.heard_since = revision;
        self
    }
}

use Capability as C;
use MethodId as M;
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
    /// Whether a peer of this revision may be sent content of the type `name`; a type of no revision may. (T-120)
    pub(crate) fn has_content_type(self, name: &str) -> bool {
        CONTENT_TYPES.iter().all(|(later, since)| *later != name || *since <= self)
    }
}

/// The member of the params that `Mcp-Name` repeats; the last ones are of the extension for tasks. (HTTP-44,
/// requirements §2.6)
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

/// Who sends a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Sender {
    /// Either side.
    Both,
    /// Only that side.
    One(Side),
}

/// How long a caller of the method waits by default. (T-60)
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Patience {
    /// A machine answers.
    Call,
    /// A human answers.
    Human,
}

/// What sending or serving a message needs beyond being known, depending on its params.
#[derive(Debug)]
pub(crate) struct Condition {
    /// The member of the params that it hangs on.
    pub(crate) member: &'static str,
    /// What the member must be.
    pub(crate) value: ConditionValue,
    /// The capability that is needed then.
    pub(crate) needs: Capability,
    /// Only whoever sends must heed it; whoever receives ignores the member.
    pub(crate) binds_sender_only: bool,
}

/// When a [`Condition`] applies.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum ConditionValue {
    /// The member is absent, or this string.
    AbsentOr(&'static str),
    /// The member is a string other than this.
    OtherThan(&'static str),
    /// The member is there, and not `null`.
    Present,
    /// The member is this string.
    Text(&'static str),
}

/// A message of the protocol, as a span of revisions has it.
#[derive(Debug)]
pub(crate) struct MethodRule {
    /// The method.
    pub(crate) id: MethodId,
    /// The method's name on the wire.
    pub(crate) name: &'static str,
    /// A request, or a notification.
    pub(crate) is_request: bool,
    /// Who sends it.
    pub(crate) sender: Sender,
    /// The first revision that has it so.
    pub(crate) since: Revision,
    /// The last revision that has it so.
    pub(crate) until: Revision,
    /// The capability that the receiver of a request, or the sender of a notification, must have declared.
    pub(crate) needs: Option<Capability>,
    /// The capability that whoever serves it must have declared, where none can be declared to the sender. (CAP-04)
    pub(crate) offered_with: Option<Capability>,
    /// What more it needs, depending on its params.
    pub(crate) conditions: &'static [Condition],
    /// Members of the params that must be strings.
    pub(crate) text_params: &'static [&'static str],
    /// How long to wait for the answer.
    pub(crate) patience: Patience,
    /// The server may ask for input before it answers. (STL-14)
    pub(crate) may_ask: bool,
    /// The machine sends and takes it itself; the application has other words for it.
    pub(crate) internal: bool,
    /// The result says for how long it is good; these notifications end that early. (STL-39, STL-42)
    pub(crate) cached_until: Option<&'static [MethodId]>,
}

impl MethodId {
    /// The method's row under `revision`; none where the revision does not have it.
    pub(crate) fn rule(self, revision: Revision) -> Option<&'static MethodRule> {
        METHODS.iter().find(|rule| rule.id == self && rule.since <= revision && revision <= rule.until)
    }
}

impl MethodRule {
    /// The row for `name` under `revision`.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn find(name: &str, is_request: bool, revision: Revision) -> Option<&'static Self> {
        MethodId::from_name(name).filter(|id| id.is_request() == is_request)?.rule(revision)
    }

    /// The row for something that a server asks of a client of `revision`, by whichever way it asks. (STL-16)
    pub(crate) fn question(id: MethodId, revision: Revision) -> Option<&'static Self> {
        let spoken = |rule: &&Self| rule.since <= revision && revision <= rule.until && rule.id == id;
        QUESTIONS
            .iter()
            .find(spoken)
            .or_else(|| METHODS.iter().filter(|rule| rule.is_request && rule.is_sent_by(Server)).find(spoken))
    }

    /// Whether `side` may send it.
    pub(crate) fn is_sent_by(&self, side: Side) -> bool {
        match self.sender {
            Sender::Both => true,
            Sender::One(sender) => sender == side,
        }
    }
}

/// A request that any peer may send and that needs nothing.
const REQUEST: MethodRule = MethodRule {
    id: M::Ping,
    name: "",
    is_request: true,
    sender: Sender::Both,
    since: R1,
    until: R5,
    needs: None,
    offered_with: None,
    conditions: &[],
    text_params: &[],
    patience: Patience::Call,
    may_ask: false,
    internal: false,
    cached_until: None,
};

const fn request(id: MethodId, sender: Side, since: Revision, until: Revision) -> MethodRule {
    MethodRule {
        id,
        name: id.name(),
        is_request: id.is_request(),
        sender: Sender::One(sender),
        since,
        until,
        ..REQUEST
    }
}

const fn notification(id: MethodId, sender: Side, since: Revision, until: Revision) -> MethodRule {
    request(id, sender, since, until)
}

impl MethodRule {
    const fn needs(self, capability: Capability) -> Self {
        Self { needs: Some(capability), ..self }
    }

    const fn offered_with(self, capability: Capability) -> Self {
        Self { offered_with: Some(capability), ..self }
    }

    const fn text(self, text_params: &'static [&'static str]) -> Self {
        Self { text_params, ..self }
    }

    const fn human(self) -> Self {
        Self { patience: Patience::Human, ..self }
    }

    const fn on(self, conditions: &'static [Condition]) -> Self {
        Self { conditions, ..self }
    }

    const fn asking(self) -> Self {
        Self { may_ask: true, ..self }
    }

    const fn both(self) -> Self {
        Self { sender: Sender::Both, ..self }
    }

    const fn internal(self) -> Self {
        Self { internal: true, ..self }
    }

    const fn cached_until(self, notifications: &'static [MethodId]) -> Self {
        Self { cached_until: Some(notifications), ..self }
    }
}

const fn when(member: &'static str, value: ConditionValue, needs: Capability) -> Condition {
    Condition { member, value, needs, binds_sender_only: false }
}

/// A condition that only whoever sends must heed.
const fn sent_when(member: &'static str, value: ConditionValue, needs: Capability) -> Condition {
    Condition { member, value, needs, binds_sender_only: true }
}

/// A request runs as a task only at a peer that declared so, and is an ordinary one to others. (TSK-02, TSK-07)
const AS_TASK: &[Condition] = &[sent_when("task", ConditionValue::Present, C::TasksToolsCall)];

const ELICITATION: &[Condition] = &[
    when("mode", ConditionValue::AbsentOr("form"), C::ElicitationForm),
    when("mode", ConditionValue::Text("url"), C::ElicitationUrl),
    sent_when("task", ConditionValue::Present, C::TasksElicitation),
];

const SAMPLING: &[Condition] = &[
    when("tools", ConditionValue::Present, C::SamplingTools),
    when("toolChoice", ConditionValue::Present, C::SamplingTools),
    sent_when("includeContext", ConditionValue::OtherThan("none"), C::SamplingContext),
    sent_when("task", ConditionValue::Present, C::TasksSampling),
];

/// What servers ask for in results, where they send no requests. (STL-16)
const QUESTIONS: &[MethodRule] = &[
    request(M::Elicit, Server, R5, R5).human().on(ELICITATION).text(&["message"]),
    request(M::ListRoots, Server, R5, R5).needs(C::Roots),
    request(M::CreateMessage, Server, R5, R5).needs(C::Sampling).human().on(SAMPLING),
];

/// Every method of every revision. (requirements §2.1, §2.2)
pub(crate) const METHODS: &[MethodRule] = &[
    // Requests of clients; the common ones first.
    request(M::CallTool, Client, R1, R3).needs(C::Tools).text(&["name"]).asking(),
    request(M::CallTool, Client, R4, R4).needs(C::Tools).text(&["name"]).asking().on(AS_TASK),
    request(M::CallTool, Client, R5, R5).needs(C::Tools).text(&["name"]).asking(),
    request(M::ListTools, Client, R1, R4).needs(C::Tools),
    request(M::ListTools, Client, R5, R5).needs(C::Tools).cached_until(&[M::ToolsChanged]),
    request(M::ListResources, Client, R1, R4).needs(C::Resources),
    request(M::ListResources, Client, R5, R5).needs(C::Resources).cached_until(&[M::ResourcesChanged]),
    request(M::ReadResource, Client, R1, R4).needs(C::Resources).text(&["uri"]).asking(),
    request(M::ReadResource, Client, R5, R5)
        .needs(C::Resources)
        .text(&["uri"])
        .asking()
        .cached_until(&[M::ResourcesChanged, M::ResourceUpdated]),
    request(M::ListResourceTemplates, Client, R1, R4).needs(C::Resources),
    request(M::ListResourceTemplates, Client, R5, R5)
        .needs(C::Resources)
        .cached_until(&[M::ResourcesChanged]),
    request(M::Subscribe, Client, R1, R4).needs(C::ResourcesSubscribe).text(&["uri"]),
    request(M::Unsubscribe, Client, R1, R4).needs(C::ResourcesSubscribe).text(&["uri"]),
    request(M::ListPrompts, Client, R1, R4).needs(C::Prompts),
    request(M::ListPrompts, Client, R5, R5).needs(C::Prompts).cached_until(&[M::PromptsChanged]),
    request(M::GetPrompt, Client, R1, R5).needs(C::Prompts).text(&["name"]).asking(),
    // The first revision has the method and no capability for it. (CAP-19)
    request(M::Complete, Client, R1, R1).offered_with(C::Completions),
    request(M::Complete, Client, R2, R5).needs(C::Completions),
    request(M::SetLogLevel, Client, R1, R4).needs(C::Logging).text(&["level"]),
    request(M::Initialize, Client, R1, R4).internal(),
    request(M::Ping, Client, R1, R4).both(),
    request(M::Discover, Client, R5, R5).cached_until(&[]),
    request(M::Listen, Client, R5, R5).internal(),
    // Requests of servers.
    request(M::CreateMessage, Server, R1, R3).needs(C::Sampling).human(),
    request(M::CreateMessage, Server, R4, R4).needs(C::Sampling).human().on(SAMPLING),
    request(M::ListRoots, Server, R1, R4).needs(C::Roots),
    // Of the first two revisions, only clients that declare it know it.
    request(M::Elicit, Server, R1, R3).needs(C::ElicitationForm).human().text(&["message"]),
    request(M::Elicit, Server, R4, R4).human().on(ELICITATION).text(&["message"]),
    // Notifications.
    notification(M::Initialized, Client, R1, R4).internal(),
    notification(M::Cancelled, Client, R1, R5).both().internal(),
    notification(M::Progress, Client, R1, R4).both().internal(),
    notification(M::Progress, Server, R5, R5).internal(),
    notification(M::LogMessage, Server, R1, R4).needs(C::Logging).text(&["level"]),
    notification(M::LogMessage, Server, R5, R5).needs(C::Logging).text(&["level"]).internal(),
    notification(M::ToolsChanged, Server, R1, R5).needs(C::ToolsListChanged),
    notification(M::PromptsChanged, Server, R1, R5).needs(C::PromptsListChanged),
    notification(M::ResourcesChanged, Server, R1, R5).needs(C::ResourcesListChanged),
    notification(M::ResourceUpdated, Server, R1, R5).needs(C::ResourcesSubscribe).text(&["uri"]),
    notification(M::RootsChanged, Client, R1, R4).needs(C::RootsListChanged),
    notification(M::ElicitationComplete, Server, R4, R4).text(&["elicitationId"]),
    notification(M::Acknowledged, Server, R5, R5).internal(),
    // Tasks of 2025-11-25, both ways.
    request(M::GetTask, Client, R4, R4).both().needs(C::Tasks).text(&["taskId"]),
    request(M::GetTaskResult, Client, R4, R4).both().needs(C::Tasks).text(&["taskId"]).human(),
    request(M::ListTasks, Client, R4, R4).both().needs(C::TasksList),
    request(M::CancelTask, Client, R4, R4).both().needs(C::TasksCancel).text(&["taskId"]),
    notification(M::TaskStatus, Client, R4, R4).both().text(&["taskId"]),
];

#[cfg(test)]
mod tests;
