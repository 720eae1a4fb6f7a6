//! A host of several servers: programs, which it starts, and servers at URLs.
//!
//! Run it with `cargo run -p mcp-cookbook --example multi_host -- notes="sqlite_notes notes.db"
//! weather=http://127.0.0.1:8080/mcp`. It reads commands: `tools`, `call notes.add {"text":"milk"}`,
//! `read notes note://1` and `quit`.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "the host talks to its user")]

use std::collections::BTreeMap;
use std::error::Error;
use std::process::Command;
use std::{env, io};

use mcp_smol::http::Remote;
use mcp_smol::proto::schema::{Elicit, ElicitResult};
use mcp_smol::proto::{Filter, Raw};
use mcp_smol::{Client, ClientCx, Connection, ServerProcess};
use smol::io::{AsyncBufReadExt as _, BufReader};
use smol::stream::StreamExt as _;

type Servers = BTreeMap<String, Connection>;

fn main() -> Result<(), Box<dyn Error>> {
    smol::block_on(async {
        let client = Client::new("multi_host", "1.0.0")
            .on_elicitation(ask)
            .on_log(|log, cx| eprintln!("[{}] {}", name(cx), log.data));
        let mut servers = Servers::new();
        for argument in env::args().skip(1) {
            let (label, target) = argument.split_once('=').ok_or("expected `name=target`")?;
            match connect(client.clone().label(label), target).await {
                Ok(connection) => drop(servers.insert(label.to_owned(), connection)),
                Err(error) => eprintln!("{label}: {error}"),
            }
        }
        servers.values().for_each(watch);
        let mut lines = BufReader::new(smol::Unblock::new(io::stdin())).lines();
        while let Some(line) = lines.next().await {
            match line?.trim() {
                "quit" => break,
                command => match run(&servers, command).await {
                    Ok(output) => println!("{output}"),
                    Err(error) => println!("error: {error}"),
                },
            }
        }
        for connection in servers.into_values() {
            connection.close().await?;
        }
        Ok(())
    })
}

/// Connects to a URL, or starts a program.
async fn connect(client: Client, target: &str) -> Result<Connection, mcp_smol::Error> {
    if target.contains("://") {
        return client.connect_http(Remote::new(target)?).await;
    }
    let mut words = target.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words);
    let server = ServerProcess::new(command);
    client.spawn(server.on_stderr(|line, cx| eprintln!("[{}] {line}", name(cx)))).await
}

/// Announces changes of the server's tools, in the background.
fn watch(connection: &Connection) {
    let connection = connection.clone();
    smol::spawn(async move {
        let Ok(mut changes) = connection.subscribe(&Filter::new().tools()).await else { return };
        while let Ok(Some(_)) = changes.next().await {
            println!("the tools of {} changed", connection.label().unwrap_or_default());
        }
    })
    .detach();
}

async fn run(servers: &Servers, command: &str) -> Result<String, Box<dyn Error>> {
    let (verb, rest) = command.split_once(' ').unwrap_or((command, ""));
    let (target, argument) = rest.split_once(' ').unwrap_or((rest, "{}"));
    let server = |name: &str| servers.get(name).ok_or_else(|| format!("no server `{name}`"));
    match verb {
        "tools" => {
            let mut lines = String::new();
            for (name, connection) in servers {
                for tool in connection.list_tools().await? {
                    lines += &format!(
                        "{name}.{}: {}\n",
                        tool.name,
                        tool.description.unwrap_or_default()
                    );
                }
            }
            Ok(lines)
        }
        "call" => {
            let (name, tool) = target.split_once('.').ok_or("expected `call server.tool`")?;
            let arguments = Raw::from_text(argument)?;
            let result = server(name)?.call_tool(tool, &arguments).await?;
            let texts = result.content.iter().map(|it| it.as_text().unwrap_or("(no text)"));
            Ok(texts.collect::<Vec<_>>().join("\n"))
        }
        "read" => Ok(format!("{:?}", server(target)?.read_resource(argument).await?.contents)),
        _ => Err(format!("unknown command `{verb}`").into()),
    }
}

/// Shows a question of a server. Without a user interface for forms, it is declined.
fn ask(form: Elicit, cx: ClientCx) -> ElicitResult {
    println!("{} asks: {} (declined)", name(&cx), form.message);
    ElicitResult::decline()
}

fn name(cx: &ClientCx) -> &str {
    cx.label().unwrap_or("server")
}
