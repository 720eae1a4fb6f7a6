//! The machine of the proxy: a server to the client and a client to the server, and what is under way between them.
//!
//! No id and no progress token passes from one side to the other: each machine has its own, and the relay knows which
//! handle here belongs to which handle there. It knows neither pipes nor how messages look.

use std::collections::BTreeMap;

use mcp_proto::client::{self, Client};
use mcp_proto::schema::{Decode, Level, LogMessage};
use mcp_proto::server::{self, Server};
use mcp_proto::stdio::Stdio;
use mcp_proto::{
    CallError, CallId, CallOptions, Capability, Change, Context, Endpoint, ErrorObject, Filter, IncomingId,
    Instant, Misuse, Peer, Progress, Question, Raw, Request, Revision,
};

use crate::across::{for_server, restated};
use crate::trace::Trace;

/// Who waits has patience of their own, and cancels; the proxy only sees to it that nothing is kept for ever.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(3600);

/// A call of the client's that is under way at the server.
struct Passing {
    method: Box<str>,
    /// The client's.
    revision: Revision,
    /// What to answer by; `None` while the client answers questions, after which it asks anew.
    incoming: Option<IncomingId>,
    /// Questions of the server that are to be put to the client as one.
    waiting: Vec<(IncomingId, Request)>,
    /// Those that were.
    asked: Vec<IncomingId>,
}

pub(crate) struct Relay {
    pub(crate) client: Stdio<Server>,
    pub(crate) server: Stdio<Client>,
    calls: BTreeMap<CallId, Passing>,
    /// Our calls to the client, and the requests of the server that they are made for.
    questions: BTreeMap<CallId, IncomingId>,
    watches: BTreeMap<Box<str>, CallId>,
    log_level: Option<Level>,
}

impl Relay {
    /// Begins once the server has said what it is: that is what the client is told.
    pub(crate) fn new(now: Instant, mut server: Stdio<Client>, peer: &Peer) -> Self {
        let mut config = server::Config::new("", "").info(peer.info.clone());
        if let Some(instructions) = &peer.instructions {
            config = config.instructions(instructions);
        }
        let client = Stdio::new(Server::new(now, config.capabilities(peer.capabilities.clone())));
        let lists =
            [Capability::ToolsListChanged, Capability::PromptsListChanged, Capability::ResourcesListChanged];
        if lists.into_iter().any(|list| peer.has(list)) {
            let filter = Filter::new().tools().prompts().resources();
            let _blocked = server.listen(now, &filter, CallOptions::default());
        }
        let (calls, questions, watches) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Self { client, server, calls, questions, watches, log_level: None }
    }

    /// Passes on all there is.
    pub(crate) fn settle(&mut self, now: Instant, trace: &mut Trace) {
        loop {
            let mut is_idle = true;
            while let Some(event) = self.client.poll_event() {
                is_idle = false;
                self.of_client(now, event, trace);
            }
            while let Some(event) = self.server.poll_event() {
                is_idle = false;
                self.of_server(now, event, trace);
            }
            self.ask(now, trace);
            // A session's level changes without an event.
            self.want_logs(now, self.client.log_level());
            if is_idle {
                return;
            }
        }
    }

    // ---- from the client to the server ----

    fn of_client(&mut self, now: Instant, event: server::Event, trace: &mut Trace) {
        use server::Event;
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

    fn want_logs(&mut self, now: Instant, level: Option<Level>) {
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

    /// The client asks anew, with the answers to the server's questions; its call waits there all the while.
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
            let answer = context.answers.as_ref().and_then(|answers| answers.find(&index.to_string()));
            let _stale = match answer {
                Some(answer) => self.server.respond(now, question, answer),
                None => self.server.respond_error(now, question, &ErrorObject::internal("no answer")),
            };
        }
        Ok(())
    }

    // ---- from the server to the client ----

    fn of_server(&mut self, now: Instant, event: client::Event, trace: &mut Trace) {
        use client::Event;
        let done = match event {
            Event::Completed { call, outcome } => self.complete(now, call, outcome),
            Event::Progress { call, progress } => self.progress(now, call, &progress),
            Event::Request { incoming, call, request } => self.question(now, incoming, call, request),
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
            Event::Notification { call, method, params } => self.notification(now, call, &method, params),
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

    /// A request of the server: by a request of ours where the client takes any, else by an answer that asks.
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
                passing.into_iter().for_each(|passing| passing.waiting.push((question, request.clone())));
            }
            Err(misuse) => return self.server.respond_error(now, question, &refused(misuse)),
        }
        Ok(())
    }

    /// Puts the questions that wait to the clients of the calls that they belong to.
    fn ask(&mut self, now: Instant, trace: &mut Trace) {
        for (call, passing) in &mut self.calls {
            let Some(incoming) = passing.incoming.filter(|_| !passing.waiting.is_empty()) else { continue };
            let keys: Vec<String> = (0..passing.waiting.len()).map(|index| index.to_string()).collect();
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
        let text = |name| params.as_ref()?.member(name)?.to_text().map(std::borrow::Cow::into_owned);
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

    /// The call that a message of the server belongs to. In a session nothing says so: if there is one, it is that.
    fn only_call(&self) -> Option<CallId> {
        let mut open = self.calls.iter().filter(|(_, passing)| passing.incoming.is_some());
        let only = open.next();
        only.filter(|_| open.next().is_none()).map(|(call, _)| *call)
    }

    fn call_of(&self, incoming: IncomingId) -> Option<CallId> {
        let found = self.calls.iter().find(|(_, passing)| passing.incoming == Some(incoming));
        found.map(|(call, _)| *call)
    }
}

fn patient(parent: Option<IncomingId>) -> CallOptions {
    CallOptions { timeout: Some(PATIENCE), parent, ..CallOptions::default() }
}

/// How a call failed, for whoever made it.
fn told(error: CallError) -> ErrorObject {
    match error {
        CallError::Refused(error) | CallError::Unanswered(error) => error,
        error => ErrorObject::internal(error.to_string()),
    }
}

/// What the other side cannot be sent.
fn refused(misuse: Misuse) -> ErrorObject {
    ErrorObject::internal(format!("not passed on: {misuse}"))
}

fn lost(way: &str, done: Result<(), Misuse>, trace: &mut Trace) {
    if let Err(misuse) = done {
        trace.note(&format!("not passed on {way}: {misuse}"));
    }
}
