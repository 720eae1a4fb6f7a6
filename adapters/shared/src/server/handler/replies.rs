//! Sends the replies of requests.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_lite::future::block_on;
use mcp_proto::server::Server as Machine;
use mcp_proto::{Context, Era, ErrorObject, IncomingId, Instant, Misuse};

use crate::exec::clock::unix_seconds;
use crate::exec::sole_driver::is_sole_driver;
use crate::server::handler::context::Cx;
use crate::server::handler::handler_error::{Cause, HandlerError};
use crate::server::handler::reply::{BoxedResult, HandlerReply};
use crate::server::handler::required_scopes::http_sender;
use crate::transport::link::{Link, State};

/// Returns the reply for the outcome of a handler; `None` if it panicked.
///
/// If the encoding of the result panics, the reply is the error of a handler that panicked.
pub(crate) fn encode(cx: &Cx, outcome: Option<Result<BoxedResult, HandlerError>>) -> HandlerReply {
    let request = &cx.request.request;
    let outcome = outcome.unwrap_or_else(|| Err(HandlerError::refused(handler_failed())));
    if let Err(HandlerError(Cause::Forbidden(_, Some(challenge)))) = &outcome
        && let Some(sender) = http_sender(cx.context().caller.as_deref())
    {
        sender.challenge(challenge);
    }
    // The state of a task and of a session stays here.
    let stays = cx.request.task.is_some() || keeps_state(&cx.request.context);
    let asks = matches!(&outcome, Err(HandlerError(Cause::InputRequired(_))));
    if asks && cx.request.task.is_none() && keeps_state(&cx.request.context) {
        cx.rounds().cancellation = Some(next_cancellation());
    }
    let seal = |text| {
        if stays {
            return Ok(text);
        }
        let sealing = &cx.request.link.shared.sealing;
        sealing.seal(text, request, cx.principal(), unix_seconds())
    };
    let reply = || {
        let revision = cx.request.context.peer.revision;
        let mut reply = HandlerReply::new(outcome, request, revision, &cx.rounds(), seal);
        reply.encode(revision);
        reply
    };
    // The result may be of a type of the application, whose encoding may panic.
    catch_unwind(AssertUnwindSafe(reply)).unwrap_or_else(|_| HandlerReply::Error(handler_failed()))
}

/// Returns whether the server keeps the request state instead of the client.
pub(crate) fn keeps_state(context: &Context) -> bool {
    context.peer.revision.era() == Era::Legacy
}

/// Returns a number for the cancellation of a request that waits for answers.
fn next_cancellation() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Sends the reply of a handler from a thread that may block, or that drives the connection.
pub(crate) fn send_reply_blocking(
    link: &Arc<Link<Machine>>,
    incoming: IncomingId,
    reply: HandlerReply,
) {
    let Err(reply) = send_reply(link, incoming, reply) else { return };
    let sending = Arc::clone(link);
    let send = async move { send_with_room(&sending, incoming, reply).await };
    if is_sole_driver() {
        link.shared.workers.spawn_on_runtime(Box::pin(send));
    } else {
        block_on(send);
    }
}

/// Sends the reply of a handler from a task.
pub(crate) async fn send_reply_async(
    link: &Arc<Link<Machine>>,
    incoming: IncomingId,
    reply: HandlerReply,
) {
    if let Err(reply) = send_reply(link, incoming, reply) {
        // Boxed because it is rare: inline it would enlarge the futures of all handlers.
        Box::pin(send_with_room(link, incoming, reply)).await;
    }
}

/// Sends the reply of a handler.
///
/// # Errors
/// Returns the reply if there is no room for it yet.
fn send_reply(
    link: &Arc<Link<Machine>>,
    incoming: IncomingId,
    mut reply: HandlerReply,
) -> Result<(), HandlerReply> {
    let sent = link.with(|state, now| {
        if let Some(task) = state.role.take_task(incoming) {
            state.role.running.remove(&incoming);
            return Ok(Some(task));
        }
        send_now(state, now, incoming, &mut reply).map(|()| None)
    });
    match sent {
        Ok(None) => Ok(()),
        Ok(Some(task)) => {
            task.deliver(reply);
            Ok(())
        }
        Err(_blocked) => Err(reply),
    }
}

/// Sends a reply, and keeps the cancellation of a request that waits for answers.
fn send_now(
    state: &mut State<Machine>,
    now: Instant,
    incoming: IncomingId,
    reply: &mut HandlerReply,
) -> Result<(), Misuse> {
    let kept = reply.send(&mut state.connection, now, incoming)?;
    let cancelled = state.role.running.remove(&incoming);
    if let Some((number, cancelled)) = kept.zip(cancelled) {
        state.role.insert_asking(number, incoming, cancelled);
    }
    Ok(())
}

/// Sends a reply once there is room for it, or else an error.
async fn send_with_room(link: &Arc<Link<Machine>>, incoming: IncomingId, mut reply: HandlerReply) {
    // Borrowed mutably because results are `Send` but not `Sync`.
    let sending = &mut reply;
    let send = move |state: &mut State<Machine>, now| send_now(state, now, incoming, sending);
    if link.with_room(ASK_PATIENCE, send).await.is_err() {
        reply_now(link, incoming, reply.rejection());
    }
}

/// Responds to a request with an error and cancels its handler, which may continue.
///
/// Does nothing if the request was answered or cancelled.
pub(crate) fn give_up(cx: &Cx, error: HandlerError) {
    let (link, incoming) = (&cx.request.link, cx.request.incoming);
    let mut reply = encode(cx, Some(Err(error)));
    if let Some(task) = &cx.request.task {
        let is_open = link.with(|state, _| state.role.take_task(incoming).is_some());
        if is_open {
            Arc::clone(task).deliver(reply);
            link.shared.workers.cancel(incoming);
            cx.request.cancelled.set();
        }
        return;
    }
    let running = link.with(|state, now| {
        let running = state.role.running.remove(&incoming)?;
        let _never_blocked = reply.send(&mut state.connection, now, incoming);
        Some(running)
    });
    if let Some(cancelled) = running {
        link.shared.workers.cancel(incoming);
        cancelled.set();
    }
}

/// Returns the error for a handler that panicked. The panic message is never sent.
pub(crate) fn handler_failed() -> ErrorObject {
    ErrorObject::internal("the handler failed")
}

/// Sends a reply that never waits for room: anything but input requests.
pub(crate) fn reply_now(link: &Arc<Link<Machine>>, incoming: IncomingId, mut reply: HandlerReply) {
    let _gone = link.with(|state, now| {
        // Only requests with long checks or earlier runs have been registered as running.
        state.role.running.remove(&incoming);
        reply.send(&mut state.connection, now, incoming)
    });
}

/// How long input requests wait for room in the output queue. Other replies never wait.
const ASK_PATIENCE: Duration = Duration::from_secs(1);
