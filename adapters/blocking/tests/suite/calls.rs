//! Calls: tools as functions, their errors, paged lists, and calls on closed connections.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcp_blocking::proto::schema::ListTools;
use mcp_blocking::proto::{
    CallError, CloseReason, ErrorObject, Limits, Misuse, Raw, Revision, code,
};
use mcp_blocking::{Error, HandlerError, ListError, Lists, Server, Tool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::common;
use crate::common::{
    Hand, client, connect_by_hand, failure, pair, part, raw, refusal, serve_by_hand, server,
    success, tool, with_timeout,
};

#[derive(Deserialize, JsonSchema)]
struct Forecast {
    city: String,
    #[serde(default)]
    days: u8,
}

fn weather() -> Server {
    server().tool("forecast", "The weather", |wanted: Forecast| {
        format!("{} days of sun in {}", wanted.days, wanted.city)
    })
}

#[test]
fn a_tool_is_called_with_typed_arguments() {
    with_timeout(|| {
        let (client, serving) = pair(client(), weather());
        assert_eq!(&*client.peer().info.name, "test");
        let outcome = client.call_tool("forecast", &json!({"city": "Oslo", "days": 3})).wait();
        assert_eq!(success(outcome), "3 days of sun in Oslo");

        let listed = client.list_tools().wait().unwrap();
        let schema: Value = listed[0].input_schema.parse().unwrap();
        assert_eq!(schema["type"], "object");
        assert_eq!(schema["required"], json!(["city"]));
        assert_eq!(schema["properties"]["city"]["type"], "string");
        part(client, serving);
    });
}

#[test]
fn invalid_arguments_are_tool_errors() {
    with_timeout(|| {
        let (client, serving) = pair(client(), weather());
        let why = failure(client.call_tool("forecast", &json!({"city": 3})).wait());
        assert!(why.contains("invalid arguments") && why.contains("string"), "{why}");
        // Missing arguments count as an empty object, which lacks the city.
        let params = raw(json!({"name": "forecast"}));
        let result: Value = client.call_raw("tools/call", params).wait().unwrap().parse().unwrap();
        assert_eq!(result["isError"], true);
        assert!(result["content"][0]["text"].as_str().unwrap().contains("city"), "{result}");
        part(client, serving);
    });
}

#[test]
fn malformed_tool_calls_are_refused() {
    with_timeout(|| {
        let (client, serving) = pair(client(), weather());
        let unknown = refusal(client.call_tool("oracle", &json!({})).wait());
        assert_eq!(unknown.code, code::INVALID_PARAMS);
        assert!(unknown.message.contains("oracle"), "{unknown}");
        let nameless = refusal(client.call_raw("tools/call", raw(json!({"arguments": {}}))).wait());
        assert_eq!(nameless.code, code::INVALID_PARAMS);
        let array = client.call_tool("forecast", &json!(["Oslo"])).wait();
        assert!(matches!(array, Err(Error::Misuse(Misuse::Unencodable))), "{array:?}");
        let strange = refusal(client.call_raw("weather/predict", Raw::empty_object()).wait());
        assert_eq!(strange.code, code::METHOD_NOT_FOUND);
        part(client, serving);
    });
}

#[test]
fn a_tool_chooses_how_it_fails() {
    with_timeout(|| {
        let server = server().add(tool("fail", |how: Value| -> Result<String, HandlerError> {
            match how["how"].as_str() {
                Some("failed") => Err(HandlerError::failed("it rained")),
                Some("refused") => {
                    Err(HandlerError::refused(ErrorObject::new(-32000, "not today")))
                }
                Some("parsed") => Ok("x".parse::<u8>()?.to_string()),
                _ => Err("what else?")?,
            }
        }));
        let (client, serving) = pair(client(), server);
        let fail = |how: &str| client.call_tool("fail", &json!({"how": how})).wait();
        assert_eq!(failure(fail("failed")), "it rained");
        let refused = refusal(fail("refused"));
        assert_eq!((refused.code, &*refused.message), (-32000, "not today"));
        assert!(failure(fail("parsed")).contains("invalid digit"));
        assert_eq!(failure(fail("")), "what else?");
        part(client, serving);
    });
}

// LOG-08
#[test]
fn a_handler_that_panics_affects_no_other_call_and_its_message_is_not_sent() {
    with_timeout(|| {
        let server = weather()
            .threads_max(1)
            .add(tool("panic", || -> Result<String, HandlerError> { panic!("the secret word") }));
        let (mut hand, serving) = serve_by_hand(server);
        hand.greet(json!({}));
        hand.call_tool(1, "panic", &json!({}));
        let answer = hand.hear();
        assert_eq!(answer["id"], 1);
        assert_eq!(answer["error"]["code"], code::INTERNAL_ERROR);
        assert!(!answer.to_string().contains("secret"), "{answer}");
        hand.call_tool(2, "forecast", &json!({"city": "Oslo"}));
        let answer = hand.hear();
        assert_eq!(
            (&answer["id"], &answer["result"]["content"][0]["text"]),
            (&json!(2), &json!("0 days of sun in Oslo"))
        );
        drop(hand);
        serving.join().unwrap().unwrap();
    });
}

#[test]
fn tools_are_listed_in_order_of_registration_over_all_pages() {
    with_timeout(|| {
        let names = ["zebra", "ant", "mole", "bee", "yak"];
        let server = names.iter().fold(server().lists(Lists::new().page_max(2)), |server, name| {
            server.add(
                Tool::new(name, || "hello")
                    .description("An animal")
                    .input_schema(raw(json!({"type": "object"}))),
            )
        });
        let (client, serving) = pair(client(), server);
        let listed = client.list_tools().wait().unwrap();
        assert_eq!(listed.iter().map(|tool| &*tool.name).collect::<Vec<_>>(), names);

        let page = client.call(ListTools::default()).wait().unwrap();
        assert_eq!(page.tools.len(), 2);
        let lost = refusal(client.call(ListTools::new().cursor("99")).wait());
        assert_eq!(lost.code, code::INVALID_PARAMS);
        part(client, serving);
    });
}

#[derive(Deserialize, JsonSchema)]
struct Nothing;

#[test]
fn a_tool_without_arguments_takes_none_and_an_empty_object() {
    with_timeout(|| {
        let server = server()
            .tool("unit", "Takes nothing", || "called")
            .tool("unit_struct", "Takes nothing", |_: Nothing| "called")
            .tool("unit_async", "Takes nothing", || async { "called" })
            .add(tool("unit_with", || "called"));
        let (client, serving) = pair(client(), server);
        for tool in client.list_tools().wait().unwrap() {
            let without = raw(json!({"name": &*tool.name}));
            let result = client.call_raw("tools/call", without).wait().unwrap();
            assert!(result.as_str().contains("called"), "{result:?}");
            assert_eq!(success(client.call_tool(&tool.name, &json!({})).wait()), "called");
            let with_more = client.call_tool(&tool.name, &json!({"number": 1})).wait();
            assert_eq!(success(with_more), "called", "the schema allows further members");
        }
        part(client, serving);
    });
}

#[test]
fn argument_types_that_are_no_objects_are_refused() {
    let serve =
        |server: Server| server.serve(std::io::empty(), std::io::sink()).wait().unwrap_err();
    for (error, kind) in [
        (serve(server().tool("bad", "", |_: i32| "never")), "`i32`"),
        (serve(server().add(Tool::new("bad", |_: String| "never").always_on_pool())), "String`"),
        (serve(server().tool("bad", "", |_: (u8, u8)| async { "never" })), "(u8, u8)"),
    ] {
        let error = error.to_string();
        let expected = ["the tool `bad` cannot be offered", kind, "use a struct"];
        assert!(expected.iter().all(|part| error.contains(part)), "{error}");
    }
}

#[test]
fn a_list_without_tools_has_one_page() {
    with_timeout(|| {
        let (client, mut hand) = connect_by_hand(client());
        let listing =
            std::thread::spawn(move || client.list_tools().wait().map(|tools| tools.len()));
        let asked = hand.hear();
        hand.answer(&asked, &json!({"tools": []}));
        assert_eq!(listing.join().unwrap().unwrap(), 0);
    });
}

// PAG-02: an empty page is not the last one, either.
#[test]
fn pages_may_have_any_size() {
    with_timeout(|| {
        let (client, mut hand) = connect_by_hand(client());
        let listing =
            std::thread::spawn(move || client.list_tools().wait().map(|tools| tools.len()));
        let sizes = [3, 0, 1, 0, 7, 2];
        for (page, size) in sizes.iter().enumerate() {
            let asked = hand.hear();
            let schema = json!({"type": "object"});
            let tools: Vec<Value> = (0..*size)
                .map(|tool| json!({"name": format!("{page} {tool}"), "inputSchema": schema}))
                .collect();
            let mut result = json!({"tools": tools});
            if page + 1 < sizes.len() {
                result["nextCursor"] = json!(format!("after {page}"));
            }
            hand.answer(&asked, &result);
        }
        assert_eq!(listing.join().unwrap().unwrap(), 13);
    });
}

// PAG-07
#[test]
fn a_list_that_repeats_a_cursor_is_an_error() {
    with_timeout(|| {
        for circle in [&["a", "a"][..], &["a", "b", "a"], &["x", "b", "c", "x"]] {
            let (client, mut hand) = connect_by_hand(client());
            let pages = AtomicUsize::new(0);
            std::thread::scope(|scope| {
                let listing = scope.spawn(|| {
                    let listed = client.list_tools().wait();
                    drop(client);
                    listed
                });
                while let Some(asked) = hand.hear_or_end() {
                    let page = pages.fetch_add(1, Ordering::Relaxed);
                    assert!(page < circle.len(), "requested a page again: {asked}");
                    hand.answer(&asked, &json!({"tools": [], "nextCursor": circle[page]}));
                }
                assert!(matches!(
                    listing.join().unwrap(),
                    Err(Error::List(ListError::RepeatedCursor))
                ));
            });
            assert_eq!(pages.into_inner(), circle.len());
        }
    });
}

/// Lists the tools of a server that has `more` pages after one of two tools.
fn list_within(limits: Limits, more: &[Value]) -> (Result<usize, Error>, Hand) {
    let (client, mut hand) = connect_by_hand(client().limits(limits));
    let listing = std::thread::spawn(move || {
        let listed = client.list_tools().wait().map(|tools| tools.len());
        (listed, client)
    });
    let tool = json!({"name": "any", "inputSchema": {"type": "object"}});
    let asked = hand.hear();
    hand.answer(&asked, &json!({"tools": [tool, tool], "nextCursor": "1"}));
    for page in more {
        let asked = hand.hear();
        hand.answer(&asked, page);
    }
    let (listed, client) = listing.join().unwrap();
    assert!(client.close_reason().is_none());
    drop(client);
    (listed, hand)
}

#[test]
fn a_list_beyond_a_limit_is_an_error_with_its_name() {
    with_timeout(|| {
        let last = json!({"tools": []});
        let exact = Limits { list_entries_max: 2, ..Limits::default() };
        assert_eq!(list_within(exact, std::slice::from_ref(&last)).0.unwrap(), 2);
        for (limits, name) in [
            (Limits { list_entries_max: 1, ..Limits::default() }, "list_entries_max"),
            (Limits { list_bytes_max: 50, ..Limits::default() }, "list_bytes_max"),
        ] {
            let error = list_within(limits, &[]).0.unwrap_err().to_string();
            assert!(error.contains(name), "{error}");
        }
        let soon = Duration::from_millis(50);
        let (listed, mut hand) =
            list_within(Limits { list_timeout: soon, ..Limits::default() }, &[]);
        let error = listed.unwrap_err();
        assert!(
            matches!(error, Error::List(ListError::TimedOut { after }) if after == soon),
            "{error}"
        );
        assert_eq!(hand.hear()["method"], "tools/list");
        assert_eq!(hand.hear()["method"], "notifications/cancelled");
    });
}

#[test]
fn an_invalid_result_is_an_error() {
    with_timeout(|| {
        let (client, mut hand) = connect_by_hand(client());
        let first = client.call_tool("any", &json!({})).start().wait().unwrap();
        let second = client.call_tool("any", &json!({})).start().wait().unwrap();
        let (asked_first, asked_second) = (hand.hear(), hand.hear());
        hand.answer(&asked_second, &json!({"content": "nothing but text"}));
        hand.answer(&asked_first, &json!({"content": []}));
        assert!(matches!(second.wait(), Err(Error::Decode(_))));
        assert!(first.wait().unwrap().content.is_empty());
    });
}

#[test]
fn a_server_that_disconnects_loses_the_calls_in_flight_immediately() {
    with_timeout(|| {
        let (client, mut hand) = connect_by_hand(client());
        let open = client.call_tool("any", &json!({})).start().wait().unwrap();
        hand.hear();
        drop(hand);
        assert!(matches!(open.wait(), Err(Error::Call(CallError::Lost))));
        common::eventually("the connection knows of its end", || {
            client.close_reason() == Some(CloseReason::Peer)
        });
        assert!(matches!(client.ping().wait(), Err(Error::Misuse(Misuse::Closed))));
        assert_eq!(client.close().wait().unwrap(), None);
    });
}

#[test]
fn operations_on_a_closed_connection_fail_immediately() {
    with_timeout(|| {
        let (client, mut hand) = connect_by_hand(client());
        let other = client.clone();
        let mut open = client.call_tool("any", &json!({})).progress(|_| {}).start().wait().unwrap();
        hand.hear();
        client.close().wait().unwrap();
        assert_eq!(open.next_progress().wait().unwrap(), None);
        assert!(matches!(open.wait(), Err(Error::Call(CallError::Lost))));
        assert_eq!(other.close_reason(), Some(CloseReason::Local));
        assert!(matches!(other.ping().wait(), Err(Error::Misuse(Misuse::Closed))));
        let call = other.call_tool("any", &json!({})).wait();
        assert!(matches!(call, Err(Error::Misuse(Misuse::Closed))), "{call:?}");
        assert!(matches!(other.list_tools().wait(), Err(Error::Misuse(Misuse::Closed))));
        let told = other.notify_raw("notifications/roots/list_changed", None).wait();
        assert!(matches!(told, Err(Error::Misuse(_))), "{told:?}");
        assert!(other.stderr().is_empty());
        hand.hear_notification("notifications/cancelled");
        assert_eq!(hand.hear_or_end(), None, "the client disconnects");
        other.close().wait().unwrap();
    });
}

#[test]
fn dropping_the_last_handle_closes_the_connection() {
    with_timeout(|| {
        let (client, serving) = pair(client(), weather());
        let other = client.clone();
        drop(client);
        common::is_alive(&other);
        drop(other);
        serving.join().unwrap().unwrap();
    });
}

#[test]
fn a_fault_of_the_peer_is_reported_on_both_sides() {
    with_timeout(|| {
        // The server answers with an unknown revision.
        let (from_client, to_server) = std::io::pipe().unwrap();
        let (from_server, to_client) = std::io::pipe().unwrap();
        let connecting = std::thread::spawn(move || {
            client().revisions(&Revision::LEGACY).connect(from_server, to_server).wait().map(drop)
        });
        let mut hand = Hand::new(from_client, to_client);
        let hello = hand.hear();
        hand.answer(
            &hello,
            &json!({"protocolVersion": "1999-01-01", "capabilities": {},
            "serverInfo": {"name": "old", "version": "1"}}),
        );
        let failed = connecting.join().unwrap();
        let Err(Error::Start { why: CloseReason::Fault(_), status: None, .. }) = &failed else {
            panic!("{failed:?}")
        };
        assert!(failed.unwrap_err().to_string().contains("1999-01-01"));

        // The client exceeds the number of violations that the server allows.
        let limits = Limits { violations_max: Some(2), ..Default::default() };
        let (mut hand, serving) = serve_by_hand(weather().limits(limits));
        hand.say_line("this\nis\nno\nJSON");
        let ended = serving.join().unwrap();
        assert!(ended.unwrap_err().to_string().contains("Limits::violations_max"));
    });
}
