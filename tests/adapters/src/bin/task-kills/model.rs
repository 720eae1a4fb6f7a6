//! What became of each task, and whether that may be.

use std::collections::BTreeMap;
use std::fmt;

use crate::journal::Journal;
use crate::server::Kept;

/// The outcome of a task, as its client learned it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Outcome {
    Completed(String),
    Failed(String),
}

/// What the client knows of a task.
#[derive(Debug)]
enum Known {
    /// The response that creates the task was lost.
    Unconfirmed,
    Runs,
    /// The id, the outcome, and the number of runs at that time.
    Over(String, Outcome, usize),
}

/// All tasks, by their jobs.
#[derive(Debug, Default)]
pub(crate) struct Model {
    tasks: BTreeMap<String, Known>,
    started_again: usize,
    /// The tasks in the store at the end.
    stored: usize,
}

impl Model {
    pub(crate) fn created(&mut self, job: &str) {
        self.tasks.insert(job.to_owned(), Known::Runs);
    }

    pub(crate) fn unconfirmed(&mut self, job: &str) {
        self.tasks.insert(job.to_owned(), Known::Unconfirmed);
    }

    pub(crate) fn ended(&mut self, job: &str, id: &str, outcome: Outcome, kept: &Kept) {
        let runs = Journal::read(kept).runs.get(job).map_or(0, Vec::len);
        let before = self.tasks.insert(job.to_owned(), Known::Over(id.to_owned(), outcome, runs));
        assert!(matches!(before, Some(Known::Runs)), "DOUBLED: {job} ends twice: {before:?}");
    }

    /// Returns the job, the id and the outcome of each task that is over.
    pub(crate) fn outcomes(&self) -> impl Iterator<Item = (&str, &str, &Outcome)> {
        self.tasks.iter().filter_map(|(job, known)| match known {
            Known::Over(id, outcome, _) => Some((&**job, &**id, outcome)),
            Known::Unconfirmed | Known::Runs => None,
        })
    }

    /// Compares the model with what handlers did and with what is stored.
    pub(crate) fn check(&mut self, journal: &Journal, kept: &Kept) {
        for (job, known) in &self.tasks {
            let runs = journal.runs.get(job).map_or(&[][..], |runs| runs);
            let starts_again = job.starts_with("again");
            assert!(starts_again || runs.len() <= 1, "DOUBLED: {job}: {runs:?}");
            for pair in runs.windows(2) {
                assert_ne!(pair[0].process, pair[1].process, "DOUBLED: {job}: {runs:?}");
                assert!(pair[0].restarts < pair[1].restarts, "DOUBLED: {job}: {runs:?}");
            }
            self.started_again += runs.iter().filter(|run| run.restarts > 0).count();
            match known {
                Known::Runs => panic!("LOST: {job} has no outcome"),
                Known::Unconfirmed => {}
                Known::Over(_, Outcome::Completed(content), runs_then) => {
                    assert!(content.contains(&format!("\"done {job}\"")), "{job}: {content}");
                    assert!(runs.last().is_some_and(|run| run.has_ended), "{job}: {runs:?}");
                    assert_eq!(runs.len(), *runs_then, "DOUBLED: {job} ran after its end");
                }
                Known::Over(_, Outcome::Failed(why), _) => {
                    assert!(!starts_again, "LOST: {job} was not started again: {why}");
                    assert_eq!(why, "the server was restarted while the task ran", "{job}");
                }
            }
        }
        self.stored = kept.statuses().len();
        let known = self.outcomes().count();
        assert!(self.stored >= known, "LOST: {} of {known} tasks are stored", self.stored);
        assert!(self.stored <= self.tasks.len(), "DOUBLED: {} tasks are stored", self.stored);
    }

    fn count(&self, is_it: impl Fn(&Known) -> bool) -> usize {
        self.tasks.values().filter(|known| is_it(known)).count()
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let over = self.outcomes().count();
        let completed = self.count(|it| matches!(it, Known::Over(_, Outcome::Completed(_), _)));
        let unconfirmed = self.count(|known| matches!(known, Known::Unconfirmed));
        write!(
            f,
            "{over} tasks created: {completed} completed, {} failed after a restart; handlers \
             started again: {}; calls without a response: {unconfirmed}, of which {} became tasks; \
             0 lost, 0 doubled",
            over - completed,
            self.started_again,
            self.stored - over,
        )
    }
}
