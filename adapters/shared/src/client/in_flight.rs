//! A request in flight: its updates until they are taken, and its cancellation.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use event_listener::EventListener;
use mcp_proto::client::{Client as Machine, Command};
use mcp_proto::schema::{CancelTask, Encode};
use mcp_proto::{CallError, CallId, CallOptions, Instant, Misuse, Payload, Progress, Raw};

use crate::client::call_hooks::{AfterHooks, has_type};
use crate::client::questions::{Answering, Question};
use crate::error::Error;
use crate::exec::watched::Watched;
use crate::transport::link::{Link, State};

/// The maximum number of unread progress notifications; beyond it, the oldest is dropped.
const PROGRESS_MAX: usize = 256;

/// The maximum size of unread progress messages in bytes. The latest message is always kept.
const PROGRESS_BYTES_MAX: usize = 1 << 20;

/// How long a call without a timeout waits for room to be sent.
pub(crate) const START_PATIENCE: Duration = Duration::from_secs(60);

/// A request in flight. Dropping it cancels the request.
pub(crate) struct InFlight {
    link: Arc<Link<Machine>>,
    call: CallId,
    slot: Arc<CallSlot>,
    /// The result was taken, or the request was cancelled.
    is_over: bool,
    /// Whether the result can create a task, and does not only describe one.
    creates_tasks: bool,
}

/// A callback for progress notifications.
pub(crate) type OnProgress<'c> = Box<dyn FnMut(Progress) + Send + 'c>;

impl InFlight {
    /// Sends a request with `send`, retrying for at most `patience` while there is no room. The
    /// hooks run when the request has ended.
    pub(crate) async fn start(
        link: &Arc<Link<Machine>>,
        patience: Duration,
        after: Option<Box<AfterHooks>>,
        answering: Answering,
        mut send: impl FnMut(&mut State<Machine>, Instant) -> Result<CallId, Misuse>,
    ) -> Result<Self, Error> {
        let slot = Arc::new(CallSlot::new(answering));
        slot.state.lock().after = after;
        let sent = link
            .with_room_in_turn(patience, |state, now| {
                let call = send(state, now)?;
                state.role.insert_call(call, Arc::clone(&slot));
                Ok(call)
            })
            .await;
        let call = sent.inspect_err(|error| {
            if let Some(mut hooks) = slot.take_hooks() {
                hooks.unsent(error);
            }
        })?;
        Ok(Self { link: Arc::clone(link), call, slot, is_over: false, creates_tasks: true })
    }

    /// Sends a request that creates no task, if there is room, without hooks.
    pub(crate) fn try_start(
        link: &Arc<Link<Machine>>,
        method: &str,
        params: &dyn Encode,
        options: CallOptions,
    ) -> Result<Self, Misuse> {
        let slot = Arc::new(CallSlot::new(Answering::Nothing));
        let params = Payload::Value(params);
        let call = link.with(|state, now| {
            let sent = state.connection.call(now, Command::Call { method, params, options });
            sent.inspect(|call| state.role.insert_call(*call, Arc::clone(&slot)))
        })?;
        Ok(Self { link: Arc::clone(link), call, slot, is_over: false, creates_tasks: false })
    }

    pub(crate) const fn link(&self) -> &Arc<Link<Machine>> {
        &self.link
    }

    pub(crate) const fn call(&self) -> CallId {
        self.call
    }

    pub(crate) fn slot(&self) -> &CallSlot {
        &self.slot
    }

    /// Waits for the outcome, which is taken once.
    pub(crate) async fn outcome(
        &mut self,
        progress: &mut Option<OnProgress<'_>>,
    ) -> Result<Raw, CallError> {
        loop {
            match self.next().await {
                CallUpdate::Progress(update) => {
                    if let Some(callback) = progress {
                        callback(update);
                    }
                }
                // Calls whose code answers questions are not waited for like this.
                CallUpdate::Question(question) => drop(question),
                CallUpdate::Completed(outcome) => return outcome,
            }
        }
    }

    /// Waits for the next update.
    pub(crate) async fn next(&mut self) -> CallUpdate {
        let update = self.slot.next().await;
        self.is_over |= matches!(update, CallUpdate::Completed(_));
        update
    }

    /// Takes a question that has arrived.
    pub(crate) fn take_question(&self) -> Option<Question> {
        self.slot.state.lock().questions.pop_front()
    }

    /// Lets the request end by itself; its result is dropped.
    pub(crate) fn detach(mut self) {
        self.is_over = true;
    }

    /// Cancels the request, unless it is over. A task that it has created is cancelled too.
    // TSK-34: the result may have arrived without having been taken.
    pub(crate) fn cancel(&mut self, reason: &str) {
        if std::mem::replace(&mut self.is_over, true) {
            return;
        }
        let cancel = Command::Cancel { call: self.call, reason };
        let _over_already = self.link.with(|state, now| state.connection.run(now, cancel));
        if self.creates_tasks
            && let Some(Ok(result)) = self.slot.take_outcome()
            && let Some(task_id) = created_task_id(&result)
        {
            cancel_task(&self.link, &task_id);
        }
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.cancel("no longer wanted");
    }
}

/// Returns the id of the task that a request has created, if its result says so.
pub(crate) fn created_task_id(result: &Raw) -> Option<String> {
    let flat = || is_task(result).then(|| result.clone());
    let task = result.member("task").or_else(flat)?;
    Some(task.member("taskId")?.to_text()?.into_owned())
}

/// Returns whether the `resultType` of a result says that it creates a task.
pub(crate) fn is_task(result: &Raw) -> bool {
    has_type(result, "task")
}

/// Cancels a task without waiting for the response. If that is not possible, the server ends the
/// task when its time is over.
pub(crate) fn cancel_task(link: &Arc<Link<Machine>>, task_id: &str) {
    let params = CancelTask::new(task_id);
    let (params, options) = (Payload::Value(&params), CallOptions::default());
    let cancel = Command::Call { method: "tasks/cancel", params, options };
    let _not_possible = link.with(|state, now| state.connection.call(now, cancel));
}

/// The updates of one call, until they are taken.
#[derive(Debug)]
pub(crate) struct CallSlot {
    state: Watched<CallSlotState>,
    answering: Answering,
    /// The code that holds the call waits for answers, and takes no questions.
    is_waiting: AtomicBool,
}

#[derive(Debug, Default)]
struct CallSlotState {
    questions: VecDeque<Question>,
    progress: VecDeque<Progress>,
    progress_bytes: usize,
    outcome: Option<Result<Raw, CallError>>,
    is_completed: bool,
    after: Option<Box<AfterHooks>>,
}

/// An update of a call, or its end.
pub(crate) enum CallUpdate {
    Progress(Progress),
    /// The server asks, and the code that holds the call answers.
    Question(Question),
    Completed(Result<Raw, CallError>),
}

impl CallSlotState {
    /// Returns the next progress, or the end of the call; `None` if there is neither yet.
    fn next_progress(&mut self) -> Option<Option<Progress>> {
        match self.take_progress() {
            None if !self.is_completed => None,
            progress => Some(progress),
        }
    }

    fn take_progress(&mut self) -> Option<Progress> {
        let progress = self.progress.pop_front()?;
        self.progress_bytes -= message_bytes(&progress);
        Some(progress)
    }
}

fn message_bytes(progress: &Progress) -> usize {
    progress.message.as_ref().map_or(0, |message| message.len())
}

impl CallSlot {
    fn new(answering: Answering) -> Self {
        Self { state: Watched::default(), answering, is_waiting: AtomicBool::new(false) }
    }

    /// Returns the source of the answers to questions about the call.
    pub(crate) const fn answering(&self) -> &Answering {
        &self.answering
    }

    /// Returns whether the code that holds the call takes questions now.
    pub(crate) fn takes_questions(&self) -> bool {
        !self.is_waiting.load(Ordering::Relaxed)
    }

    /// Notes that the code that holds the call waits for answers, or does so no longer.
    pub(crate) fn set_waiting(&self, is_waiting: bool) {
        self.is_waiting.store(is_waiting, Ordering::Relaxed);
    }

    /// Passes a question to the code that holds the call.
    pub(crate) fn ask(&self, question: Question) {
        let mut question = Some(question);
        self.state.change(|state| {
            if !state.is_completed {
                state.questions.extend(question.take());
            }
        });
    }

    pub(crate) fn progress(&self, progress: Progress) {
        self.state.change(|state| {
            state.progress_bytes += message_bytes(&progress);
            state.progress.push_back(progress);
            while state.progress.len() > PROGRESS_MAX
                || (state.progress_bytes > PROGRESS_BYTES_MAX && state.progress.len() > 1)
            {
                state.take_progress();
            }
        });
    }

    pub(crate) fn complete(&self, outcome: Result<Raw, CallError>) {
        if let Some(mut hooks) = self.take_hooks() {
            hooks.completed(&outcome);
        }
        self.state.change(|state| {
            state.outcome = Some(outcome);
            state.is_completed = true;
        });
    }

    /// Takes the hooks out, which must run without the lock.
    fn take_hooks(&self) -> Option<Box<AfterHooks>> {
        self.state.lock().after.take()
    }

    /// Takes the outcome, if the request is over and nothing has taken it.
    fn take_outcome(&self) -> Option<Result<Raw, CallError>> {
        self.state.lock().outcome.take()
    }

    async fn next(&self) -> CallUpdate {
        self.state
            .when(|state| {
                if let Some(progress) = state.take_progress() {
                    return Some(CallUpdate::Progress(progress));
                }
                if let Some(question) = state.questions.pop_front() {
                    return Some(CallUpdate::Question(question));
                }
                state.is_completed.then(|| {
                    CallUpdate::Completed(state.outcome.take().unwrap_or(Err(CallError::Lost)))
                })
            })
            .await
    }

    pub(crate) fn poll_progress(
        &self,
        context: &mut Context<'_>,
        waiting: &mut Option<EventListener>,
    ) -> Poll<Option<Progress>> {
        self.state.poll_when(context, waiting, CallSlotState::next_progress)
    }

    pub(crate) async fn next_progress(&self) -> Option<Progress> {
        self.state.when(CallSlotState::next_progress).await
    }
}
