//! The methods of all revisions: one row per method and range of revisions.

use super::Revision::{
    V2024_11_05 as R1, V2025_03_26 as R2, V2025_06_18 as R3, V2025_11_25 as R4, V2026_07_28 as R5,
};
use super::Side::{Client, Server};
use super::{Capability, Revision, Side};
use crate::method::{MethodId, MethodId as M};

/// The side that sends a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Sender {
    /// Either side.
    Both,
    /// Only this side.
    One(Side),
}

// T-60: requests that a human answers have a longer timeout.
/// The class of a request's default timeout.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Patience {
    /// Answered by a program: `Limits::call_timeout`.
    Call,
    /// Answered by a human: `Limits::human_timeout`.
    Human,
}

/// A capability that a message requires depending on its params.
#[derive(Debug)]
pub(crate) struct Condition {
    /// The member of the params to inspect.
    pub(crate) member: &'static str,
    /// The values of the member for which the condition applies.
    pub(crate) value: ConditionValue,
    /// The capability required if the condition applies.
    pub(crate) needs: Capability,
    /// Whether only the sender checks the condition; the receiver ignores the member.
    pub(crate) binds_sender_only: bool,
}

/// When a [`Condition`] applies.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum ConditionValue {
    /// The member is absent, `null` or this string.
    AbsentOr(&'static str),
    /// The member is a string other than this.
    OtherThan(&'static str),
    /// The member is present and not `null`.
    Present,
    /// The member is this string.
    Text(&'static str),
}

/// A method as defined by a range of revisions: one row of the table.
#[derive(Debug)]
pub(crate) struct MethodRule {
    /// The method.
    pub(crate) id: MethodId,
    /// The method's name on the wire.
    pub(crate) name: &'static str,
    /// Whether the message is a request rather than a notification.
    pub(crate) is_request: bool,
    /// The side that sends the message.
    pub(crate) sender: Sender,
    /// The first revision of the range.
    pub(crate) since: Revision,
    /// The last revision of the range.
    pub(crate) until: Revision,
    /// The capability that the receiver of a request, or the sender of a notification, must
    /// declare.
    pub(crate) needs: Option<Capability>,
    // CAP-04: the method exists, but the revision has no capability for it.
    /// The capability that must be configured to serve the method, where the revision has none to
    /// declare.
    pub(crate) offered_with: Option<Capability>,
    /// Capabilities required depending on the params.
    pub(crate) conditions: &'static [Condition],
    // CAP-06, CAP-07: each mode has its own capability.
    /// The modes of the method, all of them conditions on one member; empty if it has none.
    /// Params that meet none of them have a mode that the revision does not define.
    pub(crate) modes: &'static [Condition],
    /// Members of the params that must be strings.
    pub(crate) text_params: &'static [&'static str],
    /// The class of the default timeout.
    pub(crate) patience: Patience,
    // STL-14: three methods allow input requests.
    /// Whether the server may request input before it responds.
    pub(crate) may_ask: bool,
    /// Whether the request only reads, so that it may be repeated whatever became of it.
    pub(crate) is_read: bool,
    /// Whether the connection sends and handles the message itself, so that the application cannot
    /// send it by name.
    pub(crate) internal: bool,
    // PRG-11: progress continues after the response that creates a task.
    /// Whether the application may nevertheless send the message by name if it names a task.
    pub(crate) names_task: bool,
    // STL-39, STL-42: results carry a time to live.
    /// For cacheable results: the notifications that invalidate a cached result early.
    pub(crate) cached_until: Option<&'static [MethodId]>,
}

impl MethodId {
    /// Returns the row of the method in `revision`, or `None` if the revision lacks the method.
    pub(crate) fn rule(self, revision: Revision) -> Option<&'static MethodRule> {
        METHODS
            .iter()
            .find(|rule| rule.id == self && rule.since <= revision && revision <= rule.until)
    }
}

impl MethodRule {
    /// Returns the row of the method called `name` in `revision`, or `None` if there is none.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn find(name: &str, is_request: bool, revision: Revision) -> Option<&'static Self> {
        MethodId::from_name(name).filter(|id| id.is_request() == is_request)?.rule(revision)
    }

    // STL-16: modern servers ask within a result, legacy servers by a request.
    /// Returns the row of an input request to a client of `revision`, in either era.
    pub(crate) fn question(id: MethodId, revision: Revision) -> Option<&'static Self> {
        let applies =
            |rule: &&Self| rule.since <= revision && revision <= rule.until && rule.id == id;
        QUESTIONS.iter().find(applies).or_else(|| {
            METHODS.iter().filter(|rule| rule.is_request && rule.is_sent_by(Server)).find(applies)
        })
    }

    /// Returns whether `side` may send the message.
    pub(crate) fn is_sent_by(&self, side: Side) -> bool {
        match self.sender {
            Sender::Both => true,
            Sender::One(sender) => sender == side,
        }
    }
}

/// The defaults of a row: sent by either side in all revisions, without requirements.
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
    modes: &[],
    text_params: &[],
    patience: Patience::Call,
    may_ask: false,
    is_read: false,
    internal: false,
    names_task: false,
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

    const fn modes(self, modes: &'static [Condition]) -> Self {
        Self { modes, ..self }
    }

    const fn asking(self) -> Self {
        Self { may_ask: true, ..self }
    }

    const fn both(self) -> Self {
        Self { sender: Sender::Both, ..self }
    }

    const fn reads(self) -> Self {
        Self { is_read: true, ..self }
    }

    const fn internal(self) -> Self {
        Self { internal: true, ..self }
    }

    const fn unless_of_task(self) -> Self {
        Self { names_task: true, ..self }
    }

    const fn cached_until(self, notifications: &'static [MethodId]) -> Self {
        Self { cached_until: Some(notifications), ..self }
    }
}

const fn when(member: &'static str, value: ConditionValue, needs: Capability) -> Condition {
    Condition { member, value, needs, binds_sender_only: false }
}

/// Creates a condition that only the sender checks.
const fn sent_when(member: &'static str, value: ConditionValue, needs: Capability) -> Condition {
    Condition { member, value, needs, binds_sender_only: true }
}

// TSK-02, TSK-07: a receiver without the capability ignores `task` and runs an ordinary request.
/// A tool call may be sent as a task only to a server that declares support for it.
const AS_TASK: &[Condition] =
    &[sent_when("task", ConditionValue::Present, Capability::TasksToolsCall)];

const ELICITATION_MODES: &[Condition] = &[
    when("mode", ConditionValue::AbsentOr("form"), Capability::ElicitationForm),
    when("mode", ConditionValue::Text("url"), Capability::ElicitationUrl),
];

const ELICITATION: &[Condition] =
    &[sent_when("task", ConditionValue::Present, Capability::TasksElicitation)];

const SAMPLING: &[Condition] = &[
    when("tools", ConditionValue::Present, Capability::SamplingTools),
    when("toolChoice", ConditionValue::Present, Capability::SamplingTools),
    sent_when("includeContext", ConditionValue::OtherThan("none"), Capability::SamplingContext),
    sent_when("task", ConditionValue::Present, Capability::TasksSampling),
];

// STL-16: the types of input request.
/// Input requests of modern servers, sent within results.
pub(crate) const QUESTIONS: &[MethodRule] = &[
    request(M::Elicit, Server, R5, R5)
        .human()
        .modes(ELICITATION_MODES)
        .on(ELICITATION)
        .text(&["message"]),
    request(M::ListRoots, Server, R5, R5).needs(Capability::Roots),
    request(M::CreateMessage, Server, R5, R5).needs(Capability::Sampling).human().on(SAMPLING),
];

// Requirements §2.1, §2.2.
/// All methods of all revisions. Lookups are linear, so the most frequent come first.
pub(crate) const METHODS: &[MethodRule] = &[
    // Requests from clients.
    request(M::CallTool, Client, R1, R3).needs(Capability::Tools).text(&["name"]).asking(),
    request(M::CallTool, Client, R4, R4)
        .needs(Capability::Tools)
        .text(&["name"])
        .asking()
        .on(AS_TASK),
    request(M::CallTool, Client, R5, R5).needs(Capability::Tools).text(&["name"]).asking(),
    request(M::ListTools, Client, R1, R4).needs(Capability::Tools).reads(),
    request(M::ListTools, Client, R5, R5)
        .needs(Capability::Tools)
        .reads()
        .cached_until(&[M::ToolsChanged]),
    request(M::ListResources, Client, R1, R4).needs(Capability::Resources).reads(),
    request(M::ListResources, Client, R5, R5)
        .needs(Capability::Resources)
        .reads()
        .cached_until(&[M::ResourcesChanged]),
    request(M::ReadResource, Client, R1, R4)
        .needs(Capability::Resources)
        .text(&["uri"])
        .asking()
        .reads(),
    request(M::ReadResource, Client, R5, R5)
        .needs(Capability::Resources)
        .text(&["uri"])
        .asking()
        .reads()
        .cached_until(&[M::ResourcesChanged, M::ResourceUpdated]),
    request(M::ListResourceTemplates, Client, R1, R4).needs(Capability::Resources).reads(),
    request(M::ListResourceTemplates, Client, R5, R5)
        .needs(Capability::Resources)
        .reads()
        .cached_until(&[M::ResourcesChanged]),
    request(M::Subscribe, Client, R1, R4).needs(Capability::ResourcesSubscribe).text(&["uri"]),
    request(M::Unsubscribe, Client, R1, R4).needs(Capability::ResourcesSubscribe).text(&["uri"]),
    request(M::ListPrompts, Client, R1, R4).needs(Capability::Prompts).reads(),
    request(M::ListPrompts, Client, R5, R5)
        .needs(Capability::Prompts)
        .reads()
        .cached_until(&[M::PromptsChanged]),
    request(M::GetPrompt, Client, R1, R5)
        .needs(Capability::Prompts)
        .text(&["name"])
        .asking()
        .reads(),
    // CAP-19: the first revision has the method but no capability for it.
    request(M::Complete, Client, R1, R1).offered_with(Capability::Completions).reads(),
    request(M::Complete, Client, R2, R5).needs(Capability::Completions).reads(),
    // LOG-10: modern requests name their log level themselves.
    request(M::SetLogLevel, Client, R1, R4).needs(Capability::Logging).text(&["level"]),
    request(M::Initialize, Client, R1, R4).internal(),
    request(M::Ping, Client, R1, R4).both(),
    request(M::Discover, Client, R5, R5).reads().cached_until(&[]),
    request(M::Listen, Client, R5, R5).internal(),
    // Requests from servers.
    request(M::CreateMessage, Server, R1, R3).needs(Capability::Sampling).human(),
    request(M::CreateMessage, Server, R4, R4).needs(Capability::Sampling).human().on(SAMPLING),
    request(M::ListRoots, Server, R1, R4).needs(Capability::Roots),
    // Not defined by the first two revisions, but usable with a client that declares it.
    request(M::Elicit, Server, R1, R3)
        .needs(Capability::ElicitationForm)
        .human()
        .text(&["message"]),
    request(M::Elicit, Server, R4, R4)
        .human()
        .modes(ELICITATION_MODES)
        .on(ELICITATION)
        .text(&["message"]),
    // Notifications.
    notification(M::Initialized, Client, R1, R4).internal(),
    notification(M::Cancelled, Client, R1, R5).both().internal(),
    notification(M::Progress, Client, R1, R3).both().internal(),
    notification(M::Progress, Client, R4, R4).both().internal().unless_of_task(),
    // PRG-13: modern clients send no progress.
    notification(M::Progress, Server, R5, R5).internal(),
    notification(M::LogMessage, Server, R1, R4).needs(Capability::Logging).text(&["level"]),
    notification(M::LogMessage, Server, R5, R5)
        .needs(Capability::Logging)
        .text(&["level"])
        .internal(),
    notification(M::ToolsChanged, Server, R1, R5).needs(Capability::ToolsListChanged),
    notification(M::PromptsChanged, Server, R1, R5).needs(Capability::PromptsListChanged),
    notification(M::ResourcesChanged, Server, R1, R5).needs(Capability::ResourcesListChanged),
    notification(M::ResourceUpdated, Server, R1, R5)
        .needs(Capability::ResourcesSubscribe)
        .text(&["uri"]),
    notification(M::RootsChanged, Client, R1, R4).needs(Capability::RootsListChanged),
    notification(M::ElicitationComplete, Server, R4, R4).text(&["elicitationId"]),
    notification(M::Acknowledged, Server, R5, R5).internal(),
    // Tasks of 2025-11-25, sent by both sides.
    request(M::GetTask, Client, R4, R4).both().needs(Capability::Tasks).text(&["taskId"]),
    // TMO-12: the response may wait for a person. TSK-37: modern revisions lack the method.
    request(M::GetTaskResult, Client, R4, R4)
        .both()
        .needs(Capability::Tasks)
        .text(&["taskId"])
        .human(),
    request(M::ListTasks, Client, R4, R4).both().needs(Capability::TasksList),
    request(M::CancelTask, Client, R4, R4).both().needs(Capability::TasksCancel).text(&["taskId"]),
    notification(M::TaskStatus, Client, R4, R4).both().text(&["taskId"]),
];
