//! Batches of messages, in the one revision that has them.
// BAT-01…18, without those of HTTP.

#![expect(clippy::unwrap_used, reason = "a test helper may panic")]

use mcp_harness::{ClientSolo, ServerSolo, initialize};
use mcp_proto::{Capability, Limits, NeededInput, Revision, client, server};
use serde_json::{Value, json};

const R2: Revision = Revision::V2025_03_26;

fn server() -> ServerSolo {
    ServerSolo::ready(
        server::Config::new("s", "1").capability(Capability::Tools),
        R2,
        r#"{"roots":{}}"#,
    )
}

fn client() -> ClientSolo {
    ClientSolo::ready(
        client::Config::new("c", "1").revisions(&Revision::LEGACY).capability(Capability::Roots),
        R2,
        r#"{"tools":{}}"#,
    )
}

const PING: &str = r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#;
const NOTE: &str = r#"{"jsonrpc":"2.0","method":"notifications/x"}"#;

fn list(id: u32) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list"}}"#)
}

/// Returns the ids of an array of responses, and whether each is a result.
fn answers(array: &Value) -> Vec<(String, bool)> {
    array
        .as_array()
        .unwrap()
        .iter()
        .map(|answer| (answer["id"].to_string(), answer["result"].is_object()))
        .collect()
}

#[test]
fn a_batch_is_answered_with_one_array_once_all_are_answered_bat_01_bat_07() {
    let mut solo = server();
    solo.say(format!("[{},{PING},{NOTE},{}]", list(1), list(2)));
    solo.expect_events(&["request#1 tools/list", "notifications/x", "request#2 tools/list"]);
    solo.expect_lines(&[]);
    solo.respond(2, "{}").unwrap();
    solo.expect_lines(&[]);
    solo.respond(1, "{}").unwrap();
    let array = solo.hear();
    let mut ids = answers(&array);
    ids.sort();
    assert_eq!(ids, [("\"p\"".into(), true), ("1".into(), true), ("2".into(), true)]);
    solo.expect_lines(&[]);
}

#[test]
fn white_space_around_and_in_a_batch_is_fine_bat_01() {
    let mut solo = server();
    solo.say(format!(" \t[ {PING}\r, {PING} ] "));
    assert_eq!(answers(&solo.hear()).len(), 2);
}

#[test]
fn messages_are_sent_singly_bat_02_t_69() {
    let mut solo = client();
    solo.call("tools/list", "").unwrap();
    solo.call("tools/list", "").unwrap();
    assert!(solo.take_lines().iter().all(|line| line.starts_with('{')));
}

#[test]
fn an_empty_batch_is_one_error_bat_03_t_62() {
    for empty in ["[]", "[ ]", " [\t]"] {
        let mut solo = server();
        solo.say(empty);
        solo.expect_error("null", -32600);
        solo.expect_events(&["violation InvalidBatch"]);
        solo.expect_lines(&[]);
    }
}

#[test]
fn every_invalid_member_has_its_own_error_bat_04_t_63_t_68() {
    let mut solo = server();
    solo.say(format!(r#"[1,{PING},"x",null,[{PING}],{{}},{{"jsonrpc":"2.0","id":9}},{{"jsonrpc":"2.0","id":1.5,"method":"ping"}}]"#));
    let array = solo.hear();
    let expected = [
        ("null", false),
        ("\"p\"", true),
        ("null", false),
        ("null", false),
        ("null", false),
        ("null", false),
        ("9", false),
        ("null", false),
    ];
    assert_eq!(answers(&array), expected.map(|(id, ok)| (id.to_string(), ok)));
    assert!(
        array
            .as_array()
            .unwrap()
            .iter()
            .all(|answer| answer.get("error").is_none_or(|error| error["code"] == -32600))
    );
    solo.expect_lines(&[]);
}

#[test]
fn an_unreadable_batch_is_one_parse_error_for_each_readable_request_bat_05() {
    for (text, answered) in [
        (format!("[{PING}"), "[\"p\"]"),
        (format!("[{PING},]"), "[\"p\"]"),
        (format!("[{PING}]]"), "[\"p\"]"),
        (format!("[{PING} {PING}]"), "[\"p\"]"),
        (format!("[{PING},{NOTE},NaN,{{\"id\":\"b\",\"method\":-}}]"), "[\"p\",\"b\"]"),
        (format!("[{PING},{{\"id\":9,\"result\":NaN}}]"), "[\"p\"]"),
        (format!("[{NOTE},NaN]"), "null"),
        ("[".into(), "null"),
    ] {
        let mut solo = server();
        solo.say(&text);
        let heard = solo.hear();
        let ids = match heard.as_array() {
            Some(errors) => {
                assert!(errors.iter().all(|error| error["error"]["code"] == -32700));
                errors.iter().map(|error| error["id"].clone()).collect()
            }
            None => heard["id"].clone(),
        };
        assert_eq!(ids.to_string(), answered, "{text}");
        assert_eq!(solo.take_told().last().unwrap(), "violation NotJson", "{text}");
        solo.expect_lines(&[]);
        solo.expect_alive();
    }
}

#[test]
fn a_batch_without_requests_has_no_answer_bat_06_t_64() {
    let mut solo = server();
    solo.say(format!("[{NOTE},{NOTE}]"));
    solo.expect_events(&["notifications/x", "notifications/x"]);
    solo.say(r#"[{"jsonrpc":"2.0","id":77,"result":{}}]"#);
    solo.expect_events(&["violation UnknownResponse"]);
    solo.say(r#"[{"jsonrpc":"2.0","method":"notifications/cancelled"}]"#);
    solo.take_events();
    solo.expect_lines(&[]);
}

#[test]
fn broken_responses_in_a_batch_are_not_answered_bat_06_id_08() {
    let mut solo = server();
    solo.say(r#"[{"jsonrpc":"2.0","id":null,"result":{}},{"jsonrpc":"2.0","id":1,"result":{},"error":{}}]"#);
    solo.expect_lines(&[]);
}

#[test]
fn initialize_in_a_batch_is_refused_bat_11_lif_12_t_65() {
    let mut solo = server();
    solo.say(format!("[{PING},{}]", initialize("5", "2025-03-26", "{}")));
    let array = solo.hear();
    assert_eq!(answers(&array), [("\"p\"".to_string(), true), ("5".to_string(), false)]);
    assert_eq!(array[1]["error"]["code"], -32600);

    let mut solo = ServerSolo::server(server::Config::new("s", "1"));
    solo.say(format!("[{}]", initialize("5", "2025-03-26", "{}")));
    assert_eq!(solo.hear()["error"]["code"], -32600);
    solo.take_events();
    solo.greet(R2, "{}");
}

#[test]
fn other_revisions_refuse_an_array_as_a_whole_bat_12() {
    for revision in Revision::LEGACY {
        if revision == R2 {
            continue;
        }
        let config = server::Config::new("s", "1").capability(Capability::Tools);
        let mut solo = ServerSolo::ready(config, revision, "{}");
        solo.say(format!("[{},{PING},{NOTE}]", list(1)));
        solo.expect_error(if revision == Revision::V2025_11_25 { "" } else { "null" }, -32600);
        solo.expect_events(&["violation InvalidBatch"]);
        solo.expect_lines(&[]);
    }
}

#[test]
fn a_client_accepts_arrays_of_responses_and_single_ones_bat_13_bat_15() {
    let mut solo = client();
    for _ in 0..4 {
        solo.call("tools/list", "").unwrap();
    }
    solo.take_lines();
    solo.say(
        r#"[{"jsonrpc":"2.0","id":4,"result":{}},{"jsonrpc":"2.0","id":2,"error":{"code":1,"message":"m"}}]"#,
    );
    solo.say(r#"{"jsonrpc":"2.0","id":3,"result":{}}"#);
    solo.say(r#"[{"jsonrpc":"2.0","id":5,"result":{}}]"#);
    solo.expect_events(&["call#4 ok {}", "call#2 refused 1 \"m\"", "call#3 ok {}", "call#5 ok {}"]);
    solo.expect_lines(&[]);
}

#[test]
fn requests_and_answers_may_share_an_array_t_67() {
    let mut solo = client();
    solo.call("tools/list", "").unwrap();
    solo.take_lines();
    solo.say(format!(r#"[{PING},{{"jsonrpc":"2.0","id":2,"result":{{}}}},{{"jsonrpc":"2.0","id":1,"method":"roots/list"}}]"#));
    solo.expect_events(&["call#2 ok {}", "request#1 roots/list"]);
    solo.respond(1, r#"{"roots":[]}"#).unwrap();
    assert_eq!(
        solo.hear(),
        json!([
            {"jsonrpc": "2.0", "id": "p", "result": {}},
            {"jsonrpc": "2.0", "id": 1, "result": {"roots": []}},
        ])
    );
}

#[test]
fn cancelled_members_are_absent_bat_14() {
    let cancel = |id: u32| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
        )
    };
    let mut solo = server();
    solo.say(format!("[{},{}]", list(1), list(2)));
    solo.say(cancel(1));
    solo.expect_lines(&[]);
    solo.respond(2, "{}").unwrap();
    assert_eq!(answers(&solo.hear()), [("2".to_string(), true)]);

    solo.say(format!("[{},{}]", list(1), list(2)));
    solo.say(cancel(2));
    solo.say(cancel(1));
    solo.expect_lines(&[]);

    solo.say(format!("[{},{},{PING}]", list(1), cancel(1)));
    assert_eq!(answers(&solo.hear()), [("\"p\"".to_string(), true)]);
    solo.expect_lines(&[]);
}

#[test]
fn the_last_member_cancelled_sends_what_waits_bat_14() {
    let mut solo = server();
    solo.say(format!("[{PING},{}]", list(1)));
    solo.expect_lines(&[]);
    solo.say(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
    assert_eq!(answers(&solo.hear()), [("\"p\"".to_string(), true)]);
}

#[test]
fn an_array_before_initialize_is_refused_bat_16() {
    let mut solo = ServerSolo::server(server::Config::new("s", "1").revisions(&[R2]));
    solo.say(format!("[{PING}]"));
    solo.expect_error("null", -32600);
    solo.expect_lines(&[]);
}

#[test]
fn a_batch_of_too_many_is_one_error_bat_17() {
    let config = server::Config::new("s", "1").capability(Capability::Tools);
    let limits = Limits { batch_members_max: 3, ..Limits::default() };
    let mut solo = ServerSolo::ready(config.limits(limits), R2, "{}");
    let ping = |id: u32| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
    solo.say(format!("[{},{},{}]", ping(1), ping(2), ping(3)));
    assert_eq!(answers(&solo.hear()).len(), 3);
    solo.say(format!("[{PING},{PING},{},{PING}]", list(1)));
    solo.expect_error("null", -32600);
    solo.expect_events(&["violation InvalidBatch"]);
    solo.expect_lines(&[]);
}

#[test]
fn an_id_twice_in_a_batch_is_one_error_bat_18() {
    let mut solo = server();
    solo.say(format!("[{},{}]", list(1), list(1)));
    solo.expect_events(&["request#1 tools/list", "violation DuplicateId"]);
    solo.respond(1, "{}").unwrap();
    let mut found = answers(&solo.hear());
    found.sort();
    assert_eq!(found, [("1".to_string(), false), ("1".to_string(), true)]);
}

#[test]
fn an_id_is_in_use_until_its_batch_is_answered_bat_18_id_09() {
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let mut solo = server();
    solo.say(format!("[{ping},{ping}]"));
    let mut found = answers(&solo.hear());
    found.sort();
    assert_eq!(found, [("1".to_string(), false), ("1".to_string(), true)]);
    solo.expect_events(&["violation DuplicateId"]);
    // The response to 1 waits for the one to 2.
    solo.say(format!("[{ping},{}]", list(2)));
    solo.say(ping);
    solo.expect_error("1", -32600);
    solo.expect_events(&["request#1 tools/list", "violation DuplicateId"]);
    solo.respond(1, "{}").unwrap();
    assert_eq!(answers(&solo.hear()).len(), 2);
    solo.say(ping);
    solo.expect_lines(&[r#"{"jsonrpc":"2.0","id":1,"result":{}}"#]);
}

#[test]
fn replies_waiting_for_their_batch_are_bounded_sec_19() {
    let limits = Limits { replies_bytes_max: 1000, ..Limits::default() };
    let config = server::Config::new("s", "1").capability(Capability::Tools);
    let mut solo = ServerSolo::ready(config.limits(limits), R2, "{}");
    solo.say(format!("[{},{}]", list(1), list(2)));
    solo.take_events();
    solo.respond(1, &format!(r#"{{"x":"{}"}}"#, "x".repeat(2000))).unwrap();
    solo.say(format!("[{}]", list(3)));
    solo.expect_error("null", -32600);
    solo.expect_events(&["violation InvalidBatch"]);
    solo.respond(2, "{}").unwrap();
    assert_eq!(answers(&solo.hear()).len(), 2);
    solo.say(format!("[{}]", list(3)));
    solo.expect_events(&["request#3 tools/list"]);
}

#[test]
fn a_member_that_asks_back_does_not_wait_for_the_reply_t_66() {
    let mut solo = server();
    solo.say(format!(
        r#"[{},{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"a"}}}}]"#,
        list(1)
    ));
    solo.ask(2, &[("where", NeededInput::Roots)], None).unwrap();
    assert_eq!(solo.hear()["method"], "roots/list");
    solo.say(r#"[{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}]"#);
    solo.respond(3, "{}").unwrap();
    solo.expect_lines(&[]);
    solo.respond(1, "{}").unwrap();
    assert_eq!(answers(&solo.hear()), [("2".to_string(), true), ("1".to_string(), true)]);
}

#[test]
fn progress_of_a_member_is_sent_immediately() {
    let mut solo = server();
    solo.say(format!(r#"[{PING},{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"a","_meta":{{"progressToken":1}}}}}}]"#));
    solo.progress(1, &mcp_proto::Progress::new(1.0)).unwrap();
    assert_eq!(solo.hear()["method"], "notifications/progress");
    solo.respond(1, "{}").unwrap();
    assert_eq!(answers(&solo.hear()).len(), 2);
}

#[test]
fn a_batch_right_before_the_end_is_answered() {
    let mut solo = server();
    solo.say_bytes(format!("[{},{PING}]", list(1)).as_bytes());
    solo.say_eof();
    solo.respond(1, "{}").unwrap();
    assert_eq!(answers(&solo.hear()).len(), 2);
    solo.expect_events(&["request#1 tools/list", "closed Peer"]);
}
