//! The server that is killed.

use std::path::{Path, PathBuf};
use std::time::Duration;

use mcp_adapter::proto::tasks::TaskLimits;
use mcp_adapter::tasks::{FileTaskStore, TaskPolicy, TaskStore as _, Tasks};
use mcp_adapter::{Cx, HandlerError, Server, Tool};
use mcp_adapter_tests::{Blocking, Runtime as _};
use serde_json::{Map, Value};

use crate::journal::Journal;

/// The directory with all that survives the server.
pub(crate) struct Kept(PathBuf);

impl Kept {
    pub(crate) fn new(directory: impl Into<PathBuf>) -> Self {
        Self(directory.into())
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.0
    }

    pub(crate) fn journal(&self) -> PathBuf {
        self.0.join("journal")
    }

    fn store(&self) -> FileTaskStore {
        FileTaskStore::open(self.0.join("tasks")).unwrap()
    }

    /// Returns the status of every task.
    pub(crate) fn statuses(&self) -> Vec<String> {
        let status = |record: &str| {
            let record: Map<String, Value> = serde_json::from_str(record).unwrap();
            record["status"].as_str().unwrap().to_owned()
        };
        let records = self.store().load().unwrap();
        records.iter().map(|record| status(record.to_json().as_str())).collect()
    }

    pub(crate) fn all_over(&self) -> bool {
        self.statuses().iter().all(|status| status != "working" && status != "input_required")
    }
}

/// Serves a tool whose tasks fail after a restart, and one whose handler starts again.
pub(crate) fn serve(kept: &Kept) {
    let policy = TaskPolicy::required().poll_interval(Duration::from_millis(1));
    // No task makes room for another one: all outcomes are fetched again at the end.
    let max = 100_000;
    let limits =
        TaskLimits { tasks_max: max, tasks_per_principal_max: max, ..TaskLimits::default() };
    let [fails, again] = [(); 2].map(|()| {
        let journal = kept.journal();
        move |arguments: Map<String, Value>, cx: Cx| work(&journal, &arguments, &cx)
    });
    let server = Server::new("victim", "1")
        .add(Tool::new("fails", fails).always_on_pool().as_task(policy.clone()))
        .add(Tool::new("again", again).always_on_pool().as_task(policy.restarts_max(u32::MAX)))
        .tasks(Tasks::new().limits(limits).store(kept.store()));
    Blocking::block_on(Blocking::serve_stdio(server)).unwrap();
}

/// Takes five steps, and keeps which was the last.
fn work(journal: &Path, arguments: &Map<String, Value>, cx: &Cx) -> Result<String, HandlerError> {
    let job = arguments["job"].as_str().unwrap();
    Journal::write(journal, &format!("start {job} {}", cx.restarts()));
    let first: u32 = cx.state()?.unwrap_or(0);
    for step in first..5 {
        if cx.sleep(Duration::from_millis(4)).wait() {
            return Err(HandlerError::failed("cancelled"));
        }
        cx.set_state(&(step + 1)).map_err(|error| HandlerError::failed(error.to_string()))?;
    }
    Journal::write(journal, &format!("end {job} {}", cx.restarts()));
    Ok(format!("done {job}"))
}
