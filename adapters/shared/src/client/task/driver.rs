//! Polls a task over a connection, and answers its input requests.

use std::future::pending;
use std::sync::Arc;

use futures_lite::future::or;
use mcp_proto::client::Client as Machine;
use mcp_proto::schema::{Encode, InputRequest, TaskStatus};
use mcp_proto::tasks::{
    TaskOutcome, TaskPollEvent, TaskPollRequest, TaskPollRequestKind, TaskPoller, TaskProtocol,
    TaskTime,
};
use mcp_proto::{
    CallError, CallOptions, Era, ErrorObject, MessageEndpoint as _, Misuse, Progress, Raw, Request,
};

use crate::client::context::ClientCx;
use crate::client::in_flight::{InFlight, cancel_task, is_task};
use crate::client::request_handler::{Answer, handler_of, run_handler};
use crate::client::task::mailbox::Mailbox;
use crate::error::Error;
use crate::exec::cancellation::Cancellation;
use crate::transport::link::Link;

/// A task that is polled while [`next`](Self::next) is awaited. Dropping it stops the polls, and
/// does not cancel the task.
pub(crate) struct TaskDriver {
    link: Arc<Link<Machine>>,
    poller: TaskPoller,
    /// The request in flight, besides `tasks/update`.
    request: Option<(TaskPollRequestKind, InFlight)>,
    update: Option<InFlight>,
    mailbox: Arc<Mailbox>,
    /// Set when the answers of handlers are no longer wanted.
    over: Arc<Cancellation>,
    /// Why an input request was refused, which cancels the task.
    refusal: Option<ErrorObject>,
    /// The latest status.
    shown: (TaskStatus, Option<Box<str>>),
}

/// An update of a task, or its end.
pub(crate) enum TaskStep {
    /// The latest status, or progress since then.
    Status(TaskStatus, Option<Box<str>>, Option<Progress>),
    Over(Result<Raw, CallError>),
}

/// What ends the wait of a driver.
enum Wake {
    Responded(TaskPollRequestKind, Result<Raw, CallError>),
    Updated(Result<Raw, CallError>),
    Received,
    Due,
    Ended,
}

impl TaskDriver {
    /// Returns whether a result of a call that did not ask for a task creates one.
    // TSK-26: only with the extension, which lets `tools/call` alone create tasks.
    pub(crate) fn is_created_by(link: &Link<Machine>, result: &Raw) -> bool {
        link.shared.tasks.is_declared
            && protocol(link) == TaskProtocol::Extension
            && is_task(result)
    }

    /// Creates the driver of the task that this result creates.
    ///
    /// # Errors
    /// Fails if `created` is not such a result. Fails, and cancels the task, if the connection
    /// polls the maximum number of tasks already.
    ///
    /// `mailbox` receives its progress, which may have begun.
    pub(crate) fn new(
        link: &Arc<Link<Machine>>,
        created: &Raw,
        mailbox: Arc<Mailbox>,
    ) -> Result<Self, Error> {
        let limits = link.shared.tasks.limits.clone();
        let created = TaskPoller::new(time(link), protocol(link), created, limits);
        let driver = created.map_err(Error::from).and_then(|poller| {
            let id = String::from(poller.task_id());
            Self::of(link, poller, &mailbox).inspect_err(|_| cancel_task(link, &id))
        });
        driver.inspect_err(|_| link.lock().role.remove_task_call(&mailbox))
    }

    /// Creates the driver of a task that was created earlier.
    ///
    /// # Errors
    /// Fails if the connection polls the maximum number of tasks already.
    pub(crate) fn resume(link: &Arc<Link<Machine>>, id: &str) -> Result<Self, Error> {
        let limits = link.shared.tasks.limits.clone();
        let poller = TaskPoller::resume(time(link), protocol(link), id, limits);
        Self::of(link, poller, &Arc::default())
    }

    fn of(
        link: &Arc<Link<Machine>>,
        poller: TaskPoller,
        mailbox: &Arc<Mailbox>,
    ) -> Result<Self, Error> {
        register(link, &poller, mailbox)?;
        Ok(Self {
            link: Arc::clone(link),
            poller,
            request: None,
            update: None,
            mailbox: Arc::clone(mailbox),
            over: Arc::default(),
            refusal: None,
            shown: (TaskStatus::Working, None),
        })
    }

    pub(crate) fn id(&self) -> &str {
        self.poller.task_id()
    }

    /// Continues on another connection.
    pub(crate) fn move_to(&mut self, link: &Arc<Link<Machine>>) -> Result<(), Error> {
        if Arc::ptr_eq(link, &self.link) {
            return Ok(());
        }
        register(link, &self.poller, &self.mailbox)?;
        self.link.lock().role.remove_task(&self.mailbox);
        let time = time(&self.link);
        if let Some((kind, _)) = self.request.take() {
            self.poller.on_lost(time, kind);
        }
        if self.update.take().is_some() {
            self.poller.on_lost(time, TaskPollRequestKind::Update);
        }
        self.link = Arc::clone(link);
        Ok(())
    }

    /// Requests the cancellation of the task; [`next`](Self::next) waits for it.
    pub(crate) fn cancel(&mut self) {
        self.poller.cancel();
    }

    /// Cancels the task without waiting for the response, unless it is over. Stops its handlers.
    pub(crate) fn stop(&mut self) {
        self.over.set();
        if !self.poller.is_over() {
            self.request = None;
            cancel_task(&self.link, self.poller.task_id());
            self.poller.cancel();
            // The cancellation is not sent again.
            let time = time(&self.link);
            while let Some(request) = self.poller.poll_request(time) {
                self.poller.on_lost(time, kind_of(&request));
            }
        }
    }

    /// Polls the task until there is something new. May be dropped and called again.
    ///
    /// # Errors
    /// Fails if the connection has ended, or cannot send the requests of tasks. The task may
    /// continue on another connection.
    pub(crate) async fn next(&mut self) -> Result<TaskStep, Error> {
        loop {
            self.take_received();
            while let Some(event) = self.poller.poll_event() {
                match event {
                    TaskPollEvent::Status { status, message } => {
                        self.shown = (status, message);
                        return Ok(self.shown_with(None));
                    }
                    TaskPollEvent::Progress(progress) => {
                        return Ok(self.shown_with(Some(progress)));
                    }
                    TaskPollEvent::Input { key, request } => self.ask(key, request),
                    TaskPollEvent::Over(outcome) => {
                        self.over.set();
                        return Ok(TaskStep::Over(self.result(outcome)));
                    }
                    _ => {}
                }
            }
            if !self.send()? {
                // A loss may end the task.
                continue;
            }
            match self.wake().await {
                Wake::Responded(kind, outcome) => {
                    self.request = None;
                    self.on_outcome(kind, outcome);
                }
                Wake::Updated(outcome) => {
                    self.update = None;
                    self.on_outcome(TaskPollRequestKind::Update, outcome);
                }
                Wake::Received | Wake::Due => {}
                Wake::Ended => return Err(CallError::Lost.into()),
            }
        }
    }

    fn shown_with(&self, progress: Option<Progress>) -> TaskStep {
        let (status, message) = self.shown.clone();
        TaskStep::Status(status, message, progress)
    }

    fn take_received(&mut self) {
        let time = time(&self.link);
        let received = self.mailbox.take();
        // Before the status, which may be the last one.
        if let Some(progress) = received.progress {
            self.poller.on_progress(progress);
        }
        // TSK-17: the notification only saves a poll.
        if let Some(params) = received.status {
            self.poller.on_notification(time, &params);
        }
        for (key, answer) in received.answers {
            match answer {
                Ok(answer) => {
                    self.poller.answer(&key, answer);
                }
                Err(error) => {
                    self.refusal.get_or_insert(error);
                    self.poller.cancel();
                }
            }
        }
    }

    /// Sends what is due. Returns whether that was possible.
    fn send(&mut self) -> Result<bool, Error> {
        let mut is_sent = true;
        while let Some(request) = self.poller.poll_request(time(&self.link)) {
            let kind = kind_of(&request);
            match start(&self.link, &request) {
                Ok(call) if kind == TaskPollRequestKind::Update => self.update = Some(call),
                Ok(call) => {
                    // A poll is answered immediately: only a request for the result is withdrawn.
                    if let Some((TaskPollRequestKind::Get, poll)) =
                        self.request.replace((kind, call))
                    {
                        poll.detach();
                    }
                }
                Err(misuse) => {
                    is_sent = false;
                    self.poller.on_lost(time(&self.link), kind);
                    match misuse {
                        Misuse::Blocked | Misuse::NotReady => {}
                        Misuse::Closed => return Err(CallError::Lost.into()),
                        other => return Err(other.into()),
                    }
                }
            }
        }
        Ok(is_sent)
    }

    fn on_outcome(&mut self, kind: TaskPollRequestKind, outcome: Result<Raw, CallError>) {
        let time = time(&self.link);
        match outcome {
            Ok(result) => self.poller.on_result(time, kind, &result),
            Err(CallError::Refused(error)) => self.poller.on_error(time, kind, &error),
            Err(_) => self.poller.on_lost(time, kind),
        }
    }

    async fn wake(&mut self) -> Wake {
        let Self { link, poller, request, update, mailbox, .. } = self;
        let responded = async {
            match request {
                Some((kind, call)) => Wake::Responded(*kind, call.outcome(&mut None).await),
                None => pending().await,
            }
        };
        let updated = async {
            match update {
                Some(call) => Wake::Updated(call.outcome(&mut None).await),
                None => pending().await,
            }
        };
        let received = async {
            mailbox.wait().await;
            Wake::Received
        };
        let ended = async {
            link.shared.ended.wait().await;
            Wake::Ended
        };
        let due = async {
            match poller.poll_timeout() {
                Some(at) => link.sleep_until(at).await,
                None => pending().await,
            }
            Wake::Due
        };
        or(or(responded, updated), or(received, or(ended, due))).await
    }

    /// Runs the handler of an input request.
    // TSK-32: the poller reports each once.
    fn ask(&self, key: Box<str>, request: InputRequest) {
        let mailbox = Arc::clone(&self.mailbox);
        let revision = self.link.inspect(|state| state.role.peer.as_ref().map(|it| it.revision));
        let send = move |answer: Option<Answer>| {
            let answer = answer.unwrap_or_else(|| Err(ErrorObject::internal("the handler failed")));
            let encoded = answer.and_then(|answer| {
                let encoded = revision.and_then(|revision| answer.to_raw(revision).ok());
                encoded.ok_or_else(|| ErrorObject::internal("the answer cannot be encoded as JSON"))
            });
            mailbox.answer(key, encoded);
        };
        let InputRequest { method, params, .. } = request;
        // A task is no channel of higher trust: the requests that a result may contain.
        if !matches!(&*method, "elicitation/create" | "roots/list" | "sampling/createMessage") {
            return send(Some(Err(ErrorObject::method_not_found(&method))));
        }
        let request = Request::new(&*method, params.map(|params| params.0));
        let incoming = self.link.lock().role.next_input();
        let over = Arc::clone(&self.over);
        let cx = ClientCx::of_request(Arc::clone(&self.link), &request, None, over);
        run_handler(handler_of(&self.link, &request), incoming, request, cx, send);
    }

    fn result(&mut self, outcome: TaskOutcome) -> Result<Raw, CallError> {
        match outcome {
            TaskOutcome::Completed(result) => Ok(result),
            TaskOutcome::Failed(error) | TaskOutcome::NotFound(error) => {
                Err(CallError::Refused(error))
            }
            TaskOutcome::Cancelled => {
                Err(self.refusal.take().map_or(CallError::Cancelled, CallError::InputRefused))
            }
            TaskOutcome::Expired => Err(CallError::TimedOut),
            TaskOutcome::TooManyInputs => Err(CallError::Invalid(
                "the task asked for too much input (`PollLimits::inputs_max`)".into(),
            )),
            other => Err(CallError::Invalid(format!("unknown outcome {other:?}").into())),
        }
    }
}

impl Drop for TaskDriver {
    fn drop(&mut self) {
        self.over.set();
        self.link.lock().role.remove_task(&self.mailbox);
    }
}

/// Returns the protocol for tasks that a connection uses.
fn protocol(link: &Link<Machine>) -> TaskProtocol {
    match link.inspect(|state| state.role.peer.as_ref().map(|peer| peer.revision.era())) {
        Some(Era::Modern) => TaskProtocol::Extension,
        Some(Era::Legacy) | None => TaskProtocol::Core,
    }
}

/// Returns the time. Only stored records need the wall clock.
fn time(link: &Link<Machine>) -> TaskTime {
    TaskTime { now: link.clock.now(), ..TaskTime::default() }
}

/// Directs the updates of a task to its mailbox.
fn register(
    link: &Link<Machine>,
    poller: &TaskPoller,
    mailbox: &Arc<Mailbox>,
) -> Result<(), Error> {
    let max = link.shared.tasks.count_max;
    if link.lock().role.add_task(poller.task_id(), mailbox, max) {
        return Ok(());
    }
    let why = format!("the connection polls {max} tasks already (`ClientTasks::tasks_max`)");
    Err(CallError::Invalid(why.into()).into())
}

fn kind_of(request: &TaskPollRequest) -> TaskPollRequestKind {
    match request {
        TaskPollRequest::Get(_) => TaskPollRequestKind::Get,
        TaskPollRequest::Result(_) => TaskPollRequestKind::Result,
        TaskPollRequest::Update(_) => TaskPollRequestKind::Update,
        TaskPollRequest::Cancel(_) => TaskPollRequestKind::Cancel,
    }
}

/// Sends a request of a poller.
fn start(link: &Arc<Link<Machine>>, request: &TaskPollRequest) -> Result<InFlight, Misuse> {
    let mut options = CallOptions::default();
    let (method, params): (_, &dyn Encode) = match request {
        TaskPollRequest::Get(params) => ("tasks/get", params),
        TaskPollRequest::Result(params) => {
            // TMO-12: answered when the task is over.
            let long = link.inspect(|state| state.connection.limits().call_timeout_max);
            options.timeout = Some(long);
            ("tasks/result", params)
        }
        TaskPollRequest::Update(params) => ("tasks/update", params),
        TaskPollRequest::Cancel(params) => ("tasks/cancel", params),
    };
    InFlight::try_start(link, method, params, options)
}
