//! A whole MCP session between two processes, on plain threads.
//!
//! Run it with `cargo run --example quickstart -p mcp-blocking`; the first build takes a minute or
//! two. The program starts itself a second time as the server and talks to it over stdin and
//! stdout.

use mcp_blocking::proto::schema::Elicit;
use std::process::Command;
use std::time::{Duration, Instant};

use mcp_blocking::proto::schema::ElicitResult;
use mcp_blocking::proto::{Progress, Raw, Revision};
use mcp_blocking::{Client, Connection, Cx, Error, HandlerError, Server};
use serde::Deserialize;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    if std::env::args().nth(1).as_deref() == Some("server") { Ok(serve()?) } else { Ok(demo()?) }
}

// ---- the server ----

#[derive(Deserialize, schemars::JsonSchema)]
struct Forecast {
    /// Where.
    city: String,
    /// For how many days.
    days: u32,
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Name {
    /// What to call you.
    name: String,
}

fn serve() -> Result<(), Error> {
    Server::new("weather", "1.0.0")
        .tool("forecast", "The weather of the next days, a day at a time", forecast)
        .tool("greet", "Greets you by name", greet)
        .serve_stdio()
        .wait()
}

fn greet(cx: Cx) -> Result<String, HandlerError> {
    let you: Name = cx.ask_form("name", "Who are you?")?;
    Ok(format!("Good morning, {}.", you.name))
}

fn forecast(wanted: Forecast, cx: Cx) -> Result<String, HandlerError> {
    for day in 1..=wanted.days {
        if cx.sleep(Duration::from_millis(120)).wait() {
            return Err(HandlerError::failed("the client cancelled the forecast"));
        }
        let _cancelled = cx.progress(
            Progress::new(day.into()).with_total(wanted.days.into()).with_message("looking up"),
        );
    }
    Ok(format!("{}: {} days of sun", wanted.city, wanted.days))
}

// ---- the client ----

/// Starts the server and connects to it, speaking these revisions.
#[expect(clippy::print_stdout, reason = "it is what the example is for")]
fn connect(revisions: &[Revision]) -> Result<Connection, Error> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("server");
    let client =
        Client::new("quickstart", "1.0.0").revisions(revisions).on_elicitation(|form: Elicit| {
            println!("   server asks    {:?}", form.message);
            println!("   user answers   \"Ada\"");
            let fields = Raw::from_text(r#"{"name":"Ada"}"#);
            fields.map_or_else(|_| ElicitResult::decline(), ElicitResult::accept)
        });
    let connection = client.spawn(command).wait()?;
    println!("   revision       {} of the {} era", connection.revision(), connection.era());
    Ok(connection)
}

#[expect(clippy::print_stdout, reason = "it is what the example is for")]
fn demo() -> Result<(), Error> {
    let began = Instant::now();
    println!("1. a server in another process");
    let client = connect(&Revision::ALL)?;
    let server = client.peer();
    println!("   name           {:?} {}", server.info.name, server.info.version);

    println!("2. tools");
    for tool in client.list_tools().wait()? {
        println!("   {:<14} {}", tool.name, tool.description.unwrap_or_default());
    }

    println!("3. a call with progress");
    let arguments = serde_json::json!({"city": "Oslo", "days": 4});
    let result = client
        .call_tool("forecast", &arguments)
        .progress(|progress| {
            let total = progress.total.unwrap_or(1.0);
            let bar = "#".repeat((progress.progress / total * 20.0) as usize);
            println!("   progress       [{bar:<20}] {} of {total}", progress.progress);
        })
        .wait()?;
    println!("   result         {:?}", result.to_text());

    println!("4. a call that is cancelled");
    let arguments = serde_json::json!({"city": "Atlantis", "days": 100_000});
    let mut endless = client.call_tool("forecast", &arguments).progress(|_| {}).start().wait()?;
    let first = endless.next_progress().wait()?;
    println!(
        "   progress       {} of 100000, too slow",
        first.map_or(0.0, |progress| progress.progress)
    );
    endless.cancel("too slow");
    let tools = client.list_tools().wait()?;
    println!("   cancelled, and the server still lists its {} tools", tools.len());

    println!("5. a tool that asks back");
    let result = client.call_tool("greet", &serde_json::json!({})).wait()?;
    println!("   result         {:?}", result.to_text());

    println!("6. the tool again, for a client of the legacy era");
    let older = connect(&Revision::LEGACY)?;
    let result = older.call_tool("greet", &serde_json::json!({})).wait()?;
    println!("   result         {:?}", result.to_text());
    older.close().wait()?;

    let status = client.close().wait()?;
    let status = status.map_or_else(|| "unknown".into(), |status| status.to_string());
    println!(
        "7. closed; the server ended with {status}, all in {} ms",
        began.elapsed().as_millis()
    );
    Ok(())
}
