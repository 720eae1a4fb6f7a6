//! Tests of the bounds on what a modern server can make its client retain.

use alloc::format;
use alloc::string::String;

use crate::client::{Client, Config, Event};
use crate::server::{self, Server};
use crate::vocabulary::{CallError, CallOptions, IncomingId, NeededInput};
use crate::{Instant, Limits, MessageEndpoint, Misuse, Revision, StreamId};

const NOW: Instant = Instant::ZERO;

fn receive(client: &mut Client, message: &str) {
    client.handle_message(NOW, StreamId::ONLY, message.as_bytes());
}

/// Returns a client with one pending call, whose wire id is 2.
fn client(limits: Limits) -> Client {
    let config = Config::new("test", "1").revisions(&[Revision::V2026_07_28]).limits(limits);
    let config =
        config.capabilities(crate::schema::Capabilities::none().with(crate::Capability::Roots));
    let mut client = Client::new(NOW, config);
    receive(
        &mut client,
        r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete",
        "supportedVersions":["2026-07-28"],
        "capabilities":{"tools":{}}}}"#,
    );
    let params = crate::Raw::from_text(r#"{"name":"t"}"#).unwrap();
    client.call_raw(NOW, "tools/call", Some(&params), CallOptions::default()).unwrap();
    while client.poll_event().is_some() {}
    client
}

/// Delivers an `input_required` result with one question `key` of `method`.
fn require_input(client: &mut Client, method: &str, key: &str) {
    receive(
        client,
        &format!(
            r#"{{"jsonrpc":"2.0","id":2,"result":{{"resultType":"input_required","inputRequests":{{
            "{key}":{{"method":"{method}"}}}}}}}}"#
        ),
    );
}

/// Takes the error that the call ended with, if any.
fn ended(client: &mut Client) -> Option<CallError> {
    let mut ended = None;
    while let Some(event) = client.poll_event() {
        if let Event::Completed { outcome: Err(error), .. } = event {
            ended = Some(error);
        }
    }
    ended
}

#[test]
fn the_keys_of_questions_count_towards_requests_bytes_max() {
    let limits = Limits { requests_bytes_max: 1000, ..Limits::default() };
    for (length, is_held) in [(900, true), (1001, false)] {
        let mut client = client(limits.clone());
        require_input(&mut client, "roots/list", &"k".repeat(length));
        assert_eq!(ended(&mut client).is_none(), is_held, "{length}");
    }
}

#[test]
fn error_messages_truncate_the_keys_of_questions() {
    let key = "k".repeat(100_000);
    let twice = format!(r#"{key}":{{"method":"roots/list"}},"{key}"#);
    for (method, key) in [("no/such", &key), ("roots/list", &twice)] {
        let mut client = client(Limits::default());
        require_input(&mut client, method, key);
        let Some(CallError::Invalid(why)) = ended(&mut client) else {
            panic!("it must be invalid")
        };
        let shown: String = why.chars().take(200).collect();
        assert!(why.len() < 400 && shown.contains("kkkk"), "{shown}");
    }
}

#[test]
fn retry_data_is_bounded_over_all_calls_sec_19() {
    let mut client = client(Limits { calls_bytes_max: 2000, ..Limits::default() });
    let params = crate::Raw::from_text(&format!(r#"{{"name":"{}"}}"#, "t".repeat(1000))).unwrap();
    let call = |client: &mut Client, method| {
        client.call_raw(NOW, method, Some(&params), CallOptions::default()).map(|_| ())
    };
    assert_eq!(call(&mut client, "tools/call"), Ok(()));
    assert_eq!(call(&mut client, "tools/call"), Err(Misuse::Blocked));
    // A method that cannot require input is never retried.
    assert_eq!(call(&mut client, "tools/list"), Ok(()));
    receive(
        &mut client,
        r#"{"jsonrpc":"2.0","id":3,"result":{"resultType":"complete","content":[]}}"#,
    );
    assert_eq!(call(&mut client, "tools/call"), Ok(()));
}

#[test]
fn questions_and_state_count_towards_calls_bytes_max_sec_19() {
    for (key, state, leaves_room) in [(50, 50, true), (0, 1500, false), (1500, 2, false)] {
        let mut client = client(Limits { calls_bytes_max: 2000, ..Limits::default() });
        let questions = match key {
            0 => String::new(),
            _ => format!(r#""inputRequests":{{"{}":{{"method":"roots/list"}}}},"#, "k".repeat(key)),
        };
        let result = format!(
            r#"{{"resultType":"input_required",{questions}"requestState":"{}"}}"#,
            "s".repeat(state)
        );
        // Without questions, the first retry is immediate and the second pauses.
        for id in 2..if key == 0 { 4 } else { 3 } {
            receive(&mut client, &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#));
        }
        assert_eq!(ended(&mut client), None);
        let params =
            crate::Raw::from_text(&format!(r#"{{"name":"{}"}}"#, "t".repeat(1000))).unwrap();
        let call = client.call_raw(NOW, "tools/call", Some(&params), CallOptions::default());
        assert_eq!(call.is_ok(), leaves_room, "{key} {state}: {call:?}");
    }
}

#[test]
fn a_call_can_take_the_result_that_requires_input() {
    let mut client = client(Limits::default());
    let params = crate::Raw::from_text(r#"{"name":"t"}"#).unwrap();
    let options = CallOptions { input_required: true, ..CallOptions::default() };
    let mut ends = |id: u64, question: &str| {
        let call = client.call_raw(NOW, "tools/call", Some(&params), options.clone()).unwrap();
        let requests = format!(r#"{{"q":{{"method":"{question}"}}}}"#);
        let result = format!(
            r#"{{"resultType":"input_required","inputRequests":{requests},"requestState":"s"}}"#
        );
        receive(&mut client, &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#));
        let Some(Event::Completed { call: ended, outcome }) = client.poll_event() else {
            panic!("the call has ended")
        };
        assert!(ended == call && client.poll_event().is_none());
        outcome
    };
    let outcome = ends(3, "roots/list").unwrap();
    assert_eq!(outcome.member("requestState").unwrap().to_text().as_deref(), Some("s"));
    // What this side did not declare is not passed on.
    assert!(matches!(ends(4, "sampling/createMessage"), Err(CallError::Invalid(_))));
}

/// Returns a legacy server that has asked the client for its roots about its only request, and the
/// id of that request.
fn asking_server() -> (Server, IncomingId) {
    let config = server::Config::new("s", "1").capability(crate::Capability::Tools);
    let mut server = Server::new(NOW, config);
    for message in [
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",
            "capabilities":{"roots":{}},"clientInfo":{"name":"c","version":"1"}}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"t"}}"#,
    ] {
        server.handle_message(NOW, StreamId::ONLY, message.as_bytes());
    }
    let incoming = loop {
        if let server::Event::Request { incoming, .. } = server.poll_event().unwrap() {
            break incoming;
        }
    };
    server.request_input(NOW, incoming, &[("r", NeededInput::Roots)], None).unwrap();
    assert!(server.poll_event().is_none());
    (server, incoming)
}

#[test]
fn a_request_that_ends_while_the_client_answers_is_cancelled() {
    for message in [
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no"}}"#,
    ] {
        let (mut server, asked) = asking_server();
        server.handle_message(NOW, StreamId::ONLY, message.as_bytes());
        let event = server.poll_event();
        let is_it = matches!(
            event, Some(server::Event::RequestCancelled { incoming, .. }) if incoming == asked
        );
        assert!(is_it && server.poll_event().is_none(), "{event:?}");
    }
    let (mut server, asked) = asking_server();
    let answer = br#"{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}"#;
    server.handle_message(NOW, StreamId::ONLY, &answer[..]);
    let event = server.poll_event();
    let is_it = matches!(event, Some(server::Event::Request { incoming, .. }) if incoming != asked);
    assert!(is_it && server.poll_event().is_none(), "{event:?}");
}
