//! Tests of a ten-line server and of a client that answers questions, written with the test kit.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::time::Duration;

use mcp_proto::client::{self, Client};
use mcp_proto::schema::{CallTool, CallToolResult, Decode, Elicit, ElicitResult, Form, Map};
use mcp_proto::server::{self, Server};
use mcp_proto::stdio::Stdio;
use mcp_proto::testing::{Chunking, Pair};
use mcp_proto::{
    CallError, CallOptions, Capability, Endpoint, ErrorObject, Instant, NeededInput, Raw, Revision,
    Side,
};

// ---- The server under test. ----

fn serve(server: &mut Stdio<Server>, now: Instant, event: server::Event) {
    let server::Event::Request { incoming, request, .. } = event else { return };
    match &*request.method {
        "tools/call" => server.respond(now, incoming, &CallToolResult::text("sunny")),
        method => server.respond_error(now, incoming, &ErrorObject::method_not_found(method)),
    }
    .unwrap();
}

// ---- Its tests. ----

fn pair(revision: Revision) -> Pair {
    let client = client::Config::new("test", "1").revisions(&[revision]);
    let server = server::Config::new("weather", "1.0.0").capability(Capability::Tools);
    let mut pair = Pair::new(client.capability(Capability::ElicitationForm), server);
    pair.on_server_event(serve);
    pair
}

#[test]
fn calls_are_answered_in_every_revision_over_any_pipe() {
    for revision in Revision::ALL {
        for seed in 0..50 {
            let mut pair = pair(revision);
            pair.shuffle(seed);
            pair.to_server.capacity = 40;
            pair.drive();
            let call = pair
                .client
                .call(pair.now, &CallTool::new("today"), CallOptions::default())
                .unwrap();
            let result = CallToolResult::decode(&pair.outcome(call).unwrap()).unwrap();
            assert_eq!(result.content[0].as_text(), Some("sunny"), "{revision} {pair}");
            pair.finish();
        }
    }
}

#[test]
fn inserted_lines_do_not_disturb_the_connection() {
    let mut pair = pair(Revision::V2025_11_25);
    pair.to_server.chunking = Chunking::Bytes(1);
    pair.drive();
    pair.insert_line(Side::Client, b"DEBUG: connected");
    pair.insert_line(
        Side::Client,
        br#"{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"today"}}"#,
    );
    let call = pair.client.call(pair.now, &CallTool::new("today"), CallOptions::default()).unwrap();
    pair.outcome(call).unwrap();
    // The client reports and ignores a response to an unknown request.
    pair.finish();
    assert!(pair.to_string().contains(r#""id":"x","result""#), "{pair}");
}

#[test]
fn a_call_is_lost_with_the_pipe_and_times_out_with_a_stall() {
    let mut pair = pair(Revision::V2026_07_28);
    pair.drive();
    pair.to_server.is_stalled = true;
    let options = CallOptions { timeout: Some(Duration::from_secs(5)), ..CallOptions::default() };
    let slow = pair.client.call(pair.now, &CallTool::new("today"), options).unwrap();
    pair.wait(Duration::from_secs(5));
    assert_eq!(pair.outcome(slow), Err(CallError::TimedOut));
    let lost = pair.client.call(pair.now, &CallTool::new("today"), CallOptions::default()).unwrap();
    pair.to_client.cut(pair.now);
    assert_eq!(pair.outcome(lost), Err(CallError::Lost));
    assert!(pair.client.is_closed());
}

/// Returns the panic message of a failing test.
fn failure(test: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(test)).unwrap_err();
    payload.downcast_ref::<String>().unwrap().clone()
}

#[test]
fn an_unanswered_request_is_reported_with_seed_and_transcript() {
    let failure = failure(|| {
        let mut pair = pair(Revision::V2025_06_18);
        pair.on_server_event(|_, _, _| ());
        pair.shuffle(12);
        pair.drive();
        pair.client.call(pair.now, &CallTool::new("today"), CallOptions::default()).unwrap();
        pair.finish();
    });
    for part in [
        "request 2 of the client (tools/call) was not answered",
        "seed 12",
        "client → {\"jsonrpc\"",
    ] {
        assert!(failure.contains(part), "{part} in {failure}");
    }
}

#[test]
fn an_incomplete_call_is_reported_with_seed_and_transcript() {
    let failure = failure(|| {
        let mut pair = pair(Revision::V2025_06_18);
        pair.on_server_event(|_, _, _| ());
        pair.shuffle(77);
        pair.drive();
        let call =
            pair.client.call(pair.now, &CallTool::new("today"), CallOptions::default()).unwrap();
        let _never = pair.outcome(call);
    });
    for part in [
        "call#2 did not complete",
        "seed 77",
        "client → {\"jsonrpc\"",
        "tools/call",
        "server ! Request",
    ] {
        assert!(failure.contains(part), "{part} in {failure}");
    }
}

/// Tests a client; the test acts as the server.
#[test]
fn a_client_that_answers_questions() {
    fn attend(client: &mut Stdio<Client>, now: Instant, event: client::Event) {
        if let client::Event::Request { incoming, .. } = event {
            let ada = ElicitResult::accept(Raw::from_text(r#"{"name":"Ada"}"#).unwrap());
            client.respond(now, incoming, &ada).unwrap();
        }
    }
    for revision in [Revision::V2025_06_18, Revision::V2026_07_28] {
        let mut pair = pair(revision);
        let greeted = Rc::new(RefCell::new(Vec::new()));
        let greetings = Rc::clone(&greeted);
        pair.on_client_event(attend);
        pair.on_server_event(move |server, now, event| {
            let server::Event::Request { incoming, context, .. } = event else { return };
            match context.input_responses {
                Some(answers) => {
                    greetings
                        .borrow_mut()
                        .push(answers.get("who").unwrap().member("content").unwrap());
                    server.respond(now, incoming, &CallToolResult::text("hello")).unwrap();
                }
                None => {
                    let form =
                        NeededInput::from(Elicit::new("Who are you?", Form::new(Map::new())));
                    server.request_input(now, incoming, &[("who", form)], None).unwrap();
                }
            }
        });
        pair.drive();
        pair.client.call(pair.now, &CallTool::new("greet"), CallOptions::default()).unwrap();
        pair.finish();
        let greeted: Vec<String> = greeted.borrow().iter().map(ToString::to_string).collect();
        assert_eq!(greeted, [r#"{"name":"Ada"}"#], "{pair}");
    }
}
