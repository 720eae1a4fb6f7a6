//! The requests of clients about their tasks.

use std::sync::Arc;

use mcp_proto::schema::{
    CancelTask, ClientRequest, Decode, EmptyResult, GetTask, GetTaskPayload, ListTasks, UpdateTask,
};
use mcp_proto::server::Server as Machine;
use mcp_proto::tasks::{Requestor, TaskProtocol};
use mcp_proto::{Context, ErrorObject, IncomingId, Raw, Request};
use serde_json::Value;

use super::deliver::{answered, on_answer};
use super::questions::{on_polled, send_questions};
use super::table::ServerTasks;
use crate::server::handler::handler_error::HandlerError;
use crate::server::handler::replies::reply_now;
use crate::server::handler::reply::HandlerReply;
use crate::server::handler::required_scopes::check_scopes;
use crate::tasks::LISTEN_KEY;
use crate::transport::link::Link;

/// Serves a request about tasks; returns `None` for any other.
///
/// # Errors
/// Fails if the token of the caller lacks a scope of the tool; the request is then not answered.
pub(super) fn serve_task_request(
    link: &Arc<Link<Machine>>,
    tasks: &ServerTasks,
    incoming: IncomingId,
    request: &Request,
    context: &Context,
) -> Option<Result<(), HandlerError>> {
    let protocol = TaskProtocol::of(context.peer.revision)?;
    if !protocol.serves(&request.method) {
        return None;
    }
    let owner = tasks.owner(link, context, protocol);
    let requestor = Requestor { principal: owner.as_ref(), protocol };
    // AUT-24: as for the call. Tasks may always be listed and stopped.
    if !matches!(&*request.method, CancelTask::METHOD | ListTasks::METHOD) {
        let id = request.params.as_ref().and_then(|params| params.member("taskId"));
        let id = id.as_ref().and_then(Raw::to_text).unwrap_or_default();
        if let Err(error) = check_task_scopes(tasks, requestor, &id, context) {
            return Some(Err(error));
        }
    }
    match &*request.method {
        GetTaskPayload::METHOD => {
            let asked: GetTaskPayload = match decode(request) {
                Ok(asked) => asked,
                Err(error) => {
                    tasks.respond(link, incoming, Err(error));
                    return Some(Ok(()));
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
        _ => {
            let response = answer(link, tasks, requestor, request);
            let response = response.map(|told| match &*request.method {
                GetTask::METHOD => told,
                _ => hide_messages(tasks, requestor, context, told),
            });
            tasks.respond(link, incoming, response);
        }
    }
    Some(Ok(()))
}

/// Checks that the token of the caller has the scopes that the call of the task needed.
fn check_task_scopes(
    tasks: &ServerTasks,
    requestor: Requestor<'_>,
    id: &str,
    context: &Context,
) -> Result<(), HandlerError> {
    let scopes = tasks.lock().table.scopes(requestor, id).to_vec();
    if scopes.is_empty() {
        return Ok(());
    }
    check_scopes(context.caller.as_deref(), scopes.iter().map(String::as_str))
}

/// Removes the messages of tasks from a response if the token of the caller lacks the scopes of
/// their tools.
// AUT-24: an error or the progress of a tool is part of its result.
fn hide_messages(
    tasks: &ServerTasks,
    requestor: Requestor<'_>,
    context: &Context,
    response: Raw,
) -> Raw {
    let hide = |task: &mut Value| {
        let id = task.get("taskId").and_then(Value::as_str).unwrap_or_default();
        check_task_scopes(tasks, requestor, id, context).is_err()
            && task.as_object_mut().is_some_and(|task| task.remove("statusMessage").is_some())
    };
    let Ok(mut parsed) = response.parse::<Value>() else { return response };
    let has_hidden = match parsed.get_mut("tasks").and_then(Value::as_array_mut) {
        Some(list) => list.iter_mut().map(hide).fold(false, |one, other| one | other),
        None => hide(&mut parsed),
    };
    if has_hidden { parsed.into() } else { response }
}

/// Returns the tasks of a subscription that the client has, and whose tools its token may call.
// TSK-21, TSK-38: a client is notified only of its own tasks.
pub(super) fn accept_task_ids(
    link: &Link<Machine>,
    tasks: &ServerTasks,
    request: &Request,
    context: &Context,
) -> Vec<String> {
    let protocol = TaskProtocol::Extension;
    let owner = tasks.owner(link, context, protocol);
    let requestor = Requestor { principal: owner.as_ref(), protocol };
    let mut ids = request.subscribed_elements(LISTEN_KEY);
    // AUT-24: the notifications contain the results.
    ids.retain(|id| check_task_scopes(tasks, requestor, id, context).is_ok());
    tasks.watch(requestor, &ids)
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
