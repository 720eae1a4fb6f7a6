//! [`TaskTable`]: all tasks of a receiver.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use super::account::AccountId;
use super::clock::TaskTime;
use super::entry::{TaskEntry, encoded, payload};
use super::error::TaskError;
use super::event::TaskEvent;
use super::id::TaskId;
use super::limits::{TaskLimits, millis};
use super::links::{Links, TaskListener};
use super::protocol::TaskProtocol;
use super::record::{OnRestart, Outcome, TaskRecord};
use super::requestor::{NewTask, Requestor};
use super::status::{State, Step, next};
use super::store::{NUMBER_MAX, Store};
use crate::json::Raw;
use crate::rpc::ErrorObject;
use crate::schema::RelatedTask;
use crate::time::Instant;

/// All tasks of a receiver: bounded, with one deadline, and without IO.
///
/// The table serves both protocols for tasks. It may be shared by all connections of a server: each
/// call names the requestor. Methods that take a [`TaskId`] are for the handler of the task;
/// methods that take a [`Requestor`] are for requests of the peer.
///
/// After each call, poll [`poll_event`](Self::poll_event) until it returns `None`. At
/// [`poll_timeout`](Self::poll_timeout), call [`handle_timeout`](Self::handle_timeout). Every call
/// first removes expired tasks, so a late timer does not change the results.
///
/// Creating, finding, changing and removing a task take logarithmic time.
///
/// ```
/// use mcp_proto::Raw;
/// use mcp_proto::tasks::*;
///
/// let time = TaskTime::default(); // read from both clocks
/// let mut table = TaskTable::new(TaskLimits::default());
/// let requestor = Requestor { principal: None, protocol: TaskProtocol::Extension };
///
/// // A tool call becomes a task: respond with `created`, and run the handler.
/// let id = TaskId::from_random([7; 16]); // from a secure source
/// let created = table.create(time, requestor, id, NewTask::default()).unwrap();
/// assert_eq!(created.member("resultType").unwrap().as_str(), r#""task""#);
///
/// // The handler is done.
/// let result = Raw::from_text(r#"{"content":[]}"#).unwrap();
/// table.complete(time, id, result.clone()).unwrap();
/// assert_eq!(table.poll_event(), Some(TaskEvent::Changed { task: id }));
///
/// // The requestor polls.
/// let status = table.get(time, requestor, &id.to_text()).unwrap();
/// assert_eq!(status.member("status").unwrap().as_str(), r#""completed""#);
/// assert_eq!(status.member("result"), Some(result));
/// ```
#[derive(Debug)]
pub struct TaskTable {
    pub(super) limits: TaskLimits,
    pub(super) store: Store,
    /// Requests for the result of a task that runs.
    pub(super) waiters: Links,
    /// Subscriptions.
    pub(super) watchers: Links,
    events: VecDeque<Queued>,
    now: Instant,
}

/// An event that is not polled yet.
#[derive(Debug)]
enum Queued {
    Event(TaskEvent),
    Changed(u64),
    /// The outcome, which shares its bytes with the task: responses are written when polled.
    Response(TaskListener, TaskId, Result<Outcome, ErrorObject>),
}

impl TaskTable {
    /// Creates an empty table.
    #[must_use]
    pub const fn new(limits: TaskLimits) -> Self {
        let tasks_max = if limits.tasks_max == 0 { 1 } else { limits.tasks_max };
        let task_load = limits.bytes_max / tasks_max;
        Self {
            limits,
            store: Store::new(task_load),
            waiters: Links::new(),
            watchers: Links::new(),
            events: VecDeque::new(),
            now: Instant::ZERO,
        }
    }

    /// Creates a task. Returns the result to respond with.
    ///
    /// With a durable store, save the [`record`](Self::record) before responding: a client that
    /// knows the id must be able to use it.
    ///
    /// # Errors
    /// [`TaskError::IdTaken`], [`TasksFull`](TaskError::TasksFull),
    /// [`PrincipalFull`](TaskError::PrincipalFull) or, if the request and the checkpoint are too
    /// large, [`BytesFull`](TaskError::BytesFull).
    // TSK-08, TSK-28: `working`, and known before the response.
    pub fn create(
        &mut self,
        time: TaskTime,
        requestor: Requestor<'_>,
        id: TaskId,
        new: NewTask,
    ) -> Result<Raw, TaskError> {
        self.advance(time.now);
        // TSK-09: unique.
        if self.store.number(id).is_some() {
            return Err(TaskError::IdTaken);
        }
        if self.store.last_number() >= NUMBER_MAX {
            return Err(TaskError::TasksFull);
        }
        let ttl_ms = self.limits.ttl_ms(new.requested_ttl_ms, new.source.is_some());
        let record = TaskRecord {
            id,
            number: self.store.last_number() + 1,
            owner: requestor.principal.cloned(),
            source: new.source,
            protocol: requestor.protocol,
            state: State::Working,
            message: None,
            created_ms: time.unix_ms,
            updated_ms: time.unix_ms,
            ttl_ms,
            poll_ms: millis(new.poll_interval.unwrap_or(self.limits.poll_interval)),
            inputs: 0,
            outcome: Outcome::None,
            restart: new.restart,
            scopes: new.scopes,
        };
        let token = new.progress_token.filter(|_| requestor.protocol.rules().has_progress);
        let deadline = self.now + Duration::from_millis(ttl_ms);
        let task = TaskEntry {
            request_bytes: new.request_bytes,
            ..TaskEntry::new(record, deadline, token)
        };
        self.make_room(&task.record.account(), 1, task.bytes())?;
        let created = task.created();
        self.store.insert(task);
        Ok(created)
    }

    /// Returns the value of `_meta` member `io.modelcontextprotocol/related-task`, which messages
    /// about a task of revision 2025-11-25 carry.
    // TSK-15.
    #[must_use]
    pub fn related_task(id: TaskId) -> Raw {
        encoded(&RelatedTask::new(id.to_text()), TaskProtocol::Core.rules().revision)
    }

    /// Returns the durable part of a task, or `None` if the task does not exist.
    #[must_use]
    pub fn record(&self, id: TaskId) -> Option<TaskRecord> {
        self.find(id).map(|task| task.record.clone())
    }

    /// Returns the method and params of a status notification for the task as it is now.
    ///
    /// Notifications are optional; requestors must not rely on them.
    // TSK-17.
    #[must_use]
    pub fn notification(&self, id: TaskId) -> Option<(&'static str, Raw)> {
        let task = self.find(id)?;
        Some((task.record.protocol.rules().notification, task.notification()))
    }

    /// Returns the subscriptions to a task.
    pub fn watchers(&self, id: TaskId) -> impl Iterator<Item = TaskListener> + '_ {
        let number = self.store.number(id);
        number.into_iter().flat_map(|number| self.watchers.of_task(number))
    }

    /// Returns the requests that wait for the result of a task. Over HTTP in revision 2025-11-25,
    /// their streams can carry the task's requests for input.
    pub fn waiters(&self, id: TaskId) -> impl Iterator<Item = TaskListener> + '_ {
        let number = self.store.number(id);
        number.into_iter().flat_map(|number| self.waiters.of_task(number))
    }

    /// Returns the number of tasks.
    #[must_use]
    pub fn len(&self) -> usize {
        self.store.len()
    }

    /// Returns whether the table has no tasks.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the bytes that [`TaskLimits::bytes_max`](super::TaskLimits::bytes_max) counts.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.store.bytes()
    }

    /// Returns the next event, or `None` if there is nothing to do.
    pub fn poll_event(&mut self) -> Option<TaskEvent> {
        loop {
            match self.events.pop_front()? {
                Queued::Event(event) => return Some(event),
                Queued::Changed(number) => {
                    if let Some(task) = self.store.get_mut(number) {
                        task.is_announced = false;
                        return Some(TaskEvent::Changed { task: task.record.id });
                    }
                }
                Queued::Response(listener, id, outcome) => {
                    let response = outcome.and_then(|outcome| payload(&id.to_text(), &outcome));
                    return Some(TaskEvent::Response { listener, response });
                }
            }
        }
    }

    /// Returns when to call [`handle_timeout`](Self::handle_timeout).
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.store.deadline()
    }

    /// Deletes the tasks whose time is over.
    // TSK-12.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.advance(now);
    }
}

/// Shared with the requests of requestors.
impl TaskTable {
    /// Advances the clock and deletes the tasks whose time is over.
    pub(super) fn advance(&mut self, now: Instant) -> Instant {
        self.now = self.now.max(now);
        while let Some(number) = self.store.expired(self.now) {
            self.delete(number);
        }
        self.now
    }

    pub(super) fn find(&self, id: TaskId) -> Option<&TaskEntry> {
        self.store.get(self.store.number(id)?)
    }

    /// Returns the number of a task that runs.
    pub(super) fn running(&mut self, time: TaskTime, id: TaskId) -> Result<u64, TaskError> {
        self.advance(time.now);
        let number = self.store.number(id).ok_or(TaskError::Unknown)?;
        match self.store.get(number) {
            Some(task) if !task.is_final() => Ok(number),
            Some(_) => Err(TaskError::Final),
            None => Err(TaskError::Unknown),
        }
    }

    /// Removes an input request. Returns whether it was outstanding.
    pub(super) fn take_input(&mut self, time: TaskTime, number: u64, key: &str) -> bool {
        let Some(task) = self.store.get_mut(number) else { return false };
        if !task.take_input(key) {
            return false;
        }
        if task.inputs.is_empty() {
            self.step(time, number, Step::Resume);
        } else {
            task.touch(time);
            self.store.settle(number);
            self.announce(number);
        }
        true
    }

    /// Ends a task with an outcome.
    pub(super) fn end(&mut self, time: TaskTime, number: u64, step: Step, outcome: Outcome) {
        let Some(task) = self.store.get_mut(number) else { return };
        let message: Option<&str> = match (&outcome, step) {
            (Outcome::Error(error), _) => Some(&error.message),
            (_, Step::Fail) => Some("the tool reported an error"),
            (_, Step::Cancel) => Some("the task was cancelled by request"),
            _ => None,
        };
        task.set_message(message, self.limits.message_bytes_max);
        task.record.outcome = outcome;
        task.record.restart = OnRestart::Fail;
        task.inputs = Vec::new();
        task.request_bytes = 0;
        task.progress_token = None;
        let is_abandoned = task.is_abandoned;
        self.step(time, number, step);
        self.wake(number);
        if is_abandoned {
            self.delete(number);
        }
    }

    /// Makes a transition of the machine.
    pub(super) fn step(&mut self, time: TaskTime, number: u64, step: Step) {
        let Some(task) = self.store.get_mut(number) else { return };
        let Some(state) = next(task.record.state, step) else { return };
        task.record.state = state;
        task.touch(time);
        self.store.settle(number);
        self.announce(number);
    }

    /// Responds to the requests that wait for the result of a task that is over.
    fn wake(&mut self, number: u64) {
        let listeners = self.waiters.remove_task(number);
        let Some(task) = self.store.get_mut(number) else { return };
        task.is_retrieved |= !listeners.is_empty();
        for listener in listeners {
            let outcome = Ok(task.record.outcome.clone());
            self.events.push_back(Queued::Response(listener, task.record.id, outcome));
        }
        self.store.settle(number);
    }

    /// Queues the event that a task changed.
    pub(super) fn announce(&mut self, number: u64) {
        let Some(task) = self.store.get_mut(number) else { return };
        if !core::mem::replace(&mut task.is_announced, true) {
            self.events.push_back(Queued::Changed(number));
        }
    }

    pub(super) fn queue(&mut self, event: TaskEvent) {
        self.events.push_back(Queued::Event(event));
    }

    /// Deletes a task, running or not.
    pub(super) fn delete(&mut self, number: u64) {
        let listeners = self.waiters.remove_task(number);
        self.watchers.remove_task(number);
        let Some(task) = self.store.remove(number) else { return };
        let id = task.record.id;
        for listener in listeners {
            let error = super::error::not_found();
            self.events.push_back(Queued::Response(listener, id, Err(error)));
        }
        if !task.is_final() {
            self.queue(TaskEvent::Stop { task: id });
        }
        self.queue(TaskEvent::Removed { task: id });
    }

    /// Makes room for more tasks and bytes of an account, as [`TaskLimits`] says.
    pub(super) fn make_room(
        &mut self,
        account: &AccountId,
        tasks: usize,
        bytes: usize,
    ) -> Result<(), TaskError> {
        let is_over = |held: usize, more: usize, max| more > 0 && held.saturating_add(more) > max;
        loop {
            let (it, (own_tasks, own_bytes)) = (&self.limits, self.store.usage(account));
            let (full, is_own) = if is_over(own_tasks, tasks, it.tasks_per_principal_max) {
                (TaskError::PrincipalFull, true)
            } else if is_over(own_bytes, bytes, it.bytes_per_principal_max) {
                (TaskError::BytesFull, true)
            } else if is_over(self.store.len(), tasks, it.tasks_max) {
                (TaskError::TasksFull, false)
            } else if is_over(self.store.bytes(), bytes, it.bytes_max) {
                // What never fits costs others nothing.
                (TaskError::BytesFull, bytes > it.bytes_max)
            } else {
                return Ok(());
            };
            let others =
                || if is_own { None } else { self.store.foreign_spare(account, tasks, bytes) };
            let spare = self.store.own_spare(account).or_else(others);
            self.delete(spare.ok_or(full)?);
        }
    }
}
