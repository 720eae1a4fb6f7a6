//! The requests of clients about their tasks.

use std::sync::Arc;

use mcp_proto::schema::{
    CancelTask, ClientRequest, Decode, EmptyResult, GetTask, GetTaskPayload, ListTasks, UpdateTask,
};
use mcp_proto::server::Server as Machine;
use mcp_proto::tasks::{Requestor, TaskProtocol};
use mcp_proto::{Context, ErrorObject, IncomingId, Raw, Request};

use super::capabilities::LISTEN_KEY;
use super::deliver::{answered, on_answer};
use super::questions::{on_polled, send_questions};
use super::table::ServerTasks;
use crate::server::handler::reply::HandlerReply;
use crate::server::replies::reply_now;
use crate::transport::link::Link;

/// Serves a request about tasks; returns false for any other.
pub(crate) fn serve_task_request(
    link: &Arc<Link<Machine>>,
    tasks: &Arc<ServerTasks>,
    incoming: IncomingId,
    request: &Request,
    context: &Context,
) -> bool {
    let Some(protocol) = TaskProtocol::of(context.peer.revision) else { return false };
    if !protocol.serves(&request.method) {
        return false;
    }
    let owner = tasks.owner(link, context, protocol);
    let requestor = Requestor { principal: owner.as_ref(), protocol };
    match &*request.method {
        GetTaskPayload::METHOD => {
            let asked: GetTaskPayload = match decode(request) {
                Ok(asked) => asked,
                Err(error) => {
                    tasks.respond(link, incoming, Err(error));
                    return true;
                }
            };
            let id = &*asked.task_id;
            let response = tasks.wait(link, incoming, id, |table, time, listener| {
                table.result(time, requestor, id, listener)
            });
            match response {
                Some(response) => tasks.respond(link, incoming, response),
                None => tasks.run(id).iter().for_each(|run| send_questions(run, on_answer)),
            }
        }
        UpdateTask::METHOD => match update(tasks, requestor, request) {
            Ok(()) => {
                reply_now(link, incoming, HandlerReply::Result(Box::new(EmptyResult::new())));
            }
            Err(error) => reply_now(link, incoming, HandlerReply::Error(error)),
        },
        _ => tasks.respond(link, incoming, answer(link, tasks, requestor, request)),
    }
    true
}

/// Returns the tasks of a subscription that the client has.
// TSK-21, TSK-38: a client hears only about tasks of its own.
pub(crate) fn accept_task_ids(
    link: &Arc<Link<Machine>>,
    tasks: &ServerTasks,
    request: &Request,
    context: &Context,
) -> Vec<String> {
    let protocol = TaskProtocol::Extension;
    let owner = tasks.owner(link, context, protocol);
    let requestor = Requestor { principal: owner.as_ref(), protocol };
    tasks.watch(requestor, &request.subscribed_elements(LISTEN_KEY))
}

/// Answers a request that does not wait.
fn answer(
    link: &Arc<Link<Machine>>,
    tasks: &ServerTasks,
    requestor: Requestor<'_>,
    request: &Request,
) -> Result<Raw, ErrorObject> {
    match &*request.method {
        GetTask::METHOD => {
            let asked: GetTask = decode(request)?;
            let task =
                tasks.with(|state, time| state.table.get(time, requestor, &asked.task_id))?;
            tasks.run(&asked.task_id).iter().for_each(|run| on_polled(run, link, on_answer));
            Ok(task)
        }
        CancelTask::METHOD => {
            let asked: CancelTask = decode(request)?;
            tasks.with(|state, time| state.table.cancel(time, requestor, &asked.task_id))
        }
        ListTasks::METHOD => {
            let asked: ListTasks = decode(request)?;
            tasks.with(|state, time| state.table.list(time, requestor, asked.cursor.as_deref()))
        }
        method => Err(ErrorObject::method_not_found(method)),
    }
}

/// Passes answers on to the handler of a task.
fn update(
    tasks: &ServerTasks,
    requestor: Requestor<'_>,
    request: &Request,
) -> Result<(), ErrorObject> {
    let update: UpdateTask = decode(request)?;
    let answers = tasks.with(|state, time| {
        state.table.update(time, requestor, &update.task_id, &update.input_responses)
    })?;
    if let Some(run) = tasks.run(&update.task_id) {
        for answer in answers {
            answered(&run, &answer.key, answer.response);
        }
    }
    Ok(())
}

fn decode<T: Decode>(request: &Request) -> Result<T, ErrorObject> {
    request.decode().map_err(|error| ErrorObject::invalid_params(error.to_string()))
}
