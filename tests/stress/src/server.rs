//! The server, whose answers tell which call they belong to.

use std::future::pending;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use mcp_adapter::proto::Progress;
use mcp_adapter::{Cx, HandlerError, Lists, Server, Tool};
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
        .lists(Lists::new().announce_changes())
        .resource(NOTE, "one", || "")
        .add(Tool::define(tool("echo"), async |said: Value| number(&said)))
        .add(Tool::define(tool("echo_plain"), |said: Value| number(&said)))
        .add(Tool::define(tool("slow"), async |said: Value, cx: Cx| {
            let _running = Running::begin();
            cx.sleep(pause(&said)).await;
            Ok(number(&said))
        }))
        .add(Tool::define(tool("slow_plain"), |said: Value| {
            let _running = Running::begin();
            thread::sleep(pause(&said));
            number(&said)
        }))
        .add(Tool::define(tool("large"), |said: Value| {
            let length = usize::try_from(said["length"].as_u64().unwrap_or(0)).unwrap_or(0);
            format!("{}{}", number(&said), "x".repeat(length))
        }))
        .add(Tool::define(tool("hang"), async || {
            let _running = Running::begin();
            pending::<Result<String, HandlerError>>().await
        }))
        .add(Tool::define(tool("hang_plain"), |cx: Cx| {
            let _running = Running::begin();
            cx.sleep(Duration::MAX).wait().to_string()
        }))
        .add(Tool::define(tool("panic"), || -> Result<String, HandlerError> { panic!("asked to") }))
        .add(Tool::define(tool("ask"), async |said: Value, cx: Cx| ask(&said, &cx)))
        .add(Tool::define(tool("ask_plain"), |said: Value, cx: Cx| ask(&said, &cx)))
        .add(Tool::define(tool("count"), |said: Value, cx: Cx| {
            (1..=COUNT).try_for_each(|step| cx.progress(Progress::new(step.into())))?;
            Ok(number(&said))
        }))
        .add(Tool::define(tool("change"), |said: Value, cx: Cx| {
            cx.changes().resource_updated(NOTE)?;
            Ok(number(&said))
        }))
        .add(Tool::define(tool("exit"), || -> Result<String, HandlerError> {
            std::process::exit(7)
        }))
}

fn number(said: &Value) -> String {
    said["number"].to_string()
}

fn pause(said: &Value) -> Duration {
    Duration::from_micros(said["micros"].as_u64().unwrap_or(0))
}

fn ask(said: &Value, cx: &Cx) -> Result<String, HandlerError> {
    let answer: Value = cx.ask("number", form(&number(said)))?;
    Ok(answer["number"].as_str().unwrap_or_default().to_owned())
}
