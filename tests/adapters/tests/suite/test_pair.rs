//! Pairs in memory with virtual time: tests of servers without threads.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use mcp_adapter::layers::{Incoming, Next, RateLimit};
use mcp_adapter::proto::schema::{
    self, GetPrompt, ListRoots, ListRootsResult, PromptMessage, ReadResource, ResourceContents,
    Role,
};
use mcp_adapter::proto::{
    CallError, Caller, ErrorObject, Filter, Misuse, Principal, Raw, Revision,
};
use mcp_adapter::testing::{TestPair, pair, pair_as};
use mcp_adapter::{
    Changed, Client, Cx, Error, HandlerError, Lists, Prompt, Resource, Server, Template, Tool,
};
use mcp_adapter_tests::{client, full_server};
use serde_json::json;

const ERAS: [&[Revision]; 2] = [&Revision::LEGACY, &[Revision::V2026_07_28]];

fn text(pair: &mut TestPair, tool: &str) -> String {
    let result = pair.call_tool(tool, &json!({"text": "hello"})).unwrap();
    result.content[0].as_text().unwrap().to_owned()
}

#[test]
fn handlers_of_both_sides_run_in_both_eras() {
    for revisions in ERAS {
        let client = client().revisions(revisions);
        let mut pair = pair(&full_server(), client).unwrap();
        assert!(revisions.contains(&pair.client().revision()));
        for tool in ["echo", "echo_plain"] {
            assert_eq!(text(&mut pair, tool), "hello");
        }
        for tool in ["who", "who_plain"] {
            assert_eq!(text(&mut pair, tool), "Ada");
        }
        assert!(pair.list_tools().unwrap().iter().any(|tool| tool.name == "echo"));
    }
}

// AUT-01
#[test]
fn scopes_have_no_effect_without_http() {
    let reset = Tool::new("reset", || "done").requires(["notes:write"]);
    let mut pair = pair(&Server::new("s", "1").add(reset), client()).unwrap();
    let result = pair.call_tool("reset", &()).unwrap();
    assert_eq!(result.content[0].as_text(), Some("done"));
}

#[test]
fn an_entry_decides_who_sees_it() {
    let only_ada = |caller: &Caller| caller.principal().map(Principal::id) == Some("ada");
    let mut server = Server::new("s", "1")
        .tool("open", "Is visible", || "yes")
        .add(Tool::new("hidden", || "yes").visible_to(only_ada))
        .add(Resource::new("note://hidden", "hidden", || "yes").visible_to(only_ada))
        .add(Template::new("day://{day}", "days", || "yes").visible_to(only_ada))
        .add(Prompt::new("hidden", || "yes").visible_to(only_ada));
    let changes = server.changes();
    let ada = Principal::new("ada").unwrap();
    let mut others = pair(&server, client()).unwrap();
    let mut hers = pair_as(&server, client(), ada).unwrap();
    changes.add(Tool::new("later", || "yes").visible_to(only_ada)).unwrap();
    for (pair, is_visible) in [(&mut others, false), (&mut hers, true)] {
        let tools = pair.list_tools().unwrap();
        let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
        let all = ["open", "hidden", "later"];
        assert_eq!(names, if is_visible { &all[..] } else { &all[..1] });
        assert_eq!(pair.list_resources().unwrap().len(), usize::from(is_visible));
        for tool in ["hidden", "later"] {
            assert_eq!(pair.call_tool(tool, &()).is_ok(), is_visible, "{tool}");
        }
        for uri in ["note://hidden", "day://monday"] {
            assert_eq!(pair.read_resource(uri).is_ok(), is_visible, "{uri}");
        }
        assert_eq!(pair.get_prompt("hidden", &[]).is_ok(), is_visible);
    }
}

#[test]
fn examples_of_arguments_are_part_of_the_schema() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Add {
        _note: Option<String>,
    }

    let schema = json!({"type": "object", "examples": [{}]});
    let add = || Tool::new("add", |_: Add| "added");
    let server = Server::new("s", "1")
        .checked()
        .add(add().example(&json!({"_note": "milk"})).example(&json!({})))
        .add(Tool::new("plain", || "done").example(&json!({})));
    let mut pair = pair(&server, client()).unwrap();
    let tools = pair.list_tools().unwrap();
    let examples = |index: usize| tools[index].input_schema.member("examples").unwrap().to_string();
    assert_eq!((examples(0), examples(1)), (r#"[{"_note":"milk"},{}]"#.into(), "[{}]".into()));
    // Optional arguments may still be null.
    assert_eq!(pair.call_tool_as::<String>("add", &json!({"_note": null})).unwrap(), "added");
    for (tool, why) in [
        (add().example(&1), "the tool `add` cannot be offered: an example of its arguments is not"),
        (add().input_schema(schema).example(&json!({})), "examples already"),
    ] {
        let error = mcp_adapter::testing::pair(&Server::new("s", "1").add(tool), client());
        assert!(error.unwrap_err().to_string().contains(why));
    }
}

#[test]
fn a_handler_passes_on_the_error_with_which_another_server_has_refused_a_call() {
    let mut refused = ErrorObject::new(4001, "no such account");
    refused.data = Some(Raw::from_text("[1]").unwrap());
    let upstream = refused.clone();
    let server = Server::new("s", "1").tool("call", "Calls", move |which: Which| {
        let refused = CallError::Refused(upstream.clone());
        match which.error {
            0 => Err(HandlerError::from(Error::Call(refused))),
            1 => Err(refused.into()),
            _ => Err::<(), HandlerError>(Error::Call(CallError::TimedOut).into()),
        }
    });
    let mut pair = pair(&server, client()).unwrap();
    for error in 0..2 {
        match pair.call_tool("call", &json!({"error": error})).unwrap_err().into_error() {
            Error::Call(CallError::Refused(error)) => assert_eq!(error, refused),
            other => panic!("{other:?}"),
        }
    }
    assert!(pair.call_tool("call", &json!({"error": 2})).unwrap().is_error);
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Which {
    error: u8,
}

#[test]
fn resources_and_prompts_are_read() {
    let server = Server::new("s", "1")
        .resource("note://one", "one", |read: ReadResource| {
            ResourceContents::text(read.uri, "first")
        })
        .add(Prompt::define(schema::Prompt::new("greet"), |get: GetPrompt| {
            let name = get.arguments.as_ref().and_then(|arguments| arguments.get("name"));
            let name = name.map_or("stranger", String::as_str);
            PromptMessage::new(Role::User, format!("hello {name}"))
        }));
    let mut pair = pair(&server, Client::new("c", "1")).unwrap();
    let read = pair.read_resource("note://one").unwrap();
    assert!(format!("{:?}", read.contents).contains("first"));
    let prompt = pair.get_prompt("greet", &[("name", "Ada")]).unwrap();
    assert!(format!("{:?}", prompt.messages).contains("hello Ada"));
}

#[test]
fn a_call_without_an_answer_times_out_in_virtual_time() {
    let began = Instant::now();
    let mut pair = pair(&full_server(), client()).unwrap();
    let error = pair.call_tool("hang", &json!({})).unwrap_err();
    assert!(matches!(error.error(), Error::Call(CallError::TimedOut)), "{error}");
    assert!(
        pair.now().duration_since(mcp_adapter::proto::Instant::ZERO) >= Duration::from_secs(60)
    );
    assert!(began.elapsed() < Duration::from_secs(30));
    // The transcript shows the call and its cancellation.
    let shown = format!("{error:?}");
    assert!(shown.contains("client → ") && shown.contains("\"hang\""), "{shown}");
}

#[test]
fn limits_follow_the_virtual_time() {
    let server = full_server().layer(RateLimit::new(1, Duration::from_secs(10)));
    let mut pair = pair(&server, client()).unwrap();
    assert_eq!(text(&mut pair, "echo"), "hello");
    let refused = pair.call_tool("echo", &json!({"text": "again"})).unwrap_err();
    assert!(refused.to_string().contains("retry in 10000 ms"), "{refused}");
    pair.wait(Duration::from_secs(10));
    assert_eq!(text(&mut pair, "echo"), "hello");
}

#[test]
fn a_call_after_a_long_wait_has_all_its_time() {
    let mut pair = pair(&full_server(), client()).unwrap();
    pair.wait(Duration::from_secs(120));
    assert_eq!(text(&mut pair, "echo"), "hello");
}

type Outcome = Result<ListRootsResult, Error>;

/// Runs a pair in which code of the server makes a request that would block forever, and asserts
/// that the request fails.
fn cannot_block(run: impl FnOnce(Sender<Outcome>, Client) + Send + 'static) {
    let (sends, outcomes) = channel();
    let client = Client::new("c", "1").revisions(&Revision::LEGACY).on_roots(Vec::new);
    let pair = thread::spawn(move || run(sends, client));
    let outcome = outcomes.recv_timeout(Duration::from_secs(30)).expect("it does not block");
    assert!(matches!(outcome, Err(Error::Misuse(Misuse::Blocked))), "{outcome:?}");
    pair.join().unwrap();
}

#[test]
fn callbacks_cannot_wait_for_the_client() {
    cannot_block(|sends, client| {
        let server = Server::new("s", "1")
            .tool("t", "A tool", || ())
            .on_session(move |client| sends.send(client.request(ListRoots::new()).wait()).unwrap());
        pair(&server, client).unwrap().wait(Duration::ZERO);
    });
}

#[test]
fn a_function_after_a_layer_that_waited_cannot_wait_for_the_client() {
    cannot_block(|sends, client| {
        let server = Server::new("s", "1")
            .layer(|request: Incoming, next: Next| async move {
                request.cx().sleep(Duration::from_millis(1)).await;
                next.run(request).await
            })
            .tool("ask", "Asks for the roots", move |cx: Cx| {
                sends.send(cx.client().request(ListRoots::new()).wait())?;
                Ok(())
            });
        pair(&server, client).unwrap().call_tool("ask", &json!({})).unwrap();
    });
}

#[test]
fn the_client_of_a_pair_may_be_authenticated() {
    let server = Server::new("s", "1")
        .tool("who", "Says who asks", |cx: Cx| {
            cx.principal().map_or("no one", Principal::id).to_owned()
        })
        .tool("admin", "Only for Ada", || ())
        .lists(
            Lists::new().visible_to(|entry, cx| entry.name() == "who" || cx.principal().is_some()),
        );
    let ada = Principal::new("ada").unwrap();
    let mut known = pair_as(&server, Client::new("c", "1"), ada).unwrap();
    let mut unknown = pair(&server, Client::new("c", "1")).unwrap();
    for (pair, name, tools) in [(&mut known, "ada", 2), (&mut unknown, "no one", 1)] {
        // `()` means no arguments.
        let result = pair.call_tool("who", &()).unwrap();
        assert_eq!(result.content[0].as_text(), Some(name));
        assert_eq!(pair.list_tools().unwrap().len(), tools);
        assert_eq!(pair.call_tool("admin", &json!({})).is_ok(), tools == 2);
    }
}

// AUT-24, AUT-76: the program authenticates the client, but grants it no scopes.
#[test]
fn an_authenticated_client_of_a_pair_has_no_scopes() {
    let server = Server::new("s", "1")
        .tool("open", "For all", || "open")
        .add(Tool::new("guarded", || "secret").requires(["write"]))
        .tool("asks", "For some", |cx: Cx| {
            cx.needs_scopes(["write"])?;
            Ok("secret")
        })
        .tool("asks_nothing", "For all", |cx: Cx| {
            cx.needs_scopes([])?;
            Ok("open")
        });
    let ada = Principal::new("ada").unwrap();
    let mut known = pair_as(&server, Client::new("c", "1"), ada).unwrap();
    // Without a principal, there is no authorization, as over stdio.
    let mut unknown = pair(&server, Client::new("c", "1")).unwrap();
    for (name, needs_scope) in
        [("open", false), ("guarded", true), ("asks", true), ("asks_nothing", false)]
    {
        let result = known.call_tool(name, &json!({}));
        assert_eq!(result.is_err(), needs_scope, "{name}: {result:?}");
        if let Err(error) = result {
            assert!(error.to_string().contains("write"), "{error}");
        }
        assert!(unknown.call_tool(name, &json!({})).is_ok(), "{name}");
    }
}

#[test]
fn equal_tests_exchange_equal_messages_at_equal_times() {
    let run = || {
        let mut pair = pair(&full_server(), client()).unwrap();
        for tool in ["who", "slow", "count", "fail", "panic_plain"] {
            let _failed = pair.call_tool(tool, &json!({}));
        }
        pair.wait(Duration::from_secs(90));
        pair.to_string()
    };
    let first = run();
    assert!(first.contains("0.400"), "{first}");
    assert_eq!(first, run());
}

#[test]
fn futures_of_the_client_run_on_the_thread_of_the_test() {
    let (here, seen) = (thread::current().id(), Arc::new(Mutex::new(Vec::new())));
    let notified = Arc::clone(&seen);
    let client = Client::new("c", "1").on_notification(move |method, _, _cx| {
        notified.lock().unwrap().push((method.to_owned(), thread::current().id()));
    });
    let mut pair = pair(&full_server(), client).unwrap();
    let connection = pair.client();
    let filter = Filter::new().resource("note://one");
    let mut changes = pair.run(connection.subscribe(&filter)).unwrap();
    pair.call_tool("change", &json!({})).unwrap();
    assert_eq!(pair.run(changes.next()).unwrap(), Some(Changed::Resource("note://one".into())));

    let mut values = Vec::new();
    let call = connection.call_tool("count_plain", &json!({}));
    pair.run(call.progress(|progress| values.push(progress.progress))).unwrap();
    assert_eq!(values.len(), 100);

    pair.run(connection.set_log_level(schema::Level::Debug)).unwrap();
    seen.lock().unwrap().clear();
    pair.call_tool("log", &json!({})).unwrap();
    // Sent before the response.
    let seen = seen.lock().unwrap();
    assert_eq!(seen.len(), 1);
    assert!(seen.iter().all(|(_, thread)| *thread == here), "{seen:?}");
}

#[test]
fn a_client_that_closes_ends_both_sides() {
    let mut pair = pair(&full_server(), client()).unwrap();
    let connection = pair.client();
    connection.start_close();
    pair.wait(Duration::from_secs(1));
    let error = pair.call_tool("echo", &json!({})).unwrap_err();
    assert!(matches!(error.into_error(), Error::Misuse(_)));
}

#[test]
fn an_invalid_registration_fails_the_pair() {
    let server = Server::new("s", "1").tool("number", "Takes a number", |_: i32| ());
    let error = pair(&server, Client::new("c", "1")).unwrap_err();
    assert!(error.to_string().contains("number"), "{error}");
}
