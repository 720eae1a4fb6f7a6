//! The reply of a task's handler: its outcome, or input requests, after which it runs again.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use mcp_proto::schema::{Encode, InputRequest};
use mcp_proto::server::Command;
use mcp_proto::tasks::{TaskError, TaskProtocol};
use mcp_proto::{Context, ErrorObject, NeededInput, Payload, Progress, Raw, code};

use super::begin::{context_of, start_run};
use super::questions::send_questions;
use super::table::{Questions, TaskRun};
use crate::box_future::BoxFuture;
use crate::error::Error;
use crate::server::handler::Resolution;
use crate::server::handler::replies::handler_failed;
use crate::server::handler::reply::HandlerReply;
use crate::server::handler::round_state::RoundState;
use crate::server::handler::running_task::RunningTask;
use crate::server::handler::undeclared::undeclared;

impl RunningTask for TaskRun {
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(Arc::clone(&self.tasks.thread).sleep(duration))
    }

    fn progress(&self, progress: &Progress) {
        let task = self.task;
        if let Some(message) = &progress.message {
            // A task that is over keeps its message.
            let _over =
                self.tasks.with(|state, time| state.table.set_message(time, task, Some(message)));
        }
        // Its token belongs to the connection of the call.
        if self.restarts > 0 {
            return;
        }
        // PRG-05, PRG-12: under the lock of the connection, so that values leave in order, and none
        // after the outcome. A client that is gone misses it.
        let _gone = self.link.with(|state, now| {
            let params = self.tasks.lock().table.progress(task, progress);
            let Some(params) = params else { return Ok(()) };
            let (method, params) = ("notifications/progress", Payload::Value(&params));
            state.connection.run(now, Command::Notify { method, params })
        });
    }

    fn restarts(&self) -> u32 {
        self.restarts
    }

    fn keep(&self, rounds: Option<String>) {
        let Some(checkpoint) = &self.checkpoint else { return };
        // If it is too large, the earlier one remains. Under the lock of the table, so that the
        // last one wins; that of the checkpoint is released first, since events may come
        // immediately.
        let _too_large = self.tasks.with(|state, time| {
            let mut checkpoint = checkpoint.lock().unwrap_or_else(PoisonError::into_inner);
            checkpoint.rounds = rounds;
            let restart = checkpoint.to_restart();
            drop(checkpoint);
            state.table.set_restart(time, self.task, restart)
        });
    }

    fn deliver(self: Arc<Self>, reply: HandlerReply) {
        match reply {
            HandlerReply::Result(result) => complete(&self, &*result),
            HandlerReply::Encoded(result) => complete(&self, &result),
            HandlerReply::Error(error) => fail(&self, error),
            HandlerReply::InputRequired(questions, rounds, _) => {
                self.keep(rounds.clone());
                let round = Questions { rounds, ..Questions::default() };
                ask(&self, &questions, round);
            }
        }
    }
}

fn complete(run: &TaskRun, result: &dyn Encode) {
    let Ok(result) = result.to_raw(run.context.peer.revision) else {
        return fail(run, ErrorObject::internal("the result cannot be encoded for this client"));
    };
    run.tasks.with(|state, time| {
        // A task that is over stays as it is; a result that is too large fails the task.
        let _over = state.table.complete(time, run.task, result);
    });
    run.tasks.forget(run.task);
}

pub(super) fn fail(run: &TaskRun, error: ErrorObject) {
    run.tasks.with(|state, time| {
        let _over = state.table.fail(time, run.task, error);
    });
    run.tasks.forget(run.task);
}

/// Asks the client.
fn ask(run: &Arc<TaskRun>, questions: &[(String, NeededInput)], mut round: Questions) {
    if questions.is_empty() {
        return run_again(run, round);
    }
    let revision = run.context.peer.revision;
    let mut requests = Vec::new();
    for (_, question) in questions {
        let Ok(request) = question.to_request(revision) else {
            let why = "the input requests of the handler cannot be sent";
            return fail(run, ErrorObject::internal(why));
        };
        if let Some(missing) = missing(&request, &run.context) {
            return fail(run, missing);
        }
        requests.push(request);
    }
    let names = questions.iter().map(|(name, _)| name.clone());
    let asked = run.tasks.with(|state, time| {
        let keys = state.table.ask(time, run.task, requests.clone())?;
        // Before the lock is released: an answer may come immediately.
        round.open = keys.iter().cloned().zip(names).collect();
        if TaskProtocol::of(revision) == Some(TaskProtocol::Core) {
            round.unsent = keys.into_iter().zip(requests).collect();
        }
        *run.questions.lock().unwrap_or_else(PoisonError::into_inner) = Some(round);
        Ok::<_, TaskError>(())
    });
    if let Err(error) = asked {
        return fail(run, error.to_error());
    }
    send_questions(run, on_answer);
}

/// Returns the error if the client did not declare what an input request needs.
fn missing(request: &InputRequest, context: &Context) -> Option<ErrorObject> {
    let what = undeclared(request, &context.peer)?;
    let why = format!("the task needs {what}, which the client does not support");
    Some(ErrorObject::new(code::MISSING_CLIENT_CAPABILITY, why))
}

/// Takes the client's answer to an input request of a task of 2025-11-25.
pub(super) fn on_answer(run: &Arc<TaskRun>, key: &str, answer: Result<Raw, Error>) {
    match answer {
        Ok(response) => {
            let taken = run.tasks.with(|state, time| state.table.answer(time, run.task, key));
            if taken == Ok(true) {
                answered(run, key, response);
            }
        }
        Err(why) => {
            fail(run, ErrorObject::internal(format!("the client did not answer: {why}")));
            // The other questions are withdrawn.
            run.cancelled.set();
        }
    }
}

/// Takes the answer of an input request. After the last one, the handler runs again.
pub(super) fn answered(run: &Arc<TaskRun>, key: &str, answer: Raw) {
    let mut open = run.questions.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(round) = open.as_mut() else { return };
    let Some(name) = round.open.remove(key) else { return };
    round.answers.push((name, answer));
    if !round.open.is_empty() {
        return;
    }
    let round = open.take();
    drop(open);
    if let Some(round) = round {
        run_again(run, round);
    }
}

/// Runs the handler of a task again, with all answers so far.
fn run_again(run: &Arc<TaskRun>, round: Questions) {
    let Questions { answers, rounds, .. } = round;
    let rounds = match RoundState::read(rounds.as_deref(), None) {
        Ok(rounds) => rounds.with_answers(answers),
        Err(error) => return fail(run, error),
    };
    run.keep(rounds.to_text());
    match (run.steps.resolve)(&run.link, &run.request, &run.context) {
        Ok((Resolution::Run(job, pace), _)) => {
            let cx = context_of(run, rounds, &pace);
            start_run(run, cx, job, &pace);
        }
        Ok((Resolution::Answer(result), _)) => complete(run, &result),
        Ok((Resolution::Unknown, _)) => fail(run, handler_failed()),
        Err(error) => fail(run, error),
    }
}
