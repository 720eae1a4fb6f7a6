//! A client that starts a server, lists its tools and calls them: with progress, with a
//! cancellation, and with a question to the user.
//!
//! Run it with `cargo run --example tokio_client -p mcp-tokio`. It starts itself a second time, as
//! the server of the example `server`.

#[allow(dead_code, reason = "the example `server` also has a main function")]
#[path = "server.rs"]
mod server;

use mcp_tokio::proto::schema::Elicit;
use std::env;
use std::process::Command;

use mcp_tokio::Client;
use mcp_tokio::proto::schema::ElicitResult;
use serde_json::json;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), mcp_tokio::Error> {
    if env::args().nth(1).as_deref() == Some("server") {
        return server::server().serve_stdio().await;
    }
    talk().await
}

#[expect(clippy::print_stdout, reason = "it is what the example is for")]
async fn talk() -> Result<(), mcp_tokio::Error> {
    let mut command = Command::new(env::current_exe()?);
    command.arg("server");
    // A real client shows the form to its user; `form.requested_schema` lists the fields.
    let client = Client::new("client", "1.0.0").on_elicitation(|form: Elicit| {
        println!("the server asks: {}", form.message);
        ElicitResult::accept(json!({"name": "Ada"}))
    });
    let connection = client.spawn(command).await?;

    for tool in connection.list_tools().await? {
        println!("{}: {}", tool.name, tool.description.unwrap_or_default());
    }

    let division = json!({"dividend": 6, "divisor": 0});
    let result = connection.call_tool("divide", &division).await?;
    println!("divide failed: {} ({})", result.is_error, result.to_text());

    let result = connection
        .call_tool("count_down", &json!({"from": 3}))
        .progress(|progress| println!("{} of {:?}", progress.progress, progress.total))
        .await?;
    println!("count_down: {}", result.to_text());

    let long = json!({"from": 1_000_000});
    let mut pending = connection.call_tool("count_down", &long).progress(|_| {}).start().await?;
    let _first = pending.next_progress().await?;
    pending.cancel("too slow"); // dropping it would cancel it, too
    println!("cancelled the long countdown");

    let result = connection.call_tool("greet", &json!({})).await?;
    println!("greet: {}", result.to_text());

    connection.close().await?;
    Ok(())
}
