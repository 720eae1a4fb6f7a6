//! The requests that wait for the result of a task.

use std::sync::{Arc, Weak};

use mcp_proto::server::Server as Machine;
use mcp_proto::tasks::{TaskId, TaskListener, TaskTable, TaskTime};
use mcp_proto::{ErrorObject, IncomingId, Raw};

use super::table::{ResultRequest, ServerTasks, TaskRun};
use crate::transport::link::Link;

/// The result of a task; `None` if it is not over.
type Waited = Result<Option<Raw>, ErrorObject>;

/// A client that waits for the result of a task.
pub(super) struct WaitingClient {
    /// The number of its request, which grows with each request.
    pub(super) number: u64,
    pub(super) link: Weak<Link<Machine>>,
    pub(super) incoming: IncomingId,
}

impl ServerTasks {
    /// Returns the first request after number `after` that waits for the result of a task.
    pub(super) fn result_request(&self, task: TaskId, after: u64) -> Option<WaitingClient> {
        let state = self.lock();
        let mut later = state.waiting.range(after.saturating_add(1)..);
        let found = later.find(|(_, it)| it.task == Some(task) && it.link.strong_count() > 0);
        found.map(|(number, it)| WaitingClient {
            number: *number,
            link: Weak::clone(&it.link),
            incoming: it.incoming,
        })
    }

    /// Returns the handler of a task that runs or waits for input.
    pub(super) fn run(&self, id: &str) -> Option<Arc<TaskRun>> {
        TaskId::parse(id).and_then(|task| self.lock().runs.get(&task).cloned())
    }

    /// Notes that a request waits for the result of the task with this id, if `wait` says so.
    pub(super) fn wait(
        &self,
        link: &Arc<Link<Machine>>,
        incoming: IncomingId,
        id: &str,
        wait: impl FnOnce(&mut TaskTable, TaskTime, TaskListener) -> Waited,
    ) -> Option<Result<Raw, ErrorObject>> {
        self.with(|state, time| {
            state.last_listener += 1;
            let request = state.last_listener;
            let listener = TaskListener { connection: link.shared.workers.id(), request };
            match wait(&mut state.table, time, listener) {
                Ok(None) => {
                    let (link, task) = (Arc::downgrade(link), TaskId::parse(id));
                    state.waiting.insert(request, ResultRequest { link, incoming, task });
                    None
                }
                Ok(Some(result)) => Some(Ok(result)),
                Err(error) => Some(Err(error)),
            }
        })
    }

    /// Forgets a request for a result that was cancelled.
    pub(super) fn cancel_wait(&self, link: &Arc<Link<Machine>>, incoming: IncomingId) {
        let connection = link.shared.workers.id();
        self.with(|state, _| {
            let is_it = |waiting: &ResultRequest| {
                waiting.incoming == incoming
                    && std::ptr::eq(waiting.link.as_ptr(), Arc::as_ptr(link))
            };
            let found = state.waiting.iter().find(|(_, waits)| is_it(waits));
            if let Some(request) = found.map(|(request, _)| *request) {
                state.waiting.remove(&request);
                state.table.stop_waiting(TaskListener { connection, request });
            }
        });
    }
}
