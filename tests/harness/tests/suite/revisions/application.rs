//! The two applications of the differential test, independent of revisions, eras, ids and lines.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::time::Duration;

use mcp_proto::client::{self, Client};
use mcp_proto::schema::{
    AnyObject, CallToolResult, Decode, Elicit, ElicitResult, Encode, Level, ListToolsResult,
    LogMessage,
};
use mcp_proto::server::{self, Server};
use mcp_proto::{
    CallError, CallId, CallOptions, Capability, Change, CloseReason, Context, ErrorObject,
    IncomingId, Instant, Misuse, NeededInput, Progress, Raw, Request, code,
};

pub(crate) fn raw(text: &str) -> Raw {
    Raw::from_text(text).unwrap()
}

/// The log of an application, a line per event, under the step of the script.
#[derive(Debug, Default)]
pub(crate) struct Log {
    pub(crate) step: &'static str,
    pub(crate) lines: Vec<(&'static str, String)>,
}

impl Log {
    fn note(&mut self, line: impl Display) {
        self.lines.push((self.step, line.to_string()));
    }
}

/// How the client's application reacts to a request for roots.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Manner {
    /// It answers.
    #[default]
    Answer,
    /// It cancels its call instead.
    Leave,
    /// It answers with an error.
    Refuse,
}

/// The client's application.
#[derive(Debug, Default)]
pub(crate) struct ClientApplication {
    pub(crate) log: Log,
    pub(crate) manner: Manner,
    /// Open calls, by purpose.
    pub(crate) calls: BTreeMap<CallId, &'static str>,
}

impl ClientApplication {
    /// Records how a call began.
    pub(crate) fn began(&mut self, what: &'static str, call: Result<CallId, Misuse>) {
        match call {
            Ok(call) => _ = self.calls.insert(call, what),
            Err(misuse) => self.log.note(format_args!("{what}: {misuse:?}")),
        }
    }

    /// Returns the open call with this purpose.
    pub(crate) fn find(&self, what: &str) -> Option<CallId> {
        self.calls.iter().find(|(_, open)| **open == what).map(|(call, _)| *call)
    }

    fn name(&self, call: Option<CallId>) -> String {
        call.map_or_else(String::new, |call| format!(" for {}", self.calls[&call]))
    }

    pub(crate) fn hear(&mut self, now: Instant, client: &mut Client, event: client::Event) {
        match event {
            client::Event::Ready(peer) => self.log.note(format_args!(
                "ready: {} {}, {:?}, tools {}, prompts {}",
                peer.info.name,
                peer.info.version,
                peer.instructions,
                peer.has(Capability::Tools),
                peer.has(Capability::Prompts),
            )),
            client::Event::Completed { call, outcome } => {
                let name = self.calls.remove(&call).expect("a call that ends is open");
                self.log.note(format_args!("{name}: {}", describe(&outcome)));
            }
            client::Event::Subscribed { call, filter } => {
                let name = self.name(Some(call));
                self.log.note(format_args!(
                    "listening{name}: tools {} prompts {} resources {} {:?}",
                    filter.tools, filter.prompts, filter.resources, filter.uris
                ));
            }
            client::Event::Notification { call, method, params } => {
                let name = self.name(call);
                let said = match params.as_ref().map(LogMessage::decode) {
                    Some(Ok(message)) => format!(" {:?} {}", message.level, message.data),
                    _ => params
                        .and_then(|params| params.member("uri"))
                        .map_or_else(String::new, |uri| format!(" {uri}")),
                };
                self.log.note(format_args!("{method}{name}{said}"));
            }
            client::Event::Progress { call, progress } => {
                let name = self.name(Some(call));
                self.log.note(format_args!(
                    "progress{name}: {} of {:?}, {:?}",
                    progress.progress, progress.total, progress.message
                ));
            }
            client::Event::Request { incoming, call, request } => {
                self.asked(now, client, incoming, call, &request);
            }
            client::Event::RequestCancelled { reason, .. } => {
                self.log.note(format_args!("a question was taken back: {reason:?}"));
            }
            client::Event::Violation(violation) => {
                self.log.note(format_args!("violation: {violation}"));
            }
            client::Event::Closed(why) => self.log.note(closed(&why)),
            other => self.log.note(format_args!("{other:?}")),
        }
    }

    fn asked(
        &mut self,
        now: Instant,
        client: &mut Client,
        incoming: IncomingId,
        call: Option<CallId>,
        request: &Request,
    ) {
        let name = self.name(call);
        let about = request
            .decode::<Elicit>()
            .map_or_else(|_| String::new(), |form| format!(" {:?}", form.message));
        self.log.note(format_args!("{}{name}{about}", request.method));
        let answer: &dyn Encode = match (&*request.method, self.manner) {
            ("elicitation/create", _) => {
                let content = AnyObject::from(raw(r#"{"word":"Ann"}"#));
                &ElicitResult::accept(content)
            }
            ("roots/list", Manner::Answer) => &raw(r#"{"roots":[{"uri":"file:///home"}]}"#),
            ("roots/list", Manner::Refuse) => {
                let done = client.respond_error(now, incoming, &ErrorObject::new(-1, "rather not"));
                return self.log.note(format_args!("refused it: {done:?}"));
            }
            ("roots/list", Manner::Leave) => {
                let call = *self.calls.keys().next_back().unwrap();
                let done = client.cancel(now, call, "never mind");
                return self.log.note(format_args!("left: {done:?}"));
            }
            (other, _) => panic!("unexpected request {other}"),
        };
        client.respond(now, incoming, answer).unwrap();
    }
}

/// The server's application.
#[derive(Debug, Default)]
pub(crate) struct ServerApplication {
    pub(crate) log: Log,
    /// Open requests, by their tool or method.
    open: BTreeMap<IncomingId, String>,
    /// Requests to answer later.
    later: Vec<(Instant, IncomingId)>,
    /// Calls of the client, with their purpose.
    calls: BTreeMap<CallId, (&'static str, IncomingId)>,
}

impl ServerApplication {
    /// Returns when to wake the application.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        self.later.iter().map(|(at, _)| *at).min()
    }

    /// Answers what is due.
    pub(crate) fn wake(&mut self, now: Instant, server: &mut Server) {
        while let Some(index) = self.later.iter().position(|(at, _)| *at <= now) {
            let (_, incoming) = self.later.remove(index);
            self.say(now, server, incoming, "late");
        }
    }

    fn say(&mut self, now: Instant, server: &mut Server, incoming: IncomingId, text: &str) {
        self.open.remove(&incoming);
        if let Err(misuse) = server.respond(now, incoming, &CallToolResult::text(text)) {
            self.log.note(format_args!("too late: {misuse:?}"));
        }
    }

    fn refuse(
        &mut self,
        now: Instant,
        server: &mut Server,
        incoming: IncomingId,
        error: &ErrorObject,
    ) {
        self.open.remove(&incoming);
        server.respond_error(now, incoming, error).unwrap();
    }

    pub(crate) fn hear(&mut self, now: Instant, server: &mut Server, event: server::Event) {
        match event {
            server::Event::Ready(peer) => {
                self.log.note(format_args!("ready: {} {}", peer.info.name, peer.info.version));
            }
            server::Event::Request { incoming, request, context } => {
                self.serve(now, server, incoming, &request, &context);
            }
            server::Event::RequestCancelled { incoming, reason } => {
                // In a session, a request whose questions were sent ends like this, too.
                let Some(name) = self.open.remove(&incoming) else { return };
                self.log.note(format_args!("{name} is cancelled: {reason:?}"));
            }
            server::Event::Completed { call, outcome } => {
                let (what, incoming) = self.calls.remove(&call).expect("a call that ends is open");
                self.log.note(format_args!("{what}: {}", describe(&outcome)));
                self.say(now, server, incoming, what);
            }
            server::Event::Violation(violation) => {
                self.log.note(format_args!("violation: {violation}"));
            }
            server::Event::Closed(why) => self.log.note(closed(&why)),
            server::Event::Watched { uri, .. } => self.log.note(format_args!("watched: {uri}")),
            server::Event::Unwatched { uri, .. } => self.log.note(format_args!("unwatched: {uri}")),
            other => self.log.note(format_args!("{other:?}")),
        }
    }

    fn serve(
        &mut self,
        now: Instant,
        server: &mut Server,
        incoming: IncomingId,
        request: &Request,
        context: &Context,
    ) {
        let member = |name: &str| request.params.as_ref().and_then(|params| params.member(name));
        let text = |name: &str| {
            member(name).and_then(|value| value.to_text().map(String::from)).unwrap_or_default()
        };
        let tool = text("name");
        let name = if tool.is_empty() { request.method.to_string() } else { tool.clone() };
        self.open.insert(incoming, name.clone());
        let arguments =
            member("arguments").map_or_else(String::new, |arguments| format!(" {arguments}"));
        self.log.note(format_args!(
            "{name}{arguments} by {}{}",
            context.peer.info.name,
            surroundings(context)
        ));
        match &*request.method {
            "tools/list" => {
                let page = if text("cursor").is_empty() {
                    r#"{"tools":[{"name":"echo","inputSchema":{"type":"object"}}],"nextCursor":"2"}"#
                } else {
                    r#"{"tools":[{"name":"count","inputSchema":{"type":"object"}}]}"#
                };
                self.open.remove(&incoming);
                server.respond(now, incoming, &raw(page)).unwrap();
            }
            "resources/read" => {
                let error = ErrorObject::new(code::RESOURCE_NOT_FOUND, "no such resource");
                self.refuse(now, server, incoming, &error);
            }
            "tools/call" => self.run(now, server, incoming, &tool, member("arguments"), context),
            other => panic!("unexpected request {other}"),
        }
    }

    fn run(
        &mut self,
        now: Instant,
        server: &mut Server,
        incoming: IncomingId,
        tool: &str,
        arguments: Option<Raw>,
        context: &Context,
    ) {
        match tool {
            "echo" => self.say(now, server, incoming, &arguments.unwrap().to_string()),
            "fail" => {
                self.open.remove(&incoming);
                server.respond(now, incoming, &CallToolResult::error("it is broken")).unwrap();
            }
            "count" => {
                for step in 1..=3 {
                    let progress = Progress::new(f64::from(step))
                        .with_total(3.0)
                        .with_message(format!("step {step}"));
                    let done = server.progress(now, incoming, &progress);
                    self.log.note(format_args!("progress {step}: {done:?}"));
                }
                let again = server.progress(now, incoming, &Progress::new(3.0));
                self.log.note(format_args!("progress 3 again: {again:?}"));
                self.say(now, server, incoming, "3");
            }
            "sleep" => {}
            "late" => self.later.push((now + Duration::from_secs(8), incoming)),
            "form" => self.fill_in(now, server, incoming, context),
            "roots" => match &context.input_responses {
                None => self.ask(now, server, incoming, &[("where", NeededInput::Roots)], None),
                Some(_) => self.say(now, server, incoming, "thanks"),
            },
            "nothing" => match context.state.as_deref() {
                None => self.ask(now, server, incoming, &[], Some("later")),
                Some(state) => self.say(now, server, incoming, state),
            },
            "sample" => {
                let params = raw(r#"{"messages":[],"maxTokens":5}"#);
                self.ask(
                    now,
                    server,
                    incoming,
                    &[("what", NeededInput::raw("sampling/createMessage", params))],
                    None,
                );
            }
            "touch" => {
                let what =
                    arguments.unwrap().member("what").unwrap().to_text().unwrap().into_owned();
                let change = match &*what {
                    "tools" => Change::Tools,
                    "prompts" => Change::Prompts,
                    "resources" => Change::Resources,
                    uri => Change::Resource(uri),
                };
                let done = server.notify_changed(now, change);
                self.log.note(format_args!("changed {what}: {done:?}"));
                self.say(now, server, incoming, "told");
            }
            "chatter" => {
                for level in [Level::Info, Level::Warning, Level::Error] {
                    let data = raw(&format!("\"about {}\"", level.name()));
                    let done = server.log(now, Some(incoming), level, Some("chatter"), &data);
                    self.log.note(format_args!("log {}: {done:?}", level.name()));
                }
                self.say(now, server, incoming, "said");
            }
            "mutter" => {
                let done = server.log(now, None, Level::Error, None, &raw("\"about nothing\""));
                self.log.note(format_args!("log: {done:?}"));
                self.say(now, server, incoming, "said");
            }
            "reach" => self.reach(now, server, incoming, "roots/list"),
            "knock" => self.reach(now, server, incoming, "ping"),
            "stop" => server.close(now),
            other => {
                let error = ErrorObject::invalid_params(format!("no tool `{other}`"));
                self.refuse(now, server, incoming, &error);
            }
        }
    }

    /// Asks twice, and carries the first answer to the second round.
    fn fill_in(
        &mut self,
        now: Instant,
        server: &mut Server,
        incoming: IncomingId,
        context: &Context,
    ) {
        let form = |message: &str| {
            let schema = raw(r#"{"type":"object","properties":{"word":{"type":"string"}}}"#);
            NeededInput::from(Elicit::form(message, schema))
        };
        let word = |key: &str| {
            let answers = context.input_responses.as_ref().unwrap();
            let answer: ElicitResult = answers.decode(key).unwrap().unwrap();
            format!("{:?}", answer.content)
        };
        match context.state.as_deref() {
            None => {
                let questions = [("who", form("Who?")), ("where", NeededInput::Roots)];
                self.ask(now, server, incoming, &questions, Some("first"));
            }
            Some("first") => {
                let state = format!("then {}", word("who").len());
                self.ask(now, server, incoming, &[("sure", form("Sure?"))], Some(&state));
            }
            Some(state) => {
                let text = format!("{state} {}", word("sure").len());
                self.say(now, server, incoming, &text);
            }
        }
    }

    fn ask(
        &mut self,
        now: Instant,
        server: &mut Server,
        incoming: IncomingId,
        questions: &[(&str, NeededInput)],
        state: Option<&str>,
    ) {
        self.open.remove(&incoming);
        if let Err(misuse) = server.request_input(now, incoming, questions, state) {
            self.log.note(format_args!("asking: {misuse:?}"));
            server.refuse_undeclared(now, incoming, questions).unwrap();
        }
    }

    /// Calls the client within a request.
    fn reach(
        &mut self,
        now: Instant,
        server: &mut Server,
        incoming: IncomingId,
        method: &'static str,
    ) {
        match server.call_raw(now, method, None, CallOptions::default()) {
            Ok(call) => _ = self.calls.insert(call, (method, incoming)),
            Err(misuse) => {
                self.log.note(format_args!("calling {method}: {misuse:?}"));
                self.say(now, server, incoming, "no");
            }
        }
    }
}

fn surroundings(context: &Context) -> String {
    let mut words = String::new();
    if context.wants_progress {
        words.push_str(", tell progress");
    }
    if let Some(level) = context.log_level {
        words.push_str(&format!(", log from {level}"));
    }
    for (key, answer) in context.input_responses.iter().flat_map(|answers| answers.iter()) {
        words.push_str(&format!(", {key} is {answer}"));
    }
    if let Some(state) = &context.state {
        words.push_str(&format!(", state {state:?}"));
    }
    words
}

/// Describes how a call ended, without details of the wire.
fn describe(outcome: &Result<Raw, CallError>) -> String {
    match outcome {
        Ok(result) => {
            if let Ok(page) = ListToolsResult::decode(result) {
                let names: Vec<_> = page.tools.iter().map(|tool| &*tool.name).collect();
                return format!("tools {names:?}, next {:?}", page.next_cursor);
            }
            match CallToolResult::decode(result).ok().filter(|result| !result.content.is_empty()) {
                Some(result) => {
                    format!("{:?}, is error {:?}", result.content[0].as_text(), result.is_error)
                }
                None => match result.member("roots") {
                    Some(roots) => format!("roots {roots}"),
                    None => "ok".into(),
                },
            }
        }
        Err(CallError::Refused(error)) => {
            let data = error.data.as_ref().map_or_else(String::new, |data| format!(" {data}"));
            format!("refused {error}{data}")
        }
        Err(CallError::InputRefused(error)) => format!("unanswered {error}"),
        Err(other) => format!("{other:?}"),
    }
}

fn closed(why: &CloseReason) -> String {
    format!("closed {why:?}")
}
