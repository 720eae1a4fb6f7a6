//! Tests of the checkers: each must be able to fail.

#![expect(clippy::expect_used, clippy::unwrap_used, reason = "a test helper may panic")]

use mcp_harness::{
    Checked, Cut, Ledger, Play, Polls, Role, Script, Seen, ServerSolo, Step, WireRules, initialize,
};
use mcp_proto::server::Server;
use mcp_proto::stdio::Stdio;
use mcp_proto::{
    Capability, CloseReason, Endpoint, Instant, Limits, Raw, Revision, RoleEndpoint as _, Side,
    server,
};

/// Creates rules for a server in a session of 2025-06-18 with a client that has roots.
fn wire() -> WireRules {
    let mut wire = WireRules::new(Side::Server, Limits::default());
    wire.hear((initialize("0", "2025-06-18", r#"{"roots":{}}"#) + "\n").as_bytes());
    wire.check(Instant::ZERO, br#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{"logging":{}},"serverInfo":{"name":"s","version":"1"}}}"#).unwrap();
    wire.hear(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
    wire.hear(
        br#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"progressToken":"t"}}}"#,
    );
    wire.hear(b"\n");
    wire.settle();
    assert_eq!(wire.revision(), Some(Revision::V2025_06_18));
    wire
}

fn breach(wire: &mut WireRules, line: &str) -> String {
    wire.check(Instant::ZERO, line.as_bytes()).expect_err(line)
}

#[test]
fn lines_that_are_no_message_are_breaches() {
    for line in [
        "",
        "{",
        "{}\n",
        "{}\r",
        "7",
        "null",
        "[]",
        r#"[{"jsonrpc":"2.0","method":"x"}]"#,
        r#"{"id":1,"result":{}}"#,
    ] {
        breach(&mut wire(), line);
    }
}

#[test]
fn unknown_and_duplicate_responses_are_breaches() {
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    let mut wire = wire();
    breach(&mut wire, r#"{"jsonrpc":"2.0","id":"1","result":{}}"#);
    breach(&mut wire, r#"{"jsonrpc":"2.0","id":7,"result":{}}"#);
    wire.check(Instant::ZERO, answer.as_bytes()).unwrap();
    breach(&mut wire, answer);
}

#[test]
fn answers_without_one_outcome_are_breaches() {
    for rest in [
        "",
        r#","result":{},"error":{"code":1,"message":"m"}"#,
        r#","result":[]"#,
        r#","error":{"code":1}"#,
        r#","error":{"code":1.5,"message":"m"}"#,
    ] {
        breach(&mut wire(), &format!(r#"{{"jsonrpc":"2.0","id":1{rest}}}"#));
    }
    breach(&mut wire(), r#"{"jsonrpc":"2.0","error":{"code":1,"message":"m"}}"#);
    breach(&mut wire(), r#"{"jsonrpc":"2.0","id":null,"result":{}}"#);
}

#[test]
fn an_answer_after_its_cancel_is_a_breach() {
    let mut wire = wire();
    wire.hear(br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
    wire.hear(b"\n");
    wire.settle();
    breach(&mut wire, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    breach(
        &mut wire,
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1}}"#,
    );
}

#[test]
fn requests_that_repeat_ids_or_come_too_early_or_undeclared_are_breaches() {
    let roots = r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#;
    breach(&mut WireRules::new(Side::Server, Limits::default()), roots);
    let mut wire = wire();
    wire.check(Instant::ZERO, roots.as_bytes()).unwrap();
    breach(&mut wire, roots);
    for (method, rest) in [
        ("sampling/createMessage", ""),
        ("elicitation/create", ""),
        ("tools/list", ""),
        ("tasks/list", ""),
        ("server/discover", ""),
        ("roots/list", r#","params":[]"#),
    ] {
        breach(&mut wire, &format!(r#"{{"jsonrpc":"2.0","id":9,"method":"{method}"{rest}}}"#));
    }
    for id in ["null", "1.5", "\"x\"", "9007199254740993"] {
        breach(&mut wire, &format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"roots/list"}}"#));
    }
    breach(&mut wire, r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
}

#[test]
fn progress_that_shrinks_or_belongs_to_nothing_is_a_breach() {
    let told = |token: &str, progress: u32| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":{progress}}}}}"#
        )
    };
    let mut wire = wire();
    breach(&mut wire, &told("\"other\"", 1));
    wire.check(Instant::ZERO, told("\"t\"", 2).as_bytes()).unwrap();
    breach(&mut wire, &told("\"t\"", 2));
    wire.check(Instant::ZERO, br#"{"jsonrpc":"2.0","id":1,"result":{}}"#).unwrap();
    breach(&mut wire, &told("\"t\"", 3));
}

#[test]
fn cancelling_unknown_cancelled_or_answered_requests_is_a_breach() {
    let cancel = |id: u32| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
        )
    };
    let mut wire = wire();
    breach(&mut wire, &cancel(1));
    for id in 1..=2 {
        wire.check(
            Instant::ZERO,
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"roots/list"}}"#).as_bytes(),
        )
        .unwrap();
    }
    wire.check(Instant::ZERO, cancel(1).as_bytes()).unwrap();
    breach(&mut wire, &cancel(1));
    wire.hear(b"{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n");
    wire.settle();
    breach(&mut wire, &cancel(2));
}

/// Returns a modern request.
fn alone(id: &str, method: &str, params: &str) -> String {
    let meta = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}"#;
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{"_meta":{{{meta}}}{params}}}}}"#
    )
}

/// Creates rules for a server with one acknowledged subscription.
fn listening() -> WireRules {
    let mut wire = WireRules::new(Side::Server, Limits::default());
    let listen =
        alone("1", "subscriptions/listen", r#","notifications":{"toolsListChanged":true}"#);
    wire.hear((listen + "\n").as_bytes());
    wire.settle();
    let acknowledged = r#"{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":1},"notifications":{"toolsListChanged":true}}}"#;
    wire.check(Instant::ZERO, acknowledged.as_bytes()).unwrap();
    wire
}

const TOLD: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":1}}}"#;

#[test]
fn notifications_after_the_end_of_a_subscription_are_breaches() {
    let mut wire = listening();
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    wire.hear((cancel.to_owned() + "\n").as_bytes());
    // The notification may have been caused by input before the cancellation.
    wire.check(Instant::ZERO, TOLD.as_bytes()).unwrap();
    wire.settle();
    breach(&mut wire, TOLD);

    let mut wire = listening();
    let end = r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":1,"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}}"#;
    wire.check(Instant::ZERO, end.as_bytes()).unwrap();
    breach(&mut wire, TOLD);
}

#[test]
fn a_subscription_ends_with_its_own_refusal_only() {
    let mut wire = listening();
    let again = alone("1", "subscriptions/listen", r#","notifications":{}"#);
    wire.hear((again.clone() + "\n").as_bytes());
    wire.settle();
    let refusal = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"in use"}}"#;
    wire.check(Instant::ZERO, refusal.as_bytes()).unwrap();
    wire.check(Instant::ZERO, TOLD.as_bytes()).unwrap();

    let mut wire = WireRules::new(Side::Server, Limits::default());
    wire.hear((again + "\n").as_bytes());
    wire.settle();
    wire.check(Instant::ZERO, refusal.as_bytes()).unwrap();
    breach(&mut wire, TOLD);
}

#[test]
fn after_a_refused_handshake_only_a_discovered_server_gets_modern_requests() {
    let mut wire = WireRules::new(Side::Client, Limits::default());
    let line = |wire: &mut WireRules, text: &str| wire.check(Instant::ZERO, text.as_bytes());
    line(&mut wire, r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}"#).unwrap();
    wire.hear(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32022,\"message\":\"no\"}}\n");
    wire.settle();
    line(&mut wire, &alone("2", "server/discover", "")).unwrap();
    line(&mut wire, &alone("3", "tools/list", "")).expect_err("not discovered");
    let discovered = r#"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}"#;
    wire.hear(format!("{{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{discovered}}}\n").as_bytes());
    wire.settle();
    line(&mut wire, &alone("4", "tools/list", "")).unwrap();
    line(&mut wire, r#"{"jsonrpc":"2.0","id":5,"method":"tools/list"}"#)
        .expect_err("the request has no metadata");
}

#[test]
fn a_storm_of_errors_is_a_breach() {
    let mut wire = wire();
    let error = br#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}"#;
    for _ in 0..Limits::default().error_replies_max {
        wire.check(Instant::ZERO, error).unwrap();
    }
    wire.check(Instant::ZERO, error).unwrap_err();
    wire.check(Instant::from_millis(5000), error).unwrap();
}

#[test]
fn the_ledger_finds_calls_that_end_twice_or_never() {
    let mut solo =
        ServerSolo::ready(server::Config::new("s", "1"), Revision::V2025_06_18, r#"{"roots":{}}"#);
    let call = solo.call("roots/list", "").unwrap();
    let mut ledger = Ledger::default();
    ledger.event(Seen::Completed(call)).unwrap_err();
    let mut ledger = Ledger::default();
    ledger.called(call).unwrap();
    ledger.called(call).unwrap_err();
    let mut ledger = Ledger::default();
    ledger.called(call).unwrap();
    ledger.clone().event(Seen::Closed(&CloseReason::Peer)).unwrap_err();
    ledger.event(Seen::Completed(call)).unwrap();
    ledger.clone().event(Seen::Completed(call)).unwrap_err();
    ledger.clone().event(Seen::Progress(call)).unwrap_err();
    ledger.cancelled(call).unwrap_err();
    ledger.event(Seen::Closed(&CloseReason::Peer)).unwrap();
    ledger.event(Seen::Other).unwrap_err();
}

#[test]
fn the_ledger_finds_requests_that_are_answered_twice_or_never() {
    let mut solo = ServerSolo::ready(
        server::Config::new("s", "1").capability(Capability::Tools),
        Revision::V2025_06_18,
        "{}",
    );
    solo.say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    let incoming = solo.request(1);
    let mut ledger = Ledger::default();
    ledger.answered(incoming).unwrap_err();
    let mut ledger = Ledger::default();
    ledger.event(Seen::Request(incoming)).unwrap();
    assert_eq!(ledger.open_requests().collect::<Vec<_>>(), [incoming]);
    ledger.clone().event(Seen::Request(incoming)).unwrap_err();
    ledger.clone().event(Seen::Closed(&CloseReason::Local)).unwrap_err();
    ledger.answered(incoming).unwrap();
    ledger.clone().answered(incoming).unwrap_err();
    ledger.clone().event(Seen::RequestCancelled(incoming)).unwrap_err();
    ledger.event(Seen::Closed(&CloseReason::Local)).unwrap();
    let mut ledger = Ledger::default();
    ledger.event(Seen::Request(incoming)).unwrap();
    ledger.asked(incoming).unwrap();
    ledger.event(Seen::RequestCancelled(incoming)).unwrap();
    ledger.event(Seen::RequestCancelled(incoming)).unwrap_err();
}

#[test]
#[should_panic(expected = "yields different output")]
fn two_ways_that_differ_are_found() {
    // A machine that differs each time it is created.
    let count = std::cell::Cell::new(0);
    let machine = || {
        count.set(count.get() + 1);
        let name = format!("s{}", count.get());
        Stdio::new(Server::new(Instant::ZERO, server::Config::new(&name, "1")))
    };
    let script = Script {
        steps: vec![Step::Input((initialize("0", "2025-06-18", "{}") + "\n").into_bytes())],
    };
    mcp_harness::assert_order_free(machine, &script);
}

#[test]
#[should_panic(expected = "expected the error")]
fn a_failure_shows_the_transcript() {
    let mut solo = ServerSolo::server(server::Config::new("s", "1"));
    solo.say(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    solo.expect_error("1", -32601);
}

#[test]
fn a_trace_names_what_was_done_and_when() {
    let script = Script {
        steps: vec![
            Step::Input((initialize("0", "2025-06-18", "{}") + "\n").into_bytes()),
            Step::Eof,
        ],
    };
    let machine = Stdio::new(Server::new(Instant::ZERO, server::Config::new("s", "1")));
    let trace = mcp_harness::play(machine, &script, Play { cut: Cut::Whole, polls: Polls::Late });
    assert_eq!((trace.lines.len(), trace.events.len()), (1, 1));
    assert_eq!(trace.moments, [(None, false), (None, true)]);
}

const LISTEN: &[u8] = concat!(
    r#"{"jsonrpc":"2.0","id":7,"method":"subscriptions/listen","params":{"#,
    r#""notifications":{"toolsListChanged":true},"_meta":{"#,
    r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
    r#""io.modelcontextprotocol/clientCapabilities":{}}}}"#,
    "\n"
)
.as_bytes();
const ACKNOWLEDGED: &[u8] = br#"{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":7},"notifications":{"toolsListChanged":true}}}"#;

fn hear(wire: &mut WireRules, line: &str) {
    wire.hear(format!("{line}\n").as_bytes());
    wire.settle();
}

#[test]
fn an_invalid_message_cancels_nothing() {
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;
    let changed = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":7}}}"#;
    let mut wire = WireRules::new(Side::Server, Limits::default());
    wire.hear(LISTEN);
    wire.check(Instant::ZERO, ACKNOWLEDGED).unwrap();
    hear(&mut wire, &cancel.replace("jsonrpc", "jsonrc:"));
    wire.check(Instant::ZERO, changed.as_bytes()).unwrap();
    breach(&mut wire, std::str::from_utf8(ACKNOWLEDGED).unwrap());
    hear(&mut wire, cancel);
    breach(&mut wire, changed);
    // The id may be reused.
    wire.hear(LISTEN);
    wire.check(Instant::ZERO, ACKNOWLEDGED).unwrap();
    wire.check(Instant::ZERO, changed.as_bytes()).unwrap();
}

#[test]
fn an_invalid_request_is_refused() {
    let request = r#"{"jsonrpc":"1.0","id":2,"method":"tools/list"}"#;
    let mut refused = wire();
    hear(&mut refused, request);
    let refusal = r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32600,"message":"m"}}"#;
    refused.check(Instant::ZERO, refusal.as_bytes()).unwrap();
    breach(&mut refused, refusal);
    let mut served = wire();
    hear(&mut served, request);
    breach(&mut served, r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
}

#[test]
fn an_array_completes_no_handshake_bat_16() {
    let mut wire = WireRules::new(Side::Client, Limits::default());
    wire.check(Instant::ZERO, initialize("1", "2025-11-25", "{}").as_bytes()).unwrap();
    let welcome =
        r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-03-26","capabilities":{}}}"#;
    hear(&mut wire, &format!("[{welcome}]"));
    assert_eq!(wire.revision(), None);
    hear(&mut wire, welcome);
    assert_eq!(wire.revision(), Some(Revision::V2025_03_26));
}

/// Of two requests with one id, the one in the batch is answered with its batch, whatever is
/// answered or cancelled in between.
#[test]
fn a_request_of_a_batch_is_answered_in_a_batch_id_09() {
    let request = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let refusal = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"m"}}"#;
    let mut wire = WireRules::new(Side::Server, Limits::default());
    hear(&mut wire, &initialize("0", "2025-03-26", "{}"));
    let welcome =
        r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-03-26","capabilities":{}}}"#;
    wire.check(Instant::ZERO, welcome.as_bytes()).unwrap();
    hear(&mut wire, &format!("{request}\n{request}\n[{request}]"));
    wire.check(Instant::ZERO, refusal.as_bytes()).unwrap();
    wire.check(Instant::ZERO, br#"{"jsonrpc":"2.0","id":1,"result":{}}"#).unwrap();
    hear(&mut wire, request);
    wire.check(Instant::ZERO, br#"{"jsonrpc":"2.0","id":1,"result":{}}"#).unwrap();
    hear(
        &mut wire,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
    );
    wire.check(Instant::ZERO, format!("[{refusal}]").as_bytes()).unwrap();
    breach(&mut wire, &format!("[{refusal}]"));
}

/// If one id is reused within one piece of input, it is known which request was refused and which
/// was answered.
#[test]
fn separate_lines_attribute_responses_to_requests() {
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#;
    let request = |method: &str| format!(r#"{{"jsonrpc":"2.0","id":2,"method":"{method}"}}"#);
    let opening = initialize("0", "2025-06-18", "{}");
    let settled = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let lines = [&opening, settled, &request("x/none"), cancel, &request("x/known"), ""].join("\n");
    let config =
        server::Config::new("s", "1").revisions(&[Revision::V2025_06_18]).serve_method("x/known");
    let machine = Stdio::new(Server::new(Instant::ZERO, config));
    let mut server = Checked::new(machine).legacy_only().by_line();
    server.handle_input(Instant::ZERO, lines.as_bytes());
    let is_ready = matches!(server.poll_event(), Some(server::Event::Ready(_)));
    let Some(server::Event::Request { incoming, .. }) = server.poll_event() else {
        panic!("no request")
    };
    server.respond(Instant::ZERO, incoming, &Raw::empty_object()).unwrap();
    assert!(is_ready && server.lines_sent() == 3);
}
