//! A server on stdin and stdout with a few tools, to try clients on: one echoes, one takes its
//! time, one floods the client with log messages, one panics.

use std::time::Duration;

use mcp_blocking::proto::schema::Level;
use mcp_blocking::{Cx, HandlerError, Server};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Text {
    text: String,
}

#[derive(Deserialize, JsonSchema)]
struct Number {
    number: u32,
}

fn main() -> Result<(), mcp_blocking::Error> {
    Server::new("echo", "1.0.0")
        .logging()
        .tool("echo", "Returns its text", |echo: Text| echo.text)
        .tool("flood", "Logs so many messages", flood)
        .tool("panic", "Panics", panics)
        .tool("sleep", "Takes so many milliseconds", sleep)
        .serve_stdio()
        .wait()
}

fn flood(flood: Number, cx: Cx) -> Result<String, HandlerError> {
    for number in 1..=flood.number {
        cx.log(Level::Info, &format!("flood {number}")).wait()?;
    }
    Ok(format!("logged {}", flood.number))
}

fn sleep(sleep: Number, cx: Cx) -> &'static str {
    let is_cancelled = cx.sleep(Duration::from_millis(sleep.number.into())).wait();
    if is_cancelled { "woken" } else { "slept" }
}

#[expect(clippy::panic, reason = "it is what the tool is for")]
fn panics() -> String {
    panic!("as it was asked to")
}
