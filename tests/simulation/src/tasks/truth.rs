//! [`Truth`]: what really happens to a task, and whether that may be.

use mcp_proto::tasks::{TaskId, TaskOutcome};

/// How a task ended at the server.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum End {
    Completed,
    Failed,
    Restarted,
    Cancelled,
    Expired,
}

/// A task as a simple model.
#[derive(Clone, Debug)]
pub(super) struct Truth {
    pub(super) id: TaskId,
    pub(super) client: usize,
    /// A handler runs: at most one.
    pub(super) runs: bool,
    pub(super) starts_again: bool,
    pub(super) end: Option<End>,
    pub(super) expires: u64,
}

impl Truth {
    /// A handler starts.
    pub(super) fn start(&mut self) {
        assert!(!self.runs, "a handler runs twice at a time: {self:?}");
        assert_eq!(self.end, None, "a handler starts after the end");
        self.runs = true;
    }

    /// The task ends.
    pub(super) fn end(&mut self, end: End) {
        assert_eq!(self.end, None, "a task ends twice, the second time as {end:?}");
        self.runs = false;
        self.end = Some(end);
    }

    /// The text that only this task returns.
    pub(super) fn text(&self) -> String {
        format!("result of {}", self.id.to_text())
    }

    /// Checks what the client learned.
    pub(super) fn check(&self, learned: &TaskOutcome, has_cancelled: bool, now: u64) {
        let is_late = now >= self.expires;
        let fits = match (learned, &self.end) {
            (TaskOutcome::Completed(result), Some(End::Completed)) => {
                result.as_str().contains(&self.text())
            }
            // The error of a task that is known to have failed may come too late: 2025-11-25 does
            // not tell it from the error of `tasks/result`.
            (TaskOutcome::Failed(error), Some(End::Failed | End::Restarted))
                if is_late && error.code == -32602 =>
            {
                true
            }
            (TaskOutcome::Failed(error), Some(End::Failed)) => *error.message == *self.text(),
            (TaskOutcome::Failed(error), Some(End::Restarted)) => {
                error.message.contains("restarted")
            }
            // A client that has cancelled asks no more.
            (TaskOutcome::Cancelled, _) => has_cancelled,
            (TaskOutcome::NotFound(_) | TaskOutcome::Expired, _) => is_late,
            _ => false,
        };
        assert!(fits, "a client learned {learned:?} of {self:?}");
    }
}
