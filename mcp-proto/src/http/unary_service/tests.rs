//! Tests of a service whose requests are answered immediately, in both eras.

use alloc::format;
use alloc::string::ToString;

use serde_json::{Value, json};

use super::*;
use crate::Capability;
use crate::schema::CallToolResult;

const MODERN: &str = "2026-07-28";
const LEGACY: &str = "2025-11-25";

struct Fixture {
    service: UnaryService,
    now: Instant,
    /// How many requests reached the application.
    calls: usize,
}

/// A response: its status, its session id and its messages.
#[derive(Debug)]
struct Seen {
    status: u16,
    session: Option<String>,
    body: String,
}

impl Seen {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).expect("JSON")
    }
}

impl Fixture {
    fn new() -> Self {
        let config = Config::new("clock", "1.0.0").capability(Capability::Tools);
        let mut opened = 0;
        let service = UnaryService::new(config, move || {
            opened += 1;
            format!("session-{opened}")
        });
        Self { service: service.sessions(2, Duration::from_secs(60)), now: Instant::ZERO, calls: 0 }
    }

    fn send(&mut self, method: &str, fields: &[(&str, &str)], who: &str, body: &Value) -> Seen {
        let mut headers = alloc::vec![
            ("Host", "localhost"),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ];
        headers.extend_from_slice(fields);
        let caller = Principal::new(who).map(|who| Arc::new(Caller::new().with_principal(who)));
        let body = body.to_string().into_bytes();
        let request = UnaryRequest::new(method, &headers, body).caller(caller);
        let calls = &mut self.calls;
        let reply = self.service.handle(self.now, &request, |request, _context| {
            *calls += 1;
            match &*request.method {
                "tools/call" => Ok(CallToolResult::text("noon")),
                other => Err(ErrorObject::method_not_found(other)),
            }
        });
        let Body::Whole(body) = reply.body else { panic!("a whole body") };
        let session = reply.headers.iter().find(|(name, _)| *name == "mcp-session-id");
        Seen {
            status: reply.status,
            session: session.map(|(_, id)| id.to_string()),
            body: String::from_utf8(body.to_vec()).expect("text"),
        }
    }

    fn modern(&mut self, method: &str, name: Option<&str>, mut params: Value) -> Seen {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let mut fields = alloc::vec![("MCP-Protocol-Version", MODERN), ("Mcp-Method", method)];
        fields.extend(name.map(|name| ("Mcp-Name", name)));
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        self.send("POST", &fields, "", &body)
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
        let fields = [("Mcp-Session-Id", session), ("MCP-Protocol-Version", LEGACY)];
        self.send("POST", &fields, who, body)
    }
}

fn call() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "now"}})
}

#[test]
fn a_modern_request_is_answered_whole() {
    let mut fixture = Fixture::new();
    let seen = fixture.modern("tools/call", Some("now"), json!({"name": "now"}));
    assert_eq!((seen.status, fixture.calls), (200, 1));
    assert_eq!(seen.json()["result"]["content"][0]["text"], "noon");
    let seen = fixture.modern("prompts/get", Some("x"), json!({"name": "x"}));
    assert_eq!((seen.status, &seen.json()["error"]["code"]), (404, &json!(-32601)));
}

#[test]
fn a_session_lasts_over_requests_until_it_is_deleted() {
    let mut fixture = Fixture::new();
    let session = fixture.open("");
    let seen = fixture.within(&session, "", &call());
    assert_eq!(seen.json()["result"]["content"][0]["text"], "noon");
    let fields = [("Mcp-Session-Id", &*session)];
    assert_eq!(fixture.send("DELETE", &fields, "", &Value::Null).status, 204);
    assert_eq!(fixture.send("DELETE", &fields, "", &Value::Null).status, 404);
    assert_eq!(fixture.within(&session, "", &call()).status, 404);
    assert_eq!(fixture.calls, 1);
}

#[test]
fn a_get_opens_no_stream_http_22() {
    let mut fixture = Fixture::new();
    let session = fixture.open("");
    let fields = [("Mcp-Session-Id", &*session)];
    assert_eq!(fixture.send("GET", &fields, "", &Value::Null).status, 405);
}

#[test]
fn a_modern_subscription_ends_once_it_is_acknowledged() {
    let mut fixture = Fixture::new();
    let seen = fixture.modern("subscriptions/listen", None, json!({"notifications": {}}));
    assert_eq!(seen.status, 200);
    assert!(seen.body.contains("notifications/subscriptions/acknowledged"), "{seen:?}");
    assert_eq!(fixture.calls, 0);
}

// AUT-74
#[test]
fn a_session_belongs_to_its_principal_aut_74() {
    let mut fixture = Fixture::new();
    let session = fixture.open("ada");
    assert_eq!(fixture.within(&session, "eve", &call()).status, 404);
    assert_eq!(fixture.within(&session, "", &call()).status, 404);
    let fields = [("Mcp-Session-Id", &*session)];
    assert_eq!(fixture.send("DELETE", &fields, "eve", &Value::Null).status, 404);
    assert_eq!(fixture.within(&session, "ada", &call()).status, 200);
    fixture.service.end_principal(&Principal::new("ada").unwrap());
    assert_eq!(fixture.within(&session, "ada", &call()).status, 404);
}

#[test]
fn sessions_are_bounded_in_number_and_time() {
    let mut fixture = Fixture::new();
    let first = fixture.open("");
    fixture.now += Duration::from_secs(1);
    let second = fixture.open("");
    fixture.now += Duration::from_secs(1);
    let third = fixture.open("");
    assert_eq!(fixture.service.session_count(), 2);
    assert_eq!(fixture.within(&first, "", &call()).status, 404);
    fixture.now += Duration::from_secs(30);
    assert_eq!(fixture.within(&second, "", &call()).status, 200);
    fixture.now += Duration::from_secs(31);
    assert_eq!(fixture.within(&third, "", &call()).status, 404);
    assert_eq!(fixture.within(&second, "", &call()).status, 200);
}

#[test]
fn a_failed_initialize_opens_no_session() {
    let mut fixture = Fixture::new();
    let body = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}});
    let seen = fixture.send("POST", &[], "", &body);
    assert!(seen.json()["error"].is_object(), "{seen:?}");
    assert_eq!(fixture.service.session_count(), 0);
}

// HTTP-36
#[test]
fn the_version_of_a_session_is_the_negotiated_one_http_36() {
    let mut fixture = Fixture::new();
    let session = fixture.open("");
    let fields = [("Mcp-Session-Id", &*session), ("MCP-Protocol-Version", "2025-06-18")];
    assert_eq!(fixture.send("POST", &fields, "", &call()).status, 400);
    assert_eq!(fixture.calls, 0);
}

// BAT-01
#[test]
fn a_batch_is_answered_whole_bat_01() {
    let mut fixture = Fixture::new();
    let params = json!({"protocolVersion": "2025-03-26", "capabilities": {},
        "clientInfo": {"name": "c", "version": "1"}});
    let body = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
    let session = fixture.send("POST", &[], "", &body).session.unwrap();
    let mut second = call();
    second["id"] = json!(2);
    let fields = [("Mcp-Session-Id", &*session)];
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    fixture.send("POST", &fields, "", &ready);
    let seen = fixture.send("POST", &fields, "", &json!([call(), second]));
    assert_eq!((seen.status, fixture.calls), (200, 2));
    assert_eq!(seen.body.matches("noon").count(), 2, "{seen:?}");
}

#[test]
fn a_refused_request_does_not_reach_the_application() {
    let mut fixture = Fixture::new();
    let fields = [("Origin", "https://evil.example")];
    assert_eq!(fixture.send("POST", &fields, "", &call()).status, 403);
    assert_eq!(fixture.send("PUT", &[], "", &call()).status, 405);
    assert_eq!(fixture.calls, 0);
}

#[test]
fn pages_of_allowed_origins_may_ask_and_read() {
    let config = Config::new("clock", "1.0.0");
    let policy = Policy::from_config(&config).origin("http://localhost:3000");
    let mut service = UnaryService::new(config, || "session".into()).policy(policy);
    let mut send = |method: &str, host: &str| {
        let headers = [
            ("Host", host),
            ("Origin", "http://localhost:3000"),
            ("Access-Control-Request-Method", "POST"),
        ];
        let request = UnaryRequest::new(method, &headers, Bytes::new());
        let reply = service.handle(Instant::ZERO, &request, |request, _| {
            Err::<CallToolResult, _>(ErrorObject::method_not_found(&request.method))
        });
        let is_readable = reply.headers.iter().any(|(name, value)| {
            *name == "access-control-allow-origin" && value == "http://localhost:3000"
        });
        (reply.status, is_readable)
    };
    assert_eq!(send("OPTIONS", "localhost"), (204, true));
    assert_eq!(send("POST", "localhost"), (415, true), "a page can read why it is refused");
    assert_eq!(send("OPTIONS", "evil.example"), (403, true), "the host is checked, too");
}
