//! Handlers of every kind as one type, and the future that serves a request with one.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::rc::Rc;

use mcp_proto::schema::Encode;
use mcp_proto::{Context, ErrorObject, IncomingId, Misuse, NeededInput, Raw, Request};

use crate::link::ServerLink;
use crate::platform::LocalBoxFuture;
use crate::server::context::{AsyncCx, Cx, RequestState};
use crate::server::error::{Cause, HandlerError};
use crate::server::output::ToolOutput;
use crate::server::rounds::Rounds;
use crate::server::sealing::StateSealer;

/// The result of a handler, of any method.
type Outcome = Result<Box<dyn Encode>, HandlerError>;

/// A handler of requests with JSON params.
#[derive(Clone)]
pub(crate) enum Handler {
    Async(Rc<dyn Fn(Raw, AsyncCx) -> LocalBoxFuture<'static, Outcome>>),
    Sync(Rc<dyn Fn(Raw, Cx) -> Outcome>),
}

impl Handler {
    pub(crate) fn function<R>(
        handler: impl Fn(Raw, Cx) -> Result<R, HandlerError> + 'static,
        into: fn(R) -> Outcome,
    ) -> Self
    where
        R: 'static,
    {
        Self::Sync(Rc::new(move |params, cx| into(handler(params, cx)?)))
    }

    pub(crate) fn future<R, F>(
        handler: impl Fn(Raw, AsyncCx) -> F + 'static,
        into: fn(R) -> Outcome,
    ) -> Self
    where
        R: 'static,
        F: Future<Output = Result<R, HandlerError>> + 'static,
    {
        Self::Async(Rc::new(move |params, cx| {
            let served = handler(params, cx);
            Box::pin(async move { into(served.await?) })
        }))
    }
}

/// A request and what its handler needs.
pub(crate) struct Job {
    pub(crate) handler: Handler,
    /// The arguments of a tool call, or the params of another request.
    pub(crate) params: Raw,
    pub(crate) request: Request,
    pub(crate) context: Context,
    pub(crate) is_tool_call: bool,
}

/// Marks a request as cancelled when its future is dropped before it has responded.
struct CancelOnDrop(Rc<RequestState>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.is_cancelled.set(true);
    }
}

/// Runs the handler of a request and responds.
pub(crate) async fn serve(
    job: Job,
    incoming: IncomingId,
    link: Rc<dyn ServerLink>,
    sealer: StateSealer,
) {
    let Job { handler, params, request, context, is_tool_call } = job;
    let rounds = match read_rounds(&sealer, &link, &request, &context) {
        Ok(rounds) => rounds,
        Err(error) => return respond_error(&link, incoming, &error),
    };
    let state = Rc::new(RequestState {
        link: Rc::clone(&link),
        incoming,
        request,
        context,
        rounds: RefCell::new(rounds),
        is_cancelled: Cell::new(false),
    });
    let cancel = CancelOnDrop(Rc::clone(&state));
    let cx = Cx::new(Rc::clone(&state));
    let outcome = match handler {
        Handler::Sync(handler) => handler(params, cx),
        Handler::Async(handler) => handler(params, AsyncCx(cx)).await,
    };
    match outcome {
        Ok(result) => respond(&link, incoming, &*result),
        Err(HandlerError(Cause::Failed(why))) if is_tool_call => {
            respond(&link, incoming, &*ToolOutput::error(&why).into_encode());
        }
        Err(HandlerError(Cause::Failed(why))) => {
            respond_error(&link, incoming, &ErrorObject::internal(why));
        }
        Err(HandlerError(Cause::Refused(error))) => respond_error(&link, incoming, &error),
        Err(HandlerError(Cause::InputRequired(questions))) => {
            let seal = |text| {
                let principal = state.context.principal();
                sealer.seal(&**link.platform(), text, &state.request, principal)
            };
            match state.rounds.borrow().to_text().map(seal).transpose() {
                Ok(kept) => ask(&link, incoming, &questions, kept.as_deref()),
                Err(error) => respond_error(&link, incoming, &error),
            }
        }
    }
    drop(cancel);
}

fn read_rounds(
    sealer: &StateSealer,
    link: &Rc<dyn ServerLink>,
    request: &Request,
    context: &Context,
) -> Result<Rounds, ErrorObject> {
    let sealed = context.state.as_deref();
    let open = |sealed| sealer.open(&**link.platform(), sealed, request, context.principal());
    let text = sealed.map(open).transpose()?;
    Rounds::read(text.as_deref(), context.input_responses.as_ref())
}

/// Sends a result. Does nothing for a request that is gone.
pub(crate) fn respond(link: &Rc<dyn ServerLink>, incoming: IncomingId, result: &dyn Encode) {
    link.command(&mut |server, now| {
        if matches!(server.respond(now, incoming, result), Err(misuse) if misuse != Misuse::Stale) {
            let error = ErrorObject::internal("the result cannot be encoded for this client");
            let _gone = server.respond_error(now, incoming, &error);
        }
    });
}

pub(crate) fn respond_error(link: &Rc<dyn ServerLink>, incoming: IncomingId, error: &ErrorObject) {
    link.command(&mut |server, now| {
        if server.respond_error(now, incoming, error) == Err(Misuse::Unencodable) {
            let error = ErrorObject::internal("the error cannot be encoded for this client");
            let _gone = server.respond_error(now, incoming, &error);
        }
    });
}

/// Sends input requests, or refuses the request if the client does not support them.
fn ask(
    link: &Rc<dyn ServerLink>,
    incoming: IncomingId,
    questions: &[(String, NeededInput)],
    state: Option<&str>,
) {
    let questions: Vec<(&str, NeededInput)> =
        questions.iter().map(|(key, question)| (&**key, question.clone())).collect();
    link.command(&mut |server, now| {
        let sent = match server.request_input(now, incoming, &questions, state) {
            Err(Misuse::Undeclared) => server.refuse_undeclared(now, incoming, &questions),
            sent => sent,
        };
        if sent.is_err() {
            let error = ErrorObject::internal("the input requests of the handler cannot be sent");
            let _gone = server.respond_error(now, incoming, &error);
        }
    });
}
