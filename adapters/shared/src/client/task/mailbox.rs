//! What reaches a task from outside its polls: status notifications and answers of handlers.

use std::collections::VecDeque;

use mcp_proto::{ErrorObject, Progress, Raw};

use crate::exec::watched::Watched;

/// The news of one task, until its driver takes them.
#[derive(Debug, Default)]
pub(crate) struct Mailbox(Watched<News>);

/// News of a task.
#[derive(Debug, Default)]
pub(crate) struct News {
    /// The params of the latest status notification: an earlier one is replaced.
    pub(crate) status: Option<Raw>,
    /// The latest progress: an earlier one is replaced.
    pub(crate) progress: Option<Progress>,
    /// The answers to input requests, by key. The limit of input requests bounds their number.
    pub(crate) answers: VecDeque<(Box<str>, Result<Raw, ErrorObject>)>,
}

impl Mailbox {
    pub(crate) fn notify(&self, params: Raw) {
        self.0.change(|news| news.status = Some(params));
    }

    pub(crate) fn progress(&self, progress: Progress) {
        self.0.change(|news| {
            let latest = news.progress.as_ref().map_or(f64::NEG_INFINITY, |latest| latest.progress);
            if progress.progress > latest {
                news.progress = Some(progress);
            }
        });
    }

    pub(crate) fn answer(&self, key: Box<str>, answer: Result<Raw, ErrorObject>) {
        self.0.change(|news| news.answers.push_back((key, answer)));
    }

    pub(crate) fn take(&self) -> News {
        std::mem::take(&mut *self.0.lock())
    }

    /// Waits until there are news.
    pub(crate) async fn wait(&self) {
        let is_empty = |News { status, progress, answers }: &News| {
            status.is_none() && progress.is_none() && answers.is_empty()
        };
        self.0.when(|news| (!is_empty(news)).then_some(())).await;
    }
}
