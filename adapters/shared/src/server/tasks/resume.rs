//! The tasks that ran when the server ended: their handlers start again, or they fail.

use std::sync::{Arc, Mutex};

use mcp_proto::ErrorObject;
use mcp_proto::server::Server as Machine;
use mcp_proto::tasks::TaskId;

use super::begin::{context_of, start_run};
use super::checkpoint::Checkpoint;
use super::table::{ServerTasks, TaskRun};
use crate::exec::cancellation::Cancellation;
use crate::server::handler::Resolution;
use crate::server::handler::replies::handler_failed;
use crate::server::handler::round_state::RoundState;
use crate::server::handler::task_service::TaskSteps;
use crate::transport::link::Link;

/// Starts the handlers of the tasks that ran before a restart of the server.
///
/// `machine` creates a connection without a client, and `connect` what handlers need of it.
pub(super) fn resume(
    tasks: &Arc<ServerTasks>,
    steps: TaskSteps,
    machine: &dyn Fn() -> Option<Machine>,
    connect: &dyn Fn(Machine) -> Arc<Link<Machine>>,
) {
    for (task, kept) in tasks.take_restored() {
        let resumed = Checkpoint::read(&kept).zip(machine()).ok_or_else(|| unknown("is damaged"));
        let resumed = resumed.and_then(|(checkpoint, machine)| {
            resume_one(tasks, steps, task, checkpoint, machine, connect)
        });
        if let Err(error) = resumed {
            tasks.with(|state, time| {
                let _over = state.table.fail(time, task, error);
            });
        }
    }
}

fn resume_one(
    tasks: &Arc<ServerTasks>,
    steps: TaskSteps,
    task: TaskId,
    mut checkpoint: Checkpoint,
    mut machine: Machine,
    connect: &dyn Fn(Machine) -> Arc<Link<Machine>>,
) -> Result<(), ErrorObject> {
    let call = checkpoint.replay(&mut machine);
    let (incoming, request, context) = call.ok_or_else(|| unknown("is no longer accepted"))?;
    let link = connect(machine);
    // Nothing drives this connection, so nothing may wait for it.
    link.abandon();
    let rounds = RoundState::read(checkpoint.rounds.as_deref(), None)?;
    let (resolution, start) = (steps.resolve)(&link, &request, &context)?;
    let Resolution::Run(job, pace) = resolution else { return Err(handler_failed()) };
    checkpoint.restarts = checkpoint.restarts.saturating_add(1);
    let restarts = checkpoint.restarts;
    let max = start.map_or(0, |start| start.restarts_max);
    if restarts > max {
        return Err(ErrorObject::internal(format!(
            "the server was restarted while the task ran; the task was started again {} times, of \
             {max} that its tool allows (`TaskPolicy::restarts_max`)",
            restarts - 1
        )));
    }
    let restart = checkpoint.to_restart();
    let run = Arc::new(TaskRun {
        task,
        tasks: Arc::clone(tasks),
        cancelled: Arc::new(Cancellation::default()),
        link,
        incoming,
        request,
        context,
        steps,
        questions: Mutex::default(),
        restarts,
        checkpoint: Some(Mutex::new(checkpoint)),
    });
    let cx = context_of(&run, rounds, &pace);
    let kept = tasks.with(|state, time| {
        state.table.set_restart(time, task, restart)?;
        state.runs.insert(task, Arc::clone(&run));
        Ok::<_, mcp_proto::tasks::TaskError>(())
    });
    kept.map_err(mcp_proto::tasks::TaskError::to_error)?;
    // Counted before the handler starts: one that ends the process is not started again and again.
    tasks.save_new(task, move |saved| {
        if saved.is_err() {
            // The error of the store may name files of the server.
            return super::deliver::fail(&run, ErrorObject::internal("the task cannot be saved"));
        }
        if !run.cancelled.is_set() {
            start_run(&run, cx, job, &pace);
        }
    });
    Ok(())
}

fn unknown(why: &str) -> ErrorObject {
    ErrorObject::internal(format!("the server was restarted, and the call of the task {why}"))
}
