//! Serves requests: from the catalog, by a handler, or as a task.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use mcp_proto::catalog::CatalogEntry;
use mcp_proto::schema::{CallTool, ClientRequest as _};
use mcp_proto::server::Server as Machine;
use mcp_proto::{Context, ErrorObject, IncomingId, Request};

use crate::exec::cancellation::Cancellation;
use crate::exec::clock::unix_seconds;
use crate::exec::pace::Pace;
use crate::exec::workers::catch_panic;
use crate::server::connection::subscriptions::accept_subscription;
use crate::server::handler::context::{Cx, RequestState};
use crate::server::handler::handler_error::HandlerError;
use crate::server::handler::mirrored_headers::check_entry_headers;
use crate::server::handler::replies::{
    encode, handler_failed, keeps_state, reply_now, send_reply_async, send_reply_blocking,
};
use crate::server::handler::reply::HandlerReply;
use crate::server::handler::round_state::RoundState;
use crate::server::handler::state_sealing::StateSealing;
use crate::server::handler::task_service::{TaskCall, TaskSteps};
use crate::server::handler::task_start::{TaskStart, task_start};
use crate::server::handler::{EntryHandler, Job, Resolution, check_lookalikes};
use crate::transport::link::Link;

/// Why a request is not passed to a handler.
enum Refused {
    /// The access token lacks scopes.
    Forbidden(HandlerError),
    Invalid(ErrorObject),
}

impl From<ErrorObject> for Refused {
    fn from(error: ErrorObject) -> Self {
        Self::Invalid(error)
    }
}

/// Finds out how a request is served; `task` is set if it becomes a task.
fn resolve(
    link: &Arc<Link<Machine>>,
    request: &Request,
    context: &Context,
    task: &mut Option<TaskStart>,
) -> Result<Resolution, ErrorObject> {
    let find = || {
        let parts = &link.shared.parts;
        let (catalog, caller) = (parts.changes.catalog(), context.caller.as_deref());
        let seen = parts.visibility.view(&catalog, caller);
        if let Some(accepted) = accept_subscription(link, &seen, request, context) {
            return Ok(match accepted {
                Ok(acknowledged) => Resolution::Answer(Box::new(acknowledged)),
                Err(error) => Resolution::failed(error),
            });
        }
        let revision = context.peer.revision;
        if let Some(unknown) = seen.hidden_read(request, revision) {
            return Err(unknown);
        }
        seen.read(|view| {
            if let Some(resolved) = parts.unregistered.resolve(view, &seen, request, context) {
                return resolved;
            }
            // AUT-24: before the handler of another spelling runs.
            let has_added = parts.changes.has_added_scopes();
            if let Err(error) = check_lookalikes(view, request, caller, has_added) {
                return Ok(Resolution::failed(error));
            }
            let (method, params) = (&*request.method, request.params.as_ref());
            let mut admit = |entry: CatalogEntry<'_>, handler: &EntryHandler| {
                // AUT-24: before the arguments are checked, so that errors do not describe them.
                handler.scopes().check(caller).map_err(Refused::Forbidden)?;
                check_entry_headers(entry, params, context).map_err(Refused::Invalid)
            };
            let found = match view.lookup_admitted(method, params, revision, &mut admit) {
                Ok(found) => found,
                Err(Refused::Invalid(error)) => return Err(error),
                Err(Refused::Forbidden(error)) => return Ok(Resolution::failed(error)),
            };
            if link.shared.tasks.is_some() {
                *task = task_start(&found, request, context)?;
            }
            Ok(Resolution::new(found, &parts.checks))
        })
    };
    // The checks of arguments, of subscriptions and of entries belong to the application and may
    // panic.
    catch_unwind(AssertUnwindSafe(find)).unwrap_or_else(|_panic| Err(handler_failed()))
}

/// The maximum length of params that are checked on the thread that reads requests. Checks against
/// a JSON Schema take up to about 20 ns a byte.
const CHECKED_INLINE_MAX: usize = 16 * 1024;

/// Answers a request from the catalog, or starts its handler.
pub(in crate::server) fn serve(
    link: &Arc<Link<Machine>>,
    incoming: IncomingId,
    request: Request,
    context: Context,
) {
    if let Some(tasks) = &link.shared.tasks
        && let Some(served) = tasks.serve(link, incoming, &request, &context)
    {
        // Refused like a call of the tool.
        if let Err(error) = served
            && let Resolution::Run(job, pace) = Resolution::failed(error)
        {
            let rounds = RoundState::default();
            let cx = open_request(link, incoming, request, context, rounds, &pace, None);
            start(link, cx, job, &pace);
        }
        return;
    }
    let Some(pace) = link.shared.argument_checks.as_ref().filter(|_| has_long_check(&request))
    else {
        return serve_now(link, incoming, request, context, None);
    };
    let (serving, cancelled) = (Arc::clone(link), Arc::<Cancellation>::default());
    link.lock().role.running.insert(incoming, Arc::clone(&cancelled));
    link.shared.workers.check(incoming, pace, move || {
        serve_now(&serving, incoming, request, context, Some(cancelled));
    });
}

/// Returns whether a check of a request's arguments may take long.
fn has_long_check(request: &Request) -> bool {
    let params = request.params.as_ref();
    request.method == CallTool::METHOD
        && params.is_some_and(|params| params.as_bytes().len() > CHECKED_INLINE_MAX)
}

/// Serves a request that is not about a task, from the current thread.
///
/// A request whose check was long has been registered as running, with `cancelled`.
fn serve_now(
    link: &Arc<Link<Machine>>,
    incoming: IncomingId,
    request: Request,
    context: Context,
    cancelled: Option<Arc<Cancellation>>,
) {
    let mut task = None;
    let resolution = resolve(link, &request, &context, &mut task);
    if cancelled.as_ref().is_some_and(|cancelled| cancelled.is_set()) {
        return;
    }
    let mut rounds = read_rounds(&link.shared.sealing, &request, &context);
    let number = rounds.as_mut().ok().and_then(|rounds| rounds.cancellation.take());
    // The runs of a request in a session share one cancellation.
    let continued = number
        .and_then(|number| link.lock().role.continue_asking(number, incoming, cancelled.is_some()));
    let cancelled = continued.or(cancelled);
    let ready = resolution.and_then(|resolution| Ok((resolution, rounds?)));
    if let (Some(tasks), Some(start)) = (&link.shared.tasks, task) {
        // The call ends with the creation of the task, which has its own cancellation.
        if cancelled.is_some() && link.lock().role.running.remove(&incoming).is_none() {
            return;
        }
        return match ready {
            Ok((Resolution::Run(job, pace), rounds)) => {
                let call = TaskCall { incoming, request, context, rounds, start, job, pace };
                Arc::clone(tasks).begin(link, STEPS, call);
            }
            Ok(_) => reply_now(link, incoming, HandlerReply::Error(handler_failed())),
            Err(error) => reply_now(link, incoming, HandlerReply::Error(error)),
        };
    }
    if let Some(layers) = &link.shared.layers {
        let (job, pace, rounds) = layers.job(ready, &request.method);
        let cx = open_request(link, incoming, request, context, rounds, &pace, cancelled);
        return layers.start(cx, job, &pace);
    }
    match ready {
        Ok((Resolution::Run(job, pace), rounds)) => {
            let cx = open_request(link, incoming, request, context, rounds, &pace, cancelled);
            start(link, cx, job, &pace);
        }
        Ok((Resolution::Answer(answer), _)) => {
            reply_now(link, incoming, HandlerReply::Result(answer));
        }
        Ok((Resolution::Unknown, _)) => {
            let error = ErrorObject::method_not_found(&request.method);
            reply_now(link, incoming, HandlerReply::Error(error));
        }
        Err(error) => reply_now(link, incoming, HandlerReply::Error(error)),
    }
}

/// How tasks run their handlers.
pub(in crate::server) const STEPS: TaskSteps = TaskSteps { run_job, resolve: resolve_again };

/// Runs a job within the layers of the server.
fn run_job(link: &Arc<Link<Machine>>, cx: Cx, job: Job, pace: &Arc<Pace>) {
    match &link.shared.layers {
        Some(layers) => layers.start(cx, job, pace),
        None => start(link, cx, job, pace),
    }
}

/// Finds the handler of a task again.
fn resolve_again(
    link: &Arc<Link<Machine>>,
    request: &Request,
    context: &Context,
) -> Result<(Resolution, Option<TaskStart>), ErrorObject> {
    let mut task = None;
    let resolution = resolve(link, request, context, &mut task)?;
    Ok((resolution, task))
}

/// Reads the request state left by earlier rounds of input requests.
fn read_rounds(
    sealing: &StateSealing,
    request: &Request,
    context: &Context,
) -> Result<RoundState, ErrorObject> {
    let text = match &context.state {
        Some(state) if keeps_state(context) => Some(state.to_string()),
        Some(state) => Some(sealing.open(state, request, context.principal(), unix_seconds())?),
        None => None,
    };
    RoundState::read(text.as_deref(), context.input_responses.as_ref())
}

/// Creates the context of a request whose handler is about to start.
fn open_request(
    link: &Arc<Link<Machine>>,
    incoming: IncomingId,
    request: Request,
    context: Context,
    rounds: RoundState,
    pace: &Arc<Pace>,
    cancelled: Option<Arc<Cancellation>>,
) -> Cx {
    let mut request = RequestState::new(link, incoming, request, context, rounds, pace);
    match cancelled {
        // Registered already: the request may have been cancelled since.
        Some(cancelled) => request.cancelled = cancelled,
        None => {
            link.lock().role.running.insert(incoming, Arc::clone(&request.cancelled));
        }
    }
    Cx { request: Arc::new(request) }
}

fn start(link: &Arc<Link<Machine>>, cx: Cx, job: Job, pace: &Arc<Pace>) {
    let incoming = cx.request.incoming;
    let serving = Arc::clone(link);
    match job {
        Job::Sync(job) => {
            let run = move || {
                let (trace, method) = (&serving.trace, &cx.request.request.method);
                let run = || trace.run_handler(method, || job(cx.clone()));
                let reply = encode(&cx, catch_unwind(AssertUnwindSafe(run)).ok());
                (serving, reply)
            };
            let send = move |(link, reply): (Arc<Link<Machine>>, HandlerReply)| {
                send_reply_blocking(&link, incoming, reply);
            };
            link.shared.workers.run(incoming, pace, run, send);
        }
        Job::Async(job) => link.shared.workers.spawn(incoming, pace, async move {
            let served = async { job(cx.clone()).await };
            let done =
                catch_panic(serving.trace.instrument_handler(&cx.request.request.method, served));
            let Some(outcome) = cx.request.cancelled.run_until_set(done).await else { return };
            send_reply_async(&serving, incoming, encode(&cx, outcome)).await;
        }),
    }
}
