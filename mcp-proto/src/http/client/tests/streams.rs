//! Tests of event streams in legacy sessions: their messages, ends and resumption.

use super::*;

pub(super) const PRIMING: &str = "id: 0\nretry: 500\ndata:\n\n";

pub(super) fn ready_with_stream() -> (Fixture, HttpRequest) {
    let mut it = Fixture::new(config());
    let probe = it.post("server/discover");
    it.reply(&probe, 400, PLAIN, "");
    let initialize = it.post("initialize");
    it.welcome(&initialize, Revision::V2025_11_25, SESSION);
    let initialized = it.post("notifications/initialized");
    it.reply(&initialized, 202, PLAIN, "");
    let stream = it.get();
    it.head(&stream, 200, EVENTS);
    it.events();
    (it, stream)
}

/// Advances to the next request and returns it with the time that has passed.
pub(super) fn until_next(it: &mut Fixture) -> (Duration, HttpRequest) {
    let start = it.now;
    loop {
        match it.http.poll_action() {
            Some(Action::Send(send)) => return (it.now.duration_since(start), send),
            Some(Action::Abort(_)) => {}
            None => {
                let due = it.http.poll_timeout().unwrap();
                it.pass(due.duration_since(it.now));
            }
        }
    }
}

// HTTP-17, HTTP-18, SSE-16, SSE-19
#[test]
fn a_primed_stream_is_resumed_after_its_retry_time_http_16_http_17_http_18_sse_16_sse_19_t_82() {
    for seed in 0..200 {
        for revision in [Revision::V2025_03_26, Revision::V2025_11_25] {
            let mut it = Fixture::with_http(config(), HttpConfig::new(seed));
            it.open(revision, SESSION);
            let call = it.call("tools/call");
            let send = it.post("tools/call");
            it.head(&send, 200, EVENTS);
            it.feed(&send, PRIMING);
            it.pass_millis(50);
            it.end(&send);
            let (waited, resumed) = until_next(&mut it);
            // The conformance suite's window, less a margin for slow machines.
            assert!((500..=560).contains(&waited.as_millis()), "{waited:?}");
            assert_eq!(
                (resumed.method, resumed.header("last-event-id")),
                (HttpMethod::Get, Some("0"))
            );
            assert_eq!(resumed.header("mcp-session-id"), Some("s-1"));
            assert!(resumed.body.is_empty());
            it.head(&resumed, 200, EVENTS);
            it.feed(&resumed, &event(&result_of(&send, r#"{"content":[]}"#)));
            it.end(&resumed);
            assert_eq!(it.events(), [format!(r#"{call}: {{"content":[]}}"#)]);
            it.idle();
            assert_eq!((it.exchanges(), it.http.poll_timeout()), (0, None));
        }
    }
}

#[test]
fn a_stream_is_resumed_after_its_last_complete_event_sse_08_sse_20_t_83() {
    let mut it = Fixture::ready(Revision::V2025_11_25);
    let call = it.call("tools/call");
    let send = it.post("tools/call");
    it.head(&send, 200, EVENTS);
    it.feed(&send, "id: a\ndata:\n\nid: b\ndata: {\"jsonrpc\"");
    it.cut(&send);
    let (_, second) = until_next(&mut it);
    assert_eq!(second.header("last-event-id"), Some("a"));
    it.http.handle_failure(it.now, second.exchange, ExchangeFailure::Unreached);
    let (_, third) = until_next(&mut it);
    assert_eq!(third.header("last-event-id"), Some("a"));
    it.reply(&third, 503, PLAIN, "busy");
    let (_, fourth) = until_next(&mut it);
    assert_eq!(fourth.header("last-event-id"), Some("a"));
    it.head(&fourth, 200, EVENTS);
    let log = r#"{"jsonrpc":"2.0","method":"notifications/message",
        "params":{"level":"info","data":1}}"#;
    it.feed(&fourth, &("id: c\n".to_string() + &event(log)));
    it.end(&fourth);
    let (_, fifth) = until_next(&mut it);
    assert_eq!(fifth.header("last-event-id"), Some("c"));
    it.head(&fifth, 200, EVENTS);
    let answer = event(&result_of(&send, "{}"));
    it.feed(&fifth, &answer);
    it.end(&fifth);
    let events = it.events();
    assert_eq!(events.last(), Some(&format!("{call}: {{}}")));
    assert_eq!(events.len(), 2, "{events:?}");
    assert_eq!(it.exchanges(), 0);
}

#[test]
fn without_priming_a_stream_is_resumed_once_an_event_had_an_id_sse_16_sse_21() {
    for revision in [Revision::V2025_03_26, Revision::V2025_06_18] {
        let log = r#"{"jsonrpc":"2.0","method":"notifications/message","params":
            {"level":"info","data":1}}"#;
        let mut it = Fixture::ready(revision);
        let call = it.call("tools/call");
        let send = it.post("tools/call");
        it.head(&send, 200, EVENTS);
        it.feed(&send, &("id: 7\n".to_string() + &event(log) + "id: 8\ndata: {\"jsonrpc\""));
        it.cut(&send);
        let (_, resumed) = until_next(&mut it);
        assert_eq!(resumed.header("last-event-id"), Some("7"));
        it.head(&resumed, 200, EVENTS);
        it.feed(&resumed, &("id: 8\n".to_string() + &event(&result_of(&send, "{}"))));
        assert_eq!(it.events().last(), Some(&format!("{call}: {{}}")));
        // The id of an event that was cut is not known to be valid: nothing can be resumed.
        let call = it.call("tools/call");
        let send = it.post("tools/call");
        it.head(&send, 200, EVENTS);
        it.feed(&send, "id: 9\ndata: {\"jsonrpc\"");
        it.cut(&send);
        assert_eq!(it.events(), [format!("{call}: Lost")]);
    }
}

// HTTP-22: two streams at a time.
#[test]
fn two_streams_are_resumed_each_after_its_own_event_sse_20_t_84() {
    let (mut it, stream) = ready_with_stream();
    it.call("tools/call");
    let call = it.post("tools/call");
    it.head(&call, 200, EVENTS);
    it.feed(&stream, "id: s9\ndata:\n\n");
    it.feed(&call, "id: c3\ndata:\n\n");
    it.end(&call);
    it.end(&stream);
    let mut after: Vec<_> =
        (0..2).map(|_| until_next(&mut it).1.header("last-event-id").map(String::from)).collect();
    after.sort();
    assert_eq!(after, [Some("c3".to_string()), Some("s9".to_string())]);
}

// SSE-21
#[test]
fn a_stream_that_ends_without_an_answer_and_an_id_fails_the_call_sse_21_t_87() {
    let bodies = ["", ": hello\n\n", "retry: 5\n\n", "id: \ndata:\n\n", "id: x\n"];
    for body in bodies {
        for cut in [false, true] {
            let mut it = Fixture::ready(Revision::V2025_11_25);
            let call = it.call("tools/call");
            let send = it.post("tools/call");
            it.head(&send, 200, EVENTS);
            it.feed(&send, body);
            if cut {
                it.cut(&send);
            } else {
                it.end(&send);
            }
            assert_eq!(it.events(), [format!("{call}: Lost")], "{body:?}");
            it.idle();
            assert_eq!(it.exchanges(), 0);
        }
    }
    // The last event is incomplete.
    let mut it = Fixture::ready(Revision::V2025_11_25);
    let call = it.call("tools/call");
    let send = it.post("tools/call");
    it.head(&send, 200, EVENTS);
    let answer = result_of(&send, "{}");
    it.feed(&send, &format!("data: {answer}\n"));
    it.end(&send);
    assert_eq!(it.events(), [format!("{call}: Lost")]);
}

#[test]
fn a_permanent_error_ends_a_resumption_t_70() {
    for (status, head, outcome) in [
        (405, PLAIN, "Http { status: 405, reason: None }"),
        (400, JSON, "Http { status: 400, reason: None }"),
        (200, JSON, "Invalid(\"resumed stream is not an event stream\")"),
    ] {
        let mut it = Fixture::ready(Revision::V2025_11_25);
        let call = it.call("tools/call");
        let send = it.post("tools/call");
        it.head(&send, 200, EVENTS);
        it.feed(&send, PRIMING);
        it.end(&send);
        let (_, resumed) = until_next(&mut it);
        it.reply(&resumed, status, head, "{}");
        assert_eq!(it.events(), [format!("{call}: {outcome}")]);
        assert_eq!(it.exchanges(), 0);
    }
}

// SSE-25
#[test]
fn redelivered_events_are_handled_once_sse_25() {
    let (mut it, stream) = ready_with_stream();
    let changed = |id| format!("id: {id}\ndata: {{\"jsonrpc\":\"2.0\",\"method\":\"x/{id}\"}}\n\n");
    it.feed(&stream, &(changed(1) + &changed(2) + &changed(3)));
    it.end(&stream);
    let (_, resumed) = until_next(&mut it);
    assert_eq!(resumed.header("last-event-id"), Some("3"));
    it.head(&resumed, 200, EVENTS);
    it.feed(&resumed, &(changed(2) + &changed(3) + &changed(4)));
    let events: Vec<_> =
        it.events().into_iter().filter(|event| event.starts_with("None")).collect();
    assert_eq!(events, ["None x/1", "None x/2", "None x/3", "None x/4"]);
}

/// rmcp begins each stream with an event without a message, whose id its first message may repeat.
#[test]
fn only_events_with_a_message_count_as_delivered_sse_25() {
    let changed = |id: &str, method: &str| {
        format!("id: {id}\ndata: {{\"jsonrpc\":\"2.0\",\"method\":\"x/{method}\"}}\n\n")
    };
    for priming in ["id: 0\nretry: 500\ndata:\n\n", "id: 0\n\n", "id: 0\nevent: ping\ndata: 1\n\n"]
    {
        let (mut it, mut stream) = ready_with_stream();
        let mut received = Vec::new();
        for cut in 0..3 {
            it.feed(&stream, priming);
            if cut == 1 {
                it.feed(&stream, &(changed("0", "first") + &changed("1", "second")));
            }
            it.end(&stream);
            (_, stream) = until_next(&mut it);
            it.head(&stream, 200, EVENTS);
            received.extend(it.events().into_iter().filter(|event| event.starts_with("None")));
        }
        // Redelivered, because the last id was that of the event without a message.
        it.feed(
            &stream,
            &(changed("0", "first") + &changed("1", "second") + &changed("2", "third")),
        );
        received.extend(it.events().into_iter().filter(|event| event.starts_with("None")));
        assert_eq!(received, ["None x/first", "None x/second", "None x/third"], "{priming}");
    }
}

#[test]
fn events_of_one_connection_may_share_an_id_sse_25() {
    let (mut it, stream) = ready_with_stream();
    for _ in 0..3 {
        it.feed(&stream, "id: repeated\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"x/y\"}\n\n");
    }
    assert_eq!(it.events().len(), 3);
}

#[test]
fn a_response_may_arrive_on_any_stream_t_85_t_88_t_89() {
    let (mut it, stream) = ready_with_stream();
    let first = it.call("tools/call");
    let one = it.post("tools/call");
    let second = it.call("tools/call");
    let two = it.post("tools/call");
    it.head(&one, 200, EVENTS);
    it.head(&two, 200, EVENTS);
    it.feed(&one, PRIMING);
    it.end(&one);
    it.feed(&two, &event(&result_of(&one, r#"{"of":"one"}"#)));
    it.feed(&stream, &event(&result_of(&two, r#"{"of":"two"}"#)));
    it.feed(&stream, &event(&result_of(&two, r#"{"of":"two"}"#)));
    let events = it.events();
    assert_eq!(
        events[..2],
        [format!(r#"{first}: {{"of":"one"}}"#), format!(r#"{second}: {{"of":"two"}}"#)]
    );
    assert!(events[2].starts_with("response without a pending call"), "{events:?}");
    it.aborts(&two);
    it.idle();
    assert_eq!(it.exchanges(), 1, "only the GET stream is open");
}

// SSE-12
#[test]
fn only_message_events_are_handled_sse_12_t_82() {
    let (mut it, stream) = ready_with_stream();
    it.feed(&stream, "event: ping\ndata: {}\n\nevent: endpoint\ndata: /x\n\ndata:\n\n: c\n\n");
    assert_eq!(it.events(), [""; 0]);
    it.feed(
        &stream,
        "event: message\r\ndata: {\"jsonrpc\":\"2.0\",\r\ndata: \"method\":\"x/y\"}\r\n\r\n",
    );
    assert_eq!(it.events(), ["None x/y"]);
}

// HTTP-03
#[test]
fn a_response_to_the_server_is_a_separate_post_http_03() {
    let (mut it, stream) = ready_with_stream();
    it.feed(&stream, &event(r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#));
    let pong = it.send();
    assert_eq!(
        (pong.method, &pong.body[..]),
        (HttpMethod::Post, &br#"{"jsonrpc":"2.0","id":7,"result":{}}"#[..])
    );
    it.reply(&pong, 202, PLAIN, "");
    it.idle();
    assert_eq!(it.exchanges(), 1);
}

// HTTP-22
#[test]
fn without_stream_opens_no_get_stream_http_22() {
    let mut it = Fixture::with_http(config(), HttpConfig::new(1).without_stream());
    let probe = it.post("server/discover");
    it.reply(&probe, 400, PLAIN, "");
    let initialize = it.post("initialize");
    it.welcome(&initialize, Revision::V2025_11_25, SESSION);
    let initialized = it.post("notifications/initialized");
    it.reply(&initialized, 202, PLAIN, "");
    it.idle();
}

// HTTP-28
#[test]
fn a_404_to_a_resumed_get_stream_means_a_lost_session_http_34_t_70() {
    let (mut it, stream) = ready_with_stream();
    it.feed(&stream, ": hi\n\n");
    it.end(&stream);
    let (_, again) = until_next(&mut it);
    it.head(&again, 404, PLAIN);
    it.aborts(&again);
    it.post("initialize");
}

#[test]
fn a_cancelled_call_does_not_resume_its_stream() {
    let mut it = Fixture::ready(Revision::V2025_11_25);
    let call = it.call("tools/call");
    let send = it.post("tools/call");
    it.head(&send, 200, EVENTS);
    it.feed(&send, PRIMING);
    it.end(&send);
    it.http.cancel(it.now, call, "").unwrap();
    let cancelled = it.post("notifications/cancelled");
    it.reply(&cancelled, 202, PLAIN, "");
    it.pass_millis(2000);
    it.idle();
    assert_eq!((it.exchanges(), it.http.poll_timeout()), (0, None));
}

#[test]
fn bytes_after_a_response_are_ignored_for_a_second() {
    let mut it = Fixture::ready(Revision::V2025_11_25);
    it.call("tools/call");
    let send = it.post("tools/call");
    it.head(&send, 200, EVENTS);
    let answer = event(&result_of(&send, "{}"));
    it.feed(&send, &answer);
    assert_eq!(it.events().len(), 1);
    it.feed(&send, &answer);
    it.feed(&send, "data: nonsense\n\n");
    assert!(it.http.wants_input(send.exchange));
    it.idle();
    it.pass_millis(1000);
    it.aborts(&send);
    it.idle();
    assert_eq!((it.events().len(), it.exchanges()), (0, 0));
}

#[test]
fn a_request_on_the_stream_of_a_call_belongs_to_it() {
    let config = || config().capability(crate::Capability::Roots);
    let mut it = Fixture::new(config());
    it.open(Revision::V2025_11_25, SESSION);
    let calls = ["a", "b"].map(|name| {
        let call = it.call_with("tools/call", Some(&format!(r#"{{"name":"{name}"}}"#)));
        let send = it.post("tools/call");
        it.head(&send, 200, EVENTS);
        (call, send)
    });
    it.events();
    for (id, (call, send)) in (0..).zip(calls.iter().rev()) {
        let ask = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"roots/list"}}"#);
        it.feed(send, &event(&ask));
        let asked = it.http.poll_event();
        let is_it = matches!(
            &asked, Some(HttpEvent::Client(client::Event::Request { call: Some(asks), .. }))
                if asks == call
        );
        assert!(is_it, "{asked:?}");
    }
}
