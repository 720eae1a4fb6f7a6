//! Relays events of the server to the client.

use mcp_proto::client::Event;
use mcp_proto::schema::{Decode, Level, LogMessage};
use mcp_proto::{
    CallError, CallId, Change, IncomingId, Instant, Misuse, NeededInput, Progress, Raw, Request,
};

use super::{Relay, call_error, misuse_error, note_failure, relay_options};
use crate::trace::Trace;
use crate::translation::reencoded;

impl Relay {
    pub(super) fn on_server_event(&mut self, now: Instant, event: Event, trace: &mut Trace) {
        let done = match event {
            Event::Completed { call, outcome } => self.complete(now, call, outcome),
            Event::Progress { call, progress } => self.progress(now, call, &progress),
            Event::Request { incoming, call, request } => {
                self.on_request(now, incoming, call, request)
            }
            Event::RequestCancelled { incoming, .. } => {
                for relayed in self.calls.values_mut() {
                    relayed.unsent_questions.retain(|(question, _)| *question != incoming);
                }
                let asked = self.questions.iter().find(|(_, question)| **question == incoming);
                match asked.map(|(call, _)| *call) {
                    Some(call) => self.client.cancel(now, call, ""),
                    None => Ok(()),
                }
            }
            Event::Notification { call, method, params } => {
                self.notification(now, call, &method, params)
            }
            Event::Violation(violation) => {
                trace.note(&format!("violation by the server: {}", violation.detail));
                Ok(())
            }
            Event::Closed(why) => {
                trace.note(&format!("server: {why}"));
                self.client.close(now);
                Ok(())
            }
            _ => Ok(()),
        };
        note_failure("to the client", done, trace);
    }

    fn complete(
        &mut self,
        now: Instant,
        call: CallId,
        outcome: Result<Raw, CallError>,
    ) -> Result<(), Misuse> {
        let Some(relayed) = self.calls.remove(&call) else { return Ok(()) };
        let Some(incoming) = relayed.incoming else { return Err(Misuse::Stale) };
        let is_same_revision =
            self.server.peer().is_some_and(|peer| peer.revision == relayed.revision);
        match outcome {
            Ok(result) if is_same_revision => self.client.respond(now, incoming, &result),
            Ok(result) => self.client.respond(now, incoming, &*reencoded(&relayed.method, &result)),
            Err(error) => self.client.respond_error(now, incoming, &call_error(error)),
        }
    }

    fn progress(&mut self, now: Instant, call: CallId, progress: &Progress) -> Result<(), Misuse> {
        match self.calls.get(&call).and_then(|relayed| relayed.incoming) {
            Some(incoming) => self.client.progress(now, incoming, progress),
            None => Ok(()),
        }
    }

    /// Relays a request of the server: as a request to a legacy client, otherwise as a question in
    /// the response to the client's call.
    fn on_request(
        &mut self,
        now: Instant,
        question: IncomingId,
        call: Option<CallId>,
        request: Request,
    ) -> Result<(), Misuse> {
        let call = call.or_else(|| self.only_call());
        let relayed = call.and_then(|call| self.calls.get_mut(&call));
        let parent = relayed.as_ref().and_then(|relayed| relayed.incoming);
        let params = request.params.as_ref().map(|params| params as _);
        match self.client.call_raw(now, &request.method, params, relay_options(parent)) {
            Ok(asked) => {
                self.questions.insert(asked, question);
            }
            Err(Misuse::NotReady | Misuse::Unsupported) if relayed.is_some() => {
                relayed
                    .into_iter()
                    .for_each(|relayed| relayed.unsent_questions.push((question, request.clone())));
            }
            Err(misuse) => return self.server.respond_error(now, question, &misuse_error(misuse)),
        }
        Ok(())
    }

    /// Sends queued questions in the responses to their calls.
    pub(super) fn send_questions(&mut self, now: Instant, trace: &mut Trace) {
        for (call, relayed) in &mut self.calls {
            let Some(incoming) = relayed.incoming.filter(|_| !relayed.unsent_questions.is_empty())
            else {
                continue;
            };
            let keys: Vec<String> =
                (0..relayed.unsent_questions.len()).map(|index| index.to_string()).collect();
            let put = |(_, request): &(IncomingId, Request)| {
                NeededInput::Raw(Box::from(&*request.method), request.params.clone())
            };
            let questions: Vec<(&str, NeededInput)> = keys
                .iter()
                .map(String::as_str)
                .zip(relayed.unsent_questions.iter().map(put))
                .collect();
            let put = self.client.request_input(now, incoming, &questions, Some(&call.to_string()));
            let waiting = relayed.unsent_questions.drain(..).map(|(question, _)| question);
            match put {
                Ok(()) => {
                    relayed.sent_questions = waiting.collect();
                    relayed.incoming = None;
                }
                Err(misuse) => {
                    for question in waiting {
                        let refused =
                            self.server.respond_error(now, question, &misuse_error(misuse));
                        note_failure("to the server", refused, trace);
                    }
                }
            }
        }
    }

    fn notification(
        &mut self,
        now: Instant,
        call: Option<CallId>,
        method: &str,
        params: Option<Raw>,
    ) -> Result<(), Misuse> {
        let text =
            |name| params.as_ref()?.member(name)?.to_text().map(std::borrow::Cow::into_owned);
        match method {
            "notifications/message" => {
                let message = params.as_ref().and_then(|params| LogMessage::decode(params).ok());
                let Some(message) = message else { return Ok(()) };
                let call = call.or_else(|| self.only_call());
                let incoming = call.and_then(|call| self.calls.get(&call)?.incoming);
                let level = message.level.known().copied().unwrap_or(Level::Info);
                self.client.log(now, incoming, level, message.logger.as_deref(), &message.data)
            }
            "notifications/tools/list_changed" => self.client.notify_changed(now, Change::Tools),
            "notifications/prompts/list_changed" => {
                self.client.notify_changed(now, Change::Prompts)
            }
            "notifications/resources/list_changed" => {
                self.client.notify_changed(now, Change::Resources)
            }
            "notifications/resources/updated" => match text("uri") {
                Some(uri) => self.client.notify_changed(now, Change::Resource(&uri)),
                None => Ok(()),
            },
            _ => self.client.notify_raw(now, method, params.as_ref().map(|params| params as _)),
        }
    }
}
