//! A server over stdin and stdout with three tools: a function, a future that reports progress, and
//! a future that asks the user.
//!
//! `cargo run --example smol_client -p mcp-smol` starts it and calls its tools. On its own,
//! `cargo run --example smol_server -p mcp-smol` waits for an MCP client on stdin.

use std::time::Duration;

use mcp_smol::proto::Progress;
use mcp_smol::{Cx, HandlerError, Server};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Division {
    dividend: i64,
    divisor: i64,
}

#[derive(Deserialize, JsonSchema)]
struct Countdown {
    /// Where to start.
    from: u32,
}

#[derive(Deserialize, JsonSchema)]
struct Name {
    /// What to call you.
    name: String,
}

fn main() -> Result<(), mcp_smol::Error> {
    smol::block_on(server().serve_stdio())
}

pub(crate) fn server() -> Server {
    Server::new("tools", "1.0.0")
        .tool("divide", "Divides two integers", divide)
        .tool("count_down", "Counts down to zero, ten numbers a second", count_down)
        .tool("greet", "Greets the user by name", greet)
}

/// A function: runs on the server's thread pool and may block.
fn divide(division: Division) -> Result<String, HandlerError> {
    let quotient = division.dividend.checked_div(division.divisor);
    // The model reads the message of an error and can correct its call.
    Ok(quotient.ok_or("the quotient does not exist; use another divisor")?.to_string())
}

/// A future: a task of the executor, dropped at its current wait if the client cancels the call.
async fn count_down(countdown: Countdown, cx: Cx) -> Result<&'static str, HandlerError> {
    for done in 1..=countdown.from {
        cx.sleep(Duration::from_millis(100)).await;
        cx.progress(Progress::new(done.into()).with_total(countdown.from.into()))?;
    }
    Ok("lift-off")
}

/// Runs a second time from the start once the user has answered.
async fn greet(cx: Cx) -> Result<String, HandlerError> {
    let user: Name = cx.ask_form("name", "Who are you?")?;
    Ok(format!("Good morning, {}.", user.name))
}
