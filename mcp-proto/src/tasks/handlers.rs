//! The methods of the table for handlers of tasks.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::clock::TaskTime;
use super::entry::{input_bytes, input_key, related_meta};
use super::error::TaskError;
use super::event::TaskEvent;
use super::id::TaskId;
use super::record::{OnRestart, Outcome};
use super::status::Step;
use super::table::TaskTable;
use crate::json::{Object, Raw, find};
use crate::rpc::ErrorObject;
use crate::schema::InputRequest;
use crate::vocabulary::Progress;

/// The methods that the handler of a task calls.
impl TaskTable {
    /// Ends a task with the result of its request, a JSON object. The result is kept verbatim.
    ///
    /// A tool result with `isError` makes the task `failed` in revision 2025-11-25, and `completed`
    /// in the extension.
    ///
    /// # Errors
    /// [`TaskError::Unknown`] or [`Final`](TaskError::Final) if the task is over, for example
    /// because it was cancelled. [`BytesFull`](TaskError::BytesFull) and
    /// [`NotAnObject`](TaskError::NotAnObject) if the result cannot be kept: the task then fails
    /// with that error.
    pub fn complete(&mut self, time: TaskTime, id: TaskId, result: Raw) -> Result<(), TaskError> {
        let number = self.running(time, id)?;
        let (account, rules) = match self.store.get(number) {
            Some(task) => (task.record.account(), task.record.protocol.rules()),
            None => return Err(TaskError::Unknown),
        };
        let fits = if result.is_object() {
            self.make_room(&account, 0, result.as_bytes().len())
        } else {
            Err(TaskError::NotAnObject)
        };
        if let Err(error) = fits {
            self.end(time, number, Step::Fail, Outcome::Error(Box::new(error.to_error())));
            return Err(error);
        }
        // TSK-22, TSK-30: a column of the table.
        let is_error = find(result.as_bytes(), "isError") == Some(b"true");
        let step = if is_error { rules.tool_error } else { Step::Complete };
        self.end(time, number, step, Outcome::Result(result));
        Ok(())
    }

    /// Ends a task with the JSON-RPC error of its request, which is kept verbatim.
    ///
    /// # Errors
    /// [`TaskError::Unknown`] or [`Final`](TaskError::Final) if the task is over.
    /// [`BytesFull`](TaskError::BytesFull) if the error cannot be kept: the task then fails with
    /// that error instead.
    pub fn fail(
        &mut self,
        time: TaskTime,
        id: TaskId,
        error: ErrorObject,
    ) -> Result<(), TaskError> {
        let number = self.running(time, id)?;
        let Some(task) = self.store.get(number) else { return Err(TaskError::Unknown) };
        let account = task.record.account();
        let error = Outcome::Error(Box::new(error));
        let fits = self.make_room(&account, 0, error.bytes());
        let error = match fits {
            Ok(()) => error,
            Err(full) => Outcome::Error(Box::new(full.to_error())),
        };
        self.end(time, number, Step::Fail, error);
        fits
    }

    /// Deletes a task whose requestor has not learned its id, because the task could not be saved
    /// or the request was cancelled.
    pub fn withdraw(&mut self, time: TaskTime, id: TaskId) {
        self.advance(time.now);
        if let Some(number) = self.store.number(id) {
            self.delete(number);
        }
    }

    /// Asks the requestor for input. Returns the keys of the requests, in order.
    ///
    /// The keys are unique for the life of the task. Each request is answered once:
    /// - in the extension, by the requestor, with [`update`](Self::update);
    /// - in revision 2025-11-25, the driver sends each request to the requestor, with the
    ///   [`related_task`](Self::related_task) in its `_meta`, and calls [`answer`](Self::answer).
    ///
    /// # Errors
    /// [`TaskError::Unknown`] or [`Final`](TaskError::Final) if the task is over.
    /// [`InputsFull`](TaskError::InputsFull), [`BytesFull`](TaskError::BytesFull) or
    /// [`NotAnObject`](TaskError::NotAnObject), if a request cannot be kept; nothing changes then.
    pub fn ask(
        &mut self,
        time: TaskTime,
        id: TaskId,
        requests: Vec<InputRequest>,
    ) -> Result<Vec<Box<str>>, TaskError> {
        let number = self.running(time, id)?;
        let is_object = |it: &InputRequest| it.params.as_ref().is_none_or(|it| it.is_object());
        if !requests.iter().all(is_object) {
            return Err(TaskError::NotAnObject);
        }
        let Some(task) = self.store.get(number) else { return Err(TaskError::Unknown) };
        if task.inputs.len().saturating_add(requests.len()) > self.limits.inputs_max {
            return Err(TaskError::InputsFull);
        }
        let account = task.record.account();
        self.make_room(&account, 0, requests.iter().map(input_bytes).sum())?;
        let Some(task) = self.store.get_mut(number) else { return Err(TaskError::Unknown) };
        let mut keys = Vec::with_capacity(requests.len());
        for request in requests {
            task.record.inputs += 1;
            keys.push(input_key(task.record.inputs));
            task.inputs.push((task.record.inputs, request));
        }
        if !keys.is_empty() {
            self.step(time, number, Step::Ask);
        }
        Ok(keys)
    }

    /// Marks an input request as answered, or withdraws it. Returns whether it was outstanding.
    ///
    /// After the last one, the task is `working` again.
    ///
    /// # Errors
    /// [`TaskError::Unknown`] or [`Final`](TaskError::Final) if the task is over.
    pub fn answer(&mut self, time: TaskTime, id: TaskId, key: &str) -> Result<bool, TaskError> {
        let number = self.running(time, id)?;
        Ok(self.take_input(time, number, key))
    }

    /// Sets the status message of a running task. `None` removes it.
    ///
    /// # Errors
    /// [`TaskError::Unknown`] or [`Final`](TaskError::Final) if the task is over.
    pub fn set_message(
        &mut self,
        time: TaskTime,
        id: TaskId,
        message: Option<&str>,
    ) -> Result<(), TaskError> {
        let number = self.running(time, id)?;
        if let Some(task) = self.store.get_mut(number) {
            task.set_message(message, self.limits.message_bytes_max);
            task.touch(time);
        }
        self.announce(number);
        Ok(())
    }

    /// Returns the params of a notification of progress (`notifications/progress`), with the
    /// [`related_task`](Self::related_task) in its `_meta`.
    ///
    /// Returns `None` if there is nothing to send: the request did not ask for progress, the task
    /// is over, the value does not exceed all earlier ones, or the protocol is the extension, which
    /// has no progress.
    // PRG-05, PRG-11, PRG-12, PRG-14.
    pub fn progress(&mut self, id: TaskId, progress: &Progress) -> Option<Raw> {
        let number = self.store.number(id)?;
        let task = self.store.get_mut(number)?;
        let token = task.progress_token.as_ref()?;
        // Also false for what is not a number.
        if !(progress.progress.is_finite() && progress.progress > task.progress) {
            return None;
        }
        let mut params = Vec::new();
        let mut object = Object::begin(&mut params);
        token.write(object.key("progressToken"));
        progress.write_members(&mut object, true);
        object.raw("_meta", related_meta(&id.to_text()).as_bytes());
        object.end();
        task.progress = progress.progress;
        Some(Raw::from_written(params))
    }

    /// Replaces what is known about a running task after a restart, and reports
    /// [`TaskEvent::Checkpoint`].
    ///
    /// # Errors
    /// [`TaskError::Unknown`] or [`Final`](TaskError::Final) if the task is over, and
    /// [`BytesFull`](TaskError::BytesFull) if the checkpoint cannot be kept; the old one then
    /// remains.
    pub fn set_restart(
        &mut self,
        time: TaskTime,
        id: TaskId,
        restart: OnRestart,
    ) -> Result<(), TaskError> {
        let number = self.running(time, id)?;
        if let OnRestart::Run(checkpoint) = &restart {
            let Some(task) = self.store.get(number) else { return Err(TaskError::Unknown) };
            // The new checkpoint takes the place of the old one.
            let more = checkpoint.as_bytes().len().saturating_sub(task.checkpoint_bytes());
            let account = task.record.account();
            self.make_room(&account, 0, more)?;
        }
        if let Some(task) = self.store.get_mut(number) {
            task.record.restart = restart;
        }
        self.store.settle(number);
        self.queue(TaskEvent::Checkpoint { task: id });
        Ok(())
    }
}
