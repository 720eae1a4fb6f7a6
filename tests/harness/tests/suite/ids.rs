//! Ids: ours, the peer's, and matching.
// ID-01…09

use mcp_harness::{ClientSolo, ServerSolo};
use mcp_proto::{Capability, Revision, client, server};

const R3: Revision = Revision::V2025_06_18;

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
        r#"{"roots":{}}"#,
    )
}

#[test]
fn no_id_is_used_twice_however_calls_end_id_01_id_06_t_48() {
    // The checker ensures, line by line, that ids are unique and small.
    let mut solo = client();
    for round in 0..3000 {
        let call = solo.call("tools/list", "").unwrap();
        let id = solo.hear()["id"].as_u64().unwrap();
        match round % 4 {
            0 => solo.say(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)),
            1 => solo.say(format!(
                r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":1,"message":"m"}}}}"#
            )),
            2 => solo.cancel(call, "").unwrap(),
            _ => solo.wait(std::time::Duration::from_secs(60)),
        }
        assert_eq!(solo.take_told().len(), 1);
        solo.take_lines();
    }
}

#[test]
fn each_direction_has_its_own_ids_id_03_t_55() {
    let mut solo = server();
    solo.say(
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":{"progressToken":1}}}"#,
    );
    let progress = mcp_proto::CallOptions { progress: true, ..mcp_proto::CallOptions::default() };
    solo.call_with("roots/list", "", progress).unwrap();
    assert_eq!(solo.hear()["id"], 1);
    solo.say(
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#,
    );
    solo.progress(1, &mcp_proto::Progress::new(7.0)).unwrap();
    assert_eq!(solo.hear()["params"]["progress"], 7);
    solo.say(r#"{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}"#);
    solo.respond(1, "{}").unwrap();
    solo.expect_result("1");
    solo.expect_events(&[
        r#"request#1 tools/call {"name":"a","_meta":{"progressToken":1}}"#,
        "call#1 at 1",
        r#"call#1 ok {"roots":[]}"#,
    ]);
}

#[test]
fn a_response_with_an_id_of_another_type_is_unknown_id_04_t_04() {
    let mut solo = client();
    solo.call("tools/list", "").unwrap();
    for id in ["\"2\"", "-2", "\"\\u0032\"", "null"] {
        solo.say(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
        let told = solo.take_told();
        assert!(told.len() == 1 && told[0].starts_with("violation"), "{id}: {told:?}");
    }
    solo.say(r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
    solo.expect_events(&["call#2 ok {}"]);
}

#[test]
fn a_mismatch_by_type_alone_is_reported_t_04() {
    let mut solo = client();
    solo.call("tools/list", "").unwrap();
    solo.say(r#"{"jsonrpc":"2.0","id":"2","result":{}}"#);
    let [client::Event::Violation(violation)] = &solo.take_events()[..] else { panic!() };
    assert!(violation.detail.contains("our ids are numbers"), "{violation}");
}

#[test]
fn a_number_without_a_fraction_answers_the_call_with_that_id_id_07() {
    for id in ["2.0", "2e0", "20e-1", "0.2E1"] {
        let mut solo = client();
        solo.call("tools/list", "").unwrap();
        solo.say(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
        solo.expect_events(&["call#2 ok {}"]);
    }
    let mut solo = server();
    solo.say(r#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#);
    solo.say(r#"{"jsonrpc":"2.0","id":7.0,"method":"tools/list"}"#);
    solo.expect_error("7.0", -32600);
    solo.say(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7e0}}"#);
    assert!(solo.take_told().iter().any(|told| told.contains("cancelled")), "the ids are equal");
}

#[test]
fn ids_of_every_legal_form_are_echoed_to_the_letter_id_05_json_02_json_06() {
    let longest = format!("\"{}\"", "i".repeat(254));
    for id in [
        "0",
        "-1",
        "1",
        "\"\"",
        "\"1\"",
        "9007199254740993",
        "18446744073709551615",
        "-9223372036854775808",
        r#""\u0041\/\n""#,
        "\"é😀\"",
        &longest,
        // A number without a fraction is an integer, and keeps its spelling.
        "1.0",
        "1e0",
        "70e-1",
        "1E+2",
        "-0",
        "-1.00",
        r#""\ud83d""#,
    ] {
        let mut solo = server();
        solo.say(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#));
        solo.say(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list"}}"#));
        solo.say(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"x/y"}}"#));
        solo.respond(1, "{}").unwrap();
        let heard = solo.take_lines();
        assert_eq!(heard.len(), 3);
        assert!(
            heard.iter().all(|line| line.starts_with(&format!(r#"{{"jsonrpc":"2.0","id":{id},"#))),
            "{heard:?}"
        );
    }
}

#[test]
fn fractions_and_numbers_out_of_range_are_not_ids_id_07_t_05() {
    let too_long = format!("\"{}\"", "i".repeat(1000));
    for id in [
        "1.5",
        "1e-3",
        "1e99",
        "18446744073709551616",
        "-9223372036854775809",
        "true",
        "[]",
        "{}",
        &too_long,
    ] {
        let mut solo = server();
        solo.say(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list"}}"#));
        solo.expect_error("null", -32600);
        solo.expect_events(&["violation Invalid"]);
        solo.expect_alive();
    }
}

#[test]
fn unknown_responses_are_only_reported_id_08_t_08() {
    let mut solo = client();
    solo.call("tools/list", "").unwrap();
    solo.take_lines();
    for id in ["1", "3", "99", "18446744073709551615", "\"x\"", "-1"] {
        solo.say(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
        solo.expect_events(&["violation UnknownResponse"]);
        solo.say(format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":1,"message":"m"}}}}"#));
        solo.expect_events(&["violation UnknownResponse"]);
    }
    solo.say(r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
    solo.say(r#"{"jsonrpc":"2.0","id":2,"result":{"second":1}}"#);
    solo.expect_events(&["call#2 ok {}", "violation UnknownResponse"]);
    solo.expect_lines(&[]);
}

#[test]
fn an_error_that_names_no_request_ends_no_call_id_08_t_03() {
    let mut solo = client();
    solo.call("tools/list", "").unwrap();
    solo.take_lines();
    for id in [r#""id":null,"#, ""] {
        solo.say(format!(
            r#"{{"jsonrpc":"2.0",{id}"error":{{"code":-32700,"message":"parse error"}}}}"#
        ));
        solo.expect_events(&["violation UnknownResponse"]);
    }
    solo.say(r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
    solo.expect_events(&["call#2 ok {}"]);
    solo.expect_lines(&[]);
}

#[test]
fn with_more_than_initialize_in_flight_an_error_without_an_id_ends_nothing_t_03() {
    let mut solo = ClientSolo::client(client::Config::new("c", "1").revisions(&Revision::LEGACY));
    let initialize = solo.hear();
    solo.call("ping", "").unwrap();
    solo.take_lines();
    solo.say(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"no ping"}}"#);
    solo.expect_events(&["violation UnknownResponse"]);
    assert_eq!(initialize["id"], 1);
}

#[test]
fn an_id_in_flight_is_refused_to_a_second_request_id_09_t_06() {
    let mut solo = server();
    solo.say(r#"{"jsonrpc":"2.0","id":5,"method":"tools/list"}"#);
    solo.expect_events(&["request#1 tools/list"]);
    solo.say(r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"a"}}"#);
    solo.expect_error("5", -32600);
    solo.expect_events(&["violation DuplicateId"]);
    solo.respond(1, "{}").unwrap();
    solo.expect_lines(&[r#"{"jsonrpc":"2.0","id":5,"result":{}}"#]);
}

#[test]
fn a_ping_with_an_id_in_flight_is_a_duplicate_too_id_09() {
    // A response of `{}` would look like the response to the open request.
    let mut solo = server();
    solo.say(r#"{"jsonrpc":"2.0","id":5,"method":"tools/list"}"#);
    solo.take_events();
    solo.say(r#"{"jsonrpc":"2.0","id":5,"method":"ping"}"#);
    solo.expect_error("5", -32600);
    solo.expect_events(&["violation DuplicateId"]);
}

#[test]
fn differently_spelled_equal_ids_are_duplicates_id_04_id_09() {
    let mut solo = server();
    solo.say(r#"{"jsonrpc":"2.0","id":"A","method":"tools/list"}"#);
    solo.say(r#"{"jsonrpc":"2.0","id":"\u0041","method":"tools/list"}"#);
    solo.expect_events(&["request#1 tools/list", "violation DuplicateId"]);
    solo.say(
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"\u0041"}}"#,
    );
    solo.expect_events(&["request#1 cancelled"]);
}

#[test]
fn an_id_is_free_again_once_it_was_answered_or_cancelled_t_07() {
    let mut solo = server();
    for round in 1..=50 {
        solo.say(r#"{"jsonrpc":"2.0","id":"same","method":"tools/list"}"#);
        solo.expect_events(&[&format!("request#{round} tools/list")]);
        if round % 2 == 0 {
            solo.respond(round, "{}").unwrap();
        } else {
            solo.say(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"same"}}"#);
            solo.take_events();
        }
    }
}
