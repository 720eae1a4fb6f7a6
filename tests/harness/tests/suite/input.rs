//! Requests for input within a request: the server side of `request_input` in sessions.

use std::time::Duration;

use mcp_harness::{Pair, Role, ServerSolo};
use mcp_proto::schema::{Elicit, ElicitAction, ElicitResult};
use mcp_proto::{
    Capability, ErrorObject, Limits, Misuse, NeededInput, Raw, Revision, client, server,
};

const R3: Revision = Revision::V2025_06_18;

fn config() -> server::Config {
    server::Config::new("s", "1")
        .capability(Capability::Tools)
        .capability(Capability::Prompts)
        .capability(Capability::Resources)
}

fn server(capabilities: &str) -> ServerSolo {
    let mut solo = ServerSolo::ready(config(), R3, capabilities);
    solo.say(r#"{"jsonrpc":"2.0","id":"q","method":"tools/call","params":{"name":"t","_meta":{"progressToken":"p"}}}"#);
    solo.take_events();
    solo
}

fn form() -> NeededInput {
    NeededInput::from(Elicit::form("Who are you?", Raw::empty_object()))
}

const ALL: &str = r#"{"roots":{},"sampling":{},"elicitation":{}}"#;

#[test]
fn a_request_is_delivered_again_with_answers_and_state() {
    let mut solo = server(ALL);
    solo.ask(1, &[("who", form()), ("where", NeededInput::Roots)], Some("step 1")).unwrap();
    assert_eq!(solo.take_lines().len(), 2);
    solo.say(r#"{"jsonrpc":"2.0","id":2,"result":{"roots":[]}}"#);
    solo.expect_events(&[]);
    solo.say(r#"{"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"name":"Ada"}}}"#);
    let events = solo.take_events();
    let [server::Event::Request { request, context, incoming }] = &events[..] else {
        panic!("{events:?}")
    };
    assert_eq!(request.method, "tools/call");
    assert_eq!(request.params.as_ref().unwrap().member("name").unwrap().as_str(), "\"t\"");
    assert_eq!(context.state.as_deref(), Some("step 1"));
    assert!(context.wants_progress && context.meta.is_some());
    let answers = context.input_responses.as_ref().unwrap();
    assert_eq!(answers.iter().map(|(key, _)| key).collect::<Vec<_>>(), ["who", "where"]);
    assert_eq!(
        answers.decode::<ElicitResult>("who").unwrap().unwrap().action,
        ElicitAction::Accept
    );
    assert!(answers.get("unknown").is_none());
    let incoming = *incoming;
    let now = solo.now;
    solo.machine.respond(now, incoming, &Raw::empty_object()).unwrap();
    solo.poll();
    solo.expect_lines(&[r#"{"jsonrpc":"2.0","id":"q","result":{}}"#]);
}

#[test]
fn an_asking_request_accepts_no_commands() {
    let mut solo = server(ALL);
    solo.ask(1, &[("where", NeededInput::Roots)], None).unwrap();
    solo.take_lines();
    assert_eq!(solo.respond(1, "{}"), Err(Misuse::Stale));
    assert_eq!(solo.respond_error(1, &ErrorObject::internal("x")), Err(Misuse::Stale));
    assert_eq!(solo.progress(1, &mcp_proto::Progress::new(1.0)), Err(Misuse::Stale));
    assert_eq!(solo.ask(1, &[("where", NeededInput::Roots)], None), Err(Misuse::Stale));
    solo.expect_silence();
}

#[test]
fn exactly_three_methods_can_ask() {
    for (method, params, may) in [
        ("tools/call", r#"{"name":"t"}"#, true),
        ("prompts/get", r#"{"name":"t"}"#, true),
        ("resources/read", r#"{"uri":"a:b"}"#, true),
        ("tools/list", "{}", false),
        ("resources/templates/list", "{}", false),
    ] {
        let mut solo = ServerSolo::ready(config(), R3, ALL);
        solo.say(format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#));
        assert_eq!(
            solo.ask(1, &[("a", NeededInput::Roots)], None),
            if may { Ok(()) } else { Err(Misuse::Unsupported) }
        );
    }
}

#[test]
fn a_question_that_cannot_be_asked_asks_none_of_them() {
    let mut solo = server(r#"{"roots":{}}"#);
    assert_eq!(
        solo.ask(1, &[("a", NeededInput::Roots), ("b", form())], None),
        Err(Misuse::Undeclared)
    );
    let sample = NeededInput::raw("sampling/createMessage", Raw::from_text("[]").unwrap());
    let mut with_sampling = server(r#"{"roots":{},"sampling":{}}"#);
    assert_eq!(
        with_sampling.ask(1, &[("a", NeededInput::Roots), ("b", sample)], None),
        Err(Misuse::Unencodable)
    );
    solo.expect_silence();
    with_sampling.expect_silence();
    solo.respond(1, "{}").unwrap();
}

#[test]
fn elicitation_works_if_declared_in_an_older_revision() {
    for revision in [Revision::V2024_11_05, Revision::V2025_03_26] {
        let mut solo = ServerSolo::ready(config(), revision, ALL);
        solo.say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#);
        solo.ask(1, &[("a", form())], None).unwrap();
        let asked = solo.hear();
        assert_eq!(asked["method"], "elicitation/create");
        assert!(asked["params"].get("mode").is_none(), "{asked}");

        let mut solo = ServerSolo::ready(config(), revision, r#"{"roots":{}}"#);
        solo.say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#);
        assert_eq!(solo.ask(1, &[("a", form())], None), Err(Misuse::Undeclared));
        solo.expect_lines(&[]);
    }
}

#[test]
fn a_refused_or_broken_answer_fails_the_request_and_cancels_the_others_t_99() {
    for answer in [r#""error":{"code":-1,"message":"no"}"#, r#""result":7"#] {
        let mut solo = server(ALL);
        solo.ask(1, &[("a", NeededInput::Roots), ("b", form())], None).unwrap();
        solo.take_lines();
        solo.say(format!(r#"{{"jsonrpc":"2.0","id":1,{answer}}}"#));
        assert_eq!(solo.hear()["params"]["requestId"], 2);
        solo.expect_error("\"q\"", -32603);
        solo.expect_events(&["request#1 cancelled"]);
        solo.say(r#"{"jsonrpc":"2.0","id":2,"result":{"action":"cancel"}}"#);
        solo.expect_silence();
    }
}

#[test]
fn a_question_that_times_out_fails_the_request() {
    let mut solo = server(ALL);
    solo.ask(1, &[("a", NeededInput::Roots), ("b", form())], None).unwrap();
    solo.take_lines();
    solo.wait(Duration::from_secs(60));
    let mut cancelled =
        [solo.hear()["params"]["requestId"].as_u64(), solo.hear()["params"]["requestId"].as_u64()];
    cancelled.sort();
    assert_eq!(cancelled, [Some(1), Some(2)]);
    solo.expect_error("\"q\"", -32603);
    solo.expect_events(&["request#1 cancelled"]);
    solo.expect_silence();
}

// SEC-17
#[test]
fn rounds_and_questions_are_bounded() {
    let limits = Limits { input_rounds_max: 3, input_requests_max: 2, ..Limits::default() };
    let mut solo = ServerSolo::ready(config().limits(limits), R3, ALL);
    solo.say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#);
    let roots = || ("a", NeededInput::Roots);
    let three = [roots(), ("b", NeededInput::Roots), ("c", NeededInput::Roots)];
    assert_eq!(solo.ask(1, &three, None), Err(Misuse::Blocked));
    assert_eq!(
        solo.ask(1, &[roots(), roots()], None),
        Err(Misuse::Unencodable),
        "keys are unique (STL-16)"
    );
    assert_eq!(
        solo.ask(1, &[], None),
        Err(Misuse::Unencodable),
        "no question and no state (STL-15)"
    );
    for round in 1..=3 {
        solo.ask(round, &[roots()], None).unwrap();
        solo.say(format!(r#"{{"jsonrpc":"2.0","id":{round},"result":{{"roots":[]}}}}"#));
    }
    assert_eq!(solo.ask(4, &[roots()], None), Err(Misuse::Blocked));
    solo.respond(4, "{}").unwrap();
    solo.take_lines();
}

#[test]
fn asking_nothing_redelivers_the_request_with_its_state() {
    let mut solo = server(ALL);
    solo.ask(1, &[], Some("later")).unwrap();
    solo.expect_lines(&[]);
    let told = solo.take_told();
    assert!(
        told.len() == 1
            && told[0].starts_with("request#2 tools/call")
            && told[0].ends_with("state=\"later\""),
        "{told:?}"
    );
}

#[test]
fn questions_count_as_calls_in_flight() {
    let limits = Limits { calls_max: 2, ..Limits::default() };
    let mut solo = ServerSolo::ready(config().limits(limits), R3, ALL);
    solo.say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#);
    solo.call("roots/list", "").unwrap();
    solo.take_lines();
    assert_eq!(
        solo.ask(1, &[("a", NeededInput::Roots), ("b", NeededInput::Roots)], None),
        Err(Misuse::Blocked)
    );
    solo.expect_lines(&[]);
    solo.ask(1, &[("a", NeededInput::Roots)], None).unwrap();
}

/// Returns a server whose client has sent `tools/call` but not yet `initialized`.
fn greeted(limits: Limits) -> ServerSolo {
    let mut solo = ServerSolo::server(config().limits(limits));
    solo.say(mcp_harness::initialize("0", "2025-06-18", ALL));
    solo.expect_result("0");
    solo.say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#);
    solo.take_events();
    solo
}

const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

#[test]
fn questions_are_held_until_the_client_is_initialized_lif_10_t_28() {
    let mut solo = greeted(Limits::default());
    solo.ask(1, &[("a", NeededInput::Roots), ("b", form())], Some("s")).unwrap();
    solo.expect_silence();
    assert_eq!(solo.respond(1, "{}"), Err(Misuse::Stale), "it is asking");
    solo.say(INITIALIZED);
    let methods = [solo.hear()["method"].take(), solo.hear()["method"].take()];
    assert_eq!(methods, ["roots/list", "elicitation/create"]);
    solo.expect_events(&["ready 2025-06-18 c 1"]);
    for id in [1, 2] {
        solo.say(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"roots":[]}}}}"#));
    }
    solo.respond(2, "{}").unwrap();
    solo.expect_lines(&[r#"{"jsonrpc":"2.0","id":1,"result":{}}"#]);
}

#[test]
fn state_without_questions_needs_no_handshake() {
    let mut solo = greeted(Limits::default());
    solo.ask(1, &[], Some("s")).unwrap();
    solo.respond(2, "{}").unwrap();
    solo.expect_lines(&[r#"{"jsonrpc":"2.0","id":1,"result":{}}"#]);
}

#[test]
fn a_request_with_held_questions_can_be_cancelled_and_ends_with_the_connection_t_28() {
    let mut solo = greeted(Limits::default());
    solo.ask(1, &[("a", NeededInput::Roots)], None).unwrap();
    solo.say(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
    solo.say(INITIALIZED);
    solo.expect_lines(&[]);
    solo.expect_events(&["request#1 cancelled", "ready 2025-06-18 c 1"]);

    let mut solo = greeted(Limits::default());
    solo.ask(1, &[("a", NeededInput::Roots)], None).unwrap();
    solo.say_eof();
    solo.expect_lines(&[]);
    solo.expect_events(&["request#1 cancelled", "closed Peer"]);
}

#[test]
fn held_questions_are_bounded_sec_19_t_28() {
    let question = || {
        let params = format!(r#"{{"messages":[],"maxTokens":1,"x":"{}"}}"#, "x".repeat(100));
        NeededInput::raw("sampling/createMessage", Raw::from_text(&params).unwrap())
    };
    let limits = Limits { calls_max: 2, ..Limits::default() };
    let mut solo = greeted(limits);
    solo.say(r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t"}}"#);
    solo.ask(1, &[("a", question())], None).unwrap();
    assert_eq!(solo.ask(2, &[("a", question()), ("b", question())], None), Err(Misuse::Blocked));
    solo.ask(2, &[("a", question())], None).unwrap();
    assert_eq!(solo.call("ping", ""), Err(Misuse::Blocked));
    solo.expect_lines(&[]);
    solo.say(INITIALIZED);
    assert_eq!(solo.take_lines().len(), 2);

    let limits = Limits { requests_bytes_max: 200, ..Limits::default() };
    let mut solo = greeted(limits);
    assert_eq!(solo.ask(1, &[("a", question()), ("b", question())], None), Err(Misuse::Blocked));
    solo.ask(1, &[("a", question())], None).unwrap();
    solo.say(INITIALIZED);
    assert_eq!(solo.take_lines().len(), 1);
}

#[test]
fn progress_increases_across_rounds_prg_05() {
    let mut solo = server(ALL);
    solo.progress(1, &mcp_proto::Progress::new(5.0)).unwrap();
    solo.ask(1, &[("a", NeededInput::Roots)], None).unwrap();
    solo.say(r#"{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}"#);
    solo.take_lines();
    // The handler starts again and reports what the client already knows.
    for known in [1.0, 5.0] {
        solo.progress(2, &mcp_proto::Progress::new(known)).unwrap();
        solo.expect_lines(&[]);
    }
    for repeated in [5.0, 1.0, f64::NAN] {
        let refused = solo.progress(2, &mcp_proto::Progress::new(repeated));
        assert_eq!(refused, Err(Misuse::Unencodable), "{repeated}");
    }
    solo.progress(2, &mcp_proto::Progress::new(6.0)).unwrap();
    assert_eq!(solo.hear()["params"]["progress"], 6);
}

#[test]
fn the_end_of_the_connection_ends_questions_and_their_request() {
    let mut solo = server(ALL);
    solo.ask(1, &[("a", NeededInput::Roots), ("b", form())], None).unwrap();
    solo.take_lines();
    solo.say_eof();
    solo.expect_events(&["request#1 cancelled", "closed Peer"]);
    assert_eq!(solo.respond(1, "{}"), Err(Misuse::Stale));
}

#[test]
fn a_closing_server_cancels_all_its_questions_or_none() {
    let mut solo = server(ALL);
    solo.ask(1, &[("a", NeededInput::Roots), ("b", form()), ("c", NeededInput::Roots)], None)
        .unwrap();
    solo.take_lines();
    solo.close();
    let cancels =
        solo.take_lines().iter().filter(|line| line.contains("notifications/cancelled")).count();
    assert!(cancels == 0 || cancels == 3, "{cancels} of 3 questions were cancelled");
}

#[test]
fn a_whole_conversation_between_two_peers_of_every_revision() {
    for revision in Revision::LEGACY {
        let client = client::Config::new("c", "1")
            .revisions(&Revision::LEGACY)
            .capability(Capability::Roots)
            .capability(Capability::Sampling)
            .capability(Capability::ElicitationForm)
            .revisions(&[revision]);
        let mut pair = Pair::ready(client, config());
        let call = pair.call("tools/call", r#"{"name":"greet"}"#).unwrap();
        let (incoming, _, context) = pair.next_request();
        assert!(context.input_responses.is_none());
        let sample = NeededInput::raw(
            "sampling/createMessage",
            Raw::from_text(r#"{"messages":[],"maxTokens":5}"#).unwrap(),
        );
        let now = pair.now;
        pair.server
            .request_input(now, incoming, &[("a", NeededInput::Roots), ("b", sample)], Some("s"))
            .unwrap();
        for _ in 0..2 {
            let (incoming, request) = pair.next_client_request();
            let result = if request.method == "roots/list" {
                r#"{"roots":[]}"#
            } else {
                r#"{"role":"assistant"}"#
            };
            let now = pair.now;
            pair.client.respond(now, incoming, &Raw::from_text(result).unwrap()).unwrap();
        }
        let (incoming, _, context) = pair.next_request();
        assert_eq!(context.input_responses.unwrap().get("a").unwrap().as_str(), r#"{"roots":[]}"#);
        pair.respond(incoming, r#"{"content":[]}"#).unwrap();
        assert_eq!(pair.outcome(call).unwrap().as_str(), r#"{"content":[]}"#);
    }
}

#[test]
fn waiting_answers_count_like_params_sec_19() {
    let limits = Limits { requests_bytes_max: 4000, ..Limits::default() };
    let mut solo = ServerSolo::ready(config().limits(limits), R3, ALL);
    solo.say(r#"{"jsonrpc":"2.0","id":"q","method":"tools/call","params":{"name":"t"}}"#);
    solo.take_events();
    solo.ask(1, &[("who", form()), ("where", NeededInput::Roots)], None).unwrap();
    solo.take_lines();
    let name = "x".repeat(5000);
    solo.say(format!(
        r#"{{"jsonrpc":"2.0","id":1,"result":{{"action":"accept","content":{{"name":"{name}"}}}}}}"#
    ));
    let lines = solo.take_lines();
    assert!(lines.iter().any(|line| line.contains(r#""id":"q","error""#)), "{lines:#?}");
    assert!(lines.iter().any(|line| line.contains("notifications/cancelled")), "{lines:#?}");
    solo.expect_events(&["request#1 cancelled"]);
}
