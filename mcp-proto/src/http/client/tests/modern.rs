//! Tests of the modern era, in which a request lives as long as its exchange.

use super::*;
use crate::revision::Capability;
use crate::vocabulary::Filter;

// HTTP-39, HTTP-44
#[test]
fn headers_mirror_the_body_http_39_http_44() {
    let mut it = Fixture::modern();
    let cases = [
        ("tools/list", None, None),
        ("tools/call", Some(r#"{"name":"add","arguments":{}}"#), Some("add")),
        ("tools/call", Some(r#"{"name":"größe"}"#), Some("=?base64?Z3LDtsOfZQ==?=")),
        ("resources/read", Some(r#"{"uri":"file:///a b"}"#), Some("file:///a b")),
        ("prompts/get", Some(r#"{"name":"p"}"#), Some("p")),
    ];
    for (method, params, name) in cases {
        it.call_with(method, params);
        let send = it.post(method);
        assert_eq!(send.header("mcp-method"), Some(method));
        assert_eq!(send.header("mcp-name"), name);
        assert_eq!(send.header("mcp-protocol-version"), Some("2026-07-28"));
        assert_eq!((send.header("mcp-session-id"), send.header("last-event-id")), (None, None));
    }
}

#[test]
fn a_session_id_of_a_modern_server_is_ignored_http_52() {
    let mut it = Fixture::new(config());
    let probe = it.post("server/discover");
    it.reply(&probe, 200, SESSION, DISCOVERED);
    assert_eq!(it.events(), ["ready 2026-07-28"]);
    assert_eq!(it.http.session_id(), None);
    it.call("tools/list");
    assert_eq!(it.post("tools/list").header("mcp-session-id"), None);
    it.idle();
    it.http.close(it.now);
    assert!(matches!(it.http.poll_action(), Some(Action::Abort(_))));
    it.idle();
}

// LIF-25
#[test]
fn discovery_is_retried_with_a_supported_revision_lif_25() {
    let mut it = Fixture::new(config());
    let probe = it.post("server/discover");
    it.reply(
        &probe,
        400,
        JSON,
        r#"{"jsonrpc":"2.0","id":1,
        "error":{"code":-32022,"message":"no","data":{"supported":["2026-07-28"]}}}"#,
    );
    let again = it.post("server/discover");
    assert_eq!((id_of(&again), again.header("mcp-protocol-version")), (2, Some("2026-07-28")));
    let answer = DISCOVERED.replace("\"id\":1", "\"id\":2");
    it.reply(&again, 200, JSON, &answer);
    assert_eq!(it.events(), ["ready 2026-07-28"]);
}

#[test]
fn discovery_is_retried_at_most_once_t_32_t_33() {
    let refusal = |send: &HttpRequest, supported: &str| {
        let error =
            format!(r#"{{"code":-32022,"message":"no","data":{{"supported":{supported}}}}}"#);
        format!(r#"{{"jsonrpc":"2.0","id":{},"error":{error}}}"#, id_of(send))
    };
    let mut it = Fixture::new(config());
    for _ in 0..2 {
        let probe = it.post("server/discover");
        let refusal = refusal(&probe, r#"["2026-07-28"]"#);
        it.reply(&probe, 400, JSON, &refusal);
    }
    it.idle();
    assert!(it.events()[0].starts_with("closed: "));
    // With a legacy revision in common, the client falls back to it.
    let mut it = Fixture::new(config());
    let probe = it.post("server/discover");
    let refusal = refusal(&probe, r#"["2026-07-28","2025-11-25"]"#);
    it.reply(&probe, 400, JSON, &refusal);
    it.post("initialize");
}

// CAN-12
#[test]
fn cancelling_aborts_the_exchange_can_12_t_76() {
    let mut it = Fixture::modern();
    let call = it.call("tools/call");
    let send = it.post("tools/call");
    it.http.cancel(it.now, call, "enough").unwrap();
    it.aborts(&send);
    it.idle();
    assert_eq!(it.events(), [format!("{call}: Cancelled")]);
    assert_eq!((it.exchanges(), it.http.poll_timeout()), (0, None));

    let call = it.call("tools/call");
    it.http.cancel(it.now, call, "immediately").unwrap();
    it.idle();
    assert_eq!(it.events(), [format!("{call}: Cancelled")]);
}

#[test]
fn a_timed_out_call_leaves_nothing_open_tmo_02() {
    let mut it = Fixture::modern();
    let call = it.call("tools/call");
    let send = it.post("tools/call");
    it.head(&send, 200, EVENTS);
    it.pass(Duration::from_secs(60));
    it.aborts(&send);
    it.idle();
    assert_eq!(it.events(), [format!("{call}: TimedOut")]);
    assert_eq!((it.exchanges(), it.http.poll_timeout()), (0, None));
}

// HTTP-53, SSE-22
#[test]
fn a_stream_that_ends_early_fails_its_call_and_is_not_resumed_http_53_sse_22() {
    for cut in [false, true] {
        let mut it = Fixture::modern();
        let call = it.call("tools/call");
        let send = it.post("tools/call");
        it.head(&send, 200, EVENTS);
        it.feed(&send, "id: 1\nretry: 10\ndata:\n\n");
        if cut {
            it.cut(&send);
        } else {
            it.end(&send);
        }
        assert_eq!(it.events(), [format!("{call}: Lost")]);
        it.pass(Duration::from_secs(100));
        it.idle();
        assert_eq!(it.exchanges(), 0);
    }
}

// HTTP-62
#[test]
fn a_response_to_another_request_fails_the_call_http_62() {
    let mut it = Fixture::modern();
    let one = it.call("tools/call");
    let first = it.post("tools/call");
    let two = it.call("tools/call");
    let second = it.post("tools/call");
    it.head(&first, 200, EVENTS);
    it.feed(&first, &event(&result_of(&second, r#"{"stolen":true}"#)));
    assert_eq!(
        it.events(),
        [format!("{one}: Invalid(\"response id does not match the request\")")]
    );
    let answer = result_of(&second, "{}");
    it.reply(&second, 200, JSON, &answer);
    assert_eq!(it.events(), [format!("{two}: {{}}")]);
}

#[test]
fn a_request_from_the_server_is_not_answered_t_93() {
    let mut it = Fixture::modern();
    let call = it.call("tools/call");
    let send = it.post("tools/call");
    it.head(&send, 200, EVENTS);
    it.feed(&send, &event(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#));
    let events = it.events();
    assert!(events[0].starts_with("unexpected request from a server"), "{events:?}");
    it.idle();
    it.feed(&send, &event(&result_of(&send, "{}")));
    assert_eq!(it.events(), [format!("{call}: {{}}")]);
}

/// Creates an acknowledged subscription and its exchange.
fn listening() -> (Fixture, CallId, HttpRequest) {
    let mut it = Fixture::modern();
    let call = it.http.subscribe(it.now, &Filter::new().tools(), CallOptions::default()).unwrap();
    let send = it.post("subscriptions/listen");
    it.head(&send, 200, EVENTS);
    let tag = format!(r#""_meta":{{"io.modelcontextprotocol/subscriptionId":{}}}"#, id_of(&send));
    it.feed(
        &send,
        &event(&format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged",
            "params":{{{tag},"notifications":{{"toolsListChanged":true}}}}}}"#
        )),
    );
    assert_eq!(it.events(), [format!("{call}: listening")]);
    it.pass(Duration::from_secs(10_000));
    it.feed(
        &send,
        &event(&format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{{{tag}}}}}"#
        )),
    );
    assert_eq!(it.events(), [format!("Some({call}) notifications/tools/list_changed")]);
    it.idle();
    (it, call, send)
}

#[test]
fn a_subscription_stays_open_until_its_result_stl_36_t_101() {
    let (mut it, call, send) = listening();
    let last = event(&result_of(&send, "{}"));
    it.feed(&send, &last);
    it.end(&send);
    assert_eq!(it.events(), [format!("{call}: {{}}")]);
    it.idle();
    assert_eq!((it.exchanges(), it.http.poll_timeout()), (0, None));
}

#[test]
fn a_subscription_that_ends_without_a_result_is_withdrawn_stl_37_t_101() {
    let (mut it, call, send) = listening();
    it.end(&send);
    assert_eq!(it.events(), [format!("{call}: SubscriptionEnded")]);
    let (mut it, call, send) = listening();
    it.cut(&send);
    assert_eq!(it.events(), [format!("{call}: Lost")]);
    it.idle();
    assert_eq!(it.exchanges(), 0);
}

#[test]
fn cancelling_a_subscription_aborts_its_exchange_can_12() {
    let (mut it, call, send) = listening();
    it.http.cancel(it.now, call, "").unwrap();
    it.aborts(&send);
    it.idle();
    assert_eq!(it.events(), [format!("{call}: Cancelled")]);
}

#[test]
fn each_input_required_round_is_a_new_exchange_stl_21() {
    let mut it = Fixture::modern_with(config().capability(Capability::Roots));
    let call = it.call_with("tools/call", Some(r#"{"name":"t"}"#));
    for as_events in [false, true] {
        let send = it.post("tools/call");
        assert_eq!(send.header("mcp-name"), Some("t"));
        let input_required =
            r#"{"resultType":"input_required","inputRequests":{"r":{"method":"roots/list"}}}"#;
        let input_required = result_of(&send, input_required);
        if as_events {
            it.reply(&send, 200, EVENTS, &event(&input_required));
        } else {
            it.reply(&send, 200, JSON, &input_required);
        }
        let Some(HttpEvent::Client(client::Event::Request { incoming, .. })) = it.http.poll_event()
        else {
            panic!()
        };
        it.http.respond(it.now, incoming, &Raw::from_text(r#"{"roots":[]}"#).unwrap()).unwrap();
    }
    let send = it.post("tools/call");
    let answer = result_of(&send, "{}");
    it.reply(&send, 200, JSON, &answer);
    assert_eq!(it.events(), [format!("{call}: {{}}")]);
    it.idle();
    assert_eq!((it.exchanges(), it.http.poll_timeout()), (0, None));
}

pub(super) const TOOLS: &str = r#"{"tools":[
    {"name":"plain","inputSchema":{"type":"object"}},
    {"name":"good","inputSchema":{"type":"object","properties":{
        "region":{"type":"string","x-mcp-header":"Region"},
        "dry":{"type":"boolean","x-mcp-header":"Dry"},
        "deep":{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"N"}}}}}},
    {"name":"empty","inputSchema":{"type":"object","properties":{
        "a":{"type":"string","x-mcp-header":""}}}},
    {"name":"spaced","inputSchema":{"type":"object","properties":{
        "a":{"type":"string","x-mcp-header":"a b"}}}},
    {"name":"listed","inputSchema":{"type":"object","properties":{
        "a":{"type":"array","x-mcp-header":"A"}}}}
    ],"nextCursor":"2"}"#;

// HTTP-48
#[test]
fn tools_with_invalid_annotations_are_dropped_and_reported_http_48() {
    for as_events in [false, true] {
        let mut it = Fixture::modern();
        let call = it.call("tools/list");
        let send = it.post("tools/list");
        let answer = result_of(&send, TOOLS);
        if as_events {
            it.reply(&send, 200, EVENTS, &event(&answer));
        } else {
            it.reply(&send, 200, JSON, &answer);
        }
        let events = it.events();
        assert_eq!(
            events[0],
            "invalid HTTP exchange: dropped 3 tools with invalid `x-mcp-header`: \
             empty, spaced, listed"
        );
        let result = events[1].strip_prefix(&format!("{call}: ")).unwrap();
        let result = Raw::from_text(result).unwrap();
        let names: Vec<String> = result
            .member("tools")
            .unwrap()
            .elements()
            .map(|it| it.member("name").unwrap().as_str().into())
            .collect();
        assert_eq!(names, [r#""plain""#, r#""good""#]);
        assert_eq!(result.member("nextCursor").unwrap().as_str(), r#""2""#);
    }
}

// HTTP-47
#[test]
fn annotated_arguments_are_mirrored_http_47_http_49() {
    let mut it = Fixture::modern();
    it.call("tools/list");
    let send = it.post("tools/list");
    let answer = result_of(&send, TOOLS);
    it.reply(&send, 200, JSON, &answer);
    let mirrored = |it: &mut Fixture, params: &str| {
        it.call_with("tools/call", Some(params));
        let send = it.post("tools/call");
        let mirrored = send.headers.into_iter().filter(|(name, _)| name.starts_with("Mcp-Param-"));
        mirrored.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>()
    };
    let arguments =
        r#"{"name":"good","arguments":{"region":"Zürich","dry":false,"deep":{"n":42},"other":1}}"#;
    assert_eq!(
        mirrored(&mut it, arguments),
        ["Mcp-Param-Region==?base64?WsO8cmljaA==?=", "Mcp-Param-Dry=false", "Mcp-Param-N=42"]
    );
    assert_eq!(
        mirrored(&mut it, r#"{"name":"good","arguments":{"region":"","dry":null}}"#),
        ["Mcp-Param-Region="]
    );
    assert_eq!(mirrored(&mut it, r#"{"name":"good"}"#), [""; 0]);
    assert_eq!(mirrored(&mut it, r#"{"name":"plain","arguments":{"region":"x"}}"#), [""; 0]);
    // The tool is listed again, without annotations.
    it.call("tools/list");
    let send = it.post("tools/list");
    let answer = result_of(&send, r#"{"tools":[{"name":"good","inputSchema":{"type":"object"}}]}"#);
    it.reply(&send, 200, JSON, &answer);
    assert_eq!(mirrored(&mut it, arguments), [""; 0]);
}

#[test]
fn in_a_session_no_argument_is_mirrored_and_no_tool_dropped_http_44_http_48() {
    let mut it = Fixture::ready(Revision::V2025_11_25);
    it.call("tools/list");
    let send = it.post("tools/list");
    let answer = result_of(&send, TOOLS);
    it.reply(&send, 200, JSON, &answer);
    let events = it.events();
    assert!(events.len() == 1 && events[0].contains("spaced"));
    it.call_with("tools/call", Some(r#"{"name":"good","arguments":{"region":"x"}}"#));
    let send = it.post("tools/call");
    assert_eq!((send.header("mcp-param-region"), send.header("mcp-name")), (None, Some("good")));
}
