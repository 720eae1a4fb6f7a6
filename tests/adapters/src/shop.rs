//! A server that offers every feature, with both async and plain handlers.

use std::time::Duration;

use mcp_adapter::proto::schema::{Elicit, ElicitResult, Level, Resource, Tool};
use mcp_adapter::proto::{ErrorObject, Progress, Raw};
use mcp_adapter::{AsyncCx, Client, Cx, Server, ToolError};
use serde_json::{Value, json};

/// Builds a client that answers when asked for its name.
pub fn client() -> Client {
    Client::new("row", "1.0.0")
        .on_elicitation(|_, _| ElicitResult::accept(raw(&json!({"name": "Ada"}))))
}

/// Builds a server that offers nothing.
pub fn server() -> Server {
    Server::new("shop", "1.0.0")
}

/// Builds a server that offers every feature.
pub fn shop() -> Server {
    server()
        .logging()
        .declare_list_changed()
        .resource(Resource::new("note://one", "one"), |_, _| {
            Err::<Never, _>(ToolError::failed("no"))
        })
        .tool_with_async(tool("echo"), |said: Value, _| async move { Ok(text(&said)) })
        .tool_with(tool("echo_plain"), |said: Value, _| Ok(text(&said)))
        .tool_with_async(tool("fail"), |_: Value, _| async { Err::<String, _>("it failed".into()) })
        .tool_with(tool("fail_plain"), |_: Value, _| Err::<String, _>("it failed".into()))
        .tool_with_async(tool("refuse"), |_: Value, _| async { refuse() })
        .tool_with(tool("refuse_plain"), |_: Value, _| refuse())
        .tool_with_async(tool("panic"), |_: Value, _| async { panics() })
        .tool_with(tool("panic_plain"), |_: Value, _| panics())
        .tool_with_async(tool("count"), |_: Value, cx| async move { count(&cx) })
        .tool_with(tool("count_plain"), |_: Value, cx| count(&cx))
        .tool_with_async(tool("who"), |_: Value, cx| async move { who(&cx) })
        .tool_with(tool("who_plain"), |_: Value, cx| who(&cx))
        .tool_with_async(tool("log"), log)
        .tool_with_async(tool("hang"), |_: Value, _| std::future::pending::<Result<String, _>>())
        .tool_with(tool("hang_plain"), |_: Value, cx| Ok(cx.sleep(Duration::MAX).to_string()))
        .tool_with_async(tool("slow"), |_: Value, cx| async move {
            cx.sleep(SLOW).await;
            Ok("slow")
        })
        .tool_with(tool("slow_plain"), |_: Value, cx| Ok(cx.sleep(SLOW).to_string()))
        .tool_with_async(tool("change"), |_: Value, cx| async move {
            cx.changes().resource_updated("note://one")?;
            Ok("changed")
        })
        .tool_with(tool("pid"), |_: Value, _| Ok(std::process::id().to_string()))
        .tool_with(tool("exit"), |_: Value, _| -> Result<String, ToolError> {
            std::process::exit(7)
        })
}

type Never = mcp_adapter::proto::schema::ReadResourceResult;

/// How long `slow` takes.
const SLOW: Duration = Duration::from_millis(400);

/// How far `count` counts.
const COUNT: u32 = 100;

fn text(said: &Value) -> String {
    said["text"].as_str().unwrap_or_default().to_owned()
}

fn refuse() -> Result<String, ToolError> {
    Err(ToolError::refused(ErrorObject::invalid_params("refused on request")))
}

fn panics() -> Result<String, ToolError> {
    panic!("a secret")
}

fn count(cx: &Cx) -> Result<String, ToolError> {
    (1..=COUNT).try_for_each(|number| cx.progress(Progress::new(number.into())))?;
    Ok(COUNT.to_string())
}

fn who(cx: &Cx) -> Result<String, ToolError> {
    let answer: Value = cx.ask("name", form("Who are you?"))?;
    Ok(answer["name"].as_str().ok_or("no name")?.to_owned())
}

async fn log(arguments: Value, cx: AsyncCx) -> Result<String, ToolError> {
    let times = arguments["times"].as_u64().unwrap_or(1);
    for number in 0..times {
        cx.log(Level::Info, &json!({"number": number, "text": "log".repeat(1000)})).await?;
    }
    Ok(times.to_string())
}

/// Builds a form that accepts anything.
#[must_use]
pub fn form(message: &str) -> Elicit {
    Elicit::form(message, raw(&json!({"type": "object", "properties": {}})))
}

/// Builds a tool that accepts any object.
#[must_use]
pub fn tool(name: &str) -> Tool {
    Tool::new(name, raw(&json!({"type": "object"}))).description("Part of a test")
}

/// Converts JSON to the protocol's type.
#[must_use]
pub fn raw(value: &Value) -> Raw {
    Raw::new(value).unwrap()
}
