//! Tests of limits: what a server can make a client hold, and for how long.

use super::*;
use crate::limits::Limits;

fn small() -> client::Config {
    let limits = Limits { message_bytes_max: 1000, events_max: 3, ..Limits::default() };
    config().limits(limits)
}

#[test]
fn an_oversized_response_fails_only_its_call_sse_23() {
    let long = "x".repeat(2000);
    let too_long = "Invalid(\"response exceeds 1000 bytes (`Limits::message_bytes_max`)\")";
    // A part of the text could end within a credential.
    let http_error = "Http { status: 500, reason: None }";
    for (status, head, body, outcome) in [
        (200, EVENTS, format!("data: {long}"), too_long),
        (200, EVENTS, format!("id: {long}"), too_long),
        (200, JSON, long.clone(), too_long),
        (500, JSON, long, http_error),
    ] {
        let mut it = Fixture::modern_with(small());
        let call = it.call("tools/list");
        let send = it.post("tools/list");
        it.head(&send, status, head);
        it.feed(&send, &body);
        it.aborts(&send);
        assert_eq!(it.events(), [format!("{call}: {outcome}")]);
        it.idle();
        assert_eq!((it.exchanges(), it.http.is_closed()), (0, false));
    }
}

#[test]
fn comments_and_ignored_bodies_have_no_limit() {
    let mut it = Fixture::modern_with(small());
    it.chunk = 4096;
    it.call("tools/list");
    let send = it.post("tools/list");
    it.head(&send, 200, EVENTS);
    it.feed(&send, &format!(": {}\n", "x".repeat(100_000)));
    it.feed(&send, &event(&result_of(&send, "{}")));
    it.feed(&send, &"x".repeat(100_000));
    it.end(&send);
    assert_eq!(it.events().len(), 1);
}

#[test]
fn an_oversized_event_on_the_get_stream_is_reported_and_skipped_sse_23() {
    let mut it = Fixture::new(small());
    let probe = it.post("server/discover");
    it.reply(&probe, 400, PLAIN, "");
    let initialize = it.post("initialize");
    it.welcome(&initialize, Revision::V2025_11_25, SESSION);
    let initialized = it.post("notifications/initialized");
    it.reply(&initialized, 202, PLAIN, "");
    let stream = it.get();
    it.head(&stream, 200, EVENTS);
    it.events();
    it.feed(&stream, &event(&"x".repeat(2000)));
    it.feed(&stream, &event(r#"{"jsonrpc":"2.0","method":"x/y"}"#));
    let events = it.events();
    assert!(events[0].starts_with("message too long"), "{events:?}");
    assert_eq!(events[1..], ["None x/y"]);
}

#[test]
fn pending_events_apply_backpressure() {
    let mut it = Fixture::modern_with(small());
    it.call("tools/call");
    let send = it.post("tools/call");
    it.head(&send, 200, EVENTS);
    assert!(it.http.wants_input(send.exchange));
    it.feed(&send, &event(r#"{"jsonrpc":"2.0","method":"x/y"}"#).repeat(3));
    assert!(!it.http.wants_input(send.exchange));
    it.events();
    assert!(it.http.wants_input(send.exchange));
    assert!(!it.http.wants_input(ExchangeId(99)));
}

#[test]
fn one_way_messages_in_flight_are_limited() {
    let mut it = Fixture::ready(Revision::V2025_11_25);
    for _ in 0..100 {
        it.http.notify_raw(it.now, "x/y", None).unwrap();
    }
    let sent: Vec<HttpRequest> = core::iter::from_fn(|| match it.http.poll_action() {
        Some(Action::Send(send)) => Some(send),
        _ => None,
    })
    .collect();
    assert_eq!(sent.len(), 64);
    it.idle();
    it.reply(&sent[9], 202, PLAIN, "");
    it.post("x/y");
    it.idle();
    // A one-way message that is never answered times out.
    it.pass(Duration::from_secs(31));
    let mut begun = 0;
    while let Some(action) = it.http.poll_action() {
        begun += usize::from(matches!(action, Action::Send(_)));
    }
    assert_eq!(begun, 35);
    it.pass(Duration::from_secs(31));
    assert_eq!((it.exchanges(), it.http.poll_timeout()), (0, None));
}

#[test]
fn calls_in_flight_are_limited() {
    for max in [0, 1, 7] {
        for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
            let http = HttpConfig::new(1).concurrent_calls_max(max).without_stream();
            let mut it = Fixture::with_http(config().revisions(&[revision]), http);
            if revision.is_modern() {
                let probe = it.post("server/discover");
                it.reply(&probe, 200, JSON, DISCOVERED);
            } else {
                let initialize = it.post("initialize");
                it.welcome(&initialize, revision, SESSION);
                let initialized = it.post("notifications/initialized");
                it.reply(&initialized, 202, PLAIN, "");
            }
            it.events();
            let calls: Vec<CallId> = (0..20).map(|_| it.call("tools/list")).collect();
            let mut open: Vec<_> = (0..max.max(1)).map(|_| it.post("tools/list")).collect();
            it.idle();
            // One that ends while it waits is neither sent nor cancelled at the server.
            it.http.cancel(it.now, calls[15], "").unwrap();
            it.idle();
            // Notifications pass the waiting calls.
            if !revision.is_modern() {
                it.http.notify_raw(it.now, "x/y", None).unwrap();
                let one_way = it.post("x/y");
                it.reply(&one_way, 202, PLAIN, "");
            }
            let mut ids = Vec::new();
            while !open.is_empty() {
                let send = open.remove(0);
                ids.push(id_of(&send));
                if ids.len() % 2 == 0 {
                    let body = result_of(&send, r#"{"tools":[]}"#);
                    it.reply(&send, 200, JSON, &body);
                } else {
                    it.reply(&send, 500, PLAIN, "");
                }
                if ids.len() + open.len() < 19 {
                    open.push(it.post("tools/list"));
                }
                it.idle();
            }
            assert_eq!(ids.len(), 19);
            assert!(ids.is_sorted(), "calls are sent in order");
            assert_eq!((it.events().len(), it.exchanges()), (20, 0));
        }
    }
}

#[test]
fn calls_that_wait_end_with_the_connection_or_the_session() {
    let http = || HttpConfig::new(1).concurrent_calls_max(1);
    let mut it = Fixture::with_http(config(), http());
    it.open(Revision::V2025_11_25, SESSION);
    for _ in 0..3 {
        it.call("tools/call");
    }
    let send = it.post("tools/call");
    it.idle();
    it.head(&send, 404, PLAIN);
    it.aborts(&send);
    // The second and the third one were not sent.
    let events = it.events();
    assert!(events.len() == 3 && events.iter().all(|it| it.ends_with(": SessionEnded")));
    let initialize = it.post("initialize");
    it.idle();
    it.welcome(&initialize, Revision::V2025_11_25, SESSION);
    let initialized = it.post("notifications/initialized");
    it.reply(&initialized, 202, PLAIN, "");
    let stream = it.get();
    it.reply(&stream, 405, PLAIN, "");
    it.idle();
    for _ in 0..3 {
        it.call("tools/call");
    }
    let send = it.post("tools/call");
    it.http.close(it.now);
    it.aborts(&send);
    assert_eq!(it.send().method, HttpMethod::Delete);
    it.idle();
}

#[test]
fn ignored_responses_are_limited_in_number_and_time() {
    let mut it = Fixture::ready(Revision::V2025_11_25);
    let mut aborted = 0;
    for _ in 0..100 {
        it.call("tools/list");
        let send = loop {
            match it.http.poll_action() {
                Some(Action::Send(send)) => break send,
                _ => aborted += 1,
            }
        };
        it.head(&send, 200, EVENTS);
        it.feed(&send, &event(&result_of(&send, "{}")));
        it.events();
    }
    assert!(it.exchanges() <= 32);
    it.pass_millis(1000);
    while let Some(Action::Abort(_)) = it.http.poll_action() {
        aborted += 1;
    }
    assert_eq!((aborted, it.exchanges(), it.http.poll_timeout()), (100, 0, None));
}

#[test]
fn pending_challenges_are_limited() {
    let mut it = Fixture::modern();
    for _ in 0..200 {
        it.call("tools/list");
        let send = it.post("tools/list");
        it.reply(&send, 401, PLAIN, "");
    }
    let challenged =
        it.events().into_iter().filter(|event| event.starts_with("challenged")).count();
    assert_eq!(challenged, 64);
}

#[test]
fn time_that_goes_back_is_harmless() {
    let mut it = Fixture::ready(Revision::V2025_11_25);
    it.pass(Duration::from_secs(50));
    let call = it.call("tools/call");
    let send = it.post("tools/call");
    it.now = Instant::ZERO;
    it.head(&send, 200, EVENTS);
    it.feed(&send, "id: 1\nretry: 500\ndata:\n\n");
    it.end(&send);
    let due = it.http.poll_timeout().unwrap();
    assert!(due >= Instant::ZERO + Duration::from_millis(50_500), "{due:?}");
    it.now = due;
    it.http.handle_timeout(due);
    it.get();
    it.http.cancel(it.now, call, "").unwrap();
}
