//! Tests of every kind of response to a message.

use super::*;

/// Calls `tools/list` and returns the call with its request.
fn list_tools(it: &mut Fixture) -> (CallId, HttpRequest) {
    let call = it.call("tools/list");
    let send = it.post("tools/list");
    (call, send)
}

const REVISIONS: [Revision; 2] = [Revision::V2025_11_25, Revision::V2026_07_28];

fn ready(revision: Revision) -> Fixture {
    if revision == Revision::V2026_07_28 { Fixture::modern() } else { Fixture::ready(revision) }
}

// HTTP-11, SSE-26
#[test]
fn json_and_event_streams_are_accepted_http_11_sse_26_t_91() {
    for revision in REVISIONS {
        for chunk in [1, 2, 7, 1000] {
            let mut it = ready(revision);
            it.chunk = chunk;
            let (call, send) = list_tools(&mut it);
            let answer = result_of(&send, r#"{"tools":[]}"#);
            it.reply(&send, 200, JSON, &answer);
            assert_eq!(it.events(), [format!(r#"{call}: {{"tools":[]}}"#)]);
            let (call, send) = list_tools(&mut it);
            let marked = ["\u{feff}", &*result_of(&send, r#"{"tools":[]}"#)].concat();
            it.reply(&send, 200, JSON, &marked);
            assert_eq!(it.events(), [format!(r#"{call}: {{"tools":[]}}"#)]);
            let (call, send) = list_tools(&mut it);
            let answer = event(&result_of(&send, "{\n\"tools\":[]\n}"));
            it.reply(&send, 200, &[("content-type", "Text/Event-Stream;charset=UTF-8")], &answer);
            assert_eq!(it.events(), [format!(r#"{call}: {{"tools":[]}}"#)]);
            it.idle();
            assert_eq!((it.exchanges(), it.http.poll_timeout()), (0, None));
        }
    }
}

#[test]
fn an_invalid_response_fails_only_its_call_http_62_t_74_t_91() {
    let other = r#"{"jsonrpc":"2.0","id":99,"result":{}}"#;
    let note = r#"{"jsonrpc":"2.0","method":"x/y"}"#;
    let cases: &[(u16, Head<'_>, &str)] = &[
        (202, JSON, "{}"),
        (204, PLAIN, ""),
        (200, PLAIN, "{}"),
        (200, &[("content-type", "text/html")], "<html>"),
        (200, JSON, other),
        (200, JSON, note),
        (200, JSON, "[]"),
        (200, JSON, ""),
        (200, JSON, "{\"jsonrpc\":\"2.0\","),
        (200, JSON, "\u{0}"),
    ];
    for revision in REVISIONS {
        for (status, head, body) in cases {
            let mut it = ready(revision);
            let (call, send) = list_tools(&mut it);
            let (other_call, other_send) = list_tools(&mut it);
            let body = body.replace("99", &id_of(&other_send).to_string());
            it.reply(&send, *status, head, &body);
            let events: Vec<_> =
                it.events().into_iter().filter(|event| event.starts_with("call#")).collect();
            assert_eq!(events.len(), 1, "{status} {body:?}: {events:?}");
            assert!(
                events[0].starts_with(&format!("{call}: Invalid")),
                "{status} {body:?}: {events:?}"
            );
            assert!(!it.http.is_closed());
            let answer = result_of(&other_send, "{}");
            it.reply(&other_send, 200, JSON, &answer);
            assert_eq!(it.events(), [format!("{other_call}: {{}}")]);
            assert_eq!(it.exchanges(), 0);
        }
    }
}

// HTTP-61
#[test]
fn a_json_rpc_error_takes_precedence_over_the_status_http_61_t_73() {
    for revision in REVISIONS {
        for status in [400, 404, 500, 503, 302] {
            if status == 404 && revision != Revision::V2026_07_28 {
                continue;
            }
            let mut it = ready(revision);
            let (call, send) = list_tools(&mut it);
            let error = error_of(&send, -32601);
            it.reply(&send, status, JSON, &error);
            let (second, send) = list_tools(&mut it);
            it.reply(
                &send,
                status,
                PLAIN,
                r#"{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"x"}}"#,
            );
            // LIF-31: these two are not what a modern server sends.
            let is_doubtful = revision.is_modern() && matches!(status, 400 | 404);
            if is_doubtful {
                it.answer_probe();
            }
            let (third, send) = list_tools(&mut it);
            it.reply(&send, status, JSON, r#"{"error":"not found"}"#);
            if is_doubtful {
                it.answer_probe();
            }
            let (fourth, send) = list_tools(&mut it);
            let result = result_of(&send, "{}");
            it.reply(&send, status, JSON, &result);
            let events = it.events();
            assert!(
                events[0].starts_with(&format!("{call}: Refused(ErrorObject {{ code: -32601")),
                "{events:?}"
            );
            assert!(
                events[1].starts_with(&format!("{second}: Refused(ErrorObject {{ code: -1")),
                "{events:?}"
            );
            let reason = r#"Some("not found")"#;
            assert_eq!(
                events[2],
                format!("{third}: Http {{ status: {status}, reason: {reason} }}")
            );
            assert_eq!(events[3], format!("{fourth}: Http {{ status: {status}, reason: None }}"));
            assert_eq!((it.exchanges(), it.http.is_closed()), (0, false));
        }
    }
}

/// A request that only reads is sent again, once, if its response is lost.
#[test]
fn a_read_whose_response_is_lost_is_repeated_once() {
    for revision in REVISIONS {
        for method in ["tools/list", "resources/list", "resources/read"] {
            let params = (method == "resources/read").then_some(r#"{"uri":"a:b"}"#);
            // Before the head, within a body, at an early end: each in the first and second try.
            for (first, second) in [(0, 1), (1, 2), (2, 0)] {
                let mut it = ready(revision);
                let read = it.call_with(method, params);
                let lose = |it: &mut Fixture, send: &HttpRequest, how| match how {
                    0 => it.cut(send),
                    1 => {
                        it.head(send, 200, JSON);
                        it.feed(send, "{");
                        it.cut(send);
                    }
                    _ => it.end(send),
                };
                let send = it.post(method);
                lose(&mut it, &send, first);
                assert_eq!(it.events(), [""; 0], "{revision} {method} {first}");
                let again = it.post(method);
                assert!(id_of(&again) > id_of(&send));
                lose(&mut it, &again, second);
                assert_eq!(it.events(), [format!("{read}: LostRead")]);
                it.idle();
                // The second response counts.
                let read = it.call_with(method, params);
                let send = it.post(method);
                lose(&mut it, &send, second);
                let again = it.post(method);
                let body = result_of(&again, r#"{"resultType":"complete"}"#);
                it.reply(&again, 200, JSON, &body);
                let events = it.events();
                assert!(events.len() == 1 && events[0].starts_with(&format!("{read}: {{")));
                assert_eq!(it.exchanges(), 0);
            }
        }
    }
}

// HTTP-61, T-73
#[test]
fn every_text_of_an_error_status_reaches_the_error() {
    let foreign = r#"{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"no \u001b[1msession"}}"#;
    let cases: &[(&str, &str)] = &[
        (foreign, r#"message: "no \u{1b}[1msession (HTTP status 418)""#),
        (r#"{"jsonrpc":"2.0","id":99,"error":{"code":-1,"message":"x"}}"#, "x (HTTP status 418)"),
        (r#"{"error":{"code":"E1","message":"not\nhere"}}"#, r#"reason: Some("not here")"#),
        (r#"{"jsonrpc":"2.0","error":{"code":7}}"#, r#""code\":7"#),
        (r#"{"detail":"gone"}"#, r#"Some("gone")"#),
        ("plain \u{202e}text", r#"Some("plain text")"#),
        ("<html><b>Bad</b> Gateway</html>", r#"Some("Bad Gateway")"#),
        ("{}", "reason: None"),
    ];
    for revision in REVISIONS {
        for (body, text) in cases {
            let mut it = ready(revision);
            let (call, send) = list_tools(&mut it);
            it.reply(&send, 418, JSON, body);
            let events = it.events();
            assert!(events[0].starts_with(&format!("{call}: ")), "{events:?}");
            assert!(events[0].contains(text), "{body}: {events:?}");
            assert_eq!((events.len(), it.exchanges()), (1, 0));
        }
    }
}

// JSON-07, T-16
#[test]
fn a_body_or_event_that_cannot_be_read_ends_its_call_with_the_position() {
    for revision in REVISIONS {
        for bad in ["NaN", "\"\u{1}\"", "[1", "01"] {
            let mut it = ready(revision);
            let (call, send) = list_tools(&mut it);
            let answer = result_of(&send, &format!(r#"{{"tools":{bad}}}"#));
            it.reply(&send, 200, JSON, &answer);
            let (second, send) = list_tools(&mut it);
            let answer = result_of(&send, &format!(r#"{{"tools":{bad}}}"#));
            it.reply(&send, 200, EVENTS, &event(&answer));
            let (third, send) = list_tools(&mut it);
            it.reply(&send, 200, JSON, &format!("Traceback: {bad}"));
            let events = it.events();
            for (call, event) in [call, second, third].iter().zip(&events) {
                assert!(event.starts_with(&format!("{call}: Invalid(")), "{events:?}");
                assert!(event.contains(" at byte "), "{events:?}");
            }
            assert!(events[2].contains("Traceback"), "{events:?}");
            assert_eq!((events.len(), it.exchanges()), (3, 0));
        }
    }
}

// PRG-05
#[test]
fn the_progress_of_a_repeated_read_increases() {
    let mut it = Fixture::modern();
    let options = CallOptions { progress: true, ..CallOptions::default() };
    let read = it.http.call_raw(it.now, "tools/list", None, options).unwrap();
    let progress = |send: &HttpRequest, value: u32| {
        let params = format!(r#"{{"progressToken":{},"progress":{value}}}"#, id_of(send));
        event(&format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{params}}}"#
        ))
    };
    let send = it.post("tools/list");
    it.head(&send, 200, EVENTS);
    it.feed(&send, &(progress(&send, 1) + &progress(&send, 5)));
    it.cut(&send);
    let again = it.post("tools/list");
    it.head(&again, 200, EVENTS);
    for value in [1, 5, 6] {
        it.feed(&again, &progress(&again, value));
    }
    it.feed(&again, &event(&result_of(&again, "{}")));
    assert_eq!(
        it.events(),
        [1, 5, 6]
            .map(|value| format!("{read}: {value}"))
            .into_iter()
            .chain([format!("{read}: {{}}")])
            .collect::<Vec<_>>()
    );
}

#[test]
fn a_read_that_was_not_sent_or_is_refused_is_not_repeated() {
    for revision in REVISIONS {
        let mut it = ready(revision);
        let (first, send) = list_tools(&mut it);
        it.http.handle_failure(it.now, send.exchange, ExchangeFailure::Unreached);
        let mut expected = Vec::from([format!("{first}: Unsent")]);
        for status in [421, 500, 502, 503, 504] {
            let (call, send) = list_tools(&mut it);
            it.reply(&send, status, &[("retry-after", "1")], "");
            expected.push(format!("{call}: Http {{ status: {status}, reason: None }}"));
        }
        it.idle();
        assert_eq!(it.events(), expected);
    }
}

#[test]
fn an_encoded_response_fails_its_call_with_the_coding() {
    for revision in REVISIONS {
        let mut it = ready(revision);
        for coding in ["gzip", "br", "identity, GZIP", "\u{1}\u{2}", &"x".repeat(200)] {
            let (call, send) = list_tools(&mut it);
            let head = [("Content-Type", "text/event-stream"), ("Content-Encoding", coding)];
            it.reply(&send, 200, &head, "\u{1f}\u{8b}");
            let events = it.events();
            let shown = format!("{:?}", &coding[..coding.len().min(64)]).replace('"', "");
            assert!(events[0].starts_with(&format!("{call}: Invalid")), "{events:?}");
            assert!(events[0].replace(['"', '\\'], "").contains(&shown.replace('\\', "")));
        }
        for coding in ["identity", "Identity ", ""] {
            let (call, send) = list_tools(&mut it);
            let body = result_of(&send, r#"{"resultType":"complete"}"#);
            it.reply(&send, 200, &[JSON[0], ("content-encoding", coding)], &body);
            let events = it.events();
            assert!(events[0].starts_with(&format!("{call}: {{")), "{events:?}");
        }
    }
}

#[test]
fn an_encoded_stream_is_reported_with_its_coding() {
    let mut it = Fixture::new(config());
    let probe = it.post("server/discover");
    it.reply(&probe, 400, PLAIN, "");
    let initialize = it.post("initialize");
    it.welcome(&initialize, Revision::V2025_11_25, SESSION);
    let initialized = it.post("notifications/initialized");
    it.reply(&initialized, 202, PLAIN, "");
    let stream = it.get();
    it.head(&stream, 200, &[EVENTS[0], ("content-encoding", "gzip")]);
    let events = it.events();
    assert!(events[1].contains("`Content-Encoding` \"gzip\""), "{events:?}");
}

#[test]
fn a_failed_exchange_fails_only_its_call() {
    for revision in REVISIONS {
        let mut it = ready(revision);
        let list_tools = |it: &mut Fixture| (it.call("tools/call"), it.post("tools/call"));
        let (first, send) = list_tools(&mut it);
        it.http.handle_failure(it.now, send.exchange, ExchangeFailure::Unreached);
        let (second, send) = list_tools(&mut it);
        it.cut(&send);
        let (third, send) = list_tools(&mut it);
        it.head(&send, 200, JSON);
        it.feed(&send, "{");
        it.cut(&send);
        let (fourth, send) = list_tools(&mut it);
        it.head(&send, 500, JSON);
        it.cut(&send);
        let (fifth, send) = list_tools(&mut it);
        it.end(&send);
        assert_eq!(
            it.events(),
            [
                format!("{first}: Unsent"),
                format!("{second}: Lost"),
                format!("{third}: Lost"),
                format!("{fourth}: Http {{ status: 500, reason: None }}"),
                format!("{fifth}: Lost"),
            ]
        );
        it.idle();
        assert_eq!((it.exchanges(), it.http.is_closed()), (0, false));
    }
}

// CAN-17
#[test]
fn any_success_status_accepts_a_one_way_message_t_75() {
    for status in [200, 202, 204] {
        let mut it = Fixture::ready(Revision::V2025_11_25);
        let (call, send) = list_tools(&mut it);
        it.http.cancel(it.now, call, "").unwrap();
        it.aborts(&send);
        let cancelled = it.post("notifications/cancelled");
        it.reply(&cancelled, status, JSON, "whatever");
        assert_eq!(it.events(), [format!("{call}: Cancelled")]);
        assert_eq!(it.exchanges(), 0);
    }
    for status in [301, 400, 500] {
        let mut it = Fixture::ready(Revision::V2025_11_25);
        let (call, send) = list_tools(&mut it);
        it.http.cancel(it.now, call, "").unwrap();
        it.aborts(&send);
        let cancelled = it.post("notifications/cancelled");
        it.reply(&cancelled, status, JSON, "");
        assert_eq!(it.events().len(), 2, "the rejection is reported");
        assert!(!it.http.is_closed());
    }
}

// AUT-11
#[test]
fn a_challenge_is_reported_and_the_session_continues_aut_11() {
    for revision in REVISIONS {
        for status in [401, 403] {
            let mut it = ready(revision);
            let (call, send) = list_tools(&mut it);
            it.reply(&send, status, &[("www-authenticate", "Bearer scope=files")], "{}");
            assert_eq!(
                it.events(),
                [
                    format!(r#"challenged Some({call}) {status} ["Bearer files"]"#),
                    format!("{call}: Http {{ status: {status}, reason: None }}")
                ]
            );
            let (call, send) = list_tools(&mut it);
            it.reply(&send, status, &[("www-authenticate", "=,=")], "");
            assert_eq!(it.events()[0], format!("challenged Some({call}) {status} []"));
            let (call, send) = list_tools(&mut it);
            let answer = result_of(&send, "{}");
            it.reply(&send, 200, JSON, &answer);
            assert_eq!(it.events(), [format!("{call}: {{}}")]);
        }
    }
}

#[test]
fn interim_and_repeated_heads_are_ignored() {
    let mut it = Fixture::modern();
    let (call, send) = list_tools(&mut it);
    it.head(&send, 100, PLAIN);
    it.head(&send, 103, EVENTS);
    it.head(&send, 200, JSON);
    it.head(&send, 500, PLAIN);
    let answer = result_of(&send, "{}");
    it.feed(&send, &answer);
    it.end(&send);
    it.end(&send);
    it.cut(&send);
    it.reply(&send, 200, JSON, &answer);
    assert_eq!(it.events(), [format!("{call}: {{}}")]);
    it.idle();
}

#[test]
fn a_redirect_that_was_not_followed_fails_the_call_with_its_target() {
    let long = format!("/{}", "x".repeat(2048));
    let status = "Http { status: 307, reason: None }".to_string();
    let target = |target: &str| format!("Redirected {{ status: 307, target: {target:?} }}");
    for (location, outcome) in [
        ("https://elsewhere.example/mcp?key=secret#x", target("https://elsewhere.example/mcp")),
        (" /mcp/ ", target("/mcp/")),
        ("two words", status.clone()),
        ("", status.clone()),
        (&long, status),
    ] {
        let mut it = Fixture::modern();
        let call = it.call("tools/list");
        let send = it.post("tools/list");
        it.reply(&send, 307, &[("location", location)], "");
        assert_eq!(it.events(), [format!("{call}: {outcome}")]);
        it.idle();
        assert_eq!(it.exchanges(), 0);
    }
}
