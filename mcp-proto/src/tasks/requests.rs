//! The requests of requestors: `tasks/get`, `list`, `result`, `cancel`, `update`, subscriptions.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::clock::TaskTime;
use super::entry::{TaskEntry, encoded, payload};
use super::error::not_found;
use super::event::TaskEvent;
use super::id::TaskId;
use super::links::TaskListener;
use super::protocol::Form;
use super::record::Outcome;
use super::requestor::Requestor;
use super::status::Step;
use super::table::TaskTable;
use crate::json::Raw;
use crate::rpc::ErrorObject;
use crate::schema::{EmptyResult, ExtraMembers, ListTasksResult};
use crate::time::Instant;
use crate::vocabulary::Principal;

/// The response of a requestor to an input request of a task, for its handler.
///
/// ```
/// use mcp_proto::tasks::InputAnswer;
///
/// fn deliver(answer: InputAnswer) {
///     println!("{} is answered with {:?}", answer.key, answer.response);
/// }
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct InputAnswer {
    /// The key of the input request.
    pub key: Box<str>,
    /// The response, an object such as an `ElicitResult`. It is not validated.
    pub response: Raw,
}

type Response = Result<Raw, ErrorObject>;

/// For requests of requestors. An error is what to respond with.
impl TaskTable {
    /// Returns the response to `tasks/get`.
    ///
    /// # Errors
    /// Invalid params (-32602) if the requestor has no such task.
    // TSK-19, TSK-21.
    pub fn get(&mut self, time: TaskTime, requestor: Requestor<'_>, task_id: &str) -> Response {
        let number = self.owned(time.now, requestor, "tasks/get", task_id)?;
        let Some(task) = self.store.get_mut(number) else { return Err(not_found()) };
        let inlines_outcome = requestor.protocol.rules().form == Form::Flat;
        let status = task.status();
        if inlines_outcome && task.is_final() && !task.is_retrieved {
            task.is_retrieved = true;
            self.store.settle(number);
        }
        Ok(status)
    }

    /// Returns the response to `tasks/result`, or `None` while the task runs. (2025-11-25 only)
    ///
    /// The request then waits: [`TaskEvent::Response`] reports its response. If the request is
    /// cancelled, call [`stop_waiting`](Self::stop_waiting); the task continues.
    ///
    /// # Errors
    /// Invalid params (-32602) if the requestor has no such task, or if the task was cancelled. The
    /// error of the task's request if it failed. An internal error (-32603) if too many requests
    /// wait already.
    pub fn result(
        &mut self,
        time: TaskTime,
        requestor: Requestor<'_>,
        task_id: &str,
        listener: TaskListener,
    ) -> Result<Option<Raw>, ErrorObject> {
        let number = self.owned(time.now, requestor, "tasks/result", task_id)?;
        let Some(task) = self.store.get_mut(number) else { return Err(not_found()) };
        if task.is_final() {
            task.is_retrieved = true;
            let response = payload(task_id, &task.record.outcome);
            self.store.settle(number);
            return response.map(Some);
        }
        let it = &self.limits;
        let max = [it.waiters_max, it.waiters_per_principal_max, it.waiters_per_task_max];
        if self.waiters.add(number, listener, task.record.account(), max) {
            return Ok(None);
        }
        Err(ErrorObject::internal(
            "too many requests wait for results of tasks: poll `tasks/get` instead \
             (`TaskLimits::waiters_max`, `TaskLimits::waiters_per_principal_max`, \
             `TaskLimits::waiters_per_task_max`)",
        ))
    }

    /// Returns the response to `tasks/list`: one page. (2025-11-25 only)
    ///
    /// Tasks are listed in the order of their creation. Cursors stay valid while tasks are created
    /// and deleted, and after a restart.
    ///
    /// # Errors
    /// Invalid params (-32602) for an invalid cursor.
    // TSK-20: the pages together have every task that exists all the while.
    pub fn list(
        &mut self,
        time: TaskTime,
        requestor: Requestor<'_>,
        cursor: Option<&str>,
    ) -> Response {
        self.advance(time.now);
        let rules = served(requestor, "tasks/list")?;
        let after = match cursor {
            None => 0,
            Some(cursor) => read_cursor(cursor, self.store.last_number())
                .ok_or_else(|| ErrorObject::invalid_params("invalid cursor"))?,
        };
        let owner = requestor.principal.cloned();
        let mut tasks = self.store.newer_than(&owner, requestor.protocol, after);
        let page: Vec<&TaskEntry> = tasks.by_ref().take(self.limits.page_max.max(1)).collect();
        let has_more = tasks.next().is_some();
        let last = page.last().map(|task| task.record.number).filter(|_| has_more);
        let tasks: Vec<_> = page.into_iter().map(TaskEntry::task).collect();
        let mut result = ListTasksResult::new(tasks);
        result.next_cursor = last.map(cursor_after);
        Ok(encoded(&result, rules))
    }

    /// Cancels a task. Returns the response to `tasks/cancel`.
    ///
    /// The task is `cancelled` immediately; [`TaskEvent::Stop`] stops the handler.
    ///
    /// # Errors
    /// Invalid params (-32602) if the requestor has no such task or, in revision 2025-11-25, if the
    /// task is over.
    // TSK-18, TSK-33: cancelled before the response; a task that is over stays as it is.
    pub fn cancel(&mut self, time: TaskTime, requestor: Requestor<'_>, task_id: &str) -> Response {
        let number = self.owned(time.now, requestor, "tasks/cancel", task_id)?;
        let Some(task) = self.store.get(number) else { return Err(not_found()) };
        let (id, rules) = (task.record.id, requestor.protocol.rules());
        if !task.is_final() {
            self.end(time, number, Step::Cancel, Outcome::None);
            self.queue(TaskEvent::Stop { task: id });
        } else if rules.refuses_late_cancel {
            let status = task.record.state.status();
            return Err(ErrorObject::invalid_params(format!(
                "cannot cancel the task: it is already {status}"
            )));
        }
        match (rules.form, self.store.get(number)) {
            (Form::Nested, Some(task)) => Ok(task.status()),
            _ => Ok(encoded(&EmptyResult::new(), rules.revision)),
        }
    }

    /// Returns the scopes that a request about a task needs, as [`NewTask`](super::NewTask::scopes)
    /// had them; none if the requestor has no such task.
    ///
    /// The table does not check them: check them before each request that shows an outcome or
    /// changes a task.
    #[must_use]
    pub fn scopes(&self, requestor: Requestor<'_>, task_id: &str) -> &[String] {
        let task = self.lookup(requestor, task_id).and_then(|number| self.store.get(number));
        task.map_or(&[], |task| &task.record.scopes)
    }

    /// Accepts responses to input requests, from `tasks/update`. (tasks extension)
    ///
    /// Respond with an [`EmptyResult`](crate::schema::EmptyResult), and pass the answers to the
    /// handler. Responses for other keys, such as keys that were answered already, are ignored.
    ///
    /// # Errors
    /// Invalid params (-32602) if the requestor has no such task.
    // TSK-33: some of the responses may be missing.
    pub fn update(
        &mut self,
        time: TaskTime,
        requestor: Requestor<'_>,
        task_id: &str,
        responses: &ExtraMembers,
    ) -> Result<Vec<InputAnswer>, ErrorObject> {
        let number = self.owned(time.now, requestor, "tasks/update", task_id)?;
        let mut answers = Vec::new();
        for (key, response) in responses.iter() {
            // The number of outstanding requests bounds the number of answers.
            if response.is_object() && self.take_input(time, number, key) {
                answers.push(InputAnswer { key: key.into(), response: response.clone() });
            }
        }
        Ok(answers)
    }

    /// Subscribes to tasks: their [`watchers`](Self::watchers) then contain `listener`.
    ///
    /// Returns the ids that are accepted, for the acknowledgement of the subscription. Tasks that
    /// do not belong to the requestor are left out, and so are tasks beyond the limits.
    pub fn watch<'a>(
        &mut self,
        time: TaskTime,
        requestor: Requestor<'_>,
        task_ids: impl IntoIterator<Item = &'a str>,
        listener: TaskListener,
    ) -> Vec<String> {
        self.advance(time.now);
        let mut accepted = Vec::new();
        for task_id in task_ids {
            let number = self.lookup(requestor, task_id);
            let Some((number, task)) = number.and_then(|it| Some((it, self.store.get(it)?))) else {
                continue;
            };
            let it = &self.limits;
            let max = [it.watchers_max, it.watchers_per_principal_max, it.watchers_per_task_max];
            if self.watchers.add(number, listener, task.record.account(), max) {
                accepted.push(task_id.to_owned());
            }
        }
        accepted
    }

    /// Ends a subscription.
    pub fn unwatch(&mut self, listener: TaskListener) {
        self.watchers.remove_listener(listener);
    }

    /// Forgets a waiting `tasks/result` request, which will not be answered. The task continues.
    pub fn stop_waiting(&mut self, listener: TaskListener) {
        self.waiters.remove_listener(listener);
    }

    /// Forgets the waiting requests and subscriptions of a connection that is gone. Its tasks
    /// continue.
    pub fn disconnect(&mut self, connection: u64) {
        self.waiters.remove_connection(connection);
        self.watchers.remove_connection(connection);
    }

    /// Deletes the tasks of an owner that never returns, such as a connection: immediately if they
    /// are over, and otherwise once they are.
    pub fn abandon(&mut self, owner: &Principal) {
        for number in self.store.of_owner(owner) {
            match self.store.get_mut(number) {
                Some(task) if !task.is_final() => task.is_abandoned = true,
                _ => self.delete(number),
            }
        }
    }

    /// Returns the number of a task of the requestor, for a method that its protocol has.
    fn owned(
        &mut self,
        now: Instant,
        requestor: Requestor<'_>,
        method: &str,
        task_id: &str,
    ) -> Result<u64, ErrorObject> {
        self.advance(now);
        served(requestor, method)?;
        self.lookup(requestor, task_id).ok_or_else(not_found)
    }

    fn lookup(&self, requestor: Requestor<'_>, task_id: &str) -> Option<u64> {
        let number = self.store.number(TaskId::parse(task_id)?)?;
        let record = &self.store.get(number)?.record;
        let is_owner =
            record.owner.as_ref() == requestor.principal && record.protocol == requestor.protocol;
        is_owner.then_some(number)
    }
}

/// Checks that the requestor's protocol has a method. Returns the revision of its results.
fn served(
    requestor: Requestor<'_>,
    method: &str,
) -> Result<crate::revision::Revision, ErrorObject> {
    if requestor.protocol.serves(method) {
        Ok(requestor.protocol.rules().revision)
    } else {
        Err(ErrorObject::method_not_found(method))
    }
}

/// Returns the cursor of the page that begins after a task.
fn cursor_after(number: u64) -> String {
    format!("t{number}")
}

/// Reads a cursor, which must be one that this table can have written.
fn read_cursor(cursor: &str, last_number: u64) -> Option<u64> {
    let number = cursor.strip_prefix('t')?.parse().ok()?;
    (number <= last_number && cursor_after(number) == cursor).then_some(number)
}
