//! The methods of all revisions: one row for each method in a span of revisions.

use super::Revision::{
    V2024_11_05 as R1, V2025_03_26 as R2, V2025_06_18 as R3, V2025_11_25 as R4, V2026_07_28 as R5,
};
use super::Side::{Client, Server};
use super::{Capability, Revision, Side};
use crate::method::{MethodId, MethodId as M};

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
    /// The capability that the receiver of a request, or the sender of a notification, must have
    /// declared.
    pub(crate) needs: Option<Capability>,
    /// The capability that whoever serves it must have declared, where none can be declared to the
    /// sender. (CAP-04)
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
    /// The result says for how long it is good; these notifications end that early. (STL-39,
    /// STL-42)
    pub(crate) cached_until: Option<&'static [MethodId]>,
}

impl MethodId {
    /// The method's row under `revision`; none where the revision does not have it.
    pub(crate) fn rule(self, revision: Revision) -> Option<&'static MethodRule> {
        METHODS
            .iter()
            .find(|rule| rule.id == self && rule.since <= revision && revision <= rule.until)
    }
}

impl MethodRule {
    /// The row for `name` under `revision`.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn find(name: &str, is_request: bool, revision: Revision) -> Option<&'static Self> {
        MethodId::from_name(name).filter(|id| id.is_request() == is_request)?.rule(revision)
    }

    /// The row for something that a server asks of a client of `revision`, by whichever way it
    /// asks. (STL-16)
    pub(crate) fn question(id: MethodId, revision: Revision) -> Option<&'static Self> {
        let spoken =
            |rule: &&Self| rule.since <= revision && revision <= rule.until && rule.id == id;
        QUESTIONS.iter().find(spoken).or_else(|| {
            METHODS.iter().filter(|rule| rule.is_request && rule.is_sent_by(Server)).find(spoken)
        })
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

/// A request runs as a task only at a peer that declared so, and is an ordinary one to others.
/// (TSK-02, TSK-07)
const AS_TASK: &[Condition] =
    &[sent_when("task", ConditionValue::Present, Capability::TasksToolsCall)];

const ELICITATION: &[Condition] = &[
    when("mode", ConditionValue::AbsentOr("form"), Capability::ElicitationForm),
    when("mode", ConditionValue::Text("url"), Capability::ElicitationUrl),
    sent_when("task", ConditionValue::Present, Capability::TasksElicitation),
];

const SAMPLING: &[Condition] = &[
    when("tools", ConditionValue::Present, Capability::SamplingTools),
    when("toolChoice", ConditionValue::Present, Capability::SamplingTools),
    sent_when("includeContext", ConditionValue::OtherThan("none"), Capability::SamplingContext),
    sent_when("task", ConditionValue::Present, Capability::TasksSampling),
];

/// What servers ask for in results, where they send no requests. (STL-16)
pub(crate) const QUESTIONS: &[MethodRule] = &[
    request(M::Elicit, Server, R5, R5).human().on(ELICITATION).text(&["message"]),
    request(M::ListRoots, Server, R5, R5).needs(Capability::Roots),
    request(M::CreateMessage, Server, R5, R5).needs(Capability::Sampling).human().on(SAMPLING),
];

/// Every method of every revision. (requirements §2.1, §2.2)
pub(crate) const METHODS: &[MethodRule] = &[
    // Requests of clients; the common ones first.
    request(M::CallTool, Client, R1, R3).needs(Capability::Tools).text(&["name"]).asking(),
    request(M::CallTool, Client, R4, R4)
        .needs(Capability::Tools)
        .text(&["name"])
        .asking()
        .on(AS_TASK),
    request(M::CallTool, Client, R5, R5).needs(Capability::Tools).text(&["name"]).asking(),
    request(M::ListTools, Client, R1, R4).needs(Capability::Tools),
    request(M::ListTools, Client, R5, R5).needs(Capability::Tools).cached_until(&[M::ToolsChanged]),
    request(M::ListResources, Client, R1, R4).needs(Capability::Resources),
    request(M::ListResources, Client, R5, R5)
        .needs(Capability::Resources)
        .cached_until(&[M::ResourcesChanged]),
    request(M::ReadResource, Client, R1, R4).needs(Capability::Resources).text(&["uri"]).asking(),
    request(M::ReadResource, Client, R5, R5)
        .needs(Capability::Resources)
        .text(&["uri"])
        .asking()
        .cached_until(&[M::ResourcesChanged, M::ResourceUpdated]),
    request(M::ListResourceTemplates, Client, R1, R4).needs(Capability::Resources),
    request(M::ListResourceTemplates, Client, R5, R5)
        .needs(Capability::Resources)
        .cached_until(&[M::ResourcesChanged]),
    request(M::Subscribe, Client, R1, R4).needs(Capability::ResourcesSubscribe).text(&["uri"]),
    request(M::Unsubscribe, Client, R1, R4).needs(Capability::ResourcesSubscribe).text(&["uri"]),
    request(M::ListPrompts, Client, R1, R4).needs(Capability::Prompts),
    request(M::ListPrompts, Client, R5, R5)
        .needs(Capability::Prompts)
        .cached_until(&[M::PromptsChanged]),
    request(M::GetPrompt, Client, R1, R5).needs(Capability::Prompts).text(&["name"]).asking(),
    // The first revision has the method and no capability for it. (CAP-19)
    request(M::Complete, Client, R1, R1).offered_with(Capability::Completions),
    request(M::Complete, Client, R2, R5).needs(Capability::Completions),
    request(M::SetLogLevel, Client, R1, R4).needs(Capability::Logging).text(&["level"]),
    request(M::Initialize, Client, R1, R4).internal(),
    request(M::Ping, Client, R1, R4).both(),
    request(M::Discover, Client, R5, R5).cached_until(&[]),
    request(M::Listen, Client, R5, R5).internal(),
    // Requests of servers.
    request(M::CreateMessage, Server, R1, R3).needs(Capability::Sampling).human(),
    request(M::CreateMessage, Server, R4, R4).needs(Capability::Sampling).human().on(SAMPLING),
    request(M::ListRoots, Server, R1, R4).needs(Capability::Roots),
    // Of the first two revisions, only clients that declare it know it.
    request(M::Elicit, Server, R1, R3)
        .needs(Capability::ElicitationForm)
        .human()
        .text(&["message"]),
    request(M::Elicit, Server, R4, R4).human().on(ELICITATION).text(&["message"]),
    // Notifications.
    notification(M::Initialized, Client, R1, R4).internal(),
    notification(M::Cancelled, Client, R1, R5).both().internal(),
    notification(M::Progress, Client, R1, R4).both().internal(),
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
    // Tasks of 2025-11-25, both ways.
    request(M::GetTask, Client, R4, R4).both().needs(Capability::Tasks).text(&["taskId"]),
    request(M::GetTaskResult, Client, R4, R4)
        .both()
        .needs(Capability::Tasks)
        .text(&["taskId"])
        .human(),
    request(M::ListTasks, Client, R4, R4).both().needs(Capability::TasksList),
    request(M::CancelTask, Client, R4, R4).both().needs(Capability::TasksCancel).text(&["taskId"]),
    notification(M::TaskStatus, Client, R4, R4).both().text(&["taskId"]),
];
