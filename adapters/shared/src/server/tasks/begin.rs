//! The beginning of a task, and the start of its handler.

use std::sync::{Arc, Mutex};

use mcp_proto::ErrorObject;
use mcp_proto::server::{Command, Server as Machine};
use mcp_proto::tasks::{NewTask, Requestor};

use super::checkpoint::Checkpoint;
use super::table::{ServerTasks, TaskRun};
use crate::exec::cancellation::Cancellation;
use crate::exec::pace::Pace;
use crate::server::handler::Job;
use crate::server::handler::context::{Cx, RequestState};
use crate::server::handler::replies::reply_now;
use crate::server::handler::reply::HandlerReply;
use crate::server::handler::round_state::RoundState;
use crate::server::handler::running_task::RunningTask;
use crate::server::handler::task_service::{TaskCall, TaskSteps};
use crate::tasks::random_id;
use crate::transport::link::Link;

/// Creates the task of a call, responds with it, and starts its handler.
pub(super) fn begin(
    link: &Arc<Link<Machine>>,
    tasks: &Arc<ServerTasks>,
    steps: TaskSteps,
    call: TaskCall,
) {
    let TaskCall { incoming, request, context, rounds, start, job, pace } = call;
    let fail = |error| reply_now(link, incoming, HandlerReply::Error(error));
    let task = match random_id().and_then(|task| tasks.start_thread().map(|()| task)) {
        Ok(task) => task,
        Err(error) => return fail(ErrorObject::internal(format!("no task: {error}"))),
    };
    let owner = tasks.owner(link, &context, start.protocol);
    let requestor = Requestor { principal: owner.as_ref(), protocol: start.protocol };
    let params_bytes = request.params.as_ref().map_or(0, |params| params.as_bytes().len());
    let checkpoint = (tasks.has_store() && start.restarts_max > 0)
        .then(|| Checkpoint::new(&request, &context, rounds.to_text()));
    let restart = checkpoint.as_ref().map(Checkpoint::to_restart).unwrap_or_default();
    let source = tasks.source(link, &context);
    let new = NewTask { request_bytes: params_bytes, restart, source, ..start.new };
    let run = Arc::new(TaskRun {
        task,
        tasks: Arc::clone(tasks),
        cancelled: Arc::new(Cancellation::default()),
        link: Arc::clone(link),
        incoming,
        request,
        context,
        steps,
        questions: Mutex::default(),
        restarts: 0,
        checkpoint: checkpoint.map(Mutex::new),
    });
    let created = tasks.with(|state, time| {
        let created = state.table.create(time, requestor, task, new)?;
        state.runs.insert(task, Arc::clone(&run));
        Ok::<_, mcp_proto::tasks::TaskError>(created)
    });
    let created = match created {
        Ok(created) => created,
        Err(error) => return fail(error.to_error()),
    };
    let cx = context_of(&run, rounds, &pace);
    // TSK-28: kept before the client learns the id.
    tasks.save_new(task, move |saved| {
        // No client knows the id.
        let withdraw = || run.tasks.with(|state, time| state.table.withdraw(time, task));
        if saved.is_err() {
            withdraw();
            // The error may name files of the server.
            let error = ErrorObject::internal("the task cannot be saved");
            return reply_now(&run.link, incoming, HandlerReply::Error(error));
        }
        let respond = Command::respond(incoming, &created);
        if run.link.with(|state, now| state.connection.run(now, respond)).is_err() {
            // The client has cancelled the call.
            return withdraw();
        }
        start_run(&run, cx, job, &pace);
    });
}

/// Creates the context of a run of a task's handler.
pub(super) fn context_of(run: &Arc<TaskRun>, rounds: RoundState, pace: &Arc<Pace>) -> Cx {
    let (request, context) = (run.request.clone(), run.context.clone());
    let state = RequestState::new(&run.link, run.incoming, request, context, rounds, pace);
    let (cancelled, task) =
        (Arc::clone(&run.cancelled), Some(Arc::clone(run) as Arc<dyn RunningTask>));
    Cx { request: Arc::new(RequestState { cancelled, task, ..state }) }
}

/// Starts a run of a task's handler. Its reply goes to the task.
pub(super) fn start_run(run: &Arc<TaskRun>, cx: Cx, job: Job, pace: &Arc<Pace>) {
    run.link.lock().role.insert_task(run.incoming, Arc::clone(run) as Arc<dyn RunningTask>);
    // Only now: a task that is stopped after this looks for its handler.
    if run.cancelled.is_set() {
        return drop(run.link.lock().role.take_task(run.incoming));
    }
    (run.steps.run_job)(&run.link, cx, job, pace);
}
