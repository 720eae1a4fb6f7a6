//! Tests of a hub without event streams, whose requests are answered immediately, in both eras.

use super::*;

#[test]
fn a_modern_request_is_answered_whole() {
    let mut fixture = Fixture::whole();
    let seen = fixture.modern("tools/call", Some("now"), json!({"name": "now"}));
    assert_eq!((seen.status, fixture.calls), (200, 1));
    assert_eq!(seen.json()["result"]["content"][0]["text"], "noon");
    let seen = fixture.modern("prompts/get", Some("x"), json!({"name": "x"}));
    assert_eq!((seen.status, &seen.json()["error"]["code"]), (404, &json!(-32601)));
}

#[test]
fn a_session_lasts_over_requests_until_it_is_deleted() {
    let mut fixture = Fixture::whole();
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
    let mut fixture = Fixture::whole();
    let session = fixture.open("");
    let fields = [("Mcp-Session-Id", &*session)];
    assert_eq!(fixture.send("GET", &fields, "", &Value::Null).status, 405);
}

#[test]
fn a_modern_subscription_ends_once_it_is_acknowledged() {
    let mut fixture = Fixture::whole();
    let seen = fixture.modern("subscriptions/listen", None, json!({"notifications": {}}));
    assert_eq!(seen.status, 200);
    assert!(seen.body.contains("notifications/subscriptions/acknowledged"), "{seen:?}");
    assert_eq!(fixture.calls, 0);
}

// AUT-74
#[test]
fn a_session_belongs_to_its_principal_aut_74() {
    let mut fixture = Fixture::whole();
    let session = fixture.open("ada");
    assert_eq!(fixture.within(&session, "eve", &call()).status, 404);
    assert_eq!(fixture.within(&session, "", &call()).status, 404);
    let fields = [("Mcp-Session-Id", &*session)];
    assert_eq!(fixture.send("DELETE", &fields, "eve", &Value::Null).status, 404);
    assert_eq!(fixture.within(&session, "ada", &call()).status, 200);
    fixture.hub.end_principal(fixture.now, &Principal::new("ada").unwrap());
    assert_eq!(fixture.within(&session, "ada", &call()).status, 404);
}

#[test]
fn sessions_are_bounded_in_number_and_time() {
    let mut fixture = Fixture::whole();
    let first = fixture.open("");
    fixture.now += Duration::from_secs(1);
    let second = fixture.open("");
    fixture.now += Duration::from_secs(1);
    let third = fixture.open("");
    assert_eq!(fixture.hub.session_count(), 2);
    assert_eq!(fixture.within(&first, "", &call()).status, 404);
    fixture.now += Duration::from_secs(30);
    assert_eq!(fixture.within(&second, "", &call()).status, 200);
    fixture.now += Duration::from_secs(31);
    assert_eq!(fixture.within(&third, "", &call()).status, 404);
    assert_eq!(fixture.within(&second, "", &call()).status, 200);
}

#[test]
fn a_failed_initialize_opens_no_session() {
    let mut fixture = Fixture::whole();
    let body = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}});
    let seen = fixture.send("POST", &[], "", &body);
    assert!(seen.json()["error"].is_object(), "{seen:?}");
    assert_eq!(fixture.hub.session_count(), 0);
}

// HTTP-36
#[test]
fn the_version_of_a_session_is_the_negotiated_one_http_36() {
    let mut fixture = Fixture::whole();
    let session = fixture.open("");
    let fields = [("Mcp-Session-Id", &*session), ("MCP-Protocol-Version", "2025-06-18")];
    assert_eq!(fixture.send("POST", &fields, "", &call()).status, 400);
    assert_eq!(fixture.calls, 0);
}

// BAT-01
#[test]
fn a_batch_is_answered_whole_bat_01() {
    let mut fixture = Fixture::whole();
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
    let mut fixture = Fixture::whole();
    let fields = [("Origin", "https://evil.example")];
    assert_eq!(fixture.send("POST", &fields, "", &call()).status, 403);
    assert_eq!(fixture.send("PUT", &[], "", &call()).status, 405);
    assert_eq!(fixture.calls, 0);
}

#[test]
fn pages_of_allowed_origins_may_ask_and_read() {
    let config = Config::new("clock", "1.0.0");
    let policy = Policy::from_config(&config).origin("http://localhost:3000");
    let mut hub = HttpHub::new(config, || "session".into()).with_policy(policy);
    let mut send = |method: &str, host: &str| {
        let headers = [
            ("Host", host),
            ("Origin", "http://localhost:3000"),
            ("Access-Control-Request-Method", "POST"),
        ];
        let request = HubRequest::new(method, &headers);
        let exchange = hub.handle_request(Instant::ZERO, &request, Bytes::new());
        let reply = hub.poll_head(exchange).unwrap();
        let is_readable = reply.headers.iter().any(|(name, value)| {
            *name == "access-control-allow-origin" && value == "http://localhost:3000"
        });
        (reply.status, is_readable)
    };
    assert_eq!(send("OPTIONS", "localhost"), (204, true));
    assert_eq!(send("POST", "localhost"), (415, true), "a page can read why it is refused");
    assert_eq!(send("OPTIONS", "evil.example"), (403, true), "the host is checked, too");
}
