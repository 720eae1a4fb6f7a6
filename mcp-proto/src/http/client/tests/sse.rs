//! Tests of the fallback to HTTP+SSE.

use super::*;
use crate::http::legacy_sse::ServerUrl;
use crate::vocabulary::CallError;

const REFUSED: &str = "closed: could not connect to the server: the server responded with HTTP \
                       status";

fn with_fallback(config: client::Config, http: HttpConfig) -> Fixture {
    let url = ServerUrl::parse("https://example.com/a/sse").unwrap();
    Fixture::with_http(config, http.sse_fallback(url))
}

fn fixture() -> Fixture {
    with_fallback(config(), HttpConfig::new(1))
}

fn legacy() -> client::Config {
    config().revisions(&[Revision::V2024_11_05, Revision::V2025_11_25])
}

/// Returns the GET that follows a refused handshake.
fn fall_back(it: &mut Fixture) -> HttpRequest {
    let probe = it.post("server/discover");
    it.reply(&probe, 405, PLAIN, "");
    let initialize = it.post("initialize");
    assert!(initialize.target.is_none());
    it.reply(&initialize, 405, PLAIN, "Method Not Allowed");
    let stream = it.get();
    assert_eq!((stream.target.as_ref(), stream.header("mcp-session-id")), (None, None));
    it.idle();
    stream
}

fn named(kind: &str, data: &str) -> String {
    format!("event: {kind}\ndata: {data}\n\n")
}

/// Opens the stream and completes the handshake on it.
fn shake_hands(it: &mut Fixture, stream: &HttpRequest, target: &str) {
    it.head(stream, 200, EVENTS);
    it.feed(stream, &named("endpoint", target));
    let initialize = posted_to(it, "initialize", target);
    it.reply(&initialize, 202, PLAIN, "Accepted");
    let result = r#"{"protocolVersion":"2024-11-05","capabilities":{"tools":{}},
        "serverInfo":{"name":"played","version":"1"}}"#;
    let welcome = result_of(&initialize, result).replace('\n', "");
    it.feed(stream, &named("message", &welcome));
    let initialized = posted_to(it, "notifications/initialized", target);
    it.reply(&initialized, 202, PLAIN, "");
    assert_eq!(it.events(), ["ready 2024-11-05"]);
    it.idle();
}

fn posted_to(it: &mut Fixture, method: &str, target: &str) -> HttpRequest {
    let send = it.post(method);
    assert_eq!(send.target.as_ref().map(crate::Secret::expose), Some(target));
    send
}

fn ready() -> (Fixture, HttpRequest) {
    let mut it = fixture();
    let stream = fall_back(&mut it);
    shake_hands(&mut it, &stream, "/messages?id=7");
    (it, stream)
}

// HTTP-57, HTTP-58, LIF-36
#[test]
fn a_session_runs_over_a_stream_and_its_message_endpoint_http_57_http_58_lif_36() {
    let (mut it, stream) = ready();
    assert_eq!(it.exchanges(), 1, "no stream but that one");
    let call = it.call("tools/list");
    let posted = posted_to(&mut it, "tools/list", "/messages?id=7");
    assert_eq!(posted.header("mcp-protocol-version"), None, "2024-11-05 has no such header");
    it.reply(&posted, 202, PLAIN, "");
    assert_eq!(it.events(), [""; 0], "202 is not the answer");
    it.feed(&stream, &event(&result_of(&posted, r#"{"tools":[]}"#)));
    assert_eq!(it.events(), [format!("{call}: {{\"tools\":[]}}")]);
    // The server asks, and the answer is posted.
    it.feed(&stream, &event(r#"{"jsonrpc":"2.0","id":"s1","method":"ping"}"#));
    let pong = it.send();
    assert_eq!(pong.target.as_ref().map(crate::Secret::expose), Some("/messages?id=7"));
    it.http.close(it.now);
    assert!(!format!("{pong:?}").contains("id=7"), "the session id is a secret");
    it.aborts(&stream);
    it.reply(&pong, 202, PLAIN, "");
    assert_eq!(it.events().last().unwrap(), "closed: closed by this side");
    it.idle();
    assert_eq!(it.exchanges(), 0);
}

#[test]
fn an_answer_may_overtake_the_202_http_58() {
    let (mut it, stream) = ready();
    let call = it.call("tools/list");
    let posted = it.post("tools/list");
    it.feed(&stream, &event(&result_of(&posted, r#"{"tools":[]}"#)));
    assert_eq!(it.events(), [format!("{call}: {{\"tools\":[]}}")]);
    it.idle();
    it.reply(&posted, 202, PLAIN, "");
    it.idle();
    assert_eq!(it.exchanges(), 1);
}

#[test]
fn a_known_legacy_server_is_asked_for_sse_immediately_lif_36() {
    for status in [400, 404, 405] {
        let mut it = with_fallback(legacy(), HttpConfig::new(1));
        let initialize = it.post("initialize");
        let body = r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"no"},"id":null}"#;
        it.reply(&initialize, status, JSON, body);
        let stream = it.get();
        shake_hands(&mut it, &stream, "/messages");
    }
}

#[test]
fn other_failures_of_the_handshake_are_no_reason_to_fall_back_lif_36() {
    for status in [401, 403, 406, 410, 415, 500, 501, 503] {
        let mut it = with_fallback(legacy(), HttpConfig::new(1));
        let initialize = it.post("initialize");
        it.reply(&initialize, status, PLAIN, "");
        let events = it.events();
        assert!(events.last().unwrap().starts_with(&format!("{REFUSED} {status}")), "{events:?}");
        assert!(!matches!(it.http.poll_action(), Some(Action::Send(_))), "{status}");
    }
    // LIF-36: errors that only modern servers send.
    for code in [-32020, -32021, -32022] {
        let mut it = with_fallback(legacy(), HttpConfig::new(1));
        let initialize = it.post("initialize");
        let body = error_of(&initialize, code);
        it.reply(&initialize, 400, JSON, &body);
        it.idle();
        assert!(it.events()[0].starts_with("closed: "));
    }
}

#[test]
fn without_the_option_nothing_is_tried_lif_36() {
    let mut it = Fixture::new(legacy());
    let initialize = it.post("initialize");
    it.reply(&initialize, 405, PLAIN, "");
    assert_eq!(it.events(), [format!("{REFUSED} 405")]);
    it.idle();
}

#[test]
fn the_probe_alone_never_falls_back_lif_36() {
    // A modern client has no use for the older transport.
    let modern = config().revisions(&[Revision::V2026_07_28]);
    let mut it = with_fallback(modern, HttpConfig::new(1));
    let probe = it.post("server/discover");
    it.reply(&probe, 405, PLAIN, "");
    assert_eq!(it.events(), [format!("{REFUSED} 405")]);
    it.idle();
}

#[test]
fn a_server_without_sse_fails_with_its_answer_to_initialize_lif_36() {
    let html = [("content-type", "text/html")];
    let refusals: [(u16, Head<'_>, &str); 5] = [
        (405, PLAIN, ""),
        (404, &html, "<html>"),
        (503, PLAIN, ""),
        (200, JSON, "{}"),
        // A stream of Streamable HTTP.
        (200, EVENTS, "id: 1\ndata: \n\n"),
    ];
    for (status, head, body) in refusals {
        let mut it = fixture();
        let stream = fall_back(&mut it);
        it.reply(&stream, status, head, body);
        assert_eq!(it.events(), [format!("{REFUSED} 405: Method Not Allowed")], "{status} {body}");
    }
    // The first event does not come in time, or the stream ends before it.
    let mut it = fixture();
    let stream = fall_back(&mut it);
    it.head(&stream, 200, EVENTS);
    it.feed(&stream, ": welcome\n\n");
    it.pass_millis(4_999);
    assert_eq!(it.events(), [""; 0]);
    it.pass_millis(1);
    assert_eq!(it.events(), [format!("{REFUSED} 405: Method Not Allowed")]);
    it.aborts(&stream);
    assert_eq!(it.http.poll_timeout(), None);
    for cut in [true, false] {
        let mut it = fixture();
        let stream = fall_back(&mut it);
        it.head(&stream, 200, EVENTS);
        if cut {
            it.cut(&stream);
        } else {
            it.end(&stream);
        }
        assert_eq!(it.events(), [format!("{REFUSED} 405: Method Not Allowed")]);
    }
}

#[test]
fn a_message_endpoint_elsewhere_is_refused_http_58() {
    for target in ["https://evil.example/messages", "//evil.example", "http://example.com/x", ""] {
        let mut it = fixture();
        let stream = fall_back(&mut it);
        it.head(&stream, 200, EVENTS);
        it.feed(&stream, &named("endpoint", target));
        let events = it.events();
        assert!(events[0].contains("message endpoint"), "{target}: {events:?}");
        it.aborts(&stream);
        it.idle();
    }
}

/// A driver that passes in all it has read need not have seen the abort.
#[test]
fn an_exchange_that_has_ended_is_not_aborted() {
    for is_cut in [false, true] {
        let mut it = fixture();
        let stream = fall_back(&mut it);
        it.head(&stream, 200, EVENTS);
        it.feed(&stream, &named("endpoint", "https://evil.example/messages"));
        if is_cut {
            it.http.handle_failure(it.now, stream.exchange, ExchangeFailure::Cut);
        } else {
            it.http.handle_end(it.now, stream.exchange);
        }
        assert_eq!(it.http.poll_action(), None);
    }
}

#[test]
fn a_second_message_endpoint_is_ignored_http_57() {
    let (mut it, stream) = ready();
    it.feed(&stream, &named("endpoint", "/elsewhere"));
    assert!(it.events()[0].contains("second message endpoint"));
    it.call("tools/list");
    posted_to(&mut it, "tools/list", "/messages?id=7");
}

#[test]
fn a_stream_that_ends_loses_the_session_and_its_calls_lif_36() {
    for cut in [true, false] {
        let (mut it, stream) = ready();
        let call = it.call("tools/call");
        let posted = it.post("tools/call");
        if cut {
            it.cut(&stream);
        } else {
            it.end(&stream);
        }
        assert_eq!(it.events(), [format!("{call}: {:?}", CallError::Lost)]);
        it.aborts(&posted);
        it.idle();
        it.pass_millis(900);
        it.idle();
        it.pass_millis(600);
        let again = it.get();
        assert_eq!((again.target.as_ref(), again.header("last-event-id")), (None, None));
        shake_hands(&mut it, &again, "/messages?id=8");
    }
}

#[test]
fn an_unknown_session_is_replaced_http_58() {
    let (mut it, stream) = ready();
    let call = it.call("tools/call");
    let posted = it.post("tools/call");
    it.reply(&posted, 404, PLAIN, "");
    assert_eq!(it.events(), [format!("{call}: {:?}", CallError::SessionEnded)]);
    it.aborts(&stream);
    it.pass_millis(1_500);
    let again = it.get();
    shake_hands(&mut it, &again, "/messages?id=8");
}

#[test]
fn reconnections_back_off_until_the_handshake_times_out_t_86() {
    let (mut it, stream) = ready();
    it.cut(&stream);
    let mut attempts = 0;
    for _ in 0..120 {
        it.pass_millis(250);
        while let Some(action) = it.http.poll_action() {
            let Action::Send(again) = action else { panic!("{action:?}") };
            attempts += 1;
            it.http.handle_failure(it.now, again.exchange, ExchangeFailure::Unreached);
        }
    }
    assert!((4..=5).contains(&attempts), "{attempts}");
    assert!(it.events().last().unwrap().starts_with("closed: "));
    assert_eq!((it.exchanges(), it.http.poll_timeout()), (0, None));
}

#[test]
fn a_server_that_stops_offering_sse_closes_the_client_lif_36() {
    let (mut it, stream) = ready();
    it.end(&stream);
    it.pass_millis(1_500);
    let again = it.get();
    it.reply(&again, 404, PLAIN, "");
    assert_eq!(it.events(), [format!("{REFUSED} 404")]);
}

#[test]
fn idle_sessions_may_end_any_number_of_times_and_busy_ones_may_not_t_72() {
    let (mut it, mut stream) = ready();
    for _ in 0..10 {
        it.end(&stream);
        it.pass_millis(1_500);
        stream = it.get();
        shake_hands(&mut it, &stream, "/messages");
    }
    for lost in 1..=4 {
        it.call("tools/call");
        it.post("tools/call");
        it.end(&stream);
        it.pass_millis(1_500);
        let completed = it.events();
        let aborted = it.http.poll_action();
        assert!(matches!(aborted, Some(Action::Abort(_))), "{lost} {completed:?} {aborted:?}");
        if lost < 4 {
            stream = it.get();
            shake_hands(&mut it, &stream, "/messages");
        }
    }
    assert!(it.http.is_closed());
}

#[test]
fn a_stream_that_ends_during_the_handshake_closes_the_client() {
    let mut it = fixture();
    let stream = fall_back(&mut it);
    it.head(&stream, 200, EVENTS);
    it.feed(&stream, &named("endpoint", "/messages"));
    let initialize = it.post("initialize");
    it.reply(&initialize, 202, PLAIN, "");
    it.end(&stream);
    let events = it.events();
    assert!(events[0].starts_with("closed: could not connect to the server"), "{events:?}");
    it.idle();
}

#[test]
fn a_post_that_is_not_accepted_fails_its_call_http_58() {
    let (mut it, _stream) = ready();
    let call = it.call("tools/list");
    let posted = it.post("tools/list");
    it.reply(&posted, 500, PLAIN, "");
    let why = CallError::Http { status: 500, reason: None };
    assert_eq!(it.events(), [format!("{call}: {why:?}")]);
    let call = it.call("tools/list");
    let posted = it.post("tools/list");
    it.http.handle_failure(it.now, posted.exchange, ExchangeFailure::Unreached);
    assert_eq!(it.events(), [format!("{call}: {:?}", CallError::Unsent)]);
}

#[test]
fn a_rejected_stream_is_parked_until_there_are_credentials_aut_11() {
    let mut it = with_fallback(legacy(), HttpConfig::new(1).parks());
    let initialize = it.post("initialize");
    let head = [("www-authenticate", "Bearer")];
    it.reply(&initialize, 401, &head, "");
    assert_eq!(it.events(), [r#"parked None 401 "initialize" None"#]);
    it.http.authorize(it.now, Credentials::new(Generation::new(1), "Bearer abc".into()));
    let initialize = it.post("initialize");
    it.reply(&initialize, 405, PLAIN, "");
    let stream = it.get();
    assert_eq!(stream.authorization.as_ref().map(crate::Secret::expose), Some("Bearer abc"));
    it.reply(&stream, 401, &head, "");
    assert_eq!(it.events()[1..], [r#"parked None 401 "GET" Some(1)"#]);
    // The user takes time to log in.
    it.pass(Duration::from_secs(300));
    it.http.authorize(it.now, Credentials::new(Generation::new(2), "Bearer def".into()));
    let stream = it.get();
    it.head(&stream, 200, EVENTS);
    it.feed(&stream, &named("endpoint", "/messages"));
    let posted = posted_to(&mut it, "initialize", "/messages");
    assert_eq!(posted.authorization.as_ref().map(crate::Secret::expose), Some("Bearer def"));

    let mut it = with_fallback(legacy(), HttpConfig::new(1).parks());
    let initialize = it.post("initialize");
    it.reply(&initialize, 405, PLAIN, "");
    let stream = it.get();
    it.reply(&stream, 401, &head, "");
    it.http.deny(it.now, "no user");
    assert!(it.events().last().unwrap().contains("no user"));
}

#[test]
fn the_rest_of_a_refused_stream_does_not_end_the_next_one() {
    let (mut it, stream) = ready();
    it.cut(&stream);
    it.pass_millis(1_500);
    let refused = it.get();
    it.head(&refused, 503, PLAIN);
    it.pass_millis(900);
    it.pass_millis(100);
    // The body of the refusal continues, and is aborted after its time.
    it.aborts(&refused);
    let mut again = Vec::new();
    for _ in 0..20 {
        it.pass_millis(250);
        while let Some(action) = it.http.poll_action() {
            let Action::Send(request) = action else { panic!("{action:?}") };
            again.push(request);
        }
    }
    assert_eq!(again.len(), 1);
    shake_hands(&mut it, &again[0], "/messages?id=8");
}

#[test]
fn a_parked_stream_waits_although_its_refusal_does_not_end_aut_11() {
    let mut it = with_fallback(legacy(), HttpConfig::new(1).parks());
    let initialize = it.post("initialize");
    it.reply(&initialize, 405, PLAIN, "");
    let stream = it.get();
    it.head(&stream, 401, &[("www-authenticate", "Bearer")]);
    it.pass(Duration::from_secs(300));
    assert!(it.events().iter().all(|event| !event.starts_with("closed: ")));
    it.aborts(&stream);
    it.http.authorize(it.now, Credentials::new(Generation::new(1), "Bearer abc".into()));
    let stream = it.get();
    it.head(&stream, 200, EVENTS);
    it.feed(&stream, &named("endpoint", "/messages"));
    posted_to(&mut it, "initialize", "/messages");
}

#[test]
fn the_message_endpoint_is_not_in_the_debug_output_aut_34() {
    let mut it = fixture();
    let stream = fall_back(&mut it);
    it.head(&stream, 200, EVENTS);
    it.feed(&stream, &named("endpoint", "/messages"));
    let (text, bytes) =
        (format!("{:?}", it.http), format!("{:?}", b"/messages").replace(['[', ']'], ""));
    assert!(!text.contains("/messages") && !text.contains(&bytes), "{text}");
}
