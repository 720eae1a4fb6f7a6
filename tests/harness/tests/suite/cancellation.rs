//! Cancellation, and all the ways in which it can cross a response.
// CAN-01…10, CAN-19, CAN-20

use std::time::Duration;

use mcp_harness::{ClientSolo, Pair, ServerSolo};
use mcp_proto::schema::Elicit;
use mcp_proto::{
    CallError, CallOptions, Capability, ErrorObject, Misuse, NeededInput, Progress, Raw, Revision,
    client, server,
};

const R3: Revision = Revision::V2025_06_18;
const R4: Revision = Revision::V2025_11_25;

fn client() -> ClientSolo {
    ClientSolo::ready(
        client::Config::new("c", "1").revisions(&Revision::LEGACY).capability(Capability::Roots),
        R3,
        r#"{"tools":{}}"#,
    )
}

fn server() -> ServerSolo {
    ServerSolo::ready(
        server::Config::new("s", "1").capability(Capability::Tools),
        R3,
        r#"{"roots":{},"elicitation":{}}"#,
    )
}

fn cancelled(id: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
    )
}

#[test]
fn a_cancel_names_a_call_in_flight_or_is_not_sent_can_01() {
    let mut solo = client();
    let answered = solo.call("tools/list", "").unwrap();
    let timed_out = solo.call("tools/list", "").unwrap();
    solo.say(r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
    solo.wait(Duration::from_secs(60));
    solo.take_lines();
    assert_eq!(solo.cancel(answered, ""), Err(Misuse::Stale));
    assert_eq!(solo.cancel(timed_out, ""), Err(Misuse::Stale));
    solo.expect_lines(&[]);
}

#[test]
fn a_cancel_says_why_and_ends_the_call_immediately_can_08_t_50() {
    let mut solo = client();
    let call = solo.call("tools/list", "").unwrap();
    solo.take_lines();
    solo.cancel(call, "user said \"no\"\n").unwrap();
    solo.expect_lines(&[r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,"reason":"user said \"no\"\n"}}"#]);
    solo.expect_events(&["call#2 Cancelled"]);
    assert_eq!(solo.cancel(call, ""), Err(Misuse::Stale));
    solo.expect_silence();
}

#[test]
fn a_cancelled_call_swallows_one_late_answer_t_44_can_05() {
    let mut solo = client();
    for late in
        [r#""result":{}"#, r#""error":{"code":-32800,"message":"cancelled"}"#, r#""result":7"#]
    {
        let call = solo.call("tools/list", "").unwrap();
        let id = solo.hear()["id"].as_u64().unwrap();
        solo.cancel(call, "").unwrap();
        solo.take_lines();
        solo.take_events();
        solo.say(format!(r#"{{"jsonrpc":"2.0","id":{id},{late}}}"#));
        solo.expect_silence();
        solo.say(format!(r#"{{"jsonrpc":"2.0","id":{id},{late}}}"#));
        solo.expect_events(&["violation UnknownResponse"]);
    }
}

#[test]
fn the_memory_of_cancelled_calls_is_bounded_t_44_sec_19() {
    let limits = mcp_proto::Limits { retired_calls_max: 3, ..mcp_proto::Limits::default() };
    let config = client::Config::new("c", "1").revisions(&Revision::LEGACY).limits(limits);
    let mut solo = ClientSolo::ready(config, R3, r#"{"tools":{}}"#);
    for _ in 0..5 {
        let call = solo.call("tools/list", "").unwrap();
        solo.cancel(call, "").unwrap();
    }
    solo.take_events();
    for id in [6, 5, 4] {
        solo.say(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
        solo.expect_events(&[]);
    }
    solo.say(r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
    solo.expect_events(&["violation UnknownResponse"]);
}

#[test]
fn a_response_and_a_cancellation_may_cross_in_either_order_can_06() {
    for server_first in [true, false] {
        let mut pair = Pair::ready(
            client::Config::new("c", "1").revisions(&Revision::LEGACY),
            server::Config::new("s", "1").capability(Capability::Tools),
        );
        let call = pair.call("tools/list", "{}").unwrap();
        let (incoming, ..) = pair.next_request();
        let now = pair.now;
        if server_first {
            pair.respond(incoming, "{}").unwrap();
            mcp_harness::Role::cancel(&mut pair.client, now, call, "").unwrap();
        } else {
            mcp_harness::Role::cancel(&mut pair.client, now, call, "").unwrap();
            pair.respond(incoming, "{}").unwrap();
        }
        assert_eq!(pair.outcome(call), Err(CallError::Cancelled));
        pair.drive_until_quiet();
        assert!(
            pair.client_told().is_empty() && pair.server_told().is_empty(),
            "{}",
            pair.transcript()
        );
    }
}

#[test]
fn a_cancelled_request_gets_no_answer_and_no_progress_can_03_t_49_t_52() {
    let mut solo = server();
    solo.say(r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"a","_meta":{"progressToken":"t"}}}"#);
    solo.take_events();
    solo.say(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5,"reason":"too slow","x":1}}"#);
    solo.expect_events(&[r#"request#1 cancelled "too slow""#]);
    assert_eq!(solo.progress(1, &Progress::new(1.0)), Err(Misuse::Stale));
    assert_eq!(solo.respond(1, "{}"), Err(Misuse::Stale));
    assert_eq!(solo.respond_error(1, &ErrorObject::internal("x")), Err(Misuse::Stale));
    assert_eq!(solo.ask(1, &[("a", NeededInput::Roots)], None), Err(Misuse::Stale));
    solo.expect_silence();
}

#[test]
fn an_invalid_cancellation_is_ignored_can_04_can_07_d_05() {
    let mut solo = server();
    solo.say(r#"{"jsonrpc":"2.0","id":5,"method":"tools/list"}"#);
    solo.take_events();
    for id in ["6", "\"5\"", "5.5", "-5", "null", "{}", "[5]", "true"] {
        solo.say(cancelled(id));
        solo.expect_lines(&[]);
    }
    for params in ["", r#","params":{}"#, r#","params":[5]"#, r#","params":null"#] {
        solo.say(format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled"{params}}}"#));
        solo.expect_lines(&[]);
    }
    solo.take_events();
    solo.respond(1, "{}").unwrap();
    solo.expect_result("5");
    solo.say(cancelled("5"));
    solo.expect_silence();
}

#[test]
fn a_cancel_with_an_odd_reason_counts_can_09() {
    let mut solo = server();
    solo.say(r#"{"jsonrpc":"2.0","id":5,"method":"tools/list"}"#);
    solo.say(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5,"reason":{"code":1}}}"#);
    solo.expect_events(&["request#1 tools/list", "request#1 cancelled"]);
}

#[test]
fn a_cancel_matches_by_type_can_19() {
    let mut solo = server();
    solo.say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    solo.say(r#"{"jsonrpc":"2.0","id":"1","method":"tools/list"}"#);
    solo.take_events();
    solo.say(cancelled("\"1\""));
    solo.expect_events(&["request#2 cancelled"]);
    solo.respond(1, "{}").unwrap();
    solo.expect_lines(&[r#"{"jsonrpc":"2.0","id":1,"result":{}}"#]);
}

#[test]
fn a_cancellation_read_together_with_its_request_counts_can_06() {
    let mut solo = server();
    let request = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    solo.say_bytes(format!("{request}\n{}\n{request}\n", cancelled("1")).as_bytes());
    solo.expect_events(&["request#1 tools/list", "request#1 cancelled", "request#2 tools/list"]);
    assert_eq!(solo.respond(1, "{}"), Err(Misuse::Stale));
    solo.respond(2, "{}").unwrap();
    solo.expect_result("1");
}

#[test]
fn a_queued_response_is_sent_despite_a_cancellation_t_45() {
    let mut solo = server();
    solo.say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    solo.is_deaf = true;
    solo.respond(1, "{}").unwrap();
    solo.say(cancelled("1"));
    solo.is_deaf = false;
    solo.poll();
    solo.expect_result("1");
    solo.expect_events(&["request#1 tools/list"]);
}

#[test]
fn initialize_cannot_be_cancelled_by_anyone_can_02_lif_13() {
    let mut solo = ServerSolo::server(server::Config::new("s", "1"));
    solo.say_bytes(
        format!("{}\n{}\n", mcp_harness::initialize("0", "2025-06-18", "{}"), cancelled("0"))
            .as_bytes(),
    );
    solo.expect_result("0");
    solo.expect_silence();
}

#[test]
fn a_task_that_was_created_is_cancelled_by_its_own_request_can_10() {
    let capabilities = r#"{"tools":{},"tasks":{"cancel":{},"requests":{"tools":{"call":{}}}}}"#;
    let mut solo = ClientSolo::ready(
        client::Config::new("c", "1").revisions(&Revision::LEGACY),
        R4,
        capabilities,
    );
    let call = solo.call("tools/call", r#"{"name":"t","task":{"ttl":1000}}"#).unwrap();
    solo.say(r#"{"jsonrpc":"2.0","id":2,"result":{"task":{"taskId":"x","status":"working","createdAt":"","lastUpdatedAt":"","ttl":null}}}"#);
    solo.take_lines();
    solo.take_events();
    assert_eq!(solo.cancel(call, ""), Err(Misuse::Stale));
    solo.expect_lines(&[]);
    solo.call("tasks/cancel", r#"{"taskId":"x"}"#).unwrap();
    assert_eq!(solo.hear()["method"], "tasks/cancel");
}

#[test]
fn cancelling_a_request_leaves_its_nested_calls_open_can_20() {
    let mut solo = server();
    solo.say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}"#);
    let parent = CallOptions { parent: Some(solo.request(1)), ..CallOptions::default() };
    let call = solo.call_with("roots/list", "", parent.clone()).unwrap();
    solo.take_lines();
    solo.take_events();
    solo.say(cancelled("1"));
    solo.expect_events(&["request#1 cancelled"]);
    solo.expect_lines(&[]);
    assert_eq!(solo.call_with("roots/list", "", parent), Err(Misuse::Stale), "its request is over");
    solo.cancel(call, "no longer needed").unwrap();
    solo.expect_events(&["call#1 Cancelled"]);

    let mut solo = client();
    let call = solo.call("tools/call", r#"{"name":"a"}"#).unwrap();
    solo.say(r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#);
    solo.take_events();
    solo.cancel(call, "").unwrap();
    solo.expect_events(&["call#2 Cancelled"]);
    solo.respond(1, r#"{"roots":[]}"#).unwrap();
}

#[test]
fn questions_are_cancelled_with_their_request_can_20_t_51() {
    let mut solo = server();
    solo.say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}"#);
    let form = NeededInput::from(Elicit::form("m", Raw::empty_object()));
    solo.ask(1, &[("a", NeededInput::Roots), ("b", form)], None).unwrap();
    solo.say(r#"{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}"#);
    solo.take_lines();
    solo.take_events();
    solo.say(cancelled("1"));
    let heard = solo.hear();
    assert_eq!(heard["params"]["requestId"], 2, "only what is still open is cancelled");
    solo.expect_events(&["request#1 cancelled"]);
    solo.expect_silence();
    solo.say(r#"{"jsonrpc":"2.0","id":2,"result":{"action":"cancel"}}"#);
    solo.expect_silence();
}

#[test]
fn a_late_answer_of_the_user_after_a_cancel_is_not_sent_t_51() {
    let mut solo = client();
    solo.say(r#"{"jsonrpc":"2.0","id":"q","method":"roots/list"}"#);
    solo.say(cancelled("\"q\""));
    solo.expect_events(&["request#1 roots/list", "request#1 cancelled"]);
    assert_eq!(solo.respond(1, r#"{"roots":[]}"#), Err(Misuse::Stale));
    solo.expect_lines(&[]);
}

#[test]
fn a_cancel_is_never_blocked() {
    let limits = mcp_proto::Limits { outbox_bytes_max: 10, ..mcp_proto::Limits::default() };
    let mut solo = ClientSolo::ready(
        client::Config::new("c", "1").revisions(&Revision::LEGACY).limits(limits),
        R3,
        r#"{"tools":{}}"#,
    );
    let call = solo.call("tools/list", "").unwrap();
    solo.take_lines();
    solo.is_deaf = true;
    let _fills = solo.call("tools/list", "");
    assert_eq!(solo.call("tools/list", ""), Err(Misuse::Blocked));
    solo.cancel(call, "").unwrap();
}
