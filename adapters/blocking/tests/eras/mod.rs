//! A scripted client of any revision, which sends each request in the form of its era.

#![allow(dead_code, reason = "each test file uses a part of it")]

use mcp_blocking::Server;
use mcp_blocking::proto::{Era, Revision};
use serde_json::{Value, json};

use crate::common::{Hand, Serving, serve_by_hand};

const META: &str = "io.modelcontextprotocol";

/// A scripted client that sends requests and answers input requests.
pub(crate) struct Visitor {
    pub(crate) hand: Hand,
    serving: Serving,
    revision: Revision,
    capabilities: Value,
    /// The capabilities that the server declares.
    pub(crate) declared: Value,
    last: u64,
}

impl Visitor {
    /// Opens a connection to a server and reads its capabilities.
    pub(crate) fn new(server: Server, revision: Revision, capabilities: Value) -> Self {
        let (hand, serving) = serve_by_hand(server);
        let mut visitor =
            Self { hand, serving, revision, capabilities, declared: Value::Null, last: 0 };
        if visitor.is_modern() {
            visitor.declared =
                visitor.ask("server/discover", json!({}))["result"]["capabilities"].clone();
            return visitor;
        }
        let hello = json!({
            "protocolVersion": revision.name(), "capabilities": visitor.capabilities,
            "clientInfo": {"name": "visitor", "version": "1"},
        });
        let welcome = visitor.ask("initialize", hello);
        assert_eq!(welcome["result"]["protocolVersion"], revision.name(), "{welcome}");
        visitor.declared = welcome["result"]["capabilities"].clone();
        visitor.hand.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        visitor
    }

    pub(crate) fn is_modern(&self) -> bool {
        self.revision.era() == Era::Modern
    }

    /// Sends a request and returns its id.
    pub(crate) fn send(&mut self, method: &str, mut params: Value) -> u64 {
        if self.is_modern() {
            params["_meta"][format!("{META}/protocolVersion")] = self.revision.name().into();
            params["_meta"][format!("{META}/clientCapabilities")] = self.capabilities.clone();
        }
        self.last += 1;
        self.hand.request(self.last, method, &params);
        self.last
    }

    /// Sends a request and returns the next response.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        let answer = self.hand.hear_answer();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Sends a request, answers its input requests, and returns the final response.
    pub(crate) fn talk(
        &mut self,
        method: &str,
        params: Value,
        mut say: impl FnMut(&str, &Value) -> Value,
    ) -> Value {
        let mut id = self.send(method, params.clone());
        loop {
            let message = self.hand.hear_answer();
            if let Some(asked) = message["method"].as_str() {
                self.hand.answer(&message, &say(asked, &message["params"]));
                continue;
            }
            assert_eq!(message["id"], id, "{message}");
            let result = &message["result"];
            if result["resultType"] != "input_required" {
                return message;
            }
            let questions = result["inputRequests"].as_object().cloned().unwrap_or_default();
            let answers = questions.iter().map(|(key, question)| {
                (key.clone(), say(question["method"].as_str().unwrap(), &question["params"]))
            });
            let mut retry = params.clone();
            retry["inputResponses"] = answers.collect();
            if let Some(state) = result.get("requestState") {
                retry["requestState"] = state.clone();
            }
            id = self.send(method, retry);
        }
    }

    /// Disconnects; the server must end successfully.
    pub(crate) fn leave(self) {
        drop(self.hand);
        self.serving.join().unwrap().unwrap();
    }
}
