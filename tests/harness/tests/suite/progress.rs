//! Progress of requests.
// PRG-01…10, PRG-16

use mcp_harness::{ClientSolo, ServerSolo};
use mcp_proto::{CallOptions, Capability, Limits, Misuse, Progress, Revision, client, server};
use serde_json::json;

const R3: Revision = Revision::V2025_06_18;

fn wanted() -> CallOptions {
    CallOptions { progress: true, ..CallOptions::default() }
}

fn client() -> ClientSolo {
    ClientSolo::ready(
        client::Config::new("c", "1").revisions(&Revision::LEGACY),
        R3,
        r#"{"tools":{}}"#,
    )
}

fn server(revision: Revision) -> ServerSolo {
    ServerSolo::ready(server::Config::new("s", "1").capability(Capability::Tools), revision, "{}")
}

fn call_with_token(solo: &mut ServerSolo, id: u32, token: &str) {
    solo.say(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"a","_meta":{{"progressToken":{token}}}}}}}"#));
}

fn progress_message(token: &str, progress: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":{progress}}}}}"#
    )
}

#[test]
fn tokens_are_unique_among_open_calls_and_part_of_meta_prg_01_prg_02_t_53() {
    let mut solo = client();
    let mut tokens = Vec::new();
    for params in [
        "",
        "{}",
        r#"{"name":"a"}"#,
        r#"{"_meta":{"x":1,"progressToken":"mine"},"name":"a"}"#,
        r#"{"\u005fmeta":{"y":2},"name":"a"}"#,
    ] {
        solo.call_with("tools/list", params, wanted()).unwrap();
        let request = solo.hear();
        tokens.push(request["params"]["_meta"]["progressToken"].as_u64().unwrap());
        if params.contains('x') {
            assert_eq!(request["params"]["_meta"]["x"], 1, "other members are kept");
        }
        if params.contains('y') {
            assert_eq!(request["params"]["_meta"]["y"], 2, "other members are kept");
        }
        if params.contains("name") {
            assert_eq!(request["params"]["name"], "a");
        }
    }
    tokens.sort_unstable();
    tokens.dedup();
    assert_eq!(tokens.len(), 5);
}

#[test]
fn a_token_in_the_applications_params_never_collides_with_ours_prg_02() {
    let mut solo = client();
    // By default, the next call would get this token.
    let _maybe = solo.call("tools/list", r#"{"_meta":{"progressToken":3}}"#);
    solo.call_with("tools/list", "", wanted()).unwrap();
    let lines = solo.take_lines();
    let mut tokens: Vec<String> = lines
        .iter()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .filter_map(|line| Some(line.pointer("/params/_meta/progressToken")?.to_string()))
        .collect();
    let sent = tokens.len();
    tokens.sort();
    tokens.dedup();
    assert_eq!(tokens.len(), sent, "{lines:#?}");
}

#[test]
fn a_call_without_progress_asks_for_none() {
    let mut solo = client();
    solo.call("tools/call", r#"{"name":"a"}"#).unwrap();
    assert_eq!(solo.hear()["params"], json!({"name": "a"}));
    solo.say(progress_message("2", "1"));
    solo.expect_silence();
}

#[test]
fn progress_is_sent_only_for_open_requests_that_asked_prg_03_prg_04() {
    let mut solo = server(R3);
    solo.say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}"#);
    call_with_token(&mut solo, 2, "\"t\"");
    solo.progress(1, &Progress::new(1.0)).unwrap();
    solo.expect_lines(&[]);
    solo.progress(2, &Progress::new(1.0)).unwrap();
    solo.expect_lines(&[&progress_message("\"t\"", "1")]);
    solo.respond(2, "{}").unwrap();
    solo.take_lines();
    assert_eq!(solo.progress(2, &Progress::new(2.0)), Err(Misuse::Stale));
    solo.expect_lines(&[]);
}

#[test]
fn progress_increases_or_is_refused_prg_05_t_56() {
    let mut solo = server(R3);
    call_with_token(&mut solo, 1, "0");
    solo.progress(1, &Progress::new(-5.0)).unwrap();
    for wrong in [-5.0, -6.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(solo.progress(1, &Progress::new(wrong)), Err(Misuse::Unencodable), "{wrong}");
    }
    solo.progress(1, &Progress::new(0.0)).unwrap();
    assert_eq!(solo.progress(1, &Progress::new(-0.0)), Err(Misuse::Unencodable));
    assert_eq!(solo.take_lines().len(), 2);
}

#[test]
fn numbers_are_written_so_that_they_read_back_prg_06() {
    let mut solo = server(R3);
    call_with_token(&mut solo, 1, "0");
    let growing =
        [-1e300, -0.1, 0.0, 5e-324, 0.2, 0.3, 1.0, 9_007_199_254_740_993.0, 1e21, 1.797e308];
    for number in growing {
        solo.progress(1, &Progress::new(number).with_total(f64::INFINITY)).unwrap();
        let heard = solo.hear();
        assert_eq!(heard["params"]["progress"].as_f64(), Some(number), "{heard}");
        assert!(heard["params"].get("total").is_none());
    }
    let mut solo = server(R3);
    call_with_token(&mut solo, 1, "0");
    solo.progress(1, &Progress::new(0.2).with_total(1.0).with_message("a \"b\"\n")).unwrap();
    solo.expect_lines(&[r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":0,"progress":0.2,"total":1,"message":"a \"b\"\n"}}"#]);
}

#[test]
fn messages_are_sent_in_revisions_that_have_them_prg_07() {
    for revision in Revision::LEGACY {
        let mut solo = server(revision);
        call_with_token(&mut solo, 1, "0");
        solo.progress(1, &Progress::new(1.0).with_message("words")).unwrap();
        let has = solo.hear()["params"].get("message").is_some();
        assert_eq!(has, revision != Revision::V2024_11_05);
    }
}

#[test]
fn messages_of_the_peer_are_reported_prg_06_prg_07() {
    let mut solo = client();
    solo.call_with("tools/list", "", wanted()).unwrap();
    solo.say(r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":2,"progress":1e-3,"total":0.5,"message":"\u0061","x":1}}"#);
    solo.say(r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":2,"progress":1,"total":"many","message":7}}"#);
    solo.expect_events(&[r#"call#2 at 0.001 of 0.5 "a""#, "call#2 at 1"]);
}

#[test]
fn a_flood_of_progress_stops_reading_prg_08() {
    let limits = Limits { events_max: 10, ..Limits::default() };
    let mut solo = ClientSolo::ready(
        client::Config::new("c", "1").revisions(&Revision::LEGACY).limits(limits),
        R3,
        r#"{"tools":{}}"#,
    );
    solo.call_with("tools/list", "", wanted()).unwrap();
    solo.is_deaf = true;
    let mut taken = 0;
    while mcp_proto::Endpoint::wants_input(&solo.machine) {
        taken += 1;
        assert!(taken <= 10, "the events are unbounded");
        solo.say(progress_message("2", &taken.to_string()));
    }
    assert_eq!(taken, 10);
}

#[test]
fn progress_with_an_unknown_token_is_dropped_silently_prg_09_t_52() {
    let mut solo = client();
    let call = solo.call_with("tools/list", "", wanted()).unwrap();
    solo.take_lines();
    for token in ["99", "1", "\"x\"", "\"\"", "-1", "18446744073709551615"] {
        solo.say(progress_message(token, "1"));
        solo.expect_silence();
    }
    solo.cancel(call, "").unwrap();
    solo.take_lines();
    solo.take_events();
    solo.say(progress_message("2", "1"));
    solo.expect_silence();
}

#[test]
fn tokens_match_by_type_prg_10_t_54() {
    let mut solo = client();
    solo.call_with("tools/list", "", wanted()).unwrap();
    solo.take_lines();
    solo.say(progress_message("\"2\"", "1"));
    solo.expect_silence();
    solo.say(progress_message("2", "1"));
    solo.expect_events(&["call#2 at 1"]);
}

#[test]
fn tokens_of_every_form_are_echoed_verbatim_prg_10_t_54() {
    for token in ["0", "-1", "\"\"", "\"7\"", "9007199254740993", r#""\u0041""#] {
        let mut solo = server(R3);
        call_with_token(&mut solo, 1, token);
        solo.progress(1, &Progress::new(1.0)).unwrap();
        solo.expect_lines(&[&progress_message(token, "1")]);
    }
    for token in ["1.5", "null", "true", "[]", "{}"] {
        let mut solo = server(R3);
        call_with_token(&mut solo, 1, token);
        solo.progress(1, &Progress::new(1.0)).unwrap();
        solo.expect_lines(&[]);
    }
}

#[test]
fn malformed_progress_is_reported_and_never_answered_prg_16() {
    let mut solo = client();
    solo.call_with("tools/list", "", wanted()).unwrap();
    solo.take_lines();
    for params in [
        r#"{}"#,
        r#"{"progressToken":2}"#,
        r#"{"progress":1}"#,
        r#"{"progressToken":2,"progress":"1"}"#,
        r#"{"progressToken":null,"progress":1}"#,
        r#"{"progressToken":2,"progress":1e999}"#,
        "[]",
    ] {
        solo.say(format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{params}}}"#
        ));
        solo.expect_events(&["violation BadNotification"]);
        solo.expect_lines(&[]);
    }
}

#[test]
fn progress_that_does_not_grow_never_fails_the_call_prg_16_t_56() {
    let mut solo = client();
    solo.call_with("tools/list", "", wanted()).unwrap();
    for progress in ["5", "5", "4", "-1", "6"] {
        solo.say(progress_message("2", progress));
    }
    solo.say(r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
    solo.expect_events(&[
        "call#2 at 5",
        "violation StaleProgress",
        "violation StaleProgress",
        "violation StaleProgress",
        "call#2 at 6",
        "call#2 ok {}",
    ]);
}

#[test]
fn a_client_reports_progress_in_sessions() {
    let mut solo = ClientSolo::ready(
        client::Config::new("c", "1").revisions(&Revision::LEGACY).capability(Capability::Sampling),
        R3,
        "{}",
    );
    solo.say(r#"{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1,"_meta":{"progressToken":"s"}}}"#);
    solo.progress(1, &Progress::new(1.0)).unwrap();
    solo.expect_lines(&[&progress_message("\"s\"", "1")]);
}

#[test]
fn two_requests_may_share_a_token() {
    let mut solo = server(R3);
    call_with_token(&mut solo, 1, "\"t\"");
    call_with_token(&mut solo, 2, "\"t\"");
    solo.progress(1, &Progress::new(1.0)).unwrap();
    solo.respond(1, "{}").unwrap();
    solo.progress(2, &Progress::new(2.0)).unwrap();
    solo.respond(2, "{}").unwrap();
    assert_eq!(solo.take_lines().len(), 4);
}
