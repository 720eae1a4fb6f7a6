//! Subscriptions to resources: which URIs are refused, and the application's decisions.
// SEC-02, STL-30

#![expect(clippy::panic, reason = "a test helper may panic")]

use mcp_harness::ServerSolo;
use mcp_proto::{Capability, ErrorObject, Limits, Misuse, Revision, code, server};
use serde_json::json;

fn config() -> server::Config {
    server::Config::new("s", "1")
        .capability(Capability::ResourcesSubscribe)
        .capability(Capability::ToolsListChanged)
}

fn legacy(config: server::Config, revision: Revision) -> ServerSolo {
    ServerSolo::ready(config, revision, "{}")
}

fn subscribe(solo: &mut ServerSolo, id: u32, uri: &str) {
    let params = json!({"uri": uri});
    let request =
        json!({"jsonrpc": "2.0", "id": id, "method": "resources/subscribe", "params": params});
    solo.say(request.to_string());
}

fn listen(solo: &mut ServerSolo, id: u32, filter: &serde_json::Value) {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "c", "version": "1"},
    });
    let params = json!({"notifications": filter, "_meta": meta});
    let request =
        json!({"jsonrpc": "2.0", "id": id, "method": "subscriptions/listen", "params": params});
    solo.say(request.to_string());
}

/// Takes the only event, a request, and returns the URIs it subscribes to.
fn requested(solo: &mut ServerSolo) -> Vec<String> {
    match &solo.take_events()[..] {
        [server::Event::Request { request, .. }] => request.subscribed_uris(),
        other => panic!("{other:?}"),
    }
}

const INVALID: [&str; 6] = ["", "../../etc/passwd", "/etc/passwd", "note", ":x", "file:///a\u{0}"];

#[test]
fn invalid_uris_are_refused_sec_02() {
    for revision in Revision::LEGACY {
        for config in [config(), config().decide_subscriptions()] {
            for uri in INVALID {
                let mut solo = legacy(config.clone(), revision);
                subscribe(&mut solo, 1, uri);
                solo.expect_error("1", code::INVALID_PARAMS);
                solo.expect_silence();
            }
        }
    }
    let mut solo = ServerSolo::server(config());
    let mut uris = INVALID.to_vec();
    uris.push("note://a");
    listen(&mut solo, 1, &json!({"resourceSubscriptions": uris}));
    let acknowledged = solo.hear();
    assert_eq!(
        acknowledged["params"]["notifications"],
        json!({"resourceSubscriptions": ["note://a"]})
    );
    solo.expect_events(&["watched note://a"]);
}

#[test]
fn by_default_every_valid_uri_is_accepted() {
    let mut solo = legacy(config(), Revision::V2025_11_25);
    subscribe(&mut solo, 1, "note://a");
    solo.expect_result("1");
    solo.expect_events(&["watched note://a"]);
}

#[test]
fn the_application_accepts_and_refuses_subscriptions_of_a_session_sec_02() {
    for revision in Revision::LEGACY {
        let mut solo = legacy(config().decide_subscriptions(), revision);
        subscribe(&mut solo, 1, "note://a");
        assert_eq!(requested(&mut solo), ["note://a"]);
        solo.expect_lines(&[]);
        solo.respond(1, "{}").unwrap();
        solo.expect_lines(&[r#"{"jsonrpc":"2.0","id":1,"result":{}}"#]);
        solo.expect_events(&["watched note://a"]);
        // A repetition needs no decision.
        subscribe(&mut solo, 2, "note://a");
        solo.expect_result("2");

        subscribe(&mut solo, 3, "note://b");
        assert_eq!(requested(&mut solo), ["note://b"]);
        solo.respond_error(2, &ErrorObject::new(code::RESOURCE_NOT_FOUND, "no")).unwrap();
        solo.expect_error("3", -32002);

        subscribe(&mut solo, 4, "note://c");
        solo.take_events();
        solo.respond(3, r#"{"notifications":{"resourceSubscriptions":["note://x"]}}"#).unwrap();
        solo.expect_error("4", -32002);
        subscribe(&mut solo, 5, "note://c");
        solo.take_events();
        solo.respond(4, r#"{"notifications":{"resourceSubscriptions":["note://c"]}}"#).unwrap();
        solo.expect_lines(&[r#"{"jsonrpc":"2.0","id":5,"result":{}}"#]);
        solo.expect_events(&["watched note://c"]);
        assert_eq!(solo.respond(4, "{}"), Err(Misuse::Stale));
    }
}

#[test]
fn the_application_accepts_a_part_of_a_modern_subscription_sec_02_stl_30() {
    let filter = json!({"toolsListChanged": true, "resourceSubscriptions": ["n:1", "n:2", "n:3"]});
    for (answer, accepted) in [
        ("{}", json!(["n:1", "n:2", "n:3"])),
        (r#"{"notifications":{"resourceSubscriptions":["n:2","n:9"]}}"#, json!(["n:2"])),
        (r#"{"notifications":{}}"#, json!(null)),
    ] {
        let mut solo = ServerSolo::server(config().decide_subscriptions());
        listen(&mut solo, 1, &filter);
        assert_eq!(requested(&mut solo), ["n:1", "n:2", "n:3"]);
        solo.expect_lines(&[]);
        solo.respond(1, answer).unwrap();
        let acknowledged = solo.hear();
        assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
        let honoured = &acknowledged["params"]["notifications"];
        assert_eq!(
            (&honoured["toolsListChanged"], &honoured["resourceSubscriptions"]),
            (&json!(true), &accepted)
        );
        solo.expect_lines(&[]);
        let watched = accepted.as_array().map_or(0, Vec::len);
        assert_eq!(solo.take_events().len(), watched);
    }
    let mut solo = ServerSolo::server(config().decide_subscriptions());
    listen(&mut solo, 1, &filter);
    solo.take_events();
    solo.respond_error(1, &ErrorObject::invalid_params("no")).unwrap();
    solo.expect_error("1", code::INVALID_PARAMS);
    solo.expect_silence();
    // Changes of lists need no decision.
    listen(&mut solo, 2, &json!({"toolsListChanged": true}));
    assert_eq!(solo.hear()["method"], "notifications/subscriptions/acknowledged");
    solo.expect_silence();
}

#[test]
fn an_undecided_subscription_can_be_cancelled_and_ended() {
    let mut solo = legacy(config().decide_subscriptions(), Revision::V2025_11_25);
    subscribe(&mut solo, 1, "note://a");
    subscribe(&mut solo, 2, "note://b");
    solo.take_events();
    solo.say(
        r#"{"jsonrpc":"2.0","id":3,"method":"resources/unsubscribe","params":{"uri":"note://a"}}"#,
    );
    solo.expect_error("1", code::INTERNAL_ERROR);
    solo.expect_result("3");
    solo.expect_events(&["request#1 cancelled"]);
    assert_eq!(solo.respond(1, "{}"), Err(Misuse::Stale));
    solo.say(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#);
    solo.expect_events(&["request#2 cancelled"]);
    assert_eq!(solo.respond(2, "{}"), Err(Misuse::Stale));
    solo.expect_silence();

    let mut solo = legacy(config().decide_subscriptions(), Revision::V2025_11_25);
    subscribe(&mut solo, 1, "note://a");
    solo.take_events();
    solo.close();
    solo.respond(1, "{}").unwrap();
    solo.expect_error("1", code::INTERNAL_ERROR);
    solo.expect_events(&["closed Local"]);
}

#[test]
fn accepted_subscriptions_obey_the_limits_sec_19() {
    let limits = Limits { subscriptions_max: 1, ..Limits::default() };
    let mut solo = legacy(config().limits(limits).decide_subscriptions(), Revision::V2025_11_25);
    subscribe(&mut solo, 1, "note://a");
    subscribe(&mut solo, 2, "note://b");
    solo.respond(1, "{}").unwrap();
    solo.expect_result("1");
    solo.respond(2, "{}").unwrap();
    solo.expect_error("2", code::INTERNAL_ERROR);
}
