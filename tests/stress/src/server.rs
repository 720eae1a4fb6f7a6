//! The server, whose answers tell which call they belong to.

use std::future::pending;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use mcp_adapter::proto::Progress;
use mcp_adapter::proto::schema::{ReadResourceResult, Resource};
use mcp_adapter::{Cx, Server, ToolError};
use mcp_adapter_tests::{form, tool};
use serde_json::Value;

/// The resource that the tool `change` changes.
pub(crate) const NOTE: &str = "note://one";

/// How many steps the tool `count` reports.
pub(crate) const COUNT: u32 = 20;

/// The number of handlers that run.
static RUNNING: AtomicUsize = AtomicUsize::new(0);

/// Returns the number of handlers that run.
pub(crate) fn running() -> usize {
    RUNNING.load(Ordering::SeqCst)
}

/// Counts a handler until dropped.
struct Running;

impl Running {
    fn begin() -> Self {
        RUNNING.fetch_add(1, Ordering::SeqCst);
        Self
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Builds the server.
pub(crate) fn server() -> Server {
    Server::new("stress", "1.0.0")
        .logging()
        .declare_list_changed()
        .resource(Resource::new(NOTE, "one"), |_, _| Err::<ReadResourceResult, _>("no".into()))
        .tool_with_async(tool("echo"), |said: Value, _| async move { Ok(number(&said)) })
        .tool_with(tool("echo_plain"), |said: Value, _| Ok(number(&said)))
        .tool_with_async(tool("slow"), |said: Value, cx| async move {
            let _running = Running::begin();
            cx.sleep(pause(&said)).await;
            Ok(number(&said))
        })
        .tool_with(tool("slow_plain"), |said: Value, _| {
            let _running = Running::begin();
            thread::sleep(pause(&said));
            Ok(number(&said))
        })
        .tool_with(tool("large"), |said: Value, _| {
            let length = usize::try_from(said["length"].as_u64().unwrap_or(0)).unwrap_or(0);
            Ok(format!("{}{}", number(&said), "x".repeat(length)))
        })
        .tool_with_async(tool("hang"), |_: Value, _| async {
            let _running = Running::begin();
            pending::<Result<String, ToolError>>().await
        })
        .tool_with(tool("hang_plain"), |_: Value, cx| {
            let _running = Running::begin();
            Ok(cx.sleep(Duration::MAX).to_string())
        })
        .tool_with(tool("panic"), |_: Value, _| -> Result<String, ToolError> { panic!("asked to") })
        .tool_with_async(tool("ask"), |said: Value, cx| async move { ask(&said, &cx) })
        .tool_with(tool("ask_plain"), |said: Value, cx| ask(&said, &cx))
        .tool_with(tool("count"), |said: Value, cx| {
            (1..=COUNT).try_for_each(|step| cx.progress(Progress::new(step.into())))?;
            Ok(number(&said))
        })
        .tool_with(tool("change"), |said: Value, cx| {
            cx.changes().resource_updated(NOTE)?;
            Ok(number(&said))
        })
        .tool_with(tool("exit"), |_: Value, _| -> Result<String, ToolError> {
            std::process::exit(7)
        })
}

fn number(said: &Value) -> String {
    said["number"].to_string()
}

fn pause(said: &Value) -> Duration {
    Duration::from_micros(said["micros"].as_u64().unwrap_or(0))
}

fn ask(said: &Value, cx: &Cx) -> Result<String, ToolError> {
    let answer: Value = cx.ask("number", form(&number(said)))?;
    Ok(answer["number"].as_str().unwrap_or_default().to_owned())
}
