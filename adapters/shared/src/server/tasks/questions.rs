//! The input requests of tasks of 2025-11-25, which are requests to the client.
//!
//! Each waits until the client asks for the result of the task, and is sent on the stream of that
//! request: the client then knows the task, and needs no other stream. A client that polls the task
//! instead receives the requests without their own stream.

use std::mem::{replace, take};
use std::sync::{Arc, PoisonError, Weak};
use std::time::Duration;

use mcp_proto::schema::InputRequest;
use mcp_proto::server::{Command, Server as Machine};
use mcp_proto::tasks::TaskTable;
use mcp_proto::{CallError, CallOptions, IncomingId, Misuse, Payload, Raw};

use super::table::TaskRun;
use super::waiting::WaitingClient;
use crate::error::Error;
use crate::server::handler::client_handle::{CallState, CancelOnDrop, OpenCall};
use crate::transport::link::Link;

/// Takes the answer to the input request with this key.
pub(super) type OnAnswer = fn(&Arc<TaskRun>, &str, Result<Raw, Error>);

/// How a client is asked, and what becomes of its answer.
#[derive(Clone)]
struct QuestionRoute {
    link: Weak<Link<Machine>>,
    /// The request for the result of the task.
    parent: Option<IncomingId>,
    /// The number of that request; 0 if there is none.
    number: u64,
    on_answer: OnAnswer,
}

/// Sends the input requests of a task that wait, if the client waits for the result of the task.
// TSK-14: clients ask for the result when the status is `input_required`.
pub(super) fn send_questions(run: &Arc<TaskRun>, on_answer: OnAnswer) {
    send_questions_after(run, 0, on_answer);
}

/// Like [`send_questions`], to a client whose request has a higher number than `after`.
fn send_questions_after(run: &Arc<TaskRun>, after: u64, on_answer: OnAnswer) {
    if let Some(WaitingClient { number, link, incoming }) =
        run.tasks.result_request(run.task, after)
    {
        let mut questions = run.questions.lock().unwrap_or_else(PoisonError::into_inner);
        let unsent = questions.as_mut().map(|round| take(&mut round.unsent)).unwrap_or_default();
        drop(questions);
        let parent = Some(incoming);
        send_all(run, unsent, &QuestionRoute { link, parent, number, on_answer });
    }
}

/// Sends the input requests that wait to a client that polls the task again, instead of asking for
/// its result.
pub(super) fn on_polled(run: &Arc<TaskRun>, link: &Arc<Link<Machine>>, on_answer: OnAnswer) {
    let mut questions = run.questions.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(round) = questions.as_mut() else { return };
    if replace(&mut round.is_polled, true) {
        let unsent = take(&mut round.unsent);
        drop(questions);
        let link = Arc::downgrade(link);
        send_all(run, unsent, &QuestionRoute { link, parent: None, number: 0, on_answer });
    }
}

fn send_all(run: &Arc<TaskRun>, unsent: Vec<(Box<str>, InputRequest)>, route: &QuestionRoute) {
    for (key, request) in unsent {
        send_question(run, route, key, request);
    }
}

/// Sends an input request, which is withdrawn if the task ends before the answer.
fn send_question(run: &Arc<TaskRun>, route: &QuestionRoute, key: Box<str>, asked: InputRequest) {
    let (run, route) = (Arc::clone(run), route.clone());
    let workers = Arc::clone(&run.link);
    workers.shared.workers.spawn_on_runtime(Box::pin(async move {
        let answer = run.cancelled.run_until_set(ask(&run, &route, &asked)).await;
        match answer {
            None => {}
            // Kept for the next request for the result, which may have come already.
            Some(Err(
                Error::Misuse(Misuse::Closed | Misuse::Stale | Misuse::Undeclared)
                | Error::Call(CallError::Lost),
            )) => {
                let mut questions = run.questions.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(round) = questions.as_mut() {
                    round.unsent.push((key, asked));
                }
                drop(questions);
                send_questions_after(&run, route.number, route.on_answer);
            }
            Some(answer) => (route.on_answer)(&run, &key, answer),
        }
    }));
}

/// Sends a request to the client and waits for the result. Dropping the future cancels the request.
// TSK-15: with the task in `_meta`.
async fn ask(run: &TaskRun, route: &QuestionRoute, asked: &InputRequest) -> Result<Raw, Error> {
    let link = route.link.upgrade().ok_or(Misuse::Closed)?;
    let params = asked.params.as_ref().map_or_else(Raw::empty_object, |params| params.0.clone());
    let params = with_related_task(&params, &TaskTable::related_task(run.task));
    let open = Arc::new(OpenCall::default());
    let sent = link.with_room(ASK_PATIENCE, |state, now| {
        let (method, params) = (&*asked.method, Payload::Value(&params));
        let options = CallOptions { parent: route.parent, ..CallOptions::default() };
        let call = state.connection.call(now, Command::Call { method, params, options })?;
        state.role.insert_call(call, Arc::clone(&open));
        Ok(call)
    });
    let call = sent.await?;
    let _cancel = CancelOnDrop { link, call };
    Ok(open.when(CallState::take).await?)
}

fn with_related_task(params: &Raw, related: &Raw) -> Raw {
    let mut object: serde_json::Map<String, serde_json::Value> = params.parse().unwrap_or_default();
    let meta = object.entry("_meta").or_insert_with(|| serde_json::json!({}));
    if let (Some(meta), Ok(related)) = (meta.as_object_mut(), related.parse()) {
        meta.insert("io.modelcontextprotocol/related-task".to_owned(), related);
    }
    Raw::new(&object).unwrap_or_else(|_| params.clone())
}

/// How long an input request waits for room in the output queue.
const ASK_PATIENCE: Duration = Duration::from_secs(10);
