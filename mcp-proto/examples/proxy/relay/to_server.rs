//! Relays events of the client to the server.

use mcp_proto::schema::Level;
use mcp_proto::server::Event;
use mcp_proto::{CallOptions, Context, ErrorObject, Filter, IncomingId, Instant, Misuse, Request};

use super::{Relay, RelayedCall, call_error, misuse_error, note_failure, relay_options};
use crate::trace::Trace;
use crate::translation::without_client_context;

impl Relay {
    pub(super) fn on_client_event(&mut self, now: Instant, event: Event, trace: &mut Trace) {
        // Commands for requests that were cancelled in the meantime fail harmlessly.
        let done = match event {
            Event::Request { incoming, request, context } => match &context.state {
                Some(state) => self.resume(now, incoming, state, &context),
                None => self.forward(now, incoming, &request, &context),
            },
            Event::RequestCancelled { incoming, reason } => match self.call_of(incoming) {
                Some(call) => {
                    self.calls.remove(&call);
                    self.server.cancel(now, call, &reason.unwrap_or_default())
                }
                None => Ok(()),
            },
            Event::Completed { call, outcome } => match self.questions.remove(&call) {
                Some(question) => match outcome {
                    Ok(result) => self.server.respond(now, question, &result),
                    Err(error) => self.server.respond_error(now, question, &call_error(error)),
                },
                None => Ok(()),
            },
            Event::Progress { call, progress } => match self.questions.get(&call) {
                Some(question) => self.server.progress(now, *question, &progress),
                None => Ok(()),
            },
            Event::Notification { method, params } => {
                self.server.notify_raw(now, &method, params.as_ref().map(|params| params as _))
            }
            Event::Watched { uri, .. } => {
                let filter = Filter::new().resource(uri.clone());
                self.server.subscribe(now, &filter, CallOptions::default()).map(|call| {
                    self.watches.insert(uri, call);
                })
            }
            Event::Unwatched { uri, .. } => match self.watches.remove(&uri) {
                Some(call) => self.server.cancel(now, call, ""),
                None => Ok(()),
            },
            Event::Violation(violation) => {
                trace.note(&format!("violation by the client: {}", violation.detail));
                Ok(())
            }
            Event::Closed(why) => {
                trace.note(&format!("client: {why}"));
                self.server.close(now);
                Ok(())
            }
            _ => Ok(()),
        };
        note_failure("to the server", done, trace);
    }

    pub(super) fn set_log_level(&mut self, now: Instant, level: Option<Level>) {
        if let Some(level) = level.filter(|level| self.log_level != Some(*level))
            && self.server.set_log_level(now, level, CallOptions::default()).is_ok()
        {
            self.log_level = Some(level);
        }
    }

    /// Relays a request to the server.
    fn forward(
        &mut self,
        now: Instant,
        incoming: IncomingId,
        request: &Request,
        context: &Context,
    ) -> Result<(), Misuse> {
        self.set_log_level(now, context.log_level);
        let params = request.params.as_ref().map(without_client_context);
        let params = params.as_ref().map(|params| params as _);
        let options = CallOptions { progress: context.wants_progress, ..relay_options(None) };
        match self.server.call_raw(now, &request.method, params, options) {
            Ok(call) => {
                let relayed = RelayedCall {
                    method: Box::from(&*request.method),
                    revision: context.peer.revision,
                    incoming: Some(incoming),
                    unsent_questions: Vec::new(),
                    sent_questions: Vec::new(),
                };
                self.calls.insert(call, relayed);
                Ok(())
            }
            Err(misuse) => self.client.respond_error(now, incoming, &misuse_error(misuse)),
        }
    }

    /// Continues an open call when the client retries it with the answers to the server's
    /// questions.
    fn resume(
        &mut self,
        now: Instant,
        incoming: IncomingId,
        state: &str,
        context: &Context,
    ) -> Result<(), Misuse> {
        let found = self.calls.iter_mut().find(|(call, _)| call.to_string() == state);
        let Some((_, relayed)) = found.filter(|(_, relayed)| relayed.incoming.is_none()) else {
            let error = ErrorObject::invalid_params("the call of this request state has ended");
            return self.client.respond_error(now, incoming, &error);
        };
        relayed.incoming = Some(incoming);
        for (index, question) in relayed.sent_questions.drain(..).enumerate() {
            let answer = context
                .input_responses
                .as_ref()
                .and_then(|answers| answers.get(&index.to_string()));
            let _ignored = match answer {
                Some(answer) => self.server.respond(now, question, answer),
                None => {
                    self.server.respond_error(now, question, &ErrorObject::internal("no answer"))
                }
            };
        }
        Ok(())
    }
}
