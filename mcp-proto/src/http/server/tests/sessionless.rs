//! Tests of legacy exchanges without sessions.

use alloc::vec;

use super::*;
use crate::http::{Admitted, Policy, Post, admit};

/// Posts a message to a service without sessions; `None` if it needs no connection.
fn post(
    version: Option<&'static str>,
    message: &Value,
) -> Result<Option<(HttpServer, ServerExchangeId)>, u16> {
    let policy = Policy::default().without_sessions();
    let mut fields = vec![
        ("host", "localhost"),
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
    ];
    fields.extend(version.map(|version| ("mcp-protocol-version", version)));
    let Ok(Admitted::Post(head)) = admit(&policy, "POST", &fields) else { panic!("not admitted") };
    let body = message.to_string().into_bytes();
    let post = head.read(&policy, &fields, &body, &|_| None).map_err(|refusal| refusal.status)?;
    let Post::Sessionless { revision, message } = post else { panic!("{post:?}") };
    if !message.needs_response() {
        return Ok(None);
    }
    let config = config().capability(Capability::ResourcesSubscribe).without_sessions();
    let server = Server::new(Instant::ZERO, config);
    let settings = StreamSettings::default();
    let mut single = HttpServer::sessionless(Instant::ZERO, server, revision, &message, settings);
    let id = single.handle_post(Instant::ZERO, true, &*body);
    Ok(Some((single, id)))
}

fn request(method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

fn answer(single: &mut HttpServer, id: ServerExchangeId) -> (u16, Value) {
    let reply = single.poll_reply(id).unwrap();
    assert!(reply.headers.iter().all(|(name, _)| *name != "mcp-session-id"));
    (reply.status, serde_json::from_slice(reply.body.bytes()).unwrap())
}

#[test]
fn initialize_is_answered_without_a_session_id_http_29() {
    let info = json!({"name": "c", "version": "1"});
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info});
    let (mut single, id) = post(None, &request("initialize", &hello)).unwrap().unwrap();
    let (status, answer) = answer(&mut single, id);
    assert_eq!((status, &answer["result"]["protocolVersion"]), (200, &"2025-11-25".into()));
    assert_eq!(answer["result"]["capabilities"]["resources"].get("subscribe"), None);
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert!(post(Some("2025-11-25"), &initialized).unwrap().is_none());
}

#[test]
fn a_request_is_served_in_its_revision_without_a_handshake_http_37() {
    for (version, revision) in [
        (None, Revision::V2025_03_26),
        (Some("2024-11-05"), Revision::V2024_11_05),
        (Some("2025-06-18"), Revision::V2025_06_18),
        (Some("2025-11-25"), Revision::V2025_11_25),
    ] {
        let call = request("tools/call", &json!({"name": "x"}));
        let (mut single, id) = post(version, &call).unwrap().unwrap();
        assert_eq!(single.peer().map(|peer| peer.revision), Some(revision));
        let Some(Event::Request { incoming, .. }) = single.poll_event() else { panic!("no call") };
        assert!(single.poll_event().is_none());
        single.respond(Instant::ZERO, incoming, &CallToolResult::text("done")).unwrap();
        let (status, answer) = answer(&mut single, id);
        assert_eq!((status, &answer["id"]), (200, &1.into()));
        assert!(!single.is_busy());
    }
    assert_eq!(post(Some("2025-11-26"), &request("ping", &json!({}))).err(), Some(400));
}

#[test]
fn subscriptions_are_refused() {
    let subscribe = request("resources/subscribe", &json!({"uri": "note://one"}));
    let (mut single, id) = post(Some("2025-11-25"), &subscribe).unwrap().unwrap();
    let (status, answer) = answer(&mut single, id);
    assert_eq!((status, &answer["error"]["code"]), (200, &(-32601).into()));
}

#[test]
fn a_client_that_disconnects_cancels_its_request() {
    let call = request("tools/call", &json!({"name": "x"}));
    let (mut single, id) = post(Some("2025-11-25"), &call).unwrap().unwrap();
    let Some(Event::Request { incoming, .. }) = single.poll_event() else { panic!("no call") };
    single.handle_gone(Instant::ZERO, id);
    let next = single.poll_event();
    let is_cancelled =
        matches!(&next, Some(Event::RequestCancelled { incoming: it, .. }) if *it == incoming);
    assert!(is_cancelled, "{next:?}");
}

#[test]
fn there_is_nothing_to_get_or_delete_http_23() {
    let policy = Policy::default().without_sessions();
    assert!(!policy.offers_sessions());
    let fields =
        [("host", "localhost"), ("accept", "text/event-stream"), ("mcp-session-id", "s-1")];
    for verb in ["GET", "DELETE"] {
        let refusal = admit(&policy, verb, &fields).unwrap_err();
        assert_eq!((refusal.status, &refusal.headers[0]), (405, &("allow", "POST".into())));
    }
}
