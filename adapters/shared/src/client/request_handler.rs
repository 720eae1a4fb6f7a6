//! [`RequestHandler`]: answers requests of a server, and how it runs.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use mcp_proto::client::Client as Machine;
use mcp_proto::schema::Encode;
use mcp_proto::{ErrorObject, IncomingId, Raw, Request};

use crate::box_future::BoxFuture;
use crate::client::context::ClientCx;
use crate::exec::workers::catch_panic;
use crate::transport::link::Link;

pub(crate) type Answer = Result<Box<dyn Encode + Send>, ErrorObject>;
pub(crate) type AnswerFuture = BoxFuture<'static, Answer>;

type AsyncAnswer = dyn Fn(&Request, ClientCx) -> AnswerFuture + Send + Sync;
type BlockingAnswer = dyn Fn(&Request, ClientCx) -> Answer + Send + Sync;

/// A handler for one kind of server request.
#[derive(Clone)]
pub(crate) enum RequestHandler {
    Async(Arc<AsyncAnswer>),
    Blocking(Arc<BlockingAnswer>),
}

/// The handlers of a client or of a call, by their keys.
pub(crate) type Handlers = Arc<HashMap<&'static str, RequestHandler>>;

// SEC-08: each elicitation mode has its own handler and capability.
/// The keys of the elicitation handlers, one for each mode. Other handlers are keyed by method.
pub(crate) const FORM: &str = "elicitation/create";
pub(crate) const URL: &str = "elicitation/create url";
pub(crate) const ROOTS: &str = "roots/list";
pub(crate) const SAMPLING: &str = "sampling/createMessage";

/// Returns the key of the handler for a request.
pub(super) fn handler_key(request: &Request) -> &str {
    let mode = request.params.as_ref().and_then(|params| params.member("mode"));
    if request.method == FORM && mode.as_ref().and_then(Raw::to_text).as_deref() == Some("url") {
        return URL;
    }
    &request.method
}

/// Returns whether there is a handler for a request.
pub(crate) fn has_handler(link: &Link<Machine>, request: &Request) -> bool {
    handler_of(link, request).is_some()
}

/// Returns the handler for a request of the server that is about no call.
pub(crate) fn handler_of(link: &Link<Machine>, request: &Request) -> Option<RequestHandler> {
    link.shared.handlers.get(handler_key(request)).cloned()
}

/// Runs the handler for a request, and then `send` with its answer; `None` if it panicked. Sends an
/// error if there is no handler.
pub(crate) fn run_handler(
    handler: Option<RequestHandler>,
    incoming: IncomingId,
    request: Request,
    cx: ClientCx,
    send: impl FnOnce(Option<Answer>) + Send + 'static,
) {
    let Some(handler) = handler else {
        return send(Some(Err(ErrorObject::method_not_found(&request.method))));
    };
    let link = Arc::clone(cx.link());
    let trace = link.trace.clone();
    match handler {
        RequestHandler::Blocking(handler) => {
            let run = move || {
                let run = || trace.run_handler(&request.method, || handler(&request, cx));
                catch_unwind(AssertUnwindSafe(run)).ok()
            };
            link.shared.workers.run(incoming, &link.shared.pace, run, send);
        }
        RequestHandler::Async(handler) => {
            let method = request.method.clone();
            let cancelled = Arc::clone(cx.cancellation());
            let run = async move { handler(&request, cx).await };
            let answer = trace.instrument_handler(&method, run);
            link.shared.workers.spawn(incoming, &link.shared.pace, async move {
                if let Some(answer) = cancelled.run_until_set(catch_panic(answer)).await {
                    send(answer);
                }
            });
        }
    }
}
