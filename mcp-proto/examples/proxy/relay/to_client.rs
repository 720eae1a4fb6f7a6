//! What the server says, passed on to the client.

use mcp_proto::client::Event;
use mcp_proto::schema::{Decode, Level, LogMessage};
use mcp_proto::{
    CallError, CallId, Change, IncomingId, Instant, Misuse, Progress, Question, Raw, Request,
};

use super::{Relay, lost, patient, refused, told};
use crate::across::restated;
use crate::trace::Trace;

impl Relay {
    pub(super) fn of_server(&mut self, now: Instant, event: Event, trace: &mut Trace) {
        let done = match event {
            Event::Completed { call, outcome } => self.complete(now, call, outcome),
            Event::Progress { call, progress } => self.progress(now, call, &progress),
            Event::Request { incoming, call, request } => {
                self.question(now, incoming, call, request)
            }
            Event::RequestCancelled { incoming, .. } => {
                for passing in self.calls.values_mut() {
                    passing.waiting.retain(|(question, _)| *question != incoming);
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
                trace.note(&format!("the server: {}", violation.detail));
                Ok(())
            }
            Event::Closed(why) => {
                trace.note(&format!("the server's side: {why}"));
                self.client.close(now);
                Ok(())
            }
            _ => Ok(()),
        };
        lost("to the client", done, trace);
    }

    fn complete(
        &mut self,
        now: Instant,
        call: CallId,
        outcome: Result<Raw, CallError>,
    ) -> Result<(), Misuse> {
        let Some(passing) = self.calls.remove(&call) else { return Ok(()) };
        let Some(incoming) = passing.incoming else { return Err(Misuse::Stale) };
        let is_theirs = self.server.peer().is_some_and(|peer| peer.revision == passing.revision);
        match outcome {
            Ok(result) if is_theirs => self.client.respond(now, incoming, &result),
            Ok(result) => self.client.respond(now, incoming, &*restated(&passing.method, &result)),
            Err(error) => self.client.respond_error(now, incoming, &told(error)),
        }
    }

    fn progress(&mut self, now: Instant, call: CallId, progress: &Progress) -> Result<(), Misuse> {
        match self.calls.get(&call).and_then(|passing| passing.incoming) {
            Some(incoming) => self.client.progress(now, incoming, progress),
            None => Ok(()),
        }
    }

    /// A request of the server: by a request of ours where the client takes any, else by an answer
    /// that asks.
    fn question(
        &mut self,
        now: Instant,
        question: IncomingId,
        call: Option<CallId>,
        request: Request,
    ) -> Result<(), Misuse> {
        let call = call.or_else(|| self.only_call());
        let passing = call.and_then(|call| self.calls.get_mut(&call));
        let parent = passing.as_ref().and_then(|passing| passing.incoming);
        let params = request.params.as_ref().map(|params| params as _);
        match self.client.call_raw(now, &request.method, params, patient(parent)) {
            Ok(asked) => {
                self.questions.insert(asked, question);
            }
            Err(Misuse::NotReady | Misuse::Unsupported) if passing.is_some() => {
                passing
                    .into_iter()
                    .for_each(|passing| passing.waiting.push((question, request.clone())));
            }
            Err(misuse) => return self.server.respond_error(now, question, &refused(misuse)),
        }
        Ok(())
    }

    /// Puts the questions that wait to the clients of the calls that they belong to.
    pub(super) fn ask(&mut self, now: Instant, trace: &mut Trace) {
        for (call, passing) in &mut self.calls {
            let Some(incoming) = passing.incoming.filter(|_| !passing.waiting.is_empty()) else {
                continue;
            };
            let keys: Vec<String> =
                (0..passing.waiting.len()).map(|index| index.to_string()).collect();
            let put = |(_, request): &(IncomingId, Request)| {
                Question::Raw(Box::from(&*request.method), request.params.clone())
            };
            let questions: Vec<(&str, Question)> =
                keys.iter().map(String::as_str).zip(passing.waiting.iter().map(put)).collect();
            let put = self.client.request_input(now, incoming, &questions, Some(&call.to_string()));
            let waiting = passing.waiting.drain(..).map(|(question, _)| question);
            match put {
                Ok(()) => {
                    passing.asked = waiting.collect();
                    passing.incoming = None;
                }
                Err(misuse) => {
                    for question in waiting {
                        let refused = self.server.respond_error(now, question, &refused(misuse));
                        lost("to the server", refused, trace);
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
            "notifications/tools/list_changed" => self.client.changed(now, Change::Tools),
            "notifications/prompts/list_changed" => self.client.changed(now, Change::Prompts),
            "notifications/resources/list_changed" => self.client.changed(now, Change::Resources),
            "notifications/resources/updated" => match text("uri") {
                Some(uri) => self.client.changed(now, Change::Resource(&uri)),
                None => Ok(()),
            },
            _ => self.client.notify_raw(now, method, params.as_ref().map(|params| params as _)),
        }
    }
}
