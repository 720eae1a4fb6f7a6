//! The envelope of messages, and the replies to invalid ones.
// JSON-01…20

use mcp_harness::{ClientSolo, ServerSolo};
use mcp_proto::{CallOptions, Capability, ErrorObject, Misuse, Raw, Revision, client, server};

const R1: Revision = Revision::V2024_11_05;
const R3: Revision = Revision::V2025_06_18;
const R4: Revision = Revision::V2025_11_25;

fn server() -> ServerSolo {
    ServerSolo::ready(
        server::Config::new("s", "1").capability(Capability::Tools),
        R3,
        r#"{"roots":{}}"#,
    )
}

fn client() -> ClientSolo {
    ClientSolo::ready(
        client::Config::new("c", "1").revisions(&Revision::LEGACY),
        R3,
        r#"{"tools":{}}"#,
    )
}

#[test]
fn a_request_with_the_wrong_jsonrpc_is_refused_under_its_id_json_01_t_13() {
    for version in [
        r#""jsonrpc":"1.0","#,
        r#""jsonrpc":2.0,"#,
        r#""jsonrpc":null,"#,
        r#""jsonrpc":"2.00","#,
        "",
    ] {
        let mut solo = server();
        solo.say(format!(r#"{{{version}"id":"q","method":"ping"}}"#));
        solo.expect_error("\"q\"", -32600);
        solo.expect_events(&["violation Invalid"]);
        solo.expect_alive();
    }
}

#[test]
fn the_version_may_be_escaped_and_come_last() {
    let mut solo = server();
    solo.say(r#"{"method":"\u0070ing","\u0069d":3,"x":[{}],"jsonrpc":"\u0032.0"}"#);
    solo.expect_lines(&[r#"{"jsonrpc":"2.0","id":3,"result":{}}"#]);
}

#[test]
fn a_null_id_is_neither_a_request_nor_a_notification_json_03_t_02() {
    for (revision, id) in [(R1, "null"), (Revision::V2025_03_26, "null"), (R3, "null"), (R4, "")] {
        let config = server::Config::new("s", "1").capability(Capability::Tools);
        let mut solo = ServerSolo::ready(config, revision, "{}");
        solo.say(r#"{"jsonrpc":"2.0","id":null,"method":"tools/list"}"#);
        solo.expect_error(id, -32600);
        solo.expect_events(&["violation Invalid"]);
        solo.say(r#"{"jsonrpc":"2.0","id":null,"method":"notifications/x"}"#);
        solo.expect_error(id, -32600);
        solo.expect_events(&["violation Invalid"]);
    }
}

#[test]
fn notifications_are_never_answered_json_04_json_05() {
    let mut solo = server();
    for notification in [
        r#"{"jsonrpc":"2.0","method":"no/such"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/x","params":[]}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/x","params":7}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{}}"#,
        r#"{"jsonrpc":"2.0","method":"tools/call","params":{}}"#,
        r#"{"jsonrpc":"2.0","method":"initialize"}"#,
        r#"{"jsonrpc":"2.0","method":"ping"}"#,
    ] {
        solo.say(notification);
        solo.expect_lines(&[]);
    }
    solo.take_events();
    solo.expect_alive();
}

#[test]
fn responses_are_never_answered_whatever_is_wrong_with_them_json_05_id_08_t_08() {
    for response in [
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":null,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1.5,"result":{}}"#,
        r#"{"jsonrpc":"2.0","result":{}}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":"x"}}"#,
        r#"{"jsonrpc":"2.0","id":[],"error":{"code":1,"message":"m"}}"#,
        r#"{"jsonrpc":"1.0","id":1,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":7}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":null}"#,
        r#"{"jsonrpc":"2.0","id":1,"id":1,"result":{}}"#,
    ] {
        let mut solo = server();
        solo.say(response);
        let heard = solo.take_lines();
        assert!(heard.is_empty(), "{response} was answered with {heard:?}");
        assert_eq!(solo.take_told().len(), 1, "and was reported");
        solo.expect_alive();
    }
}

#[test]
fn results_are_objects_or_are_not_sent_json_07_json_08() {
    let mut solo = server();
    solo.say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    for nothing in ["[]", "null", "7", "\"text\"", "true"] {
        assert_eq!(solo.respond(1, nothing), Err(Misuse::Unencodable), "{nothing}");
    }
    let incoming = solo.request(1);
    solo.expect_lines(&[]);
    solo.respond(1, "{}").unwrap();
    solo.expect_lines(&[r#"{"jsonrpc":"2.0","id":1,"result":{}}"#]);
    let _stays_stale = incoming;
}

#[test]
fn a_result_type_that_encodes_nothing_is_refused_json_07_json_08() {
    use mcp_proto::server::{Event, Server};
    use mcp_proto::{Instant, MessageEndpoint, StreamId};
    let now = Instant::ZERO;
    let mut server = Server::new(now, server::Config::new("s", "1").capability(Capability::Tools));
    server.handle_message(
        now,
        StreamId::ONLY,
        mcp_harness::initialize("0", "2025-06-18", "{}").as_bytes(),
    );
    server.handle_message(
        now,
        StreamId::ONLY,
        &br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#[..],
    );
    let Some(Event::Request { incoming, .. }) = server.poll_event() else { panic!() };
    assert_eq!(server.respond(now, incoming, &Nothing), Err(Misuse::Unencodable));
    server.respond(now, incoming, &mcp_proto::schema::EmptyResult::new()).unwrap();
}

#[test]
fn an_error_without_code_or_message_ends_its_call_json_07_json_09_t_16() {
    for answer in [
        r#""error":{"code":1.5,"message":"m"}"#,
        r#""error":{"code":"1","message":"m"}"#,
        r#""error":{"code":1}"#,
        r#""error":{"message":"m"}"#,
        r#""error":"no""#,
        r#""error":null"#,
        r#""result":[]"#,
        r#""result":null"#,
        r#""result":{},"error":{"code":1,"message":"m"}"#,
        r#""x":1"#,
    ] {
        let mut solo = client();
        solo.call("tools/list", "").unwrap();
        solo.take_lines();
        solo.say(format!(r#"{{"jsonrpc":"2.0","id":2,{answer}}}"#));
        solo.expect_events(&["call#2 Invalid"]);
        solo.expect_lines(&[]);
    }
}

#[test]
fn error_data_is_kept_verbatim_json_09_json_10_json_18() {
    let mut solo = client();
    solo.call("tools/list", "").unwrap();
    solo.say(r#"{"jsonrpc":"2.0","id":2,"error":{"data":[1e400,{"a":null}],"message":"m","code":-2147483649,"x":1}}"#);
    solo.expect_events(&[r#"call#2 refused -2147483649 "m" [1e400,{"a":null}]"#]);

    let mut solo = server();
    solo.say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    let error =
        ErrorObject::new(42, "line\nbreak").with_data(Raw::from_text("{\"a\":\n 1e400}").unwrap());
    solo.respond_error(1, &error).unwrap();
    solo.expect_lines(&[
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":42,"message":"line\nbreak","data":{"a":1e400}}}"#,
    ]);
}

#[test]
fn unreadable_text_is_answered_in_the_form_of_the_revision_json_11_json_12_json_13() {
    for revision in Revision::LEGACY {
        let id = if revision == R4 { "" } else { "null" };
        let mut solo = ServerSolo::ready(server::Config::new("s", "1"), revision, "{}");
        solo.say("{bad");
        solo.expect_error(id, -32700);
        solo.expect_events(&["violation NotJson"]);
        solo.say("{\"jsonrpc\":\"2.0\"}");
        solo.expect_error(id, -32600);
        solo.expect_events(&["violation Invalid"]);
        solo.expect_alive();
    }
}

#[test]
fn json_that_is_no_message_is_an_invalid_request_json_14_t_01() {
    for (text, id) in [
        (r#"{"jsonrpc":"2.0","id":1}"#, "1"),
        (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, "1"),
        (r#"{"jsonrpc":"2.0","id":1,"method":null}"#, "1"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}"#, "1"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","error":{"code":1,"message":"m"}}"#, "1"),
        ("{}", "null"),
        ("7", "null"),
        ("null", "null"),
        (r#""ping""#, "null"),
    ] {
        let mut solo = server();
        solo.say(text);
        solo.expect_error(id, -32600);
        solo.expect_events(&["violation Invalid"]);
        solo.expect_alive();
    }
}

#[test]
fn a_message_with_method_and_result_completes_no_call_t_01() {
    let mut solo = client();
    solo.call("tools/list", "").unwrap();
    solo.take_lines();
    solo.say(r#"{"jsonrpc":"2.0","id":2,"method":"ping","result":{}}"#);
    solo.expect_error("2", -32600);
    solo.say(r#"{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}"#);
    solo.expect_events(&["violation Invalid", r#"call#2 ok {"tools":[]}"#]);
}

#[test]
fn unknown_and_misplaced_methods_are_not_found_json_15() {
    let mut solo = server();
    for method in [
        "x/y",
        "",
        "roots/list",
        "sampling/createMessage",
        "elicitation/create",
        "notifications/initialized",
        "server/discover",
        "tasks/list",
        "sampling/complete",
    ] {
        solo.say(format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{}}}}"#));
        solo.expect_error("1", -32601);
        solo.expect_events(&[]);
    }
}

#[test]
fn an_additional_method_is_delivered_json_15() {
    let config = server::Config::new("s", "1").serve_method("x/y");
    let mut solo = ServerSolo::ready(config, R3, "{}");
    solo.say(r#"{"jsonrpc":"2.0","id":1,"method":"x/y","params":{"a":1}}"#);
    solo.expect_events(&[r#"request#1 x/y {"a":1}"#]);
    solo.say(r#"{"jsonrpc":"2.0","id":2,"method":"x/z"}"#);
    solo.expect_error("2", -32601);
}

#[test]
fn known_methods_with_bad_params_are_refused_json_16() {
    let config = server::Config::new("s", "1")
        .capability(Capability::Tools)
        .capability(Capability::ResourcesSubscribe)
        .capability(Capability::Prompts)
        .capability(Capability::Logging);
    let mut solo = ServerSolo::ready(config, R3, "{}");
    for (method, params) in [
        ("tools/call", "{}"),
        ("tools/call", r#"{"name":7}"#),
        ("tools/call", "null"),
        ("prompts/get", "{}"),
        ("resources/read", r#"{"uri":null}"#),
        ("resources/subscribe", "{}"),
        ("resources/unsubscribe", "{}"),
        ("logging/setLevel", r#"{"level":"warn"}"#),
        ("tools/list", "[]"),
        ("tools/list", "\"x\""),
    ] {
        solo.say(format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#));
        solo.expect_error("1", -32602);
        solo.expect_events(&[]);
    }
}

#[test]
fn null_params_count_as_none_t_09() {
    let mut solo = server();
    solo.say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":null}"#);
    solo.expect_events(&["request#1 tools/list"]);
    solo.say(r#"{"jsonrpc":"2.0","method":"notifications/x","params":null}"#);
    solo.expect_events(&["notifications/x"]);
}

#[test]
fn params_are_objects_or_are_not_sent_json_17() {
    let mut solo = client();
    for params in ["[]", "null", "7", "\"x\""] {
        assert_eq!(solo.call("tools/list", params), Err(Misuse::Unencodable));
        let progress = CallOptions { progress: true, ..CallOptions::default() };
        assert_eq!(solo.call_with("tools/list", params, progress), Err(Misuse::Unencodable));
        assert_eq!(solo.notify("notifications/x", params), Err(Misuse::Unencodable));
    }
    solo.expect_silence();
}

#[test]
fn unknown_members_are_kept_and_harmless_json_18() {
    let mut solo = server();
    solo.say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","trace":1,"params":{"name":"a","x":{"y":1},"_meta":{"com.example/z":[1,2]}}}"#);
    let events = solo.take_events();
    let [server::Event::Request { request, context, .. }] = &events[..] else {
        panic!("{events:?}")
    };
    assert_eq!(request.params.as_ref().unwrap().member("x").unwrap().as_str(), r#"{"y":1}"#);
    assert_eq!(context.meta.as_ref().unwrap().as_str(), r#"{"com.example/z":[1,2]}"#);
}

#[test]
fn an_error_message_is_one_short_sentence_whatever_was_asked_json_19() {
    let mut solo = server();
    let long = "x".repeat(1 << 20);
    solo.say(format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{long}"}}"#));
    let error = solo.expect_error("1", -32601);
    let length = error["error"]["message"].as_str().unwrap().len();
    assert!(length <= 256, "a message of {length} bytes");
}

#[test]
fn bad_utf_8_costs_only_its_line_json_20_t_11() {
    let mut solo = server();
    for bad in
        [&b"\xFF"[..], b"\xC3\x28", b"\xED\xA0\x80", b"\xF5\x80\x80\x80", b"\xC0\xAF", b"\x80"]
    {
        let mut line = br#"{"jsonrpc":"2.0","id":1,"method":"ping","x":""#.to_vec();
        line.extend_from_slice(bad);
        line.extend_from_slice(b"\"}");
        solo.say(&line);
        solo.expect_error("1", -32700);
        solo.expect_events(&["violation NotJson"]);
        solo.expect_alive();
    }
}

#[test]
fn raw_controls_and_unknown_escapes_are_not_json_t_11() {
    let mut solo = server();
    for bad in ["\u{1}", "\t", r"\x41", r"\u12", r"\ud83d\u12"] {
        solo.say(format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","x":"{bad}"}}"#));
        solo.expect_error("1", -32700);
        solo.expect_events(&["violation NotJson"]);
    }
    for bad in [r#""\"#, "NaN", "-", "[1", "01", "{'a':1}", "tru", "undefined", "0x1F"] {
        solo.say(format!(r#"{{"jsonrpc":"2.0","id":"q","method":"ping","x":{bad}}}"#));
        solo.expect_error("\"q\"", -32700);
        solo.say(format!(r#"{{"x":{bad},"id":"q","method":"ping"}}"#));
        solo.take_lines();
        solo.take_events();
    }
    for after in [r#"{"x":NaN,"id":7}"#, r#"{"params":{"a":[-]},"id":7,"jsonrpc":"2.0"}"#] {
        solo.say(after);
        solo.expect_error("7", -32700);
        solo.expect_events(&["violation NotJson"]);
    }
    for hidden in [r#"{"params":{"id":7},"x":NaN}"#, r#"{"id":7,"id":8,"method":NaN}"#] {
        solo.say(hidden);
        solo.expect_error("null", -32700);
        solo.expect_events(&["violation NotJson"]);
    }
    solo.say(r#"{"jsonrpc":"2.0","id":1,"method":"ping","x":"\u0000\ud83d\ude00 😀"}"#);
    solo.expect_result("1");
}

// RFC 8259 §8.2 leaves the meaning of lone surrogates open; they are U+FFFD here.
#[test]
fn lone_surrogates_are_replacement_characters_on_both_sides_t_11() {
    for lone in [r"\ud83d", r"\ude00", r"\ud83d\ud83d", r"\ude00\ud83d", r"\uD83Dx", r"\udfff\n"] {
        let mut solo = server();
        solo.say(format!(
            r#"{{"jsonrpc":"2.0","id":"{lone}","method":"tools/call","params":{{"name":"t","arguments":{{"{lone}":"{lone}"}},"_meta":{{"x":"{lone}"}}}}}}"#
        ));
        let request = solo.take_told().concat();
        assert!(request.contains(r"\ufffd") && !request.contains(r"\ud83d\"), "{request}");
        solo.respond(1, "{}").unwrap();
        let id = format!(r#"{{"jsonrpc":"2.0","id":"{lone}","result":{{}}}}"#);
        solo.expect_lines(&[&id]);

        let mut solo = client();
        solo.call("tools/list", "").unwrap();
        solo.say(format!(r#"{{"jsonrpc":"2.0","id":2,"result":{{"tools":[],"x":"{lone}"}}}}"#));
        let result = solo.take_told().concat();
        assert!(result.starts_with("call#2 ok") && result.contains(r"\ufffd"), "{result}");
    }
}

// JSON-07, T-16
#[test]
fn a_response_that_cannot_be_read_ends_its_call_with_the_position_of_the_error() {
    let deep = "[".repeat(1000) + &"]".repeat(1000);
    for bad in ["NaN", "\"\u{1}\"", "\"\\x\"", "[1", "-", deep.as_str(), "'a'"] {
        for text in [
            format!(r#"{{"jsonrpc":"2.0","id":2,"result":{{"tools":[],"x":{bad}}}}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":2,"error":{{"code":1,"message":{bad}}}}}"#),
        ] {
            let mut solo = client();
            solo.call("tools/list", "").unwrap();
            solo.take_lines();
            solo.say(&text);
            assert_eq!(solo.take_told(), ["call#2 Invalid"], "{text:.99}");
            solo.expect_lines(&[]);
            solo.expect_alive();
        }
    }
    let mut solo = client();
    solo.call("tools/list", "").unwrap();
    solo.say(b"{\"result\":{\"x\":\"\xff\"},\"id\":2,\"jsonrpc\":\"2.0\"}");
    solo.expect_events(&["call#2 Invalid"]);
}

#[test]
fn repeated_members_of_the_envelope_are_refused_t_10() {
    for twice in [
        r#"{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1,"\u0069d":1,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{},"params":{}}"#,
    ] {
        let mut solo = server();
        solo.say(twice);
        assert_eq!(solo.hear()["error"]["code"], -32600, "{twice}");
        solo.expect_events(&["violation Invalid"]);
        solo.expect_alive();
    }
    let mut solo = server();
    solo.say(r#"{"jsonrpc":"2.0","id":1,"method":"ping","x":1,"x":2}"#);
    solo.expect_result("1");
}

#[test]
fn deep_nesting_and_giant_numbers_are_survived_t_12() {
    let mut solo = server();
    let deep = |depth: usize| {
        let (open, close) = ("[".repeat(depth), "]".repeat(depth));
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"a":{open}{close}}}}}"#)
    };
    solo.say(deep(90));
    solo.expect_result("1");
    solo.say(deep(1000));
    solo.expect_error("1", -32700);
    solo.expect_events(&["violation NotJson"]);
    solo.say(deep(1_000_000));
    solo.expect_error("1", -32700);
    solo.expect_events(&["violation NotJson"]);
    let digits = "9".repeat(100_000);
    solo.say(format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"a":{digits},"b":1e{digits}}}}}"#
    ));
    solo.expect_result("1");
    solo.say(format!(r#"{{"jsonrpc":"2.0","id":{digits},"method":"ping"}}"#));
    solo.expect_error("null", -32600);
}

#[test]
fn the_nesting_limit_is_exact_t_12() {
    let limits = mcp_proto::Limits { depth_max: 5, ..mcp_proto::Limits::default() };
    let mut solo = ServerSolo::server(server::Config::new("s", "1").limits(limits));
    solo.say(r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":{"b":{"c":{}}}}}"#);
    solo.expect_result("1");
    solo.say(r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":{"b":{"c":{"d":{}}}}}}"#);
    solo.expect_error("1", -32700);
}

/// Encodes no value at all.
struct Nothing;

impl mcp_proto::schema::Encode for Nothing {
    fn encode(&self, _: Revision, _: &mut Vec<u8>) -> Result<(), mcp_proto::Unencodable> {
        Ok(())
    }
}
