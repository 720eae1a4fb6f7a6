//! Tests of legacy sessions: their id, loss, replacement and end.

use super::*;

// HTTP-31, HTTP-36
#[test]
fn later_requests_carry_session_id_and_version_http_31_http_36() {
    for (revision, version) in [
        (Revision::V2024_11_05, None),
        (Revision::V2025_03_26, None),
        (Revision::V2025_06_18, Some("2025-06-18")),
        (Revision::V2025_11_25, Some("2025-11-25")),
    ] {
        let mut it = Fixture::ready(revision);
        assert_eq!(it.http.session_id(), Some("s-1"));
        it.call("tools/list");
        let list = it.post("tools/list");
        assert_eq!(list.header("mcp-session-id"), Some("s-1"));
        assert_eq!(list.header("mcp-protocol-version"), version);
        assert_eq!(list.header("mcp-method"), Some("tools/list"));
        let body = result_of(&list, r#"{"tools":[]}"#);
        it.reply(&list, 200, JSON, &body);
        it.http.close(it.now);
        let Some(Action::Send(delete)) = it.http.poll_action() else { panic!() };
        assert_eq!(
            (delete.method, delete.header("mcp-session-id")),
            (HttpMethod::Delete, Some("s-1"))
        );
        assert_eq!(delete.header("mcp-protocol-version"), version);
        it.idle();
    }
}

#[test]
fn without_a_session_id_a_404_fails_only_its_call_t_80() {
    let mut it = Fixture::new(config());
    it.open(Revision::V2025_06_18, JSON);
    let call = it.call("tools/list");
    let list = it.post("tools/list");
    assert_eq!(list.header("mcp-session-id"), None);
    it.reply(&list, 404, PLAIN, "");
    assert_eq!(it.events(), [format!("{call}: Http {{ status: 404, reason: None }}")]);
    it.http.close(it.now);
    it.idle();
    assert_eq!(it.events(), ["closed: closed by this side"]);
}

// HTTP-30
#[test]
fn an_invalid_session_id_is_reported_and_ignored_http_30() {
    let mut it = Fixture::new(config());
    let probe = it.post("server/discover");
    it.reply(&probe, 400, PLAIN, "");
    let initialize = it.post("initialize");
    it.welcome(&initialize, Revision::V2025_06_18, &[JSON[0], ("mcp-session-id", "two words")]);
    assert_eq!(it.http.session_id(), None);
    let events = it.events();
    assert!(events[0].starts_with("invalid HTTP exchange: `Mcp-Session-Id`"), "{events:?}");
    assert_eq!(it.post("notifications/initialized").header("mcp-session-id"), None);
}

// HTTP-29, HTTP-60
#[test]
fn only_a_successful_initialize_assigns_the_session_id_http_60_t_79() {
    let mut it = Fixture::ready(Revision::V2025_11_25);
    for _ in 0..3 {
        it.call("tools/list");
        let list = it.post("tools/list");
        assert_eq!(list.header("mcp-session-id"), Some("s-1"));
        let body = result_of(&list, "{}");
        it.reply(&list, 200, &[JSON[0], ("mcp-session-id", "s-2")], &body);
    }
    let reported =
        it.events().into_iter().filter(|event| event.starts_with("invalid HTTP exchange")).count();
    assert_eq!(reported, 1, "a mismatch is reported once");

    let mut it = Fixture::new(config());
    let probe = it.post("server/discover");
    it.reply(&probe, 400, &[("mcp-session-id", "s-0")], "");
    let initialize = it.post("initialize");
    let refusal = error_of(&initialize, -32603);
    it.reply(&initialize, 200, SESSION, &refusal);
    assert_eq!(it.http.session_id(), None);
}

// HTTP-34
#[test]
fn a_lost_session_is_replaced_once_and_no_tool_call_is_retried_http_34_t_70_t_71() {
    let mut it = Fixture::ready(Revision::V2025_11_25);
    let calls = [0; 3].map(|_| it.call("tools/call"));
    let sends = [0; 3].map(|_| it.post("tools/call"));
    it.head(&sends[0], 404, JSON);
    // Only the first one was certainly not processed.
    let [rejected, others @ ..] = calls;
    let lost = others.map(|call| format!("{call}: Lost"));
    let events = it.events();
    assert_eq!((&events[0], &events[1..]), (&format!("{rejected}: SessionEnded"), &lost[..]));
    assert!(it.http.call_raw(it.now, "tools/call", None, CallOptions::default()).is_err());
    sends.iter().for_each(|send| it.aborts(send));
    let initialize = it.post("initialize");
    assert_eq!(
        (initialize.header("mcp-session-id"), initialize.header("mcp-protocol-version")),
        (None, None)
    );
    // Late 404s of the other exchanges have no effect.
    it.reply(&sends[1], 404, PLAIN, "");
    it.reply(&sends[2], 404, PLAIN, "");
    it.idle();
    it.welcome(&initialize, Revision::V2025_06_18, &[JSON[0], ("mcp-session-id", "s-2")]);
    assert_eq!(it.events(), ["ready 2025-06-18"]);
    let initialized = it.post("notifications/initialized");
    assert_eq!(initialized.header("mcp-session-id"), Some("s-2"));
    it.reply(&initialized, 202, PLAIN, "");
    it.get();
    it.idle();
    it.call("tools/call");
    assert_eq!(it.post("tools/call").header("mcp-protocol-version"), Some("2025-06-18"));
}

const READS: [(&str, Option<&str>); 5] = [
    ("tools/list", None),
    ("tools/list", Some(r#"{"cursor":"c"}"#)),
    ("resources/list", None),
    ("resources/templates/list", None),
    ("resources/read", Some(r#"{"uri":"a:b"}"#)),
];

/// Returns the params of a request.
fn params_of(send: &HttpRequest) -> Option<String> {
    let body = Raw::from_text(core::str::from_utf8(&send.body).unwrap()).unwrap();
    body.member("params").map(|params| params.as_str().into())
}

// HTTP-34
#[test]
fn reads_are_repeated_once_in_the_session_that_replaces_a_lost_one_http_34() {
    for (method, params) in READS {
        let mut it = Fixture::ready(Revision::V2025_11_25);
        // The server rejects one of them, and a call that may have run is in flight.
        let (read, other) = (it.call_with(method, params), it.call("tools/list"));
        let (rejected, _) = (it.post(method), it.post("tools/list"));
        let tool = it.call("tools/call");
        it.post("tools/call");
        it.head(&rejected, 404, JSON);
        assert_eq!(it.events(), [format!("{tool}: Lost")], "{method}");
        let initialize = loop {
            match it.http.poll_action() {
                Some(Action::Abort(_)) => {}
                Some(Action::Send(send)) => break send,
                None => panic!("no handshake"),
            }
        };
        it.idle();
        it.welcome(&initialize, Revision::V2025_11_25, &[JSON[0], ("mcp-session-id", "s-2")]);
        let initialized = it.post("notifications/initialized");
        it.reply(&initialized, 202, PLAIN, "");
        let stream = it.get();
        it.reply(&stream, 405, PLAIN, "");
        assert_eq!(it.events(), ["ready 2025-11-25"]);
        let again = it.post(method);
        assert_eq!(again.header("mcp-session-id"), Some("s-2"));
        assert_eq!(params_of(&again).unwrap(), params.unwrap_or("{}"));
        let list = it.post("tools/list");
        it.idle();
        for (send, call) in [(&again, read), (&list, other)] {
            let body = result_of(send, "{}");
            it.reply(send, 200, JSON, &body);
            assert_eq!(it.events(), [format!("{call}: {{}}")]);
        }
        assert_eq!(it.exchanges(), 0);
    }
}

#[test]
fn calls_that_were_not_sent_were_not_processed() {
    let mut it = Fixture::new(config());
    let probe = it.post("server/discover");
    it.reply(&probe, 400, PLAIN, "");
    let initialize = it.post("initialize");
    it.welcome(&initialize, Revision::V2025_11_25, SESSION);
    it.events();
    // No request overtakes this notification.
    let initialized = it.post("notifications/initialized");
    let (tool, list) = (it.call("tools/call"), it.call("tools/list"));
    it.idle();
    it.reply(&initialized, 404, PLAIN, "");
    assert_eq!(it.events(), [format!("{tool}: SessionEnded")]);
    let initialize = it.post("initialize");
    it.welcome(&initialize, Revision::V2025_11_25, SESSION);
    let initialized = it.post("notifications/initialized");
    it.reply(&initialized, 202, PLAIN, "");
    let stream = it.get();
    it.reply(&stream, 405, PLAIN, "");
    let again = it.post("tools/list");
    let body = result_of(&again, "{}");
    it.reply(&again, 200, JSON, &body);
    assert_eq!(it.events(), ["ready 2025-11-25".into(), format!("{list}: {{}}")]);
}

#[test]
fn a_read_that_waits_for_a_session_keeps_its_time() {
    let mut it = Fixture::ready(Revision::V2025_11_25);
    let read = it.call("tools/list");
    let list = it.post("tools/list");
    it.pass_millis(40_000);
    it.reply(&list, 404, PLAIN, "");
    let initialize = it.post("initialize");
    it.pass_millis(19_999);
    assert_eq!(it.events(), [""; 0]);
    it.pass_millis(1);
    assert_eq!(it.events(), [format!("{read}: TimedOut")]);
    // It is not sent afterwards.
    it.welcome(&initialize, Revision::V2025_11_25, SESSION);
    it.post("notifications/initialized");
    it.idle();
}

#[test]
fn a_read_is_cancelled_while_it_waits_for_a_session() {
    let mut it = Fixture::ready(Revision::V2025_11_25);
    let read = it.call("tools/list");
    let list = it.post("tools/list");
    it.reply(&list, 404, PLAIN, "");
    let initialize = it.post("initialize");
    it.http.cancel(it.now, read, "no more").unwrap();
    assert_eq!(it.events(), [format!("{read}: Cancelled")]);
    it.welcome(&initialize, Revision::V2025_11_25, SESSION);
    it.post("notifications/initialized");
    it.idle();
}

#[test]
fn messages_of_a_lost_session_are_not_sent_in_the_next_http_34() {
    let mut it = Fixture::ready(Revision::V2025_11_25);
    it.call("tools/list");
    let list = it.post("tools/list");
    it.head(&list, 200, EVENTS);
    it.feed(&list, &event(r#"{"jsonrpc":"2.0","id":"q","method":"ping"}"#));
    it.http.notify_raw(it.now, "notifications/roots/list_changed", None).unwrap_err();
    let call = it.call("tools/call");
    it.http.cancel(it.now, call, "no more").unwrap();
    let pong = it.send();
    it.head(&pong, 404, PLAIN);
    it.events();
    it.aborts(&list);
    it.aborts(&pong);
    it.post("initialize");
    it.idle();
}

#[test]
fn a_404_to_initialize_of_a_new_session_closes_the_client_t_72() {
    let mut it = Fixture::ready(Revision::V2025_11_25);
    let call = it.call("tools/list");
    let list = it.post("tools/list");
    it.reply(&list, 404, PLAIN, "");
    let initialize = it.post("initialize");
    let body = error_of(&initialize, -32001);
    it.reply(&initialize, 404, PLAIN, &body);
    // LIF-31: the server may be modern by now.
    let probe = it.post("server/discover");
    it.reply(&probe, 404, PLAIN, "");
    let initialize = it.post("initialize");
    let body = error_of(&initialize, -32001);
    it.reply(&initialize, 404, PLAIN, &body);
    assert_eq!(
        it.events(),
        [
            format!("{call}: LostRead"),
            "closed: the server refused the handshake: no (-32001)".into()
        ]
    );
    it.idle();
    assert_eq!((it.exchanges(), it.http.poll_timeout()), (0, None));
}

#[test]
fn a_server_that_loses_every_session_is_given_up_t_72() {
    let mut it = Fixture::ready(Revision::V2025_11_25);
    for round in 0.. {
        it.call("tools/list");
        let list = it.post("tools/list");
        it.reply(&list, 404, PLAIN, "");
        if it.http.is_closed() {
            assert_eq!(round, 3);
            break;
        }
        let initialize = it.post("initialize");
        it.welcome(&initialize, Revision::V2025_11_25, SESSION);
        let initialized = it.post("notifications/initialized");
        it.reply(&initialized, 202, PLAIN, "");
        let stream = it.get();
        it.reply(&stream, 405, PLAIN, "");
    }
    assert_eq!(
        it.events().last().unwrap(),
        "closed: the server repeatedly ended sessions right after opening them"
    );
    it.idle();
}

#[test]
fn an_answered_call_resets_the_count_of_lost_sessions_t_72() {
    let mut it = Fixture::ready(Revision::V2025_11_25);
    for _ in 0..9 {
        it.call("tools/list");
        let list = it.post("tools/list");
        let body = result_of(&list, "{}");
        it.reply(&list, 200, JSON, &body);
        it.call("tools/list");
        let list = it.post("tools/list");
        it.reply(&list, 404, PLAIN, "");
        let initialize = it.post("initialize");
        it.welcome(&initialize, Revision::V2025_11_25, SESSION);
        let initialized = it.post("notifications/initialized");
        it.reply(&initialized, 202, PLAIN, "");
        let stream = it.get();
        it.reply(&stream, 405, PLAIN, "");
    }
    assert!(!it.http.is_closed());
}

// HTTP-35
#[test]
fn a_session_is_deleted_after_pending_one_way_messages_http_35() {
    for status in [200, 204, 404, 405, 500] {
        let mut it = Fixture::ready(Revision::V2025_11_25);
        let call = it.call("tools/list");
        let list = it.post("tools/list");
        it.http.cancel(it.now, call, "enough").unwrap();
        it.http.close(it.now);
        it.aborts(&list);
        let cancelled = it.post("notifications/cancelled");
        it.idle();
        it.reply(&cancelled, 202, PLAIN, "");
        let delete = it.send();
        assert_eq!((delete.method, delete.body.len()), (HttpMethod::Delete, 0));
        it.idle();
        it.reply(&delete, status, PLAIN, "");
        it.idle();
        assert_eq!(
            it.events(),
            [format!("{call}: Cancelled"), "closed: closed by this side".into()]
        );
        assert_eq!((it.exchanges(), it.http.poll_timeout()), (0, None));
    }
}

#[test]
fn an_unanswered_delete_times_out_http_35() {
    let mut it = Fixture::ready(Revision::V2025_11_25);
    it.http.close(it.now);
    let delete = it.send();
    it.pass_millis(2000);
    it.aborts(&delete);
    it.idle();
    assert_eq!((it.exchanges(), it.http.poll_timeout()), (0, None));
}

#[test]
fn debug_output_contains_no_session_id_and_no_credentials() {
    let shows = |shown: String| {
        assert!(!shown.contains("planted"), "{shown}");
        shown
    };
    let planted: Head<'_> =
        &[("content-type", "application/json"), ("mcp-session-id", "planted-1")];
    let mut it = Fixture::new(config());
    let probe = it.post("server/discover");
    it.reply(&probe, 400, PLAIN, "Bad Request: no session");
    let initialize = it.post("initialize");
    it.head(&initialize, 200, planted);
    shows(format!("{:?}{:#?}", it.http, it.http));
    let mut it = Fixture::new(config());
    it.open(Revision::V2025_11_25, planted);
    it.call("tools/list");
    let mut list = it.post("tools/list");
    assert_eq!(list.header("mcp-session-id"), Some("planted-1"));
    list.headers.push(("Authorization".into(), "Bearer planted".into()));
    list.headers.push(("mcp-param-key".into(), "planted".into()));
    shows(format!("{:?}{:#?}", it.http, it.http));
    let shown = shows(format!("{list:?}{list:#?}"));
    assert!(shown.contains("Authorization") && shown.contains("2025-11-25"), "{shown}");
    let action = Action::Send(list);
    shows(format!("{action:?}{action:#?}"));
}
