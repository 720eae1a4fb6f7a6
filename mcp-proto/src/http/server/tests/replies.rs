//! Tests of the kind of response (JSON or event stream), and of how a stream begins and ends.

use super::*;

// HTTP-10
#[test]
fn a_single_response_is_json_http_10() {
    let mut it = Fixture::new();
    let (call, incoming) = it.call();
    assert_eq!(it.session.poll_reply(call), None, "not answered yet");
    it.answer(incoming);
    assert!(it.session.has_output());
    let (status, body) = it.json(call);
    assert_eq!((status, summary(&body)), (200, "result 1".into()));
    assert_eq!(it.session.poll_chunk(call), Some(BodyChunk::End), "the exchange is over");
    assert!(!it.session.has_output() && !it.session.is_busy());
}

#[test]
fn an_error_in_a_session_has_status_200() {
    let mut it = Fixture::new();
    let unknown = it.request("no/such", json!({}));
    let (status, body) = it.json(unknown);
    assert_eq!((status, summary(&body)), (200, "error -32601".into()));
}

// HTTP-10, HTTP-12, HTTP-13, HTTP-19
#[test]
fn a_message_before_the_response_makes_it_an_event_stream_http_19_http_13() {
    for early in [true, false] {
        let mut it = Fixture::new();
        let (call, incoming) = it.call();
        it.progress(incoming, 1);
        if early {
            assert_eq!(it.read(call).summaries(), ["progress 1"]);
        }
        it.session
            .log(it.now, Some(incoming), crate::schema::Level::Error, None, &"x".into_raw())
            .unwrap();
        it.answer(incoming);
        let stream = it.read(call);
        assert!(stream.is_over, "the stream ends after the response");
        let expected = ["progress 1", "message", "result 1"];
        assert_eq!(stream.summaries(), expected[usize::from(early)..]);
        assert!(stream.messages.iter().all(|(id, _)| id.is_some()));
    }
}

trait IntoRaw {
    fn into_raw(self) -> crate::Raw;
}

impl IntoRaw for &str {
    fn into_raw(self) -> crate::Raw {
        crate::Raw::new(self).unwrap()
    }
}

// HTTP-08
#[test]
fn notifications_and_responses_are_accepted_with_202_http_08() {
    let mut it = Fixture::new();
    it.notify("notifications/cancelled", json!({"requestId": 99}));
    let stray = it.post(false, &json!({"jsonrpc": "2.0", "id": 7, "result": {}}));
    assert_eq!(it.json(stray), (202, Value::Null));
    assert!(!it.session.is_busy());
}

// HTTP-09
#[test]
fn an_invalid_notification_is_rejected_with_an_error_http_09() {
    let mut it = Fixture::new();
    let broken = it.session.handle_post(it.now, false, &b"{\"jsonrpc\":\"2.0\"}"[..]);
    let (status, body) = it.json(broken);
    assert_eq!((status, summary(&body)), (400, "error -32600".into()));
    assert!(body["id"].is_null());
    assert!(!it.session.is_busy());
}

// HTTP-16
#[test]
fn a_slow_request_gets_a_priming_event_http_16() {
    let mut it = Fixture::new();
    let (call, incoming) = it.call();
    it.wait(Duration::from_millis(49));
    assert_eq!(it.session.poll_reply(call), None);
    it.wait(Duration::from_millis(1));
    let primed = it.read(call);
    assert!(primed.messages.is_empty() && primed.last_id.is_some() && !primed.is_over);
    assert_eq!(primed.retry, None, "the stream does not end early");
    it.answer(incoming);
    let stream = it.read(call);
    assert_eq!((stream.summaries(), stream.is_over), (alloc::vec!["result 1".into()], true));
}

#[test]
fn a_ready_response_is_json_even_if_polled_late() {
    let mut it = Fixture::new();
    let (call, incoming) = it.call();
    it.answer(incoming);
    it.wait(Duration::from_secs(1));
    assert_eq!(it.json(call).0, 200);
}

#[test]
fn revisions_without_priming_stay_silent_until_the_keep_alive_http_16_http_54() {
    for revision in ["2025-03-26", "2025-06-18"] {
        let mut it = Fixture::in_revision(revision, StreamSettings::default());
        let (call, incoming) = it.call();
        it.wait(Duration::from_millis(14_999));
        assert_eq!(it.session.poll_reply(call), None);
        it.wait(Duration::from_millis(1));
        assert_eq!(it.bytes(call), (b":\n\n".to_vec(), false));
        it.answer(incoming);
        let stream = it.read(call);
        assert!(stream.is_over && stream.retry.is_none() && stream.messages[0].0.is_some());
    }
}

// HTTP-54
#[test]
fn an_idle_stream_gets_comments_http_54() {
    let mut it = Fixture::new();
    let (call, incoming) = it.call();
    it.progress(incoming, 1);
    it.read(call);
    for _ in 0..3 {
        it.wait(Duration::from_secs(14));
        assert_eq!(it.bytes(call), (Vec::new(), false));
        it.wait(Duration::from_secs(1));
        assert_eq!(it.bytes(call), (b":\n\n".to_vec(), false));
    }
    it.wait(Duration::from_secs(10));
    it.progress(incoming, 2);
    assert_eq!(it.read(call).summaries(), ["progress 2"]);
    it.wait(Duration::from_secs(10));
    assert_eq!(it.bytes(call), (Vec::new(), false), "the stream was not idle for long enough");
}

#[test]
fn comments_do_not_accumulate_for_a_stalled_reader() {
    let mut it = Fixture::new();
    let get = it.get(None);
    it.read(get);
    it.wait(Duration::from_secs(3600));
    assert_eq!(it.bytes(get).0, b":\n\n");
}

#[test]
fn a_cancelled_request_has_no_response() {
    let mut it = Fixture::new();
    let (call, _) = it.call();
    let (streaming, incoming) = it.call();
    it.progress(incoming, 1);
    it.read(streaming);
    it.notify("notifications/cancelled", json!({"requestId": 1}));
    it.notify("notifications/cancelled", json!({"requestId": 2}));
    for exchange in [call, streaming] {
        let stream = it.read(exchange);
        assert!(stream.is_over && stream.messages.is_empty());
    }
}

/// The official TypeScript client accepts an event stream or JSON, and resumes only streams that
/// had an event id.
#[test]
fn a_request_cancelled_before_its_response_began_is_answered_with_an_empty_event_stream() {
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut it = Fixture::in_revision(revision, StreamSettings::default());
        let (call, _) = it.call();
        assert_eq!(it.session.poll_reply(call), None);
        it.notify("notifications/cancelled", json!({"requestId": 1}));
        assert!(it.session.has_output());
        assert_eq!(it.bytes(call), (Vec::new(), true), "{revision}");
        assert!(!it.session.is_busy());
    }
}

/// The response to a request always has a body, which names the cause.
fn assert_ended((status, body): (u16, Value)) {
    assert_eq!((status, summary(&body)), (503, "error -32603".into()));
    assert!(body["error"]["message"].as_str().unwrap().contains("closed"), "{body}");
}

// HTTP-10
#[test]
fn close_ends_all_streams_once_open_requests_are_answered() {
    let mut it = Fixture::new();
    let get = it.get(None);
    let (json, first) = it.call();
    let (streaming, second) = it.call();
    it.progress(second, 1);
    it.read(streaming);
    it.session.close(it.now);
    assert!(!it.read(get).is_over);
    it.answer(first);
    it.answer(second);
    assert_eq!(it.json(json).0, 200);
    let stream = it.read(streaming);
    assert_eq!((stream.summaries(), stream.is_over), (alloc::vec!["result 2".into()], true));
    assert!(it.read(get).is_over);
    assert!(!it.session.is_busy());
    let late = it.request("ping", json!({}));
    assert_ended(it.json(late));
}

#[test]
fn close_ends_requests_that_are_not_answered_in_time() {
    let mut it = Fixture::new();
    let (silent, _) = it.call();
    let (streaming, incoming) = it.call();
    it.progress(incoming, 1);
    it.read(streaming);
    it.session.close(it.now);
    it.wait(Limits::default().drain_timeout);
    assert_ended(it.json(silent));
    assert!(it.read(streaming).is_over);
    assert!(!it.session.is_busy());
}

#[test]
fn a_session_is_busy_while_a_request_is_open_or_a_client_listens() {
    let mut it = Fixture::new();
    assert!(!it.session.is_busy());
    let (call, incoming) = it.call();
    assert!(it.session.is_busy());
    it.session.handle_gone(it.now, call);
    assert!(it.session.is_busy(), "the request is still in flight");
    it.answer(incoming);
    it.session.poll_reply(call);
    assert!(!it.session.is_busy());
    let get = it.get(None);
    assert!(it.session.is_busy());
    it.session.handle_gone(it.now, get);
    assert!(!it.session.is_busy());
}

#[test]
fn debug_output_contains_no_session_id() {
    let shows = |shown: String| assert!(!shown.contains("planted"), "{shown}");
    let server = Server::new(Instant::ZERO, config());
    let mut session = HttpServer::legacy(server, "planted-1", StreamSettings::default());
    shows(format!("{session:?}{session:#?}"));
    let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "c", "version": "1"},
    }});
    let exchange = session.handle_post(Instant::ZERO, true, initialize.to_string().as_bytes());
    let reply = session.poll_reply(exchange).unwrap();
    assert!(reply.headers.contains(&("mcp-session-id", "planted-1".into())));
    shows(format!("{reply:?}{reply:#?}"));
    let mut table = crate::http::SessionTable::new(1, Duration::from_secs(1));
    table.insert(Instant::ZERO, "planted-1", None, session).unwrap();
    shows(format!("{table:?}{table:#?}"));
}
