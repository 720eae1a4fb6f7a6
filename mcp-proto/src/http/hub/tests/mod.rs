//! Tests of a hub against scripted clients of both eras, in virtual time.

mod bodies;
mod bounds;
mod streams;
mod whole;

use alloc::format;
use alloc::string::ToString;
use core::time::Duration;

use serde_json::{Value, json};

use super::*;
use crate::Capability;
use crate::schema::CallToolResult;
use crate::vocabulary::{Caller, IncomingId, Progress};

const MODERN: &str = "2026-07-28";
const LEGACY: &str = "2025-11-25";

struct Fixture {
    hub: HttpHub,
    now: Instant,
    /// How many requests reached the application.
    calls: usize,
}

/// A whole response: its status, its session id and its messages.
#[derive(Debug)]
struct Seen {
    status: u16,
    session: Option<String>,
    body: String,
}

impl Seen {
    fn of(reply: Reply) -> Self {
        let Body::Whole(body) = reply.body else { panic!("no whole body") };
        let session = reply.headers.iter().find(|(name, _)| *name == "mcp-session-id");
        Self {
            status: reply.status,
            session: session.map(|(_, id)| id.to_string()),
            body: String::from_utf8(body.to_vec()).expect("text"),
        }
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.body).expect("JSON")
    }
}

/// The headers of a request of the principal `who`, unless that is empty.
type Head<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a str);

impl Fixture {
    /// Creates a hub of at most two sessions.
    fn new() -> Self {
        Self::with(HubLimits::default())
    }

    fn with(limits: HubLimits) -> Self {
        let config = Config::new("clock", "1.0.0")
            .capability(Capability::Tools)
            .capability(Capability::ToolsListChanged);
        let mut opened = 0;
        let hub = HttpHub::new(config, move || {
            opened += 1;
            format!("session-{opened}")
        });
        let idle_max = Duration::from_secs(60);
        let limits = HubLimits { sessions_max: 2, idle_max, ..limits };
        Self { hub: hub.limits(limits), now: Instant::ZERO, calls: 0 }
    }

    /// Creates a hub without event streams.
    fn whole() -> Self {
        let Self { hub, now, calls } = Self::new();
        Self { hub: hub.without_streams(), now, calls }
    }

    /// Sends a request and returns its exchange.
    fn begin(&mut self, (method, fields, who): Head<'_>, body: &Value) -> HubExchangeId {
        let headers = headers(fields);
        let body = body.to_string().into_bytes();
        let request = HubRequest::new(method, &headers).caller(caller(who));
        self.hub.handle_request(self.now, &request, body)
    }

    /// Sends a request, answers it, and returns the response.
    fn send(&mut self, method: &str, fields: &[(&str, &str)], who: &str, body: &Value) -> Seen {
        let exchange = self.begin((method, fields, who), body);
        let calls = &mut self.calls;
        self.hub.respond_to_all(self.now, |request, _context| {
            *calls += 1;
            match &*request.method {
                "tools/call" => Ok(CallToolResult::text("noon")),
                other => Err(ErrorObject::method_not_found(other)),
            }
        });
        assert!(self.ready().contains(&exchange));
        Seen::of(self.hub.poll_head(exchange).expect("a response"))
    }

    fn begin_modern(&mut self, method: &str, name: Option<&str>, params: Value) -> HubExchangeId {
        let mut fields = alloc::vec![("MCP-Protocol-Version", MODERN), ("Mcp-Method", method)];
        fields.extend(name.map(|name| ("Mcp-Name", name)));
        self.begin(("POST", &fields, ""), &modern_body(method, params))
    }

    fn modern(&mut self, method: &str, name: Option<&str>, params: Value) -> Seen {
        let mut fields = alloc::vec![("MCP-Protocol-Version", MODERN), ("Mcp-Method", method)];
        fields.extend(name.map(|name| ("Mcp-Name", name)));
        self.send("POST", &fields, "", &modern_body(method, params))
    }

    fn initialize(&mut self, who: &str) -> Seen {
        let params = json!({"protocolVersion": LEGACY, "capabilities": {},
            "clientInfo": {"name": "c", "version": "1"}});
        let body = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        self.send("POST", &[], who, &body)
    }

    fn open(&mut self, who: &str) -> String {
        let session = self.initialize(who).session.expect("a session");
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(self.within(&session, who, &ready).status, 202);
        session
    }

    fn within(&mut self, session: &str, who: &str, body: &Value) -> Seen {
        self.send("POST", &in_session(session), who, body)
    }

    /// Sends a request in a session and returns its exchange.
    fn begin_within(&mut self, session: &str, method: &str, body: &Value) -> HubExchangeId {
        self.begin((method, &in_session(session), ""), body)
    }

    /// Polls the next request.
    fn request(&mut self) -> (HubConnectionId, IncomingId) {
        match self.hub.poll_event() {
            Some((connection, Event::Request { incoming, .. })) => (connection, incoming),
            other => panic!("{other:?}"),
        }
    }

    fn answer(&mut self, (connection, incoming): (HubConnectionId, IncomingId)) {
        let server = self.hub.server(connection).expect("an open connection");
        server.respond(self.now, incoming, &CallToolResult::text("noon")).unwrap();
    }

    fn progress(&mut self, (connection, incoming): (HubConnectionId, IncomingId)) {
        let server = self.hub.server(connection).expect("an open connection");
        server.progress(self.now, incoming, &Progress::new(1.0)).unwrap();
    }

    /// Returns the exchanges that became ready.
    fn ready(&mut self) -> Vec<HubExchangeId> {
        core::iter::from_fn(|| self.hub.poll_ready()).collect()
    }

    /// Takes the head of an event stream.
    fn events(&mut self, exchange: HubExchangeId) {
        assert_eq!(self.hub.poll_head(exchange).expect("a response").body, Body::Events);
    }

    /// Returns the bytes of an event stream that are available, and whether it has ended.
    fn chunks(&mut self, exchange: HubExchangeId) -> (String, bool) {
        let mut bytes = Vec::new();
        loop {
            let end = match self.hub.poll_chunk(exchange) {
                Some(BodyChunk::Bytes(chunk)) => {
                    bytes.extend_from_slice(&chunk);
                    continue;
                }
                Some(BodyChunk::End) => true,
                None => false,
            };
            return (String::from_utf8(bytes).expect("text"), end);
        }
    }

    /// Advances the time, calling the hub at each of its timeouts.
    fn wait(&mut self, duration: Duration) {
        let end = self.now + duration;
        while let Some(due) = self.hub.poll_timeout().filter(|due| *due <= end) {
            assert!(due >= self.now, "{due} is before {}", self.now);
            self.now = due;
            self.hub.handle_timeout(due);
        }
        self.now = end;
    }

    /// Asserts that nothing is left of clients that have disconnected.
    fn assert_empty(&mut self) {
        while self.hub.poll_event().is_some() {}
        assert_eq!(self.hub.poll_ready(), None);
        assert_eq!((self.hub.connections.len(), self.hub.connections.usage().bytes), (0, 0));
        assert_eq!((self.hub.exchanges.len(), self.hub.bodies_bytes), (0, 0));
        assert_eq!((self.hub.session_count(), self.hub.poll_timeout()), (0, None));
    }
}

fn headers<'a>(fields: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let mut headers = alloc::vec![
        ("Host", "localhost"),
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
    ];
    headers.extend_from_slice(fields);
    headers
}

fn caller(who: &str) -> Option<Arc<Caller>> {
    Principal::new(who).map(|who| Arc::new(Caller::new().with_principal(who)))
}

fn in_session(session: &str) -> [(&str, &str); 2] {
    [("Mcp-Session-Id", session), ("MCP-Protocol-Version", LEGACY)]
}

fn modern_body(method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
        "progressToken": "p",
    });
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

fn call() -> Value {
    let params = json!({"name": "now", "_meta": {"progressToken": "p"}});
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
}
