//! What comes before the handlers of entries: scopes before arguments, in each spelling of a URI,
//! and headers that repeat arguments.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcp_adapter::http::RequestHead;
use mcp_adapter::proto::Raw;
use mcp_adapter::proto::schema::{self, CallTool, PromptArgument};
use mcp_adapter::{Lists, Prompt, Resource, Server, Template, Tool, Unregistered};
use mcp_http_tests::{Request, Runtime, Served, modern, post, rows, server, text};
use serde_json::{Value, json};

use crate::authorized::bearing;
use crate::scopes::{assert_forbidden, call, options, service};

rows! {
    scopes_are_checked_before_arguments_aut_24,
    no_spelling_of_a_uri_leads_past_scopes_sec_02,
    headers_of_unregistered_tools_are_checked_by_their_schema_http_50,
}

// AUT-24
fn scopes_are_checked_before_arguments_aut_24<R: Runtime>() {
    let checks = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&checks);
    let mut who = PromptArgument::new("classified");
    who.required = true;
    let property = json!({"type": "string", "x-mcp-header": "Classified"});
    let schema = json!({"type": "object", "properties": {"classified": property}});
    let server = service()
        .0
        .add(
            Tool::new("mirrored", || "x")
                .input_schema(Raw::new(&schema).unwrap())
                .requires(["write"]),
        )
        .add(
            Prompt::define(schema::Prompt::new("strict").arguments(vec![who]), || "x")
                .requires(["write"]),
        )
        .check_arguments(move |_, _| {
            counted.fetch_add(1, Ordering::SeqCst);
            Err("`classified` is missing".to_owned())
        });
    let served = Served::on::<R>(server, options());
    let reference = json!({"type": "ref/prompt", "name": "strict"});
    let argument = json!({"name": "unknown", "value": ""});
    let mirrored = |token: &str| bearing(token, call("mirrored", &json!({"classified": "x"})));
    let requests = [
        call("guarded", &json!({})),
        modern("prompts/get", json!({"name": "strict"})),
        modern("completion/complete", json!({"ref": reference, "argument": argument})),
    ];
    for request in &requests {
        assert_forbidden(bearing("reader", request.clone()).send(served.address), "write");
    }
    let batch = |token: &str| {
        let params = json!({"name": "guarded", "arguments": {}});
        let member = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        bearing(token, in_batch_session(&served, post(&json!([member]))))
    };
    assert_eq!(batch("reader").send(served.address).status, 403);
    assert_eq!(checks.load(Ordering::SeqCst), 0, "the arguments are not looked at");
    // Neither are the headers that repeat them.
    let (forbidden, checked) = (mirrored("reader"), mirrored("writer"));
    assert_forbidden(forbidden.send(served.address), "write");
    let mut reply = checked.send(served.address);
    assert_eq!((reply.status, &reply.json()["error"]["code"]), (400, &json!(-32020)));
    assert_eq!(checks.load(Ordering::SeqCst), 0);
    // With the scope, the errors say what is wrong.
    let mut reply = bearing("writer", requests[0].clone()).send(served.address);
    assert_eq!(text(&reply.answer()), "`classified` is missing");
    let mut reply = bearing("writer", requests[1].clone()).send(served.address);
    let error = reply.answer()["error"]["message"].to_string();
    assert!(error.contains("classified"), "{error}");
    assert!(checks.load(Ordering::SeqCst) > 0);
}

/// Entries that need the scope `write`: resources, and templates (with braces).
const GUARDED: [&str; 7] = [
    "file:///secret/key",
    "file:///secret%2Fkey",
    "file:///%73ecret%2fkey",
    "file:///secret/{name}",
    "file:///secret%2F{name}",
    "file:///secret{/name}",
    "file:///{directory}/key",
];

/// Templates that need no scope.
const OPEN: [&str; 5] =
    ["file:///{name}", "file:///{+path}", "file:///{directory}/{name}", "file:{+rest}", "{+all}"];

/// Spellings of one path, and one of another path that is encoded twice.
const SPELLINGS: [&str; 8] = [
    "file:///secret/key",
    "file:///secret%2Fkey",
    "file:///secret%2fkey",
    "file:///%73ecret/k%65y",
    "file:///%73ecret%2Fk%65y",
    "file:///secret%252Fkey",
    "file:%2F%2F%2Fsecret%2Fkey",
    "file%3A///secret/key",
];

/// Spellings of paths below `file:///secret/` with reserved characters in the last segment.
const DEEP: [&str; 4] = [
    "file:///secret/dir%2Fkey",
    "file:///secret%2Fdir%2Fkey",
    "file:///secret%2Fdir/key",
    "file:///secret%2Fa%3Fb",
];

// SEC-02, AUT-24
fn no_spelling_of_a_uri_leads_past_scopes_sec_02<R: Runtime>() {
    for (guarded, hides) in GUARDED.into_iter().flat_map(|it| [(it, false), (it, true)]) {
        let served = Served::on::<R>(guarding(guarded, hides), options());
        let is_below = guarded.starts_with("file:///secret") && guarded.ends_with("name}");
        let deep = DEEP.into_iter().filter(|_| is_below);
        for uri in SPELLINGS.into_iter().chain(deep) {
            let what = format!("{guarded} {uri} {hides}");
            let request = modern("resources/read", json!({"uri": uri})).field("Mcp-Name", uri);
            assert_eq!(
                bearing("writer", request.clone()).send(served.address).status,
                200,
                "{what}"
            );
            let mut reply = bearing("reader", request).send(served.address);
            if uri.contains("%25") {
                assert_eq!(reply.status, 200, "{what}: another path");
            } else if hides {
                assert!(reply.answer()["error"].is_object(), "{what}");
            } else {
                assert_forbidden(reply, "write");
            }
        }
    }
}

/// A server in which one entry needs a scope, and templates without scopes match its URI, too.
fn guarding(guarded: &str, hides: bool) -> Server {
    let server = if guarded.contains('{') {
        server().add(Template::new(guarded, "guarded", || "x").requires(["write"]))
    } else {
        server().add(Resource::new(guarded, "guarded", || "x").requires(["write"]))
    };
    let server = OPEN.into_iter().fold(server, |server, open| server.template(open, open, || "x"));
    if hides { server.lists(Lists::new().hide_forbidden()) } else { server }
}

// HTTP-50
fn headers_of_unregistered_tools_are_checked_by_their_schema_http_50<R: Runtime>() {
    let property = json!({"type": "string", "x-mcp-header": "Region"});
    let schema = json!({"type": "object", "properties": {"region": property}});
    let schema = Raw::new(&schema).unwrap();
    let server = service().0.lists(Lists::new().hide_forbidden()).add(
        Unregistered::new().tool_fallback(|call: CallTool| call.name).tool_fallback_schema(
            move |tool, caller| {
                // The head can be read.
                let is_client = caller
                    .data::<RequestHead>()
                    .is_some_and(|head| head.headers.contains_key("host"));
                (is_client && tool != "unknown").then(|| schema.clone())
            },
        ),
    );
    let served = Served::on::<R>(server, options());
    let sent = |tool: &str, region: Option<&str>| {
        let request = bearing("reader", call(tool, &json!({"region": "oslo"})));
        let request = match region {
            Some(region) => request.field("Mcp-Param-Region", region),
            None => request,
        };
        let mut reply = request.send(served.address);
        let (status, body) = (reply.status, reply.answer());
        (status, body["error"]["code"].as_i64())
    };
    assert_eq!(sent("start", Some("oslo")), (200, None));
    assert_eq!(sent("start", Some("bergen")), (400, Some(-32020)));
    assert_eq!(sent("start", None), (400, Some(-32020)));
    // Without a schema, the header is not recognized.
    assert_eq!(sent("unknown", Some("bergen")), (200, None));
    // A registered tool that is hidden for lack of scopes has no schema.
    assert_eq!(sent("guarded", Some("bergen")), sent("guarded", None));
}

/// Adds a request to a new session of a revision with batches.
fn in_batch_session(served: &Served, request: Request) -> Request {
    let params = json!({"protocolVersion": "2025-03-26", "capabilities": {},
        "clientInfo": {"name": "row", "version": "1"}});
    let initialize: Value =
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
    let opened = bearing("reader", post(&initialize)).send(served.address);
    let session = opened.field("mcp-session-id").unwrap().to_owned();
    let within = |request: Request| {
        request.field("Mcp-Session-Id", &session).field("MCP-Protocol-Version", "2025-03-26")
    };
    let ready = post(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    assert_eq!(bearing("reader", within(ready)).send(served.address).status, 202);
    within(request)
}
