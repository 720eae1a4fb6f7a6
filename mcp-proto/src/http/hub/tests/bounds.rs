//! Tests of the limits of a hub, and of the statuses beyond them.

use super::*;

#[test]
fn exchanges_are_limited() {
    let mut fixture = Fixture::with(HubLimits { exchanges_max: 2, ..HubLimits::default() });
    let begin = |fixture: &mut Fixture| {
        fixture.begin_modern("tools/call", Some("now"), json!({"name": "now"}))
    };
    let first = begin(&mut fixture);
    let request = fixture.request();
    begin(&mut fixture);
    fixture.request();
    let third = begin(&mut fixture);
    let refused = fixture.hub.poll_head(third).unwrap();
    assert_eq!(refused.status, 503);
    assert!(refused.headers.contains(&("retry-after", "5".into())), "{refused:?}");
    fixture.answer(request);
    fixture.hub.poll_head(first).unwrap();
    begin(&mut fixture);
    fixture.request();
}

#[test]
fn a_busy_session_is_not_ended_for_another_one() {
    let mut fixture = Fixture::new();
    for _ in 0..2 {
        let session = fixture.open("");
        fixture.begin_within(&session, "POST", &call());
        fixture.request();
    }
    assert_eq!(fixture.initialize("").status, 503);
    assert_eq!(fixture.hub.session_count(), 2);
}

#[test]
fn an_idle_session_makes_room_for_another_one() {
    let mut fixture = Fixture::new();
    let first = fixture.open("");
    fixture.now += Duration::from_secs(1);
    fixture.open("");
    fixture.open("");
    assert_eq!(fixture.hub.session_count(), 2);
    assert_eq!(fixture.within(&first, "", &call()).status, 404);
}

#[test]
fn sessions_of_one_principal_are_limited() {
    let mut fixture =
        Fixture::with(HubLimits { sessions_per_principal_max: 1, ..HubLimits::default() });
    let session = fixture.open("ada");
    assert_eq!(fixture.initialize("ada").status, 429);
    assert_eq!(fixture.initialize("eve").status, 200);
    assert_eq!(fixture.within(&session, "ada", &call()).status, 200);
}

#[test]
fn bytes_are_limited_and_idle_sessions_make_room() {
    let mut fixture = Fixture::with(HubLimits { bytes_max: 4096, ..HubLimits::default() });
    let session = fixture.open("");
    let now = fixture.now;
    for _ in 0..15 {
        fixture.hub.for_each_server(|_, server| {
            server.notify_changed(now, crate::Change::Tools).unwrap();
        });
    }
    assert_eq!(fixture.ready(), []);
    assert!(fixture.hub.connections.usage().sessions > 2048, "messages wait for a reader");
    let mut body = call();
    body["params"]["arguments"] = json!({"text": "x".repeat(3500)});
    let fields =
        [("MCP-Protocol-Version", MODERN), ("Mcp-Method", "tools/call"), ("Mcp-Name", "now")];
    let params = body["params"].clone();
    assert_eq!(fixture.send("POST", &fields, "", &modern_body("tools/call", params)).status, 200);
    assert_eq!(fixture.hub.session_count(), 0, "it was idle");
    assert_eq!(fixture.within(&session, "", &call()).status, 404);
    body["params"]["arguments"] = json!({"text": "x".repeat(5000)});
    let params = body["params"].clone();
    assert_eq!(fixture.send("POST", &fields, "", &modern_body("tools/call", params)).status, 503);
    fixture.assert_empty();
}

#[test]
fn a_session_that_grows_beyond_the_limit_loses_its_replay_buffer() {
    let mut fixture = Fixture::with(HubLimits { bytes_max: 4096, ..HubLimits::default() });
    fixture.open("");
    let now = fixture.now;
    for _ in 0..100 {
        fixture.hub.for_each_server(|_, server| {
            server.notify_changed(now, crate::Change::Tools).unwrap();
        });
        assert_eq!(fixture.ready(), []);
        assert!(fixture.hub.connections.usage().bytes <= 4096);
    }
    assert_eq!(fixture.hub.session_count(), 1);
}

#[test]
fn bodies_that_fill_the_budget_end_no_session() {
    let mut fixture = Fixture::with(HubLimits { bytes_max: 4096, ..HubLimits::default() });
    let session = fixture.open("");
    let headers = headers(&[]);
    let request = HubRequest::new("POST", &headers);
    let slow = fixture.hub.handle_head(fixture.now, &request);
    fixture.hub.handle_body(fixture.now, slow, &[b' '; 4000]);
    let other = fixture.hub.handle_head(fixture.now, &request);
    fixture.hub.handle_body(fixture.now, other, &[b' '; 1000]);
    assert_eq!(fixture.hub.poll_head(other).unwrap().status, 503);
    fixture.hub.handle_gone(fixture.now, slow);
    assert_eq!(fixture.within(&session, "", &call()).status, 200);
}

#[test]
fn the_descriptions_of_clients_are_counted() {
    let mut fixture = Fixture::with(HubLimits { bytes_max: 16 << 10, ..HubLimits::default() });
    let params = json!({"protocolVersion": LEGACY, "capabilities": {"x": "y".repeat(2000)},
        "clientInfo": {"name": "c", "version": "1"}});
    let body = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
    assert_eq!(fixture.send("POST", &[], "", &body).status, 200);
    assert!(fixture.hub.connections.usage().sessions > 12_000);
    // The first session makes room for the second one.
    assert_eq!(fixture.send("POST", &[], "", &body).status, 200);
    assert_eq!(fixture.hub.session_count(), 1);
}

#[test]
fn each_kept_header_counts() {
    let mut fixture = Fixture::with(HubLimits { bytes_max: 4096, ..HubLimits::default() });
    let headers = headers(&[("Mcp-", ""); 64]);
    let refused = fixture.hub.handle_head(fixture.now, &HubRequest::new("POST", &headers));
    assert_eq!(fixture.hub.poll_head(refused).unwrap().status, 503);
    fixture.assert_empty();
}

#[test]
fn a_body_is_limited_while_it_is_read() {
    let mut fixture = Fixture::new();
    let policy = Policy::default().with_body_bytes_max(10);
    fixture.hub = fixture.hub.with_policy(policy);
    let headers = headers(&[]);
    let request = HubRequest::new("POST", &headers);
    let exchange = fixture.hub.handle_head(fixture.now, &request);
    fixture.hub.handle_body(fixture.now, exchange, b"0123456789");
    assert!(fixture.hub.wants_body(exchange));
    fixture.hub.handle_body(fixture.now, exchange, b"0");
    assert_eq!(fixture.hub.poll_head(exchange).unwrap().status, 413);
    fixture.assert_empty();
}

#[test]
fn all_bodies_together_are_limited_while_they_are_read() {
    let mut fixture = Fixture::with(HubLimits { bytes_max: 10, ..HubLimits::default() });
    let headers = headers(&[]);
    let request = HubRequest::new("POST", &headers);
    let one = fixture.hub.handle_head(fixture.now, &request);
    fixture.hub.handle_body(fixture.now, one, b"0123456");
    let two = fixture.hub.handle_head(fixture.now, &request);
    fixture.hub.handle_body(fixture.now, two, b"0123456");
    assert_eq!(fixture.hub.poll_head(two).unwrap().status, 503);
    assert!(fixture.hub.wants_body(one));
    fixture.hub.handle_gone(fixture.now, one);
    fixture.assert_empty();
}

#[test]
fn connections_with_unpolled_events_are_limited() {
    let mut fixture = Fixture::with(HubLimits { exchanges_max: 3, ..HubLimits::default() });
    let statuses: Vec<u16> = (0..6)
        .map(|_| {
            let exchange = fixture.begin_modern("tools/call", Some("now"), json!({"name": "now"}));
            let status = fixture.hub.poll_head(exchange).map_or(0, |reply| reply.status);
            fixture.hub.handle_gone(fixture.now, exchange);
            status
        })
        .collect();
    assert_eq!(statuses, [0, 0, 0, 0, 0, 503]);
    fixture.assert_empty();
}

#[test]
fn a_session_needs_an_unused_id() {
    let mut fixture = Fixture::new();
    for (id, statuses) in [("", [500, 500]), ("same", [200, 500])] {
        fixture.hub = HttpHub::new(Config::new("clock", "1.0.0"), || id.into());
        assert_eq!([fixture.initialize("").status, fixture.initialize("").status], statuses);
    }
}
