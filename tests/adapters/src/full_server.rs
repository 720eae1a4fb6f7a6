//! A server that offers every feature, with both async and plain handlers.

use std::time::Duration;

use mcp_adapter::proto::schema::{self, Elicit, ElicitResult, Level};
use mcp_adapter::proto::{ErrorObject, Progress, Raw};
use mcp_adapter::{Client, Cx, HandlerError, Lists, Server, Tool};
use serde_json::{Value, json};

/// Builds a client that answers when asked for its name.
pub fn client() -> Client {
    Client::new("row", "1.0.0")
        .on_elicitation(|| ElicitResult::accept(raw(&json!({"name": "Ada"}))))
}

/// Builds a server that offers nothing.
pub fn server() -> Server {
    Server::new("server", "1.0.0")
}

/// Builds a server that offers every feature.
pub fn full_server() -> Server {
    server()
        .logging()
        .lists(Lists::new().announce_changes())
        .resource("note://one", "one", || Err::<&str, _>(HandlerError::failed("no")))
        .add(Tool::define(tool("echo"), async |arguments: Value| text(&arguments)))
        .add(Tool::define(tool("echo_plain"), |arguments: Value| text(&arguments)))
        .add(Tool::define(tool("fail"), async || Err::<String, _>("it failed".into())))
        .add(Tool::define(tool("fail_plain"), || Err::<String, _>("it failed".into())))
        .add(Tool::define(tool("refuse"), async || refuse()))
        .add(Tool::define(tool("refuse_plain"), refuse))
        .add(Tool::define(tool("panic"), async || panics()))
        .add(Tool::define(tool("panic_plain"), panics))
        .add(Tool::define(tool("count"), async |cx: Cx| count(&cx)))
        .add(Tool::define(tool("count_plain"), |cx: Cx| count(&cx)))
        .add(Tool::define(tool("who"), async |cx: Cx| who(&cx)))
        .add(Tool::define(tool("who_plain"), |cx: Cx| who(&cx)))
        .add(Tool::define(tool("log"), log))
        .add(Tool::define(tool("hang"), std::future::pending::<Result<String, _>>))
        .add(Tool::define(tool("hang_plain"), |cx: Cx| cx.sleep(Duration::MAX).wait().to_string()))
        .add(Tool::define(tool("slow"), async |cx: Cx| {
            cx.sleep(SLOW).await;
            "slow"
        }))
        .add(Tool::define(tool("slow_plain"), |cx: Cx| cx.sleep(SLOW).wait().to_string()))
        .add(Tool::define(tool("change"), async |cx: Cx| {
            cx.changes().resource_updated("note://one")?;
            Ok("changed")
        }))
        .add(Tool::define(tool("pid"), || std::process::id().to_string()))
        .add(Tool::define(tool("exit"), || -> String { std::process::exit(7) }))
}

/// How long `slow` takes.
const SLOW: Duration = Duration::from_millis(400);

/// How far `count` counts.
const COUNT: u32 = 100;

fn text(arguments: &Value) -> String {
    arguments["text"].as_str().unwrap_or_default().to_owned()
}

fn refuse() -> Result<String, HandlerError> {
    Err(HandlerError::refused(ErrorObject::invalid_params("refused on request")))
}

fn panics() -> Result<String, HandlerError> {
    panic!("a secret")
}

fn count(cx: &Cx) -> Result<String, HandlerError> {
    (1..=COUNT).try_for_each(|number| cx.progress(Progress::new(number.into())))?;
    Ok(COUNT.to_string())
}

fn who(cx: &Cx) -> Result<String, HandlerError> {
    let answer: Value = cx.ask("name", form("Who are you?"))?;
    Ok(answer["name"].as_str().ok_or("no name")?.to_owned())
}

async fn log(arguments: Value, cx: Cx) -> Result<String, HandlerError> {
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
pub fn tool(name: &str) -> schema::Tool {
    schema::Tool::new(name, raw(&json!({"type": "object"}))).description("Part of a test")
}

/// Converts JSON to the protocol's type.
#[must_use]
pub fn raw(value: &Value) -> Raw {
    Raw::new(value).unwrap()
}
