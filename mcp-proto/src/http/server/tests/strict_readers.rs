//! Streams as clients with strict parsers read them.

use super::*;

/// An event as the official Java client reads it: type, id and data.
#[derive(Debug, Default)]
struct Strict {
    kind: Option<String>,
    id: Option<String>,
    data: Option<String>,
}

/// Splits a stream like the official Java client, which fails on any field but `event`, `id` and
/// `data`, and on a second line of data. Comments are left out.
fn strict(stream: &[u8]) -> Vec<Strict> {
    let text = core::str::from_utf8(stream).unwrap();
    let blocks = text.split_terminator("\n\n").filter(|block| !block.starts_with(':'));
    blocks
        .map(|block| {
            let mut event = Strict::default();
            for line in block.lines() {
                let (name, value) = line.split_once(": ").unwrap_or_else(|| panic!("{line:?}"));
                let field = match name {
                    "event" => &mut event.kind,
                    "id" => &mut event.id,
                    "data" => &mut event.data,
                    _ => panic!("invalid line {line:?}"),
                };
                assert_eq!(field.replace(value.into()), None, "{line:?}");
            }
            event
        })
        .collect()
}

/// Returns the messages that older Spring clients deliver: they parse the data of each event of
/// type `message`, and drop the others.
fn messages(stream: &[u8]) -> Vec<String> {
    let events =
        strict(stream).into_iter().filter(|event| event.kind.as_deref() == Some("message"));
    let data = events.map(|event| event.data.unwrap());
    data.map(|data| summary(&serde_json::from_str(&data).expect("JSON"))).collect()
}

#[test]
fn strict_clients_read_each_message_of_a_call_http_16() {
    for revision in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut it = Fixture::in_revision(revision, StreamSettings::default());
        let (call, incoming) = it.call();
        it.wait(Duration::from_secs(20));
        it.progress(incoming, 1);
        it.wait(Duration::from_secs(20));
        it.answer(incoming);
        let (bytes, is_over) = it.bytes(call);
        assert!(is_over);
        assert_eq!(messages(&bytes), ["progress 1", "result 1"], "{revision}");
        // All have an id, also the event without a message.
        let ids: Vec<_> = strict(&bytes).into_iter().filter_map(|event| event.id).collect();
        assert_eq!(ids.len(), if revision == "2025-11-25" { 3 } else { 2 });
    }
}

#[test]
fn strict_clients_read_the_stream_of_a_session_and_its_resumption() {
    let mut it = Fixture::new();
    let first = it.get(None);
    it.change();
    let (bytes, _) = it.bytes(first);
    assert_eq!(messages(&bytes), ["tools/list_changed"]);
    let last = strict(&bytes).pop().unwrap().id.unwrap();
    it.session.handle_gone(it.now, first);
    it.change();
    let again = it.get(Some(&last));
    let (bytes, _) = it.bytes(again);
    assert_eq!(messages(&bytes), ["tools/list_changed"]);
}

#[test]
fn strict_clients_read_modern_streams() {
    let call = modern_request("tools/call", json!({"name": "x"}));
    let (mut session, id) = post_modern(&call);
    let Some(Event::Request { incoming, .. }) = session.poll_event() else { panic!("no request") };
    session.progress(Instant::ZERO, incoming, &Progress::new(1.0)).unwrap();
    session.respond(Instant::ZERO, incoming, &CallToolResult::text("done")).unwrap();
    let mut it = Fixture { session, now: Instant::ZERO, next_id: 0 };
    let (bytes, _) = it.bytes(id);
    assert_eq!(messages(&bytes), ["progress 1", "result 1"]);
}

// HTTP-16
#[test]
fn the_reconnection_time_is_sent_only_before_an_early_end_http_16() {
    let retry = |settings: StreamSettings, is_begun: bool| {
        let mut it = Fixture::in_revision("2025-11-25", settings);
        let (call, incoming) = it.call();
        let mut bytes = Vec::new();
        if is_begun {
            it.progress(incoming, 1);
            bytes = it.bytes(call).0;
            assert_eq!(ReadStream::parse(&bytes).retry, None);
        }
        it.session.end_stream(it.now, incoming).unwrap();
        it.session.end_stream(it.now, incoming).unwrap();
        let (end, is_over) = it.bytes(call);
        assert!(is_over);
        bytes.extend(end);
        let stream = ReadStream::parse(&bytes);
        assert!(stream.last_id.is_some(), "it can be resumed");
        stream.retry
    };
    let millis = Duration::from_millis(1500);
    let some = StreamSettings { retry: Some(millis), ..StreamSettings::default() };
    let none = StreamSettings { retry: None, ..StreamSettings::default() };
    for is_begun in [false, true] {
        assert_eq!(retry(some.clone(), is_begun), Some(millis));
        assert_eq!(retry(none.clone(), is_begun), None);
    }
}

/// Python's `str.splitlines`, with which some clients split streams, also splits here.
#[test]
fn line_separators_of_unicode_are_escaped_in_events() {
    let text = "a\u{2028}b\u{2029}c\u{85}d \u{e9}\u{2019}\u{c2}\u{e2}\u{2030}";
    let mut it = Fixture::new();
    let (call, incoming) = it.call();
    it.progress(incoming, 1);
    it.session.respond(it.now, incoming, &CallToolResult::text(text)).unwrap();
    let (bytes, _) = it.bytes(call);
    let raw = core::str::from_utf8(&bytes).unwrap();
    assert!(!raw.contains(['\u{2028}', '\u{2029}', '\u{85}']), "{raw}");
    let stream = ReadStream::parse(&bytes);
    assert_eq!(stream.messages[1].1["result"]["content"][0]["text"], text);
}

// HTTP-10
#[test]
fn a_client_without_event_streams_receives_json_http_10() {
    for revision in ["2025-03-26", "2025-11-25"] {
        let mut it = Fixture::in_revision(revision, StreamSettings::default());
        let listening = it.get(None);
        let (call, incoming) = it.call();
        it.session.require_json(call);
        it.wait(Duration::from_secs(20));
        it.progress(incoming, 1);
        it.session.end_stream(it.now, incoming).unwrap();
        assert_eq!(it.session.poll_reply(call), None);
        it.answer(incoming);
        let (status, body) = it.json(call);
        assert_eq!((status, summary(&body)), (200, "result 1".into()));
        assert_eq!(it.read(listening).summaries(), ["progress 1"]);
        // Without a stream of the session, and with a cancelled request.
        it.session.handle_gone(it.now, listening);
        let (call, _) = it.call();
        it.session.require_json(call);
        it.notify("notifications/cancelled", json!({"requestId": 2}));
        assert_eq!(it.json(call), (204, Value::Null));
    }
    let (mut session, id) = post_modern(&modern_request("tools/call", json!({"name": "x"})));
    session.require_json(id);
    let Some(Event::Request { incoming, .. }) = session.poll_event() else { panic!("no request") };
    session.progress(Instant::ZERO, incoming, &Progress::new(1.0)).unwrap();
    session.handle_timeout(Instant::ZERO + Duration::from_secs(60));
    assert_eq!(session.poll_reply(id), None);
    session.respond(Instant::ZERO, incoming, &CallToolResult::text("done")).unwrap();
    let reply = session.poll_reply(id).unwrap();
    assert!(matches!(&reply.body, Body::Whole(body) if body.starts_with(b"{")), "{reply:?}");
    assert_eq!(reply.status, 200);
}

#[test]
fn a_byte_order_mark_before_a_message_is_skipped() {
    let mut it = Fixture::new();
    let ping = "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}";
    let borrowed = it.session.handle_post(it.now, true, ping.as_bytes());
    assert_eq!(summary(&it.json(borrowed).1), "result 7");
    let owned = it.session.handle_post(it.now, true, Bytes::from(ping.replace('7', "8")));
    assert_eq!(summary(&it.json(owned).1), "result 8");
}
