//! Starts the layers of a request.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use mcp_proto::ErrorObject;

use super::incoming::Incoming;
use super::layer::{Layers, Next};
use crate::exec::pace::Pace;
use crate::exec::workers::{Ended, catch_panic};
use crate::server::handler::context::Cx;
use crate::server::handler::handler_error::HandlerError;
use crate::server::handler::replies::{encode, send_reply_async, send_reply_blocking};
use crate::server::handler::round_state::RoundState;
use crate::server::handler::{Job, Resolution};

impl Layers {
    /// Returns what the innermost layer runs for a request: its handler, or a job that returns the
    /// response that is known already.
    pub(crate) fn job(
        &self,
        ready: Result<(Resolution, RoundState), ErrorObject>,
        method: &str,
    ) -> (Job, Arc<Pace>, RoundState) {
        let (outcome, rounds) = match ready {
            Ok((Resolution::Run(job, pace), rounds)) => return (job, pace, rounds),
            Ok((Resolution::Answer(answer), rounds)) => (Ok(answer), rounds),
            Ok((Resolution::Unknown, rounds)) => {
                (Err(ErrorObject::method_not_found(method)), rounds)
            }
            Err(error) => (Err(error), RoundState::default()),
        };
        let outcome = outcome.map_err(HandlerError::refused);
        let job = Job::Async(Box::new(|_cx| Box::pin(async { outcome })));
        (job, Arc::clone(&self.pace), rounds)
    }
}

/// Starts the layers of a request around its job, where the job would run without layers.
pub(in crate::server) fn start(layers: &Arc<Layers>, cx: Cx, job: Job, pace: &Arc<Pace>) {
    let (link, incoming) = (Arc::clone(&cx.request.link), cx.request.incoming);
    let next = Next::new(Arc::clone(layers), job);
    let is_function = next.is_function();
    let run = async move {
        let request = &cx.request;
        let incoming = Incoming::new(cx.clone());
        // `run` calls the first layer, which may panic.
        let served = async { next.run(incoming).await };
        let served = request.link.trace.instrument_handler(&request.request.method, served);
        let response = request.cancelled.run_until_set(catch_panic(served)).await;
        let reply = response.map(|response| encode(&cx, response.map(|response| response.0)));
        Ended { result: reply, has_run: request.has_run.load(Ordering::Relaxed) }
    };
    let workers = &link.shared.workers;
    if is_function || workers.is_plain() {
        let sending = Arc::clone(&link);
        workers.run_future(incoming, pace, run, move |reply| {
            if let Some(reply) = reply {
                send_reply_blocking(&sending, incoming, reply);
            }
        });
    } else {
        let sending = Arc::clone(&link);
        workers.spawn(incoming, pace, async move {
            if let Some(reply) = run.await.result {
                send_reply_async(&sending, incoming, reply).await;
            }
        });
    }
}
