//! Tests of a server over HTTP against a scripted client, in virtual time.

mod batches;
mod bounds;
mod decoded;
mod modern;
mod random_actions;
mod ready;
mod replies;
mod resumption;
mod sessionless;
mod strict_readers;
mod unsolicited;

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;

use serde_json::{Value, json};

use super::*;
use crate::http::sse::{EventReader, Item};
use crate::http::{Body, Refusal};
use crate::schema::CallToolResult;
use crate::server::Config;
use crate::vocabulary::{IncomingId, Progress};
use crate::{Capability, Limits};

/// A session, with virtual time and helpers that act as its client and application.
struct Fixture {
    session: HttpServer,
    now: Instant,
    next_id: u64,
}

/// An event stream as its client reads it.
#[derive(Debug, Default)]
struct ReadStream {
    /// Messages with their event ids.
    messages: Vec<(Option<String>, Value)>,
    /// The ids of all events.
    ids: Vec<String>,
    /// The last event id.
    last_id: Option<String>,
    retry: Option<Duration>,
    is_over: bool,
}

impl ReadStream {
    /// Parses a body, which may be incomplete.
    fn parse(body: &[u8]) -> Self {
        let mut reader = EventReader::new(1 << 20, 256);
        let mut stream = Self::default();
        let mut input = body;
        while let Some(found) = reader.next(&mut input) {
            let Item::Event(event) = found else { panic!("{found:?}") };
            stream.ids.extend(event.id.map(String::from));
            if let Some(message) = event.message() {
                let message = serde_json::from_slice(message).unwrap();
                stream.messages.push((event.id.map(Into::into), message));
            }
        }
        stream.last_id = reader.last_id().map(Into::into);
        stream.retry = reader.retry();
        stream
    }

    /// Returns a summary of each message.
    fn summaries(&self) -> Vec<String> {
        self.messages.iter().map(|(_, message)| summary(message)).collect()
    }
}

/// Summarizes a message: `progress 2`, `result 7`, `error -32601`, or the method.
fn summary(message: &Value) -> String {
    match message["method"].as_str() {
        Some("notifications/progress") => format!("progress {}", message["params"]["progress"]),
        Some(method) => method.trim_start_matches("notifications/").to_string(),
        None if message["error"].is_object() => format!("error {}", message["error"]["code"]),
        None => format!("result {}", message["id"]),
    }
}

fn config() -> Config {
    let offers = [Capability::Tools, Capability::ToolsListChanged, Capability::Logging];
    offers.into_iter().fold(Config::new("weather", "1.0.0"), Config::capability)
}

impl Fixture {
    /// Creates an initialized session in `revision`.
    fn in_revision(revision: &str, settings: StreamSettings) -> Self {
        Self::of(config(), revision, settings)
    }

    fn of(config: Config, revision: &str, settings: StreamSettings) -> Self {
        Self::named("7c1e", config, revision, settings)
    }

    fn named(name: &str, config: Config, revision: &str, settings: StreamSettings) -> Self {
        Self::declaring(&json!({}), name, config, revision, settings)
    }

    /// Creates an initialized session whose client declares `capabilities`.
    fn declaring(
        capabilities: &Value,
        name: &str,
        config: Config,
        revision: &str,
        settings: StreamSettings,
    ) -> Self {
        let session = HttpServer::legacy(Server::new(Instant::ZERO, config), name, settings);
        let mut it = Self { session, now: Instant::ZERO, next_id: 0 };
        let client = json!({"name": "c", "version": "1"});
        let params = json!({
            "protocolVersion": revision, "capabilities": capabilities, "clientInfo": client,
        });
        let initialize = it.request("initialize", params);
        let head = it.session.poll_reply(initialize).unwrap();
        assert_eq!(head.status, 200);
        // HTTP-29: the response to `initialize` carries the session id.
        assert!(head.headers.contains(&("mcp-session-id", name.into())), "{head:?}");
        it.notify("notifications/initialized", json!({}));
        assert!(matches!(it.session.poll_event(), Some(Event::Ready(_))));
        it
    }

    /// Creates an initialized session in the newest legacy revision.
    fn new() -> Self {
        Self::in_revision("2025-11-25", StreamSettings::default())
    }

    fn post(&mut self, is_request: bool, message: &Value) -> ServerExchangeId {
        self.session.handle_post(self.now, is_request, message.to_string().as_bytes())
    }

    /// Posts a request with the next id.
    fn request(&mut self, method: &str, params: Value) -> ServerExchangeId {
        let id = self.next_id;
        self.next_id += 1;
        self.post(true, &json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
    }

    /// Posts a notification and checks that it is accepted.
    fn notify(&mut self, method: &str, params: Value) {
        let id = self.post(false, &json!({"jsonrpc": "2.0", "method": method, "params": params}));
        let reply = self.session.poll_reply(id).unwrap();
        assert_eq!((reply.status, reply.body), (202, Body::Whole(Bytes::new())));
    }

    /// Posts a call with a progress token and takes its event.
    fn call(&mut self) -> (ServerExchangeId, IncomingId) {
        let token = self.next_id;
        let meta = json!({"progressToken": token});
        let exchange = self.request("tools/call", json!({"name": "x", "_meta": meta}));
        (exchange, self.incoming())
    }

    fn incoming(&mut self) -> IncomingId {
        match self.session.poll_event() {
            Some(Event::Request { incoming, .. }) => incoming,
            other => panic!("{other:?}"),
        }
    }

    fn progress(&mut self, incoming: IncomingId, number: u32) {
        self.session.progress(self.now, incoming, &Progress::new(number.into())).unwrap();
    }

    fn answer(&mut self, incoming: IncomingId) {
        self.session.respond(self.now, incoming, &CallToolResult::text("done")).unwrap();
    }

    fn change(&mut self) {
        self.session.notify_changed(self.now, crate::Change::Tools).unwrap();
    }

    fn get(&mut self, last: Option<&str>) -> ServerExchangeId {
        self.session.handle_get(self.now, last).unwrap()
    }

    /// Advances the time, calling the session at each of its timeouts.
    fn wait(&mut self, duration: Duration) {
        let end = self.now + duration;
        while let Some(due) = self.session.poll_timeout().filter(|due| *due <= end) {
            self.now = due;
            self.session.handle_timeout(due);
        }
        self.now = end;
    }

    /// Takes a response with one JSON value, or an empty one.
    fn json(&mut self, id: ServerExchangeId) -> (u16, Value) {
        let reply = self.session.poll_reply(id).expect("no response");
        let Body::Whole(body) = reply.body else { panic!("{reply:?}") };
        let kind = ("content-type", "application/json".into());
        assert_eq!(reply.headers.contains(&kind), !body.is_empty());
        let body =
            if body.is_empty() { Value::Null } else { serde_json::from_slice(&body).unwrap() };
        (reply.status, body)
    }

    /// Polls a response, which must be an event stream, and returns its bytes so far and whether it
    /// has ended.
    fn bytes(&mut self, id: ServerExchangeId) -> (Vec<u8>, bool) {
        if let Some(head) = self.session.poll_reply(id) {
            assert_eq!((head.status, &head.body), (200, &Body::Events));
            assert!(head.headers.contains(&("content-type", "text/event-stream".into())));
            // HTTP-54: proxies must not buffer the stream.
            assert!(head.headers.contains(&("x-accel-buffering", "no".into())));
        }
        let mut bytes = Vec::new();
        loop {
            match self.session.poll_chunk(id) {
                Some(BodyChunk::Bytes(frame)) => bytes.extend_from_slice(&frame),
                Some(BodyChunk::End) => return (bytes, true),
                None => return (bytes, false),
            }
        }
    }

    /// Like `bytes`, but parsed.
    fn read(&mut self, id: ServerExchangeId) -> ReadStream {
        let (bytes, is_over) = self.bytes(id);
        ReadStream { is_over, ..ReadStream::parse(&bytes) }
    }
}

/// Posts a message to a modern server.
fn post_modern(message: &Value) -> (HttpServer, ServerExchangeId) {
    let server = Server::new(Instant::ZERO, config());
    let mut session = HttpServer::modern(server, Revision::V2026_07_28, StreamSettings::default());
    let id = session.handle_post(Instant::ZERO, true, message.to_string().as_bytes());
    (session, id)
}

fn modern_request(method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "c", "version": "1"},
        "progressToken": "p",
    });
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}
