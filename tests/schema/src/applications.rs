//! Two deterministic applications that use every feature of a connection, in terms of types rather
//! than JSON.

use std::time::Duration;

use mcp_proto::schema::{
    CreateMessage, Elicit, EmptyResult, Encode, Form, Level, ListTools, Map, TextField,
};
use mcp_proto::{
    CallOptions, ErrorObject, IncomingId, MessageEndpoint, Misuse, NeededInput, Progress, Raw,
    Request, StreamId,
};
use mcp_proto::{client, server};
use serde_json::{Value, json};

use crate::codec::Typed;
use crate::generate::Generator;
use crate::pair::Pair;
use crate::random::Random;
use crate::registry::cover;
use crate::spec::Spec;
use crate::tape::result_of;

/// Methods the machines send themselves; the applications use dedicated functions.
const INTERNAL: &[&str] = &[
    "initialize",
    "notifications/cancelled",
    "notifications/initialized",
    "notifications/progress",
];

/// Both applications and the connection between them.
#[derive(Debug)]
pub struct Applications<'a> {
    /// The schema of the connection's revision.
    spec: &'a Spec,
    /// The schema the applications know, which may be newer.
    rich: &'a Spec,
    /// The connection.
    pub pair: Pair,
    /// The number of values without a form in the peer's revision.
    pub refused: usize,
    turn: u64,
}

impl<'a> Applications<'a> {
    /// Creates both on a connection with the revision of `spec`; values are generated from `rich`.
    #[must_use]
    pub fn new(spec: &'a Spec, rich: &'a Spec) -> Self {
        Self { spec, rich, pair: Pair::new(spec.revision), refused: 0, turn: 0 }
    }

    /// Returns the definitions and methods of a union of messages.
    fn messages(&self, union: &str) -> Vec<(&'a str, &'a str)> {
        let spec = self.spec;
        let members = spec
            .definition(union)
            .and_then(|union| union["anyOf"].as_array())
            .into_iter()
            .flatten();
        let names = members.filter_map(|member| spec.reference(member));
        let method = |name| {
            spec.definition(name)
                .and_then(|it: &Value| it["properties"]["method"]["const"].as_str())
        };
        names.map(|name| (name, method(name).expect("a message has a method"))).collect()
    }

    /// Returns every method of the revision.
    #[must_use]
    pub fn methods(&self) -> Vec<&'a str> {
        let unions = ["ClientRequest", "ServerRequest", "ClientNotification", "ServerNotification"];
        unions
            .into_iter()
            .flat_map(|union| self.messages(union))
            .map(|(_, method)| method)
            .collect()
    }

    /// Uses every feature once.
    pub fn round(&mut self) {
        self.pair.now += Duration::from_secs(2);
        for (name, method) in self.messages("ClientRequest") {
            self.send(name, method, |pair, params| {
                let options = CallOptions { progress: true, ..CallOptions::default() };
                pair.client.call_raw(pair.now, method, params, options).map(|_| ())
            });
        }
        for (name, method) in self.messages("ServerRequest") {
            self.send(name, method, |pair, params| {
                let options = CallOptions { progress: true, ..CallOptions::default() };
                pair.server.call_raw(pair.now, method, params, options).map(|_| ())
            });
        }
        for (name, method) in self.messages("ClientNotification") {
            self.send(name, method, |pair, params| {
                pair.client.notify_raw(pair.now, method, params)
            });
        }
        for (name, method) in self.messages("ServerNotification") {
            self.send(name, method, |pair, params| {
                pair.server.notify_raw(pair.now, method, params)
            });
        }
        self.change_minds();
        self.talk_nonsense();
    }

    /// Sends a message with generated params.
    fn send(
        &mut self,
        name: &str,
        method: &str,
        send: impl FnOnce(&mut Pair, Option<&dyn Encode>) -> Result<(), Misuse>,
    ) {
        if INTERNAL.contains(&method) {
            return;
        }
        self.turn += 1;
        let params = self.make(name);
        match send(&mut self.pair, Some(&*params)) {
            Ok(()) => {}
            // The value has no form in this revision.
            Err(Misuse::Unencodable | Misuse::Unsupported) => self.refused += 1,
            Err(misuse) => panic!("{method} cannot be sent: {misuse} {params:?}"),
        }
        self.settle();
    }

    /// Generates a value of the type for the definition `name`, or for its params.
    fn make(&self, name: &str) -> Box<dyn Typed> {
        // Input requests match the peer's capabilities, and answers match the questions.
        let spec = if name.starts_with("Elicit") { self.spec } else { self.rich };
        let mut generator = Generator::new(spec, Random::new(name, self.turn)).closed();
        let value = generator.definition(name);
        let part = cover(spec, name).part(&value).unwrap_or_else(|| panic!("{name} has no type"));
        part.codec
            .read(&part.of(&value).to_string())
            .unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Transfers lines and responds to requests until nothing is left.
    fn settle(&mut self) {
        loop {
            self.pair.carry();
            if let Some(event) = self.pair.server.poll_event() {
                if let server::Event::Request { incoming, request, context } = event {
                    self.serve(incoming, &request, context.input_responses.is_some());
                }
            } else if let Some(event) = self.pair.client.poll_event() {
                if let client::Event::Request { incoming, request, .. } = event {
                    self.help(incoming, &request);
                }
            } else {
                return;
            }
        }
    }

    fn serve(&mut self, incoming: IncomingId, request: &Request, is_answered: bool) {
        self.turn += 1;
        let Pair { now, server, .. } = &mut self.pair;
        let progress = Progress::new(0.5).with_total(2.0).with_message("half a step");
        if server.progress(*now, incoming, &progress) == Err(Misuse::Stale) {
            return; // The client cancelled it.
        }
        let data = Raw::new(&["under", "way"]).expect("JSON");
        server
            .log(*now, Some(incoming), Level::Warning, Some("app"), &data)
            .expect("logging is allowed");
        if self.turn.is_multiple_of(5) {
            let error = ErrorObject::invalid_params("not that").with_data(data);
            server.respond_error(*now, incoming, &error).expect("the request is open");
            return;
        }
        let may_ask = ["prompts/get", "resources/read", "tools/call"].contains(&&*request.method);
        if may_ask && !is_answered && self.turn.is_multiple_of(2) && self.ask(incoming) {
            return;
        }
        let result = self.result_for(request);
        let Pair { now, server, .. } = &mut self.pair;
        if server.respond(*now, incoming, &*result) == Err(Misuse::Unencodable) {
            self.refused += 1;
            server.respond(*now, incoming, &EmptyResult::new()).expect("the request is open");
        }
    }

    fn ask(&mut self, incoming: IncomingId) -> bool {
        let form = Form::new(Map::new()).field("name", TextField::new().max_length(20));
        let sampling = CreateMessage::new(Vec::new(), 100_i64);
        let mut questions = vec![
            ("roots", NeededInput::Roots),
            ("words", sampling.into()),
            ("who", Elicit::form("Who?", form).into()),
        ];
        let Pair { now, server, .. } = &mut self.pair;
        // Not every revision has forms.
        while !questions.is_empty() {
            match server.request_input(*now, incoming, &questions, Some("state")) {
                Ok(()) => return true,
                Err(Misuse::Undeclared | Misuse::Unsupported) => _ = questions.pop(),
                Err(misuse) => panic!("input cannot be asked for: {misuse}"),
            }
        }
        false
    }

    fn help(&mut self, incoming: IncomingId, request: &Request) {
        self.turn += 1;
        let result = self.result_for(request);
        let Pair { now, client, .. } = &mut self.pair;
        if client.progress(*now, incoming, &Progress::new(1.0)) == Err(Misuse::Stale) {
            return; // The server cancelled it.
        }
        if client.respond(*now, incoming, &*result) == Err(Misuse::Unencodable) {
            self.refused += 1;
            let error = ErrorObject::new(-1, "no form for it");
            client.respond_error(*now, incoming, &error).expect("the request is open");
        }
    }

    fn result_for(&self, request: &Request) -> Box<dyn Typed> {
        let all = [self.messages("ClientRequest"), self.messages("ServerRequest")].concat();
        let (name, _) =
            all.iter().find(|(_, method)| **method == *request.method).expect("a known request");
        self.make(&result_of(self.spec, name))
    }

    /// Cancels a call on both sides.
    fn change_minds(&mut self) {
        let Pair { now, client, server, .. } = &mut self.pair;
        let options = CallOptions::default;
        let call = client.call(*now, &ListTools::new(), options()).expect("it can be called");
        client.cancel(*now, call, "never mind").expect("the request is open");
        let call = server.call_raw(*now, "roots/list", None, options()).expect("it can be called");
        server.cancel(*now, call, "").expect("the request is open");
        self.settle();
    }

    /// Sends invalid requests, which are answered as the revision demands.
    fn talk_nonsense(&mut self) {
        let Pair { now, server, .. } = &mut self.pair;
        server.handle_message(*now, StreamId::ONLY, &b"{nonsense"[..]);
        server.handle_message(
            *now,
            StreamId::ONLY,
            &br#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#[..],
        );
        self.pair.tell_server(&json!({ "jsonrpc": "2.0", "id": "text", "method": "ping" }));
        if self.spec.revision.rules().batches {
            self.pair.tell_server(&json!([
                { "jsonrpc": "2.0", "id": "a", "method": "ping" },
                { "jsonrpc": "2.0", "id": "b", "method": "tools/list" },
            ]));
        }
        self.settle();
    }
}
