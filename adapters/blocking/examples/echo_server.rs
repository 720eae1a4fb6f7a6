//! A server on stdin and stdout with a few tools, to try clients on: one echoes, one takes its
//! time, one floods the client with log messages, one panics.

use std::time::Duration;

use mcp_blocking::proto::schema::Level;
use mcp_blocking::{Cx, Serve, Server, ToolError};
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

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

fn main() -> std::io::Result<()> {
    Server::new("echo", "1.0.0")
        .logging()
        .tool("echo", "Returns its text", |echo: Text, _| Ok(echo.text))
        .tool("flood", "Logs so many messages", |flood: Number, cx| {
            (1..=flood.number)
                .try_for_each(|number| cx.log(Level::Info, &format!("flood {number}")))?;
            Ok(format!("logged {}", flood.number))
        })
        .tool("panic", "Panics", panics)
        .tool("sleep", "Takes so many milliseconds", |sleep: Number, cx| {
            let cancelled = cx.sleep(Duration::from_millis(sleep.number.into()));
            Ok(if cancelled { "woken" } else { "slept" })
        })
        .serve_stdio()
}

#[expect(clippy::panic, reason = "it is what the tool is for")]
fn panics(_: Nothing, _: Cx) -> Result<String, ToolError> {
    panic!("as it was asked to")
}
