//! Tests of event streams, disconnections and the deadlines of sessions, in both eras.

use super::*;

#[test]
fn a_modern_request_is_answered_with_json_or_with_events() {
    let mut fixture = Fixture::new();
    let seen = fixture.modern("tools/call", Some("now"), json!({"name": "now"}));
    assert_eq!((seen.status, fixture.calls), (200, 1));
    let exchange = fixture.begin_modern("tools/call", Some("now"), json!({"name": "now"}));
    let request = fixture.request();
    assert_eq!(fixture.ready(), []);
    fixture.progress(request);
    assert_eq!(fixture.ready(), [exchange]);
    fixture.events(exchange);
    let (progress, is_over) = fixture.chunks(exchange);
    assert!(progress.contains("notifications/progress") && !is_over);
    assert_eq!(fixture.ready(), []);
    fixture.answer(request);
    assert_eq!(fixture.ready(), [exchange]);
    let (result, is_over) = fixture.chunks(exchange);
    assert!(result.contains("noon") && is_over);
    fixture.assert_empty();
}

#[test]
fn two_exchanges_become_ready_in_the_order_of_their_responses() {
    let mut fixture = Fixture::new();
    let one = fixture.begin_modern("tools/call", Some("now"), json!({"name": "now"}));
    let first = fixture.request();
    let two = fixture.begin_modern("tools/call", Some("now"), json!({"name": "now"}));
    let second = fixture.request();
    assert_eq!(fixture.ready(), []);
    fixture.answer(second);
    fixture.answer(first);
    assert_eq!(fixture.ready(), [two, one]);
    assert_eq!(fixture.ready(), []);
}

#[test]
fn a_session_opens_a_stream_and_ends_when_it_is_deleted() {
    let mut fixture = Fixture::new();
    let session = fixture.open("");
    let listening = fixture.begin_within(&session, "GET", &Value::Null);
    assert_eq!(fixture.ready(), [listening]);
    fixture.events(listening);
    fixture.chunks(listening);
    let now = fixture.now;
    fixture.hub.for_each_server(|_, server| {
        server.notify_changed(now, crate::Change::Tools).unwrap();
    });
    assert_eq!(fixture.ready(), [listening]);
    let (change, is_over) = fixture.chunks(listening);
    assert!(change.contains("tools/list_changed") && !is_over);
    let deleted = fixture.begin_within(&session, "DELETE", &Value::Null);
    assert_eq!(fixture.ready(), [deleted, listening]);
    assert_eq!(fixture.hub.poll_head(deleted).unwrap().status, 204);
    assert_eq!(fixture.chunks(listening), (String::new(), true));
    assert_eq!(fixture.within(&session, "", &call()).status, 404);
    fixture.assert_empty();
}

#[test]
fn an_idle_session_expires_by_the_deadline_and_a_listening_one_does_not() {
    let mut fixture = Fixture::new();
    let (idle, busy) = (fixture.open(""), fixture.open(""));
    let listening = fixture.begin_within(&busy, "GET", &Value::Null);
    fixture.events(listening);
    fixture.wait(Duration::from_secs(59));
    assert_eq!(fixture.hub.session_count(), 2);
    fixture.wait(Duration::from_secs(1));
    assert_eq!(fixture.hub.session_count(), 1);
    assert_eq!(fixture.within(&idle, "", &call()).status, 404);
    fixture.wait(Duration::from_secs(300));
    assert_eq!(fixture.hub.session_count(), 1);
    fixture.hub.handle_gone(fixture.now, listening);
    fixture.wait(Duration::from_secs(120));
    fixture.assert_empty();
}

#[test]
fn a_session_that_the_application_closes_is_unknown_to_clients() {
    let mut fixture = Fixture::new();
    let session = fixture.open("");
    let now = fixture.now;
    fixture.hub.for_each_server(|_, server| server.close(now));
    assert_eq!(fixture.within(&session, "", &call()).status, 404);
    fixture.assert_empty();
}

// T-76, T-77
#[test]
fn a_disconnection_cancels_a_modern_request() {
    let mut fixture = Fixture::new();
    let exchange = fixture.begin_modern("tools/call", Some("now"), json!({"name": "now"}));
    let (connection, incoming) = fixture.request();
    fixture.hub.handle_gone(fixture.now, exchange);
    let cancelled = fixture.hub.poll_event();
    let Some((on, Event::RequestCancelled { incoming: cancelled, .. })) = cancelled else {
        panic!("{cancelled:?}");
    };
    assert_eq!((on, cancelled), (connection, incoming));
    fixture.assert_empty();
    assert!(fixture.hub.server(connection).is_none());
}

// T-76
#[test]
fn a_disconnection_in_a_session_cancels_nothing_and_the_stream_can_be_resumed() {
    let mut fixture = Fixture::new();
    let session = fixture.open("");
    let exchange = fixture.begin_within(&session, "POST", &call());
    let request = fixture.request();
    fixture.progress(request);
    fixture.events(exchange);
    let (events, _) = fixture.chunks(exchange);
    let last = events.lines().filter_map(|line| line.strip_prefix("id: ")).next_back().unwrap();
    fixture.hub.handle_gone(fixture.now, exchange);
    assert!(fixture.hub.poll_event().is_none());
    fixture.wait(Duration::from_secs(300));
    assert_eq!(fixture.hub.session_count(), 1, "it has an unanswered request");
    fixture.answer(request);
    let fields = [("Mcp-Session-Id", &*session), ("Last-Event-ID", last)];
    let resumed = fixture.begin(("GET", &fields, ""), &Value::Null);
    fixture.events(resumed);
    let (events, is_over) = fixture.chunks(resumed);
    assert!(events.contains("noon") && is_over);
}

#[test]
fn comments_let_a_driver_find_a_disconnection_that_is_not_reported() {
    let mut fixture = Fixture::new();
    let keep_alive = Duration::from_secs(2);
    let settings = StreamSettings { keep_alive, ..StreamSettings::default() };
    fixture.hub = fixture.hub.streams(settings);
    let exchange = fixture.begin_modern("tools/call", Some("now"), json!({"name": "now"}));
    fixture.request();
    fixture.wait(keep_alive);
    assert_eq!(fixture.ready(), [exchange]);
    fixture.events(exchange);
    assert_eq!(fixture.chunks(exchange), (":\n\n".into(), false));
    fixture.wait(keep_alive);
    assert_eq!(fixture.ready(), [exchange]);
    // The write of this comment fails.
    fixture.hub.handle_gone(fixture.now, exchange);
    assert!(matches!(fixture.hub.poll_event(), Some((_, Event::RequestCancelled { .. }))));
    fixture.assert_empty();
}

#[test]
fn a_subscription_is_a_stream_until_its_client_disconnects() {
    let mut fixture = Fixture::new();
    let wanted = json!({"notifications": {"toolsListChanged": true}});
    let exchange = fixture.begin_modern("subscriptions/listen", None, wanted);
    assert_eq!(fixture.ready(), [exchange]);
    fixture.events(exchange);
    assert!(fixture.chunks(exchange).0.contains("acknowledged"));
    let now = fixture.now;
    fixture.hub.for_each_server(|_, server| {
        server.notify_changed(now, crate::Change::Tools).unwrap();
    });
    assert_eq!(fixture.ready(), [exchange]);
    assert!(fixture.chunks(exchange).0.contains("list_changed"));
    fixture.hub.handle_gone(fixture.now, exchange);
    fixture.assert_empty();
}
