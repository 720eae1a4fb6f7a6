//! [`TaskProtocol`]: the two protocols for tasks, and the table of their differences.

use crate::revision::Revision;
use crate::tasks::status::Step;

/// A protocol for tasks: that of revision 2025-11-25, or the tasks extension.
///
/// A task belongs to the protocol in which it was created, and does not exist in the other one.
///
/// See [tasks in 2025-11-25] and the [tasks extension].
///
/// [tasks in 2025-11-25]: https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
/// [tasks extension]: https://modelcontextprotocol.io/extensions/tasks/overview
///
/// ```
/// use mcp_proto::tasks::TaskProtocol;
///
/// assert!(TaskProtocol::Core.serves("tasks/list"));
/// assert!(!TaskProtocol::Extension.serves("tasks/list"));
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum TaskProtocol {
    /// The tasks of revision 2025-11-25, which the requestor creates.
    Core,
    /// The extension `io.modelcontextprotocol/tasks` of revision 2026-07-28.
    Extension,
}

/// The rules of one protocol, as far as they differ.
#[derive(Debug)]
pub(super) struct TaskRules {
    /// The name in stored records.
    pub(super) name: &'static str,
    /// The revision that results are encoded for.
    pub(super) revision: Revision,
    /// The revision that the params of notifications are encoded for. It decides only about
    /// `resultType`, which params do not have.
    pub(super) notification_revision: Revision,
    pub(super) notification: &'static str,
    pub(super) methods: &'static [&'static str],
    /// The form of tasks in results.
    pub(super) form: Form,
    // TSK-22, TSK-30.
    /// How a task ends whose tool reports an error (`isError`).
    pub(super) tool_error: Step,
    // TSK-18, TSK-33.
    /// Whether the cancellation of a task that is over is an error.
    pub(super) refuses_late_cancel: bool,
    // PRG-11, PRG-14.
    /// Whether progress is reported while the task runs.
    pub(super) has_progress: bool,
}

/// The form of a task in results.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Form {
    /// Without the outcome; the result that creates a task contains it as the member `task`.
    Nested,
    /// With input requests and outcome; the result that creates a task is the task itself.
    Flat,
}

static CORE: TaskRules = TaskRules {
    name: "core",
    revision: Revision::V2025_11_25,
    notification_revision: Revision::V2025_11_25,
    notification: "notifications/tasks/status",
    methods: &["tasks/cancel", "tasks/get", "tasks/list", "tasks/result"],
    form: Form::Nested,
    tool_error: Step::Fail,
    refuses_late_cancel: true,
    has_progress: true,
};

static EXTENSION: TaskRules = TaskRules {
    name: "extension",
    revision: Revision::V2026_07_28,
    notification_revision: Revision::V2025_11_25,
    notification: "notifications/tasks",
    // TSK-37: neither `tasks/list` nor `tasks/result`.
    methods: &["tasks/cancel", "tasks/get", "tasks/update"],
    form: Form::Flat,
    tool_error: Step::Complete,
    refuses_late_cancel: false,
    has_progress: false,
};

impl TaskProtocol {
    pub(super) const ALL: [Self; 2] = [Self::Core, Self::Extension];

    /// Returns the protocol for tasks that a revision has; `None` if it has none.
    ///
    /// The extension exists on a connection only if both sides declare it.
    #[must_use]
    pub fn of(revision: Revision) -> Option<Self> {
        Self::ALL.into_iter().find(|protocol| protocol.rules().revision == revision)
    }

    /// Returns whether the protocol has this method.
    #[must_use]
    pub fn serves(self, method: &str) -> bool {
        self.rules().methods.contains(&method)
    }

    pub(super) const fn rules(self) -> &'static TaskRules {
        match self {
            Self::Core => &CORE,
            Self::Extension => &EXTENSION,
        }
    }

    pub(super) fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|protocol| protocol.rules().name == name)
    }
}
