//! Tests of modern exchanges.

use super::*;

// HTTP-42
#[test]
fn a_single_response_has_the_status_of_its_error_code_http_42() {
    let (mut session, call) = post_modern(&modern_request("tools/call", json!({"name": "x"})));
    let Some(Event::Request { incoming, .. }) = session.poll_event() else { panic!("no request") };
    assert_eq!(session.poll_reply(call), None);
    session.respond(Instant::ZERO, incoming, &CallToolResult::text("done")).unwrap();
    let reply = session.poll_reply(call).unwrap();
    assert_eq!(reply.status, 200);
    assert!(reply.headers.iter().all(|(name, _)| *name != "mcp-session-id"));
    let (mut session, call) = post_modern(&modern_request("no/such", json!({})));
    assert_eq!(session.poll_reply(call).unwrap().status, 404);
}

// SSE-24
#[test]
fn events_have_no_ids_and_streams_are_not_primed_sse_24_http_52() {
    let (session, call) = post_modern(&modern_request("tools/call", json!({"name": "x"})));
    let mut it = Fixture { session, now: Instant::ZERO, next_id: 2 };
    let incoming = it.incoming();
    it.wait(Duration::from_secs(1));
    assert_eq!(it.session.poll_reply(call), None, "modern streams are not primed");
    it.progress(incoming, 1);
    it.session.end_stream(it.now, incoming).unwrap();
    let first = it.read(call);
    assert!(!first.is_over, "`end_stream` has no effect");
    it.answer(incoming);
    let rest = it.read(call);
    assert_eq!(
        (first.summaries(), rest.summaries()),
        (Vec::from(["progress 1".into()]), Vec::from(["result 1".into()]))
    );
    assert!(rest.is_over);
    for stream in [first, rest] {
        assert_eq!((stream.last_id, stream.retry), (None, None));
    }
    assert_eq!(it.session.streams.kept_bytes(), 0);
}

/// Posts a request with a progress token of ten bytes to a new server with a carried cache, and
/// returns the context of the request and the cache.
fn context_with(config: &Config, cache: ContextCache) -> (crate::Context, ContextCache) {
    let server = Server::new(Instant::ZERO, config.clone());
    let settings = StreamSettings::default();
    let mut session = HttpServer::modern(server, Revision::V2026_07_28, settings);
    *session.context_cache() = cache;
    let mut request = modern_request("tools/call", json!({"name": "x"}));
    request["params"]["_meta"]["progressToken"] = "12345678".into();
    session.handle_post(Instant::ZERO, true, request.to_string().as_bytes());
    let Some(Event::Request { context, .. }) = session.poll_event() else { panic!("no request") };
    (context, core::mem::take(session.context_cache()))
}

#[test]
fn a_cached_context_is_reused_only_under_its_own_configuration_stl_01() {
    let (first, cache) = context_with(&config(), ContextCache::default());
    assert!(first.wants_progress);
    let short_ids = Limits { id_bytes_max: 6, ..Limits::default() };
    let other = config().limits(short_ids);
    let (refused, cache) = context_with(&other, cache);
    assert!(!refused.wants_progress, "the token exceeds the limit of this server");
    let (again, cache) = context_with(&other, cache);
    assert!(Arc::ptr_eq(&refused.peer, &again.peer) && !again.wants_progress);
    let (parsed, _) = context_with(&config(), cache);
    assert!(parsed.wants_progress && !Arc::ptr_eq(&again.peer, &parsed.peer));
}

// CAN-12
#[test]
fn a_disconnection_cancels_the_request_t_76_t_77() {
    for is_begun in [false, true] {
        let (session, call) = post_modern(&modern_request("tools/call", json!({"name": "x"})));
        let mut it = Fixture { session, now: Instant::ZERO, next_id: 2 };
        let incoming = it.incoming();
        if is_begun {
            it.progress(incoming, 1);
            it.read(call);
        }
        it.session.handle_gone(it.now, call);
        let Some(Event::RequestCancelled { incoming: cancelled, .. }) = it.session.poll_event()
        else {
            panic!("the request was not cancelled");
        };
        assert_eq!(cancelled, incoming);
        assert!(it.session.respond(it.now, incoming, &CallToolResult::text("late")).is_err());
        assert!(!it.session.is_busy() && !it.session.has_output());
        assert_eq!(it.session.poll_chunk(call), Some(BodyChunk::End));
    }
}

// CAN-16
#[test]
fn in_a_session_a_disconnection_does_not_cancel_the_request_t_76() {
    let mut it = Fixture::new();
    let (call, incoming) = it.call();
    it.session.handle_gone(it.now, call);
    assert!(it.session.poll_event().is_none());
    it.answer(incoming);
}

#[test]
fn a_subscription_is_acknowledged_then_notified_then_answered_t_102() {
    let (session, listen) = post_modern(&modern_request(
        "subscriptions/listen",
        json!({"notifications": {"toolsListChanged": true}}),
    ));
    let mut it = Fixture { session, now: Instant::ZERO, next_id: 2 };
    it.change();
    let stream = it.read(listen);
    assert_eq!(stream.summaries(), ["subscriptions/acknowledged", "tools/list_changed"]);
    it.change();
    assert_eq!(it.read(listen).summaries(), ["tools/list_changed"]);
    it.session.close(it.now);
    let end = it.read(listen);
    assert_eq!((end.summaries(), end.is_over), (Vec::from(["result 1".into()]), true));
    assert!(!it.session.is_busy());
}

#[test]
fn a_subscriber_that_disconnected_receives_nothing() {
    let (session, listen) = post_modern(&modern_request(
        "subscriptions/listen",
        json!({"notifications": {"toolsListChanged": true}}),
    ));
    let mut it = Fixture { session, now: Instant::ZERO, next_id: 2 };
    it.read(listen);
    it.session.handle_gone(it.now, listen);
    it.change();
    assert!(!it.session.has_output() && !it.session.is_busy());
}

// HTTP-20, HTTP-21, PRG-15
#[test]
fn a_response_stream_carries_only_notifications_of_its_request() {
    let (session, call) = post_modern(&modern_request("tools/call", json!({"name": "x"})));
    let mut it = Fixture { session, now: Instant::ZERO, next_id: 2 };
    let incoming = it.incoming();
    it.change();
    for parent in [None, Some(incoming)] {
        let options = crate::CallOptions { parent, ..crate::CallOptions::default() };
        assert!(it.session.call_raw(it.now, "roots/list", None, options).is_err());
    }
    assert_eq!(it.session.poll_reply(call), None);
    it.progress(incoming, 1);
    it.answer(incoming);
    assert_eq!(it.read(call).summaries(), ["progress 1", "result 1"]);
}

// STL-27: the server does not wait for the retry.
#[test]
fn a_request_that_requires_input_leaves_nothing_open() {
    let (session, call) = post_modern(&modern_request("tools/call", json!({"name": "x"})));
    let mut it = Fixture { session, now: Instant::ZERO, next_id: 2 };
    let incoming = it.incoming();
    it.session.request_input(it.now, incoming, &[], Some("step 1")).unwrap();
    let (status, body) = it.json(call);
    assert_eq!((status, &body["result"]["resultType"]), (200, &json!("input_required")));
    assert!(!it.session.is_busy());
    assert!(it.session.respond(it.now, incoming, &CallToolResult::text("late")).is_err());
}
