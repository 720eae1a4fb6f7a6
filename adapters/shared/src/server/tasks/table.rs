//! [`ServerTasks`]: the task table of a server, and the handlers that run for it.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::RandomState;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use mcp_proto::schema::InputRequest;
use mcp_proto::server::Command;
use mcp_proto::server::Server as Machine;
use mcp_proto::tasks::{
    Requestor, TaskEvent, TaskId, TaskListener, TaskProtocol, TaskRecord, TaskTable, TaskTime,
};
use mcp_proto::{Context, ErrorObject, IncomingId, Payload, Principal, Raw, Request};

use super::checkpoint::Checkpoint;
use super::thread::{StoreStep, TaskThread, TaskWork};
use crate::exec::cancellation::Cancellation;
use crate::exec::clock::Clock;
use crate::server::handler::context::HandlerLink as _;
use crate::server::handler::replies::reply_now;
use crate::server::handler::reply::HandlerReply;
use crate::server::handler::task_service::{TaskService, TaskSteps};
use crate::tasks::{LISTEN_KEY, TaskStore, Tasks, task_time};
use crate::trace;
use crate::transport::link::Link;

/// The tasks of a server, which all its connections share.
pub(crate) struct ServerTasks {
    clock: Clock,
    store: Option<Arc<dyn TaskStore>>,
    state: Mutex<TasksState>,
    pub(super) thread: Arc<TaskThread>,
    /// Tells the connections of this process from those of others: random.
    pub(super) process: u64,
    /// Hides the addresses of clients from the store.
    pub(super) sources: RandomState,
    this: Weak<Self>,
}

/// The data that the lock protects.
pub(super) struct TasksState {
    pub(super) table: TaskTable,
    /// The handlers of tasks that run or wait for input.
    pub(super) runs: BTreeMap<TaskId, Arc<TaskRun>>,
    /// The requests for the result of a task that runs.
    pub(super) waiting: BTreeMap<u64, ResultRequest>,
    pub(super) last_listener: u64,
    /// The tasks that ran before a restart of the server, and what starts their handlers again.
    restored: Vec<(TaskId, Raw)>,
    /// The tasks whose status notifications are to be sent.
    to_notify: BTreeMap<TaskId, Arc<TaskRun>>,
    /// A thread sends the status notifications: only one does, so that they keep their order.
    is_notifying: bool,
}

/// A request for the result of a task that runs.
pub(super) struct ResultRequest {
    pub(super) link: Weak<Link<Machine>>,
    pub(super) incoming: IncomingId,
    pub(super) task: Option<TaskId>,
}

/// The handler of a task.
pub(crate) struct TaskRun {
    pub(crate) task: TaskId,
    pub(super) tasks: Arc<ServerTasks>,
    pub(super) cancelled: Arc<Cancellation>,
    /// The connection of the call. After a restart of the server, one without a client.
    pub(super) link: Arc<Link<Machine>>,
    pub(super) incoming: IncomingId,
    pub(super) request: Request,
    pub(super) context: Context,
    pub(super) steps: TaskSteps,
    /// The run of the handler that has ended to ask for input.
    pub(super) questions: Mutex<Option<Questions>>,
    /// How often the handler was started again after a restart of the server.
    pub(super) restarts: u32,
    /// What starts the handler after the next restart; `None` if the task then fails.
    pub(super) checkpoint: Option<Mutex<Checkpoint>>,
}

/// The open input requests of a task, and what the next run of its handler needs.
#[derive(Default)]
pub(super) struct Questions {
    /// The keys of the handler, by those of the task.
    pub(super) open: BTreeMap<Box<str>, String>,
    /// The requests, by their keys, that wait for a stream to the client (2025-11-25).
    pub(super) unsent: Vec<(Box<str>, InputRequest)>,
    /// The client has polled the task since.
    pub(super) is_polled: bool,
    pub(super) answers: Vec<(String, Raw)>,
    /// The state of the earlier rounds.
    pub(super) rounds: Option<String>,
}

/// A changed task, whether it has subscribers, and the notification.
type StatusNotification = (Arc<TaskRun>, bool, &'static str, Raw);

impl ServerTasks {
    /// Creates the table, with the tasks of the store.
    ///
    /// # Errors
    /// Fails if the store cannot be read.
    pub(super) fn open(settings: &Tasks) -> io::Result<Arc<dyn TaskService>> {
        let mut process = [0; 8];
        getrandom::fill(&mut process).map_err(|error| io::Error::other(error.to_string()))?;
        let tasks = Arc::new_cyclic(|this| Self {
            clock: Clock::new(),
            store: settings.store.clone(),
            state: Mutex::new(TasksState {
                table: TaskTable::new(settings.limits.clone()),
                runs: BTreeMap::new(),
                waiting: BTreeMap::new(),
                last_listener: 0,
                restored: Vec::new(),
                to_notify: BTreeMap::new(),
                is_notifying: false,
            }),
            thread: Arc::default(),
            process: u64::from_ne_bytes(process),
            sources: RandomState::new(),
            this: Weak::clone(this),
        });
        if let Some(store) = &tasks.store {
            let records = store.load()?;
            tasks.start_thread()?;
            let owners = records.iter().filter_map(TaskRecord::owner);
            let gone: BTreeSet<Principal> =
                owners.filter(|it| is_connection(it)).cloned().collect();
            tasks.with(|state, time| {
                state.table.restore(time, records);
                gone.iter().for_each(|owner| state.table.abandon(owner));
            });
        }
        Ok(tasks)
    }

    pub(super) fn start_thread(&self) -> io::Result<()> {
        let tasks: Weak<Self> = Weak::clone(&self.this);
        self.thread.start(tasks)
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, TasksState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn time(&self) -> TaskTime {
        task_time(self.clock.now())
    }

    /// Changes the table, and does what follows from that once the lock is released.
    pub(super) fn with<T>(&self, change: impl FnOnce(&mut TasksState, TaskTime) -> T) -> T {
        let mut state = self.lock();
        let before = state.table.poll_timeout();
        let outcome = change(&mut state, self.time());
        let mut responses = Vec::new();
        let mut stopped: Vec<Arc<TaskRun>> = Vec::new();
        let mut changed = Vec::new();
        while let Some(event) = state.table.poll_event() {
            match event {
                TaskEvent::Response { listener, response } => {
                    if let Some(waiting) = state.waiting.remove(&listener.request) {
                        responses.push((waiting, response));
                    }
                }
                TaskEvent::Changed { task } => {
                    changed.push(task);
                    self.store_later(StoreStep::Save(task));
                }
                TaskEvent::Checkpoint { task } => self.store_later(StoreStep::Save(task)),
                TaskEvent::Run { task, checkpoint } => state.restored.push((task, checkpoint)),
                TaskEvent::Stop { task } => stopped.extend(state.runs.remove(&task)),
                TaskEvent::Removed { task } => self.store_later(StoreStep::Remove(task)),
                _ => {}
            }
        }
        let is_earlier = match (before, state.table.poll_timeout()) {
            (Some(before), Some(after)) => after < before,
            (before, after) => before.is_none() && after.is_some(),
        };
        for task in changed {
            let of_task = |run: &&Arc<TaskRun>| run.task == task;
            let run = state.runs.get(&task).or_else(|| stopped.iter().find(of_task));
            if let Some(run) = run.cloned() {
                state.to_notify.insert(task, run);
            }
        }
        drop(state);
        if is_earlier {
            self.thread.wake();
        }
        for run in stopped {
            run.cancelled.set();
            run.link.shared.workers.cancel(run.incoming);
            // A handler that is stopped may never reply.
            drop(run.link.lock().role.take_task(run.incoming));
        }
        for (ResultRequest { link, incoming, .. }, response) in responses {
            if let Some(link) = link.upgrade() {
                self.respond(&link, incoming, response);
            }
        }
        // With a store, the notifications follow once the changes are saved.
        if self.store.is_none() {
            self.send_notifications();
        }
        outcome
    }

    /// Saves a record. A store that panics has failed.
    fn save(&self, record: &TaskRecord) -> io::Result<()> {
        let Some(store) = &self.store else { return Ok(()) };
        catch_unwind(AssertUnwindSafe(|| store.save(record)))
            .unwrap_or_else(|_| Err(io::Error::other("the store of tasks panicked")))
            .inspect_err(trace::unsaved_task)
    }

    pub(super) const fn has_store(&self) -> bool {
        self.store.is_some()
    }

    /// Takes the tasks whose handlers start again, and what starts them.
    pub(super) fn take_restored(&self) -> Vec<(TaskId, Raw)> {
        std::mem::take(&mut self.lock().restored)
    }

    /// Sends the status notifications of changed tasks.
    fn send_notifications(&self) {
        if std::mem::replace(&mut self.lock().is_notifying, true) {
            return;
        }
        loop {
            let mut state = self.lock();
            let Some(task) = state.to_notify.keys().next().copied() else {
                state.is_notifying = false;
                return;
            };
            drop(state);
            if let (_, Some((run, is_watched, method, params))) = self.take_changed(task) {
                notify(&run, is_watched, method, params);
            }
        }
    }

    /// Returns the record of a task, and takes its pending status notification.
    fn take_changed(&self, task: TaskId) -> (Option<TaskRecord>, Option<StatusNotification>) {
        let mut state = self.lock();
        let is_watched = state.table.watchers(task).next().is_some();
        let run = state.to_notify.remove(&task);
        let notification = state.table.notification(task);
        let record = state.table.record(task);
        // A run may own a connection, which is not dropped under the lock.
        drop(state);
        let pending = run.zip(notification);
        (record, pending.map(|(run, (method, params))| (run, is_watched, method, params)))
    }

    /// Accepts subscriptions to tasks: those that the client has. Returns their ids.
    pub(super) fn watch(&self, requestor: Requestor<'_>, ids: &[String]) -> Vec<String> {
        let ids = ids.iter().map(String::as_str);
        self.with(|state, time| state.table.watch(time, requestor, ids, SUBSCRIBERS))
    }

    /// Responds to a request about a task, once what the response says has been saved.
    pub(super) fn respond(
        &self,
        link: &Arc<Link<Machine>>,
        incoming: IncomingId,
        response: Result<Raw, ErrorObject>,
    ) {
        let link = Arc::clone(link);
        self.thread.call_after(move || {
            let reply = match response {
                Ok(result) => HandlerReply::Result(Box::new(result)),
                Err(error) => HandlerReply::Error(error),
            };
            reply_now(&link, incoming, reply);
        });
    }

    /// Forgets the handler of a task that is over.
    pub(super) fn forget(&self, task: TaskId) {
        self.lock().runs.remove(&task);
    }

    fn store_later(&self, step: StoreStep) {
        if self.store.is_some() {
            self.thread.store(self.work(), step);
        }
    }

    fn work(&self) -> Option<Arc<dyn TaskWork>> {
        Some(self.this.upgrade()?)
    }

    /// Saves a new task, then calls `then`: immediately if there is no store.
    pub(super) fn save_new(
        &self,
        task: TaskId,
        then: impl FnOnce(io::Result<()>) + Send + 'static,
    ) {
        if self.store.is_some() {
            self.thread.store(self.work(), StoreStep::Create(task, Box::new(then)));
        } else {
            then(Ok(()));
        }
    }
}

impl TaskWork for ServerTasks {
    fn run_step(&self, step: StoreStep) -> Option<TaskId> {
        match step {
            StoreStep::Create(task, then) => {
                // As it is now: a change since then may have been saved already.
                let record = self.lock().table.record(task);
                then(record.map_or(Ok(()), |record| self.save(&record)));
            }
            StoreStep::Save(task) => {
                let (record, notification) = self.take_changed(task);
                let saved = record.map_or(Ok(()), |record| self.save(&record));
                if let Some((run, is_watched, method, params)) = notification {
                    notify(&run, is_watched, method, params);
                }
                // Tried again: a task that is over does not change any more.
                return saved.is_err().then_some(task);
            }
            // A record that remains expires.
            StoreStep::Remove(task) => {
                let _remains = self.store.as_ref().map(|store| store.remove(task));
            }
            StoreStep::Call(call) => call(),
        }
        None
    }

    fn expire(&self) -> Option<Duration> {
        let next = self.with(|state, time| {
            state.table.handle_timeout(time.now);
            state.table.poll_timeout()
        });
        next.map(|at| self.clock.until(at))
    }
}

impl Drop for ServerTasks {
    fn drop(&mut self) {
        self.thread.close();
    }
}

/// Notifies the client of a task of its status.
// TSK-17: a notification may be lost. TSK-16: without the task in `_meta`.
fn notify(run: &TaskRun, is_watched: bool, method: &str, params: Raw) {
    // A client that is gone misses it.
    let _sent = match TaskProtocol::of(run.context.peer.revision) {
        Some(TaskProtocol::Core) if run.restarts == 0 => {
            let params = Payload::Value(&params);
            run.link.apply(Command::Notify { method, params })
        }
        Some(TaskProtocol::Extension) if is_watched => {
            let changes = &run.link.shared.changes;
            changes.element_changed(LISTEN_KEY, &run.task.to_text(), method, Some(&params))
        }
        _ => Ok(()),
    };
}

/// The issuer of the identities of connections.
pub(super) const CONNECTION: &str = "mcp:connection";

/// Returns whether the owner of a task is a connection.
fn is_connection(owner: &Principal) -> bool {
    owner.id().strip_prefix("[\"").and_then(|id| id.strip_prefix(CONNECTION)).is_some()
}

/// The subscriptions of all clients: their connections know which has which.
const SUBSCRIBERS: TaskListener = TaskListener { connection: 0, request: 0 };
