//! What the client says, passed on to the server.

use mcp_proto::schema::Level;
use mcp_proto::server::Event;
use mcp_proto::{CallOptions, Context, ErrorObject, Filter, IncomingId, Instant, Misuse, Request};

use super::{Passing, Relay, lost, patient, refused, told};
use crate::across::for_server;
use crate::trace::Trace;

impl Relay {
    pub(super) fn of_client(&mut self, now: Instant, event: Event, trace: &mut Trace) {
        // Whatever was cancelled meanwhile is stale, and nobody misses it.
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
                    Err(error) => self.server.respond_error(now, question, &told(error)),
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
            Event::Watched { uri } => {
                let filter = Filter::new().resource(uri.clone());
                self.server.listen(now, &filter, CallOptions::default()).map(|call| {
                    self.watches.insert(uri, call);
                })
            }
            Event::Unwatched { uri } => match self.watches.remove(&uri) {
                Some(call) => self.server.cancel(now, call, ""),
                None => Ok(()),
            },
            Event::Violation(violation) => {
                trace.note(&format!("the client: {}", violation.detail));
                Ok(())
            }
            Event::Closed(why) => {
                trace.note(&format!("the client's side: {why}"));
                self.server.close(now);
                Ok(())
            }
            _ => Ok(()),
        };
        lost("to the server", done, trace);
    }

    pub(super) fn want_logs(&mut self, now: Instant, level: Option<Level>) {
        if let Some(level) = level.filter(|level| self.log_level != Some(*level))
            && self.server.set_log_level(now, level, CallOptions::default()).is_ok()
        {
            self.log_level = Some(level);
        }
    }

    /// Passes a request on to the server.
    fn forward(
        &mut self,
        now: Instant,
        incoming: IncomingId,
        request: &Request,
        context: &Context,
    ) -> Result<(), Misuse> {
        self.want_logs(now, context.log_level);
        let params = request.params.as_ref().map(for_server);
        let params = params.as_ref().map(|params| params as _);
        let options = CallOptions { progress: context.wants_progress, ..patient(None) };
        match self.server.call_raw(now, &request.method, params, options) {
            Ok(call) => {
                let passing = Passing {
                    method: Box::from(&*request.method),
                    revision: context.peer.revision,
                    incoming: Some(incoming),
                    waiting: Vec::new(),
                    asked: Vec::new(),
                };
                self.calls.insert(call, passing);
                Ok(())
            }
            Err(misuse) => self.client.respond_error(now, incoming, &refused(misuse)),
        }
    }

    /// The client asks anew, with the answers to the server's questions; its call waits there all
    /// the while.
    fn resume(
        &mut self,
        now: Instant,
        incoming: IncomingId,
        state: &str,
        context: &Context,
    ) -> Result<(), Misuse> {
        let found = self.calls.iter_mut().find(|(call, _)| call.to_string() == state);
        let Some((_, passing)) = found.filter(|(_, passing)| passing.incoming.is_none()) else {
            let error = ErrorObject::invalid_params("the call that this goes on with is over");
            return self.client.respond_error(now, incoming, &error);
        };
        passing.incoming = Some(incoming);
        for (index, question) in passing.asked.drain(..).enumerate() {
            let answer =
                context.answers.as_ref().and_then(|answers| answers.find(&index.to_string()));
            let _stale = match answer {
                Some(answer) => self.server.respond(now, question, answer),
                None => {
                    self.server.respond_error(now, question, &ErrorObject::internal("no answer"))
                }
            };
        }
        Ok(())
    }
}
