//! Entries that require scopes: challenges before handlers run, and lists without such entries.

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcp_adapter::http::FixedTokens;
use mcp_adapter::proto::Progress;
use mcp_adapter::proto::schema::{self, CallTool, GetPrompt, PromptArgument};
use mcp_adapter::{
    Cx, Lists, Prompt, Resource, Server, SubscriptionSettings, Template, Tool, Unregistered,
};
use mcp_blocking::http::Http;
use mcp_http_tests::{
    Listener, Reply, Request, Runtime, Served, modern, post, rows, server, text, tool,
};
use serde_json::{Value, json};

use crate::authorized::{bearing, builder, challenge};
use crate::principals::within;

rows! {
    operations_need_the_scopes_of_their_entries_aut_24,
    a_broad_scope_is_enough_aut_30,
    handlers_ask_for_scopes_that_depend_on_arguments_aut_24,
    a_handler_that_has_begun_to_answer_only_fails,
    a_batch_is_refused_whole_aut_24,
    entries_are_hidden_from_tokens_without_their_scopes,
    hidden_resources_have_no_other_way_in,
    hidden_entries_are_not_served_by_fallbacks,
    scopes_of_a_running_server_change_with_its_entries,
    scopes_need_a_server_that_authorizes,
    scopes_are_options_of_marked_methods,
}

/// A server with entries of all kinds that require the scope `write`, and how often they ran.
pub(crate) fn service() -> (Server, Arc<AtomicUsize>) {
    let runs = Arc::new(AtomicUsize::new(0));
    let ran = || {
        let runs = Arc::clone(&runs);
        move || runs.fetch_add(1, Ordering::SeqCst)
    };
    let (tool_ran, resource_ran, template_ran) = (ran(), ran(), ran());
    let (prompt_ran, completion_ran) = (ran(), ran());
    let prompt = schema::Prompt::new("guarded").arguments(vec![PromptArgument::new("name")]);
    let server = server()
        .add(
            Tool::define(tool("guarded"), move || {
                tool_ran();
                "done"
            })
            .requires(["write"]),
        )
        .add(
            Resource::new("note://guarded", "guarded", move || {
                resource_ran();
                "x"
            })
            .requires(["write"]),
        )
        .add(
            Template::new("day://{day}", "days", move || {
                template_ran();
                "x"
            })
            .requires(["write"]),
        )
        .add(
            Prompt::define(prompt, move || {
                prompt_ran();
                "x"
            })
            .completion("name", move || {
                completion_ran();
                vec!["x".to_owned()]
            })
            .requires(["write"]),
        )
        .add(Tool::define(tool("asks"), |arguments: Value, cx: Cx| {
            if arguments["begins"] == true {
                cx.progress(Progress::new(1.0))?;
            }
            let needed = cx.needs_scopes(["write", "more"]);
            if arguments["ignores"] != true {
                needed?;
            }
            Ok("done")
        }))
        .subscriptions(SubscriptionSettings::new().on_change(|_| ()));
    (server, runs)
}

pub(crate) fn options() -> Http {
    let guard = builder().implies("admin", ["write", "more"]).build().unwrap();
    let tokens = FixedTokens::new(&guard)
        .token("reader", "ada", ["notes:read"])
        .token("writer", "ada", ["notes:read", "write"])
        .token("admin", "ada", ["admin"]);
    Http::new().authorizing(guard, tokens)
}

pub(crate) fn call(name: &str, arguments: &Value) -> Request {
    modern("tools/call", json!({"name": name, "arguments": arguments}))
}

/// One request for each kind of entry.
fn operations() -> [Request; 6] {
    let reference = json!({"type": "ref/prompt", "name": "guarded"});
    let read = |uri: &str| modern("resources/read", json!({"uri": uri})).field("Mcp-Name", uri);
    let filter = json!({"resourceSubscriptions": ["note://guarded"]});
    [
        call("guarded", &json!({})),
        read("note://guarded"),
        read("day://today"),
        modern("prompts/get", json!({"name": "guarded"})),
        modern(
            "completion/complete",
            json!({"ref": reference, "argument": {"name": "name", "value": ""}}),
        ),
        modern("subscriptions/listen", json!({"notifications": filter})),
    ]
}

pub(crate) fn assert_forbidden(mut reply: Reply, scopes: &str) {
    let expected = (Some("insufficient_scope".to_owned()), Some(scopes.to_owned()));
    assert_eq!((reply.status, challenge(&reply)), (403, expected));
    let body = reply.json();
    assert_eq!((&body["id"], &body["result"]), (&json!(1), &Value::Null), "{body}");
    assert!(body["error"]["message"].as_str().unwrap().contains(scopes), "{body}");
}

// AUT-24, AUT-65
fn operations_need_the_scopes_of_their_entries_aut_24<R: Runtime>() {
    let (server, runs) = service();
    let served = Served::on::<R>(server, options());
    for request in operations() {
        assert_forbidden(bearing("reader", request).send(served.address), "write");
    }
    assert_eq!(runs.load(Ordering::SeqCst), 0, "no handler has run");
    // In a session, and with a number as id.
    let session = opens(&served);
    let params = json!({"name": "guarded", "arguments": {}});
    let legacy =
        post(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}));
    let legacy = within(&session, legacy);
    assert_forbidden(bearing("reader", legacy.clone()).send(served.address), "write");
    assert_eq!(runs.load(Ordering::SeqCst), 0);
    // What needs no scope works, and so does everything with the scope.
    assert_eq!(bearing("reader", call("echo", &json!({}))).send(served.address).status, 200);
    let mut reply = bearing("writer", legacy).send(served.address);
    assert_eq!(text(&reply.answer()), "done");
    for request in operations() {
        assert_eq!(bearing("writer", request).send(served.address).status, 200);
    }
    assert_eq!(runs.load(Ordering::SeqCst), 6);
}

fn opens(served: &Served) -> String {
    let initialize = mcp_http_tests::initialize();
    let id = bearing("reader", initialize).send(served.address);
    id.field("mcp-session-id").unwrap().to_owned()
}

// AUT-30
fn a_broad_scope_is_enough_aut_30<R: Runtime>() {
    let served = Served::on::<R>(service().0, options());
    for request in operations() {
        assert_eq!(bearing("admin", request).send(served.address).status, 200);
    }
}

// AUT-24, AUT-65
fn handlers_ask_for_scopes_that_depend_on_arguments_aut_24<R: Runtime>() {
    let served = Served::on::<R>(service().0, options());
    let asks = call("asks", &json!({}));
    // All scopes of the operation, also the one that the token has.
    for token in ["reader", "writer"] {
        assert_forbidden(bearing(token, asks.clone()).send(served.address), "write more");
    }
    assert_eq!(text(&bearing("admin", asks).send(served.address).answer()), "done");
    let ignores = call("asks", &json!({"ignores": true}));
    let mut reply = bearing("reader", ignores).send(served.address);
    assert_eq!((reply.status, text(&reply.answer())), (200, "done"));
}

fn a_handler_that_has_begun_to_answer_only_fails<R: Runtime>() {
    let served = Served::on::<R>(service().0, options());
    let begins = call("asks", &json!({"begins": true}));
    let mut reply = bearing("reader", begins).send(served.address);
    assert_eq!((reply.status, reply.field("www-authenticate")), (200, None));
    assert_eq!(reply.message().unwrap()["method"], "notifications/progress");
    let error = reply.message().unwrap()["error"]["message"].take();
    assert!(error.as_str().unwrap().contains("write more"), "{error}");
}

fn a_batch_is_refused_whole_aut_24<R: Runtime>() {
    let (server, runs) = service();
    let served = Served::on::<R>(server, options());
    let initialize = post(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-03-26",
        "capabilities": {},
        "clientInfo": {"name": "row", "version": "1"},
    }}));
    let opened = bearing("reader", initialize).send(served.address);
    let session = opened.field("mcp-session-id").unwrap().to_owned();
    let ready = post(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let in_session = |request: Request| {
        request.field("Mcp-Session-Id", &session).field("MCP-Protocol-Version", "2025-03-26")
    };
    assert_eq!(bearing("reader", in_session(ready)).send(served.address).status, 202);
    let member = |id: u64, name: &str| {
        let params = json!({"name": name, "arguments": {"text": "hi"}});
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
    };
    let batch =
        |names: [&str; 2]| in_session(post(&json!([member(1, names[0]), member(2, names[1])])));
    for names in [["echo", "guarded"], ["guarded", "echo"]] {
        let mut reply = bearing("reader", batch(names)).send(served.address);
        let expected = (Some("insufficient_scope".to_owned()), Some("write".to_owned()));
        assert_eq!((reply.status, challenge(&reply)), (403, expected));
        assert!(reply.json()["error"].is_object());
    }
    assert_eq!(runs.load(Ordering::SeqCst), 0);
    let reply = bearing("writer", batch(["echo", "guarded"])).send(served.address);
    assert_eq!((reply.status, runs.load(Ordering::SeqCst) <= 1), (200, true));
    // A subscription is one of the operations.
    let subscribe = json!({"jsonrpc": "2.0", "id": 1, "method": "resources/subscribe",
        "params": {"uri": "note://guarded"}});
    let batch_of = |member: &Value| in_session(post(&json!([member, member])));
    let reply = bearing("reader", batch_of(&subscribe)).send(served.address);
    assert_eq!(reply.status, 403);
    // A handler that asks for scopes is one of several.
    let mut reply = bearing("reader", batch(["asks", "echo"])).send(served.address);
    assert_eq!((reply.status, reply.field("www-authenticate")), (200, None));
    let all = reply.text();
    assert!(all.contains("write more") && all.contains("hi"), "{all}");
}

fn entries_are_hidden_from_tokens_without_their_scopes<R: Runtime>() {
    let served = Served::on::<R>(service().0.lists(Lists::new().hide_forbidden()), options());
    for (token, is_visible) in [("reader", false), ("writer", true), ("admin", true)] {
        for (method, list) in [
            ("tools/list", "tools"),
            ("resources/list", "resources"),
            ("resources/templates/list", "resourceTemplates"),
            ("prompts/list", "prompts"),
        ] {
            let listed = bearing(token, modern(method, json!({}))).send(served.address).answer();
            let entries = listed["result"][list].as_array().unwrap();
            let is_guarded = |entry: &Value| {
                let text = entry.to_string();
                text.contains("guarded") || text.contains("day://")
            };
            assert_eq!(entries.iter().any(is_guarded), is_visible, "{token} {listed}");
            assert_eq!(listed["result"]["cacheScope"], "private");
        }
        let mut reply = bearing(token, call("guarded", &json!({}))).send(served.address);
        assert_eq!(reply.answer()["error"].is_null(), is_visible);
        assert_eq!(reply.field("www-authenticate"), None);
    }
}

fn hidden_resources_have_no_other_way_in<R: Runtime>() {
    // A template without scopes that also matches, and a callback that accepts everything.
    let server =
        service().0.lists(Lists::new().hide_forbidden()).template("note://{name}", "notes", || "x");
    let served = Served::on::<R>(
        server.subscriptions(SubscriptionSettings::new().accept(|_, _| true)),
        options(),
    );
    let read = |uri: &str| modern("resources/read", json!({"uri": uri})).field("Mcp-Name", uri);
    let listen = |uri: &str| {
        let filter = json!({"resourceSubscriptions": [uri, "other://x"]});
        modern("subscriptions/listen", json!({"notifications": filter}))
    };
    for (token, uri, is_visible) in [
        ("reader", "note://guarded", false),
        ("reader", "note://%67uarded", false),
        ("reader", "d%61y://today", false),
        ("reader", "day://today", false),
        ("reader", "note://open", true),
        ("writer", "note://guarded", true),
        ("writer", "note://%67uarded", true),
    ] {
        let answer = bearing(token, read(uri)).send(served.address).answer();
        assert_eq!(answer["error"].is_null(), is_visible, "{token} {answer}");
        let mut reply = bearing(token, listen(uri)).send(served.address);
        let accepted = reply.message().unwrap().to_string();
        assert_eq!(accepted.contains(uri), is_visible, "{token} {accepted}");
        assert!(accepted.contains("other://x"), "{token} {accepted}");
    }
}

fn hidden_entries_are_not_served_by_fallbacks<R: Runtime>() {
    let server = service().0.lists(Lists::new().hide_forbidden()).add(
        Unregistered::new()
            .tool_fallback(|call: CallTool| format!("any {}", call.name))
            .prompt_fallback(|get: GetPrompt| format!("any {}", get.name)),
    );
    let served = Served::on::<R>(server, options());
    let get = |name: &str| modern("prompts/get", json!({"name": name}));
    for (token, name, is_any) in
        [("reader", "guarded", false), ("writer", "guarded", false), ("reader", "other", true)]
    {
        for request in [call(name, &json!({})), get(name)] {
            let answer = bearing(token, request).send(served.address).answer();
            let is_refused = !answer["error"].is_null();
            assert_eq!(is_refused, token == "reader" && !is_any, "{token} {answer}");
            assert_eq!(answer.to_string().contains("any "), is_any, "{token} {answer}");
        }
    }
}

fn scopes_of_a_running_server_change_with_its_entries<R: Runtime>() {
    let (mut server, _) = service();
    let changes = server.changes();
    let served = Served::on::<R>(server, options());
    let guarded = |scope: &'static str| {
        Tool::define(tool("guarded"), || "new").requires([scope]).requires(["more"])
    };
    changes.edit(|edit| edit.replace(guarded("other"))).unwrap();
    let reply = bearing("writer", call("guarded", &json!({}))).send(served.address);
    assert_forbidden(reply, "other more");
    changes.edit(|edit| edit.replace(guarded("write"))).unwrap();
    let mut reply = bearing("admin", call("guarded", &json!({}))).send(served.address);
    assert_eq!(text(&reply.answer()), "new");
    let invalid = changes.edit(|edit| edit.replace(guarded("a b"))).unwrap_err();
    assert!(invalid.to_string().contains("\"a b\""), "{invalid}");
}

fn scopes_need_a_server_that_authorizes<R: Runtime>() {
    let starts = |server: Server, options: Http| {
        let listener = Listener::Tcp(std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap());
        R::serve(&server, listener, options, &mcp_blocking::http::Stop::new()).unwrap_err()
    };
    let error = starts(service().0, Http::new());
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert!(error.to_string().contains("`Http::authorizing`"), "{error}");
    let invalid = Tool::define(tool("invalid"), || "x").requires(["a b"]);
    let error = starts(service().0.add(invalid), options());
    assert!(error.to_string().contains("\"a b\""), "{error}");
    // Added later, they are refused without a way out.
    let mut server = server().template("file:///{name}", "open", || "x");
    let changes = server.changes();
    let served = Served::on::<R>(server, Http::new());
    let started = call("echo", &json!({})).send(served.address);
    assert_eq!(started.status, 200);
    let entry = Tool::define(tool("guarded"), || "done").requires(["write"]);
    changes.edit(|edit| edit.add(entry)).unwrap();
    let answer = call("guarded", &json!({})).send(served.address).answer();
    assert!(
        answer["error"]["message"].as_str().unwrap().contains("does not authorize"),
        "{answer}"
    );
    let entry = Resource::new("file:///a/b", "b", || "x").requires(["write"]);
    changes.edit(|edit| edit.add(entry)).unwrap();
    for uri in ["file:///a/b", "file:///a%2Fb"] {
        let read = modern("resources/read", json!({"uri": uri})).field("Mcp-Name", uri);
        let answer = read.send(served.address).answer();
        assert!(answer["error"].is_object(), "{uri}: {answer}");
    }
}

struct Marked;

#[mcp_blocking::server]
impl Marked {
    /// Deletes all notes.
    #[tool(requires = ["write"])]
    fn guarded(&self) -> &'static str {
        "done"
    }

    #[resource("note://guarded", requires = ["write"])]
    fn note(&self) -> &'static str {
        "x"
    }

    #[resource("day://{day}", requires = ["write"], title = "Days")]
    async fn day(&self) -> &'static str {
        "x"
    }

    #[prompt(name = "guarded", requires = ["write", "more"])]
    fn prompt(&self) -> &'static str {
        "x"
    }
}

fn scopes_are_options_of_marked_methods<R: Runtime>() {
    let served = Served::on::<R>(server().handlers(Marked), options());
    let scopes = ["write", "write", "write", "write more"];
    for (request, scopes) in operations().into_iter().zip(scopes) {
        assert_forbidden(bearing("reader", request.clone()).send(served.address), scopes);
        assert_eq!(bearing("admin", request).send(served.address).status, 200);
    }
}
