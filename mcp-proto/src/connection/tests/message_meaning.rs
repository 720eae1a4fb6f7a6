//! Tests of messages whose meaning depends on the revision and on the sending side.

use alloc::format;

use super::*;
use crate::client::ExchangeEndpoint as _;
use crate::method::Method;
use crate::{CallError, Misuse, NeededInput, ViolationKind};

fn answer(client: &mut Client, id: u64, result: &str) -> Option<Result<Raw, CallError>> {
    receive(client, format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#));
    outcomes(client).pop()
}

#[test]
fn result_types_exist_only_in_2026_07_28_stl_48() {
    let input_required = r#"{"resultType":"input_required","requestState":"s"}"#;
    let other = r#"{"resultType":"x/y"}"#;
    for revision in Revision::LEGACY {
        let mut client = client(revision, Limits::default());
        for (id, result) in [(2, input_required), (3, other)] {
            call(&mut client, "{\"name\":\"t\"}");
            let Some(Ok(outcome)) = answer(&mut client, id, result) else {
                panic!("{revision}: {result}")
            };
            assert_eq!(outcome.as_str(), result, "unchanged");
        }
    }
    let mut client = client(R5, Limits::default());
    call(&mut client, "{\"name\":\"t\"}");
    assert_eq!(answer(&mut client, 2, input_required), None, "the call is retried");
    call(&mut client, "{\"name\":\"t\"}");
    assert!(matches!(answer(&mut client, 3, other), Some(Err(CallError::Invalid(_)))));
}

/// Delivers a message. Returns the resulting notifications by method, and violations by kind.
fn outcomes_of<S: MessageEndpoint>(
    session: &mut S,
    message: &str,
    name: impl Fn(&S::Event) -> Option<String>,
) -> Vec<String> {
    receive(session, message);
    events(session).iter().filter_map(name).collect()
}

fn of_client(event: &client::Event) -> Option<String> {
    match event {
        client::Event::Notification { method, .. } => Some(method.to_string()),
        client::Event::Violation(violation) => Some(format!("{:?}", violation.kind)),
        _ => None,
    }
}

fn of_server(event: &server::Event) -> Option<String> {
    match event {
        server::Event::Notification { method, .. } => Some(method.to_string()),
        server::Event::Violation(violation) => Some(format!("{:?}", violation.kind)),
        _ => None,
    }
}

fn notification(method: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{{"uri":"a:b"}}}}"#)
}

#[test]
fn a_client_notification_from_a_server_goes_to_the_application() {
    let mut client = client(R4, Limits::default());
    let method = "notifications/initialized";
    assert_eq!(outcomes_of(&mut client, &notification(method), of_client), [method]);
    assert_eq!(outcomes_of(&mut client, &notification(method), of_client), [method], "repeatedly");
    call(&mut client, "{\"name\":\"t\"}");
}

#[test]
fn a_server_notification_from_a_client_goes_to_the_application() {
    for method in ["notifications/resources/updated", "notifications/tools/list_changed"] {
        let mut server = server(R4, Limits::default());
        assert_eq!(outcomes_of(&mut server, &notification(method), of_server), [method]);
    }
}

#[test]
fn an_unknown_notification_goes_to_the_application() {
    for revision in Revision::LEGACY {
        let mut client = client(revision, Limits::default());
        let method = "notifications/subscriptions/acknowledged";
        assert_eq!(
            outcomes_of(&mut client, &notification(method), of_client),
            [method],
            "{revision}"
        );
    }
}

#[test]
fn a_request_from_the_wrong_side_is_refused() {
    // Requests that only servers send.
    for (revision, method) in
        [(R4, "sampling/createMessage"), (R4, "elicitation/create"), (R4, "roots/list")]
    {
        let mut server = server(revision, Limits::default());
        receive(&mut server, format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}"}}"#));
        assert!(requests(&mut server).is_empty(), "{method}");
        assert!(sent(&mut server)[0].contains("-32601"), "{method}");
    }
    // Even if the server declares a client capability.
    let config = server_config(Limits::default()).capability(crate::Capability::ElicitationForm);
    let mut server = Server::new(NOW, config);
    open_session(&mut server, R4);
    events(&mut server);
    sent(&mut server);
    receive(
        &mut server,
        r#"{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"m"}}"#,
    );
    assert!(requests(&mut server).is_empty());
    assert!(sent(&mut server)[0].contains("-32601"));
    let mut client = client(R4, Limits::default());
    for method in ["initialize", "tools/call"] {
        receive(
            &mut client,
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"name":"t"}}}}"#),
        );
        assert!(events(&mut client).is_empty(), "{method}");
        assert!(sent(&mut client)[0].contains("-32601"), "{method}");
    }
}

#[test]
fn an_error_without_an_id_completes_no_call_t_03() {
    let mut client = client(R4, Limits::default());
    call(&mut client, "{\"name\":\"t\"}");
    let error = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}"#;
    assert_eq!(
        outcomes_of(&mut client, error, of_client),
        [format!("{:?}", ViolationKind::UnknownResponse)]
    );
    assert!(answer(&mut client, 2, "{}").is_some());
}

#[test]
fn a_method_equals_its_name() {
    let (known, other) = (Method::from("ping"), Method::from("x/y"));
    assert!(known == *"ping" && known != *"x/y" && other == *"x/y" && other == "x/y");
}

#[test]
fn an_unencodable_response_leaves_other_messages_queued() {
    let mut server = server(R4, Limits::default());
    receive(
        &mut server,
        r#"{"jsonrpc":"2.0","id":"q","method":"tools/call","params":{"name":"t"}}"#,
    );
    let [(incoming, ..)] = requests(&mut server)[..] else { panic!("one request") };
    receive(&mut server, r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#);
    let number = Raw::from_text("1").unwrap();
    assert!(matches!(server.respond(NOW, incoming, &number), Err(Misuse::Unencodable)));
    server.respond(NOW, incoming, &Raw::empty_object()).unwrap();
    let answer = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":"{id}","result":{{}}}}"#);
    assert_eq!(sent(&mut server), [answer("p"), answer("q")]);
}

#[test]
fn a_modern_initialize_result_opens_no_session_t_31() {
    for revision in [R4, R5] {
        let config =
            client::Config::new("c", "1").revisions(&[R4, R5]).expect_era(crate::Era::Legacy);
        let mut client = Client::new(NOW, config.accept_modern_initialize());
        assert!(sent(&mut client)[0].contains(r#""initialize""#));
        receive(&mut client, welcome(revision.name(), r#"{"tools":{}}"#));
        sent(&mut client);
        call(&mut client, "{\"name\":\"t\"}");
        let [line] = &sent(&mut client)[..] else { panic!("one call") };
        let is_modern = line.contains(r#""io.modelcontextprotocol/protocolVersion":"2026-07-28""#);
        assert_eq!(is_modern, revision == R5, "{line}");
    }
}

#[test]
fn a_refused_initialize_is_followed_by_one_probe_also_after_a_lost_session_lif_31() {
    let config = client::Config::new("c", "1").revisions(&[R4, R5]).expect_era(crate::Era::Legacy);
    let refusal = |id: u64| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32601,"message":"no"}}}}"#)
    };
    // On the first connection the server may be modern.
    let mut client = Client::new(NOW, config.clone());
    sent(&mut client);
    receive(&mut client, refusal(1));
    assert!(sent(&mut client)[0].contains("server/discover") && client.close_reason().is_none());
    // After a session it is expected to be legacy, but may have been replaced.
    let mut client = Client::new(NOW, config);
    receive(&mut client, welcome(R4.name(), "{}"));
    client.handle_session_lost(NOW);
    assert!(sent(&mut client)[0].contains(r#""initialize""#));
    receive(&mut client, refusal(2));
    assert!(sent(&mut client)[0].contains("server/discover"));
    receive(&mut client, refusal(3));
    assert!(sent(&mut client)[0].contains(r#""initialize""#));
    receive(&mut client, refusal(4));
    assert!(matches!(
        client.close_reason(),
        Some(crate::CloseReason::Fault(crate::Fault::Refused(_)))
    ));
}

#[test]
fn the_error_for_unreadable_input_takes_the_stream_of_the_input() {
    for kind in [ViolationKind::TooLong, ViolationKind::Truncated] {
        let mut server = Server::new(NOW, server_config(Limits::default()));
        server.use_streams();
        server.handle_violation(NOW, StreamId(5), kind);
        let outgoing = server.poll_outgoing().unwrap();
        assert_eq!(outgoing.route, crate::Route::Stream(StreamId(5)));
        assert!(outgoing.body.starts_with(br#"{"jsonrpc":"2.0","#));
    }
}

#[test]
fn a_question_without_an_object_is_not_refused_and_the_request_stays_open_cap_15() {
    let mut server = server(R4, Limits::default());
    receive(&mut server, r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#);
    let (incoming, ..) = requests(&mut server).remove(0);
    let question = |params| {
        [("q", NeededInput::raw("sampling/createMessage", Raw::from_text(params).unwrap()))]
    };
    let refused = server.refuse_undeclared(NOW, incoming, &question("[]"));
    assert_eq!((refused, sent(&mut server).len()), (Err(Misuse::Unencodable), 0));
    assert_eq!(server.refuse_undeclared(NOW, incoming, &question("{}")), Ok(()));
    assert!(sent(&mut server)[0].contains("requiredCapabilities"));
}

#[test]
fn a_ping_with_invalid_params_is_refused_json_17() {
    for (params, is_refused) in
        [("[]", true), ("1", true), ("\"a\"", true), ("{}", false), ("null", false)]
    {
        let mut server = server(R4, Limits::default());
        receive(
            &mut server,
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{params}}}"#),
        );
        assert_eq!(sent(&mut server)[0].contains("-32602"), is_refused, "{params}");
    }
}

#[test]
fn a_response_with_a_method_that_is_no_string_ends_its_call_json_07() {
    for method in ["null", "7", "{}"] {
        let mut client = client(R4, Limits::default());
        call(&mut client, r#"{"name":"t"}"#);
        sent(&mut client);
        receive(
            &mut client,
            format!(r#"{{"jsonrpc":"2.0","id":2,"result":{{}},"method":{method}}}"#),
        );
        assert!(matches!(outcomes(&mut client)[..], [Err(CallError::Invalid(_))]), "{method}");
        assert!(sent(&mut client).is_empty());
    }
}

/// A handler can tell a question that this client cannot show from one that is invalid.
#[test]
fn what_a_revision_does_not_define_is_unsupported() {
    use crate::schema::{ChoicesField, CreateMessage, Elicit, Form, Map, ToolChoice};
    let choices = || Form::new(Map::default()).field("tags", ChoicesField::of(["a", "b"]));
    let sampling = || CreateMessage::new(Vec::new(), 1).tool_choice(ToolChoice::new());
    for (revision, outcome) in
        [(Revision::V2025_06_18, Err(Misuse::Unsupported)), (Revision::V2025_11_25, Ok(()))]
    {
        let capabilities = r#"{"elicitation":{},"sampling":{"tools":{}}}"#;
        let questions =
            [NeededInput::from(Elicit::form("Which?", choices())), NeededInput::from(sampling())];
        for question in questions {
            let mut server = Server::new(NOW, server_config(Limits::default()));
            receive(
                &mut server,
                format!(
                    r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{
                    "protocolVersion":"{revision}","capabilities":{capabilities},
                    "clientInfo":{{"name":"c","version":"1"}}}}}}"#
                ),
            );
            receive(&mut server, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
            receive(
                &mut server,
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#,
            );
            let [(incoming, ..)] = requests(&mut server)[..] else { panic!("one request") };
            let asked = server.request_input(NOW, incoming, &[("a", question)], None);
            assert_eq!(asked, outcome, "{revision}");
        }
    }
}

/// Which of them counts differs between parsers, so that a proxy may have checked another one.
#[test]
fn requests_that_repeat_what_they_name_are_refused_t_10() {
    let pad = r#","a":1,"b":2,"c":3,"d":4,"e":5"#;
    for (params, is_refused) in [
        (r#""name":"a","name":"b""#, true),
        (r#""name":"a","\u006eame":"b""#, true),
        (r#""name":"a","_meta":{},"_meta":{}"#, true),
        (r#""name":"a","x":1,"x":2"#, false),
    ] {
        for params in [format!("{{{params}}}"), format!("{{{params}{pad}}}")] {
            let mut server = server(R4, Limits::default());
            receive(
                &mut server,
                format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#),
            );
            assert_eq!(requests(&mut server).is_empty(), is_refused, "{params}");
            assert_eq!(sent(&mut server).iter().any(|it| it.contains("-32602")), is_refused);
        }
    }
}
