//! Tests of heads and bodies that arrive separately.

use super::*;

/// Passes in the head of a modern call.
fn head(fixture: &mut Fixture) -> HubExchangeId {
    let headers = headers(&[
        ("MCP-Protocol-Version", MODERN),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", "now"),
    ]);
    fixture.hub.handle_head(fixture.now, &HubRequest::new("POST", &headers))
}

fn body() -> Vec<u8> {
    modern_body("tools/call", json!({"name": "now"})).to_string().into_bytes()
}

#[test]
fn a_body_may_arrive_in_parts() {
    let mut fixture = Fixture::new();
    let exchange = head(&mut fixture);
    for part in body().chunks(7) {
        assert!(fixture.hub.wants_body(exchange));
        fixture.hub.handle_body(fixture.now, exchange, part);
    }
    assert_eq!((fixture.hub.poll_head(exchange), fixture.hub.poll_chunk(exchange)), (None, None));
    fixture.hub.handle_body_end(fixture.now, exchange);
    assert!(!fixture.hub.wants_body(exchange));
    let request = fixture.request();
    fixture.answer(request);
    assert_eq!(fixture.ready(), [exchange]);
    let seen = Seen::of(fixture.hub.poll_head(exchange).unwrap());
    assert_eq!((seen.status, &seen.json()["id"]), (200, &json!(1)));
    fixture.assert_empty();
}

#[test]
fn a_head_is_checked_against_its_body() {
    let mut fixture = Fixture::new();
    let exchange = head(&mut fixture);
    let other = modern_body("tools/call", json!({"name": "other"})).to_string();
    fixture.hub.handle_body(fixture.now, exchange, other.as_bytes());
    fixture.hub.handle_body_end(fixture.now, exchange);
    assert_eq!(fixture.hub.poll_head(exchange).unwrap().status, 400);
    fixture.assert_empty();
}

#[test]
fn a_refused_head_needs_no_body() {
    let mut fixture = Fixture::new();
    let headers = [("Host", "evil.example")];
    let request = HubRequest::new("POST", &headers);
    let exchange = fixture.hub.handle_head(fixture.now, &request);
    assert!(!fixture.hub.wants_body(exchange));
    fixture.hub.handle_body(fixture.now, exchange, b"ignored");
    assert_eq!(fixture.ready(), [exchange]);
    assert_eq!(fixture.hub.poll_head(exchange).unwrap().status, 403);
    fixture.assert_empty();
}

#[test]
fn a_slow_body_is_refused() {
    let mut fixture = Fixture::new();
    let exchange = head(&mut fixture);
    fixture.hub.handle_body(fixture.now, exchange, b"{");
    fixture.wait(Duration::from_secs(29));
    assert!(fixture.hub.wants_body(exchange));
    fixture.wait(Duration::from_secs(1));
    assert_eq!(fixture.ready(), [exchange]);
    assert_eq!(fixture.hub.poll_head(exchange).unwrap().status, 408);
    fixture.assert_empty();
}

#[test]
fn a_client_that_disconnects_within_its_body_leaves_nothing() {
    let mut fixture = Fixture::new();
    let exchange = head(&mut fixture);
    fixture.hub.handle_body(fixture.now, exchange, b"{");
    fixture.hub.handle_gone(fixture.now, exchange);
    fixture.assert_empty();
}
