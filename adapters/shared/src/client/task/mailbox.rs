//! The updates of a task from outside its polls: status notifications and answers of handlers.

use std::collections::VecDeque;

use mcp_proto::{ErrorObject, Progress, Raw};

use crate::exec::watched::Watched;

/// The updates of one task, until its driver takes them.
#[derive(Debug, Default)]
pub(crate) struct Mailbox(Watched<TaskUpdates>);

/// Everything that arrived for a task since its driver last looked.
#[derive(Debug, Default)]
pub(crate) struct TaskUpdates {
    /// The params of the latest status notification: an earlier one is replaced.
    pub(crate) status: Option<Raw>,
    /// The latest progress: an earlier one is replaced.
    pub(crate) progress: Option<Progress>,
    /// The answers to input requests, by key. The limit of input requests bounds their number.
    pub(crate) answers: VecDeque<(Box<str>, Result<Raw, ErrorObject>)>,
}

impl Mailbox {
    pub(crate) fn notify(&self, params: Raw) {
        self.0.change(|updates| updates.status = Some(params));
    }

    pub(crate) fn progress(&self, progress: Progress) {
        self.0.change(|updates| {
            let latest =
                updates.progress.as_ref().map_or(f64::NEG_INFINITY, |latest| latest.progress);
            if progress.progress > latest {
                updates.progress = Some(progress);
            }
        });
    }

    pub(crate) fn answer(&self, key: Box<str>, answer: Result<Raw, ErrorObject>) {
        self.0.change(|updates| updates.answers.push_back((key, answer)));
    }

    pub(crate) fn take(&self) -> TaskUpdates {
        std::mem::take(&mut *self.0.lock())
    }

    /// Waits until there are updates.
    pub(crate) async fn wait(&self) {
        let is_empty = |TaskUpdates { status, progress, answers }: &TaskUpdates| {
            status.is_none() && progress.is_none() && answers.is_empty()
        };
        self.0.when(|updates| (!is_empty(updates)).then_some(())).await;
    }
}
