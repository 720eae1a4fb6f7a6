//! Passes each question of a server to the handler or the call that answers it.

use std::sync::Arc;

use mcp_proto::client::Client as Machine;
use mcp_proto::{CallId, ErrorObject, IncomingId, Request};

use crate::client::questions::{Answering, Assigned, Question, assign, refuse};
use crate::client::request_handler::{RequestHandler, handler_key};
use crate::transport::link::Link;

const AMBIGUOUS: &str = "several calls are open and the request does not say which of them asks: \
                         make one call at a time, or use a connection for each user";

/// Passes a question to the code that holds its call, or refuses it; `call` is set if the question
/// names it. Returns a question that a handler answers, and that handler if there is one.
pub(super) fn route(
    link: &Arc<Link<Machine>>,
    incoming: IncomingId,
    call: Option<CallId>,
    request: Request,
) -> Option<(Request, Option<RequestHandler>)> {
    let assigned = match call {
        Some(call) => Assigned::Call((true, call)),
        // The latest call that does not wait for answers already.
        None => link.inspect(|state| {
            let open = state.role.calls.iter();
            assign(open.map(|(call, slot)| ((slot.takes_questions(), *call), slot.answering())))
        }),
    };
    let slot = match assigned {
        Assigned::Call((_, call)) => link.inspect(|state| state.role.calls.get(&call).cloned()),
        Assigned::NoCall | Assigned::Ambiguous => None,
    };
    let key = handler_key(&request);
    let general = || link.shared.handlers.get(key).cloned();
    let handler = match slot.as_ref().map(|slot| slot.answering()) {
        Some(Answering::Holder(_)) => {
            let question = Question::new(link, incoming, request);
            if let Some(slot) = slot {
                slot.ask(question);
            }
            return None;
        }
        Some(Answering::Call(handlers)) => handlers.get(key).cloned().or_else(general),
        _ => general(),
    };
    if handler.is_none() && matches!(assigned, Assigned::Ambiguous) {
        refuse(link, incoming, &ErrorObject::internal(AMBIGUOUS));
        return None;
    }
    Some((request, handler))
}
