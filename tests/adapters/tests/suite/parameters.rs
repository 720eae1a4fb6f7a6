//! What handlers take and return, and what clients receive when a handler refuses.

use mcp_adapter::layers::{Incoming, Next};
use mcp_adapter::proto::schema::{CallTool, CallToolResult, GetPrompt};
use mcp_adapter::proto::{CallError, Principal, Raw, Revision};
use mcp_adapter::tasks::TaskPolicy;
use mcp_adapter::testing::{TestPair, pair};
use mcp_adapter::{
    Client, Cx, Error, FromLayer, HandlerError, Json, Prompt, Server, State, Tool, Unregistered,
};
use serde::Deserialize;
use serde_json::json;

fn connect(server: &Server) -> TestPair {
    pair(server, Client::new("c", "1")).unwrap()
}

fn text(result: &CallToolResult) -> &str {
    result.content.first().and_then(|block| block.as_text()).unwrap_or_default()
}

/// Calls a tool without arguments, and returns the text of its result or the code of its error.
fn call(pair: &mut TestPair, tool: &str) -> Result<String, i64> {
    let called = pair.call_tool(tool, &json!({}));
    called.map(|result| text(&result).to_owned()).map_err(|error| code(error.error()))
}

fn code(error: &Error) -> i64 {
    match error {
        Error::Call(CallError::Refused(error)) => error.code,
        other => panic!("{other}"),
    }
}

#[test]
fn an_error_has_the_form_of_the_request() {
    fn refuse(kind: &str) -> Result<&'static str, HandlerError> {
        Err(match kind {
            "invalid" => HandlerError::invalid("/count", "it must be positive"),
            "denied" => HandlerError::denied("not for you"),
            "internal" => HandlerError::internal("the disk is full"),
            _ => HandlerError::not_found(),
        })
    }
    for (kind, of_tool, of_others) in [
        ("invalid", Ok("invalid arguments: /count: it must be positive".to_owned()), -32602),
        ("denied", Err(-32600), -32600),
        ("internal", Err(-32603), -32603),
        ("missing", Err(-32602), -32602),
    ] {
        let server = Server::new("s", "1")
            .tool("t", "A tool", move || refuse(kind))
            .template("r://{x}", "r", move || refuse(kind))
            .prompt("p", "A prompt", move || refuse(kind))
            .add(Unregistered::new().tool_fallback(move |_: CallTool| refuse(kind)));
        let mut pair = connect(&server);
        assert_eq!(call(&mut pair, "t"), of_tool, "{kind}");
        assert_eq!(call(&mut pair, "other"), of_tool, "{kind}");
        let read = pair.read_resource("r://1").unwrap_err();
        assert_eq!(code(read.error()), of_others, "{kind}");
        let got = pair.call(GetPrompt::new("p")).unwrap_err();
        assert_eq!(code(got.error()), of_others, "{kind}");
        // The code for a resource depends on the revision.
        let legacy = Client::new("c", "1").revisions(&Revision::LEGACY);
        let mut pair = mcp_adapter::testing::pair(&server, legacy).unwrap();
        let read = pair.read_resource("r://1").unwrap_err();
        let of_legacy = if kind == "missing" { -32002 } else { of_others };
        assert_eq!(code(read.error()), of_legacy, "{kind}");
    }
}

#[test]
fn parameters_come_in_any_order() {
    #[derive(Deserialize)]
    struct Add {
        a: i64,
    }

    struct Tenant(&'static str);

    let schema = json!({"type": "object"});
    let sum = |cx: Cx, Json(add): Json<Add>, State(one): State<i64>| {
        format!("{} {}", add.a + *one, cx.principal().is_none())
    };
    let tenant = async |tenant: FromLayer<Tenant>, user: Option<Principal>| {
        format!("{} {}", tenant.0.0, user.is_none())
    };
    let server = Server::new("s", "1")
        .state(1_i64)
        .add(Tool::new("sum", sum).input_schema(schema.clone()))
        .add(Tool::new("raw", |raw: Raw| raw.to_string()).input_schema(schema))
        .tool("tenant", "A tool", tenant)
        .tool("user", "A tool", |user: Principal| user.id().to_owned())
        .layer(|request: Incoming, next: Next| async move {
            if request.name().as_deref() != Some("user") {
                request.set_extension(Tenant("ada"));
            }
            next.run(request).await
        });
    let mut pair = connect(&server);
    let result = pair.call_tool("sum", &json!({"a": 2})).unwrap();
    assert_eq!(text(&result), "3 true");
    assert!(text(&pair.call_tool("sum", &json!({})).unwrap()).contains("missing field `a`"));
    assert_eq!(text(&pair.call_tool("raw", &json!({"b": [1]})).unwrap()), r#"{"b":[1]}"#);
    assert_eq!(call(&mut pair, "tenant"), Ok("ada true".to_owned()));
    assert_eq!(call(&mut pair, "user"), Err(-32600));
    let without = Server::new("s", "1").tool("t", "A tool", |_: FromLayer<Tenant>| "");
    assert_eq!(call(&mut connect(&without), "t"), Err(-32603));
}

#[test]
fn an_entry_without_what_it_needs_is_refused() {
    let refusal = |server: &Server| pair(server, Client::new("c", "1")).unwrap_err().to_string();
    let server = || Server::new("s", "1");
    let untyped = server().add(Tool::new("raw", |_: Raw| ""));
    assert!(refusal(&untyped).contains("Tool::input_schema"), "{}", refusal(&untyped));
    let counting = |count: State<u8>| count.to_string();
    let missing = server().tool("count", "Counts", counting);
    assert!(refusal(&missing).contains("the state `u8`"), "{}", refusal(&missing));
    let mut running = server().tool("t", "A tool", || "");
    let changes = running.changes();
    // An entry that could not be added needs nothing.
    let kept = changes.edit(|edit| {
        let twice = edit.add(Tool::new("t", counting).as_task(TaskPolicy::optional()));
        assert!(twice.unwrap_err().to_string().contains("exists already"));
        Ok(())
    });
    kept.unwrap();
    let mut pair = connect(&running);
    assert_eq!(call(&mut pair, "t"), Ok(String::new()));
    let late = changes.add(Tool::new("count", counting)).unwrap_err().to_string();
    assert!(late.contains("the state `u8`"), "{late}");
    let task = Tool::new("task", || "").as_task(TaskPolicy::optional());
    let late = changes.add(task).unwrap_err().to_string();
    assert!(late.contains("without tasks"), "{late}");
    changes.add(Prompt::new("p", || "hello")).unwrap();
    assert_eq!(pair.call(GetPrompt::new("p")).unwrap().messages.len(), 1);
}
