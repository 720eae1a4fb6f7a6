//! A host of several servers: programs, which it starts, and servers at URLs.
//!
//! Run it with `cargo run -p mcp-cookbook --example multi_host -- notes="sqlite_notes notes.db"
//! weather=http://127.0.0.1:8080/mcp`. It reads commands: `tools`, `call notes.list`, `call
//! notes.add {"text":"milk"}`, `read notes note://1` and `quit`. For a URL, the variable
//! `WEATHER_TOKEN` holds the token. The library starts servers again that end.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "the host talks to its user")]

use std::collections::BTreeMap;
use std::env;
use std::error::Error;
use std::io::stdin;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mcp_smol::http::Remote;
use mcp_smol::proto::schema::{
    Elicit, ElicitResult, ExtraMembers, FormField, List, OrUnknown, Tool,
};
use mcp_smol::proto::{Filter, Raw, printable};
use mcp_smol::{Client, ClientCx, Connection, ConnectionState, ServerProcess};

/// One question at a time, so that two servers do not share an answer.
static TERMINAL: Mutex<()> = Mutex::new(());

struct Server {
    connection: Connection,
    /// The tools as of the last change.
    tools: Arc<Mutex<List<Tool>>>,
}

type Servers = BTreeMap<String, Server>;

fn main() -> Result<(), Box<dyn Error>> {
    let client = Client::new("multi_host", "1.0.0")
        .on_elicitation(ask)
        .on_log(|log, cx| eprintln!("[{}] {:?}: {}", name(cx), log.level, shown(log.data.as_str())))
        .on_connection_state(report);
    smol::block_on(async {
        let mut starting = Vec::new();
        for argument in env::args().skip(1) {
            let (label, target) = argument.split_once('=').ok_or("expected `name=target`")?;
            let (label, target) = (label.to_owned(), target.to_owned());
            let start = connect(client.clone().label(&label), label.clone(), target);
            starting.push((label, smol::spawn(start)));
        }
        let mut servers = Servers::new();
        for (label, start) in starting {
            match start.await {
                Ok(server) => drop(servers.insert(label, server)),
                Err(error) => eprintln!("[{label}] {error}"),
            }
        }
        while let Some(line) = smol::unblock(read_line).await {
            match line.trim() {
                "quit" => break,
                command => match run(&servers, command).await {
                    Ok(output) => println!("{output}"),
                    Err(error) => println!("error: {error}"),
                },
            }
        }
        for server in servers.into_values() {
            server.connection.close().await?;
        }
        Ok(())
    })
}

/// Connects to a URL, or starts a program, and follows the changes of its tools.
async fn connect(client: Client, label: String, target: String) -> Result<Server, mcp_smol::Error> {
    let connection = if target.contains("://") {
        let variable = format!("{}_TOKEN", label.to_uppercase());
        let token = move || env::var(&variable).ok().map(|token| format!("Bearer {token}"));
        client.connect_http(Remote::new(&target)?.authorization(token)).await?
    } else {
        let mut words = target.split_whitespace();
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words);
        let process = ServerProcess::new(command);
        client
            .spawn(process.on_stderr(|line, cx| eprintln!("[{}] {}", name(cx), shown(line))))
            .await?
    };
    let tools = Arc::new(Mutex::new(connection.list_tools().await?));
    smol::spawn(follow(connection.clone(), Arc::clone(&tools))).detach();
    Ok(Server { connection, tools })
}

/// Watches the tools. A server over HTTP that stops ends its subscriptions, and may come back.
async fn follow(connection: Connection, tools: Arc<Mutex<List<Tool>>>) {
    while connection.close_reason().is_none() {
        if let Err(mcp_smol::Error::Misuse(_)) = watch(&connection, &tools).await {
            return; // The server announces no changes.
        }
        smol::Timer::after(Duration::from_secs(1)).await;
    }
}

async fn watch(connection: &Connection, tools: &Mutex<List<Tool>>) -> Result<(), mcp_smol::Error> {
    let mut changes = connection.subscribe(&Filter::new().tools()).await?;
    loop {
        let list = connection.list_tools().await?;
        eprintln!("[{}] has {} tools", connection.label().unwrap_or_default(), list.len());
        *tools.lock().unwrap_or_else(PoisonError::into_inner) = list;
        if changes.next().await?.is_none() {
            return Ok(());
        }
    }
}

async fn run(servers: &Servers, command: &str) -> Result<String, Box<dyn Error>> {
    let (verb, rest) = command.split_once(' ').unwrap_or((command, ""));
    let (target, argument) = rest.split_once(' ').unwrap_or((rest, "{}"));
    let connection = |name: &str| match servers.get(name) {
        Some(server) => Ok(&server.connection),
        None => Err(format!("no server `{name}`")),
    };
    match verb {
        "tools" => Ok(servers.iter().flat_map(lines).collect::<Vec<_>>().join("\n")),
        "call" => {
            let (name, tool) = target.split_once('.').ok_or("expected `call server.tool`")?;
            let result = connection(name)?.call_tool(tool, &Raw::from_text(argument)?).await?;
            let text = shown(&result.to_text());
            Ok(if result.is_error { format!("failed: {text}") } else { text })
        }
        "read" => {
            let result = connection(target)?.read_resource(argument).await?;
            let texts = result.contents.iter().map(|it| it.as_text().unwrap_or("(no text)"));
            Ok(shown(&texts.collect::<Vec<_>>().join(" ")))
        }
        _ => Err(format!("unknown command `{verb}`").into()),
    }
}

/// Returns a line for each tool of a server.
fn lines((label, server): (&String, &Server)) -> Vec<String> {
    let tools = server.tools.lock().unwrap_or_else(PoisonError::into_inner);
    let line = |tool: &Tool| {
        let description = shown(tool.description.as_deref().unwrap_or_default());
        format!("{label}.{}: {description}", shown(&tool.name))
    };
    tools.iter().map(line).collect()
}

/// Asks the user at the terminal what a server wants to know.
fn ask(asked: Elicit, cx: ClientCx) -> ElicitResult {
    let _terminal = TERMINAL.lock().unwrap_or_else(PoisonError::into_inner);
    println!("[{}] asks: {}", name(&cx), shown(&asked.message));
    let OrUnknown::Known(form) = &asked.requested_schema else { return ElicitResult::decline() };
    let mut content = ExtraMembers::new();
    for field in form.fields() {
        match ask_field(field) {
            None => return ElicitResult::cancel(),
            Some(None) => {}
            Some(Some(value)) => content.set(field.name, value),
        }
    }
    println!("  send? (yes or no)");
    match read_line().as_deref().map(str::trim) {
        Some("yes" | "y") => ElicitResult::accept(content),
        Some(_) => ElicitResult::decline(),
        None => ElicitResult::cancel(),
    }
}

/// Asks until the answer fits the field; returns `None` at the end of the input.
fn ask_field(field: FormField<'_>) -> Option<Option<Raw>> {
    println!("  {}: {}", shown(field.title()), shown(&field.expected()));
    loop {
        match field.parse(&read_line()?) {
            Ok(value) => return Some(value),
            Err(error) => println!("  {}", shown(&error.to_string())),
        }
    }
}

fn report(state: &ConnectionState, cx: &ClientCx) {
    let name = name(cx);
    match state {
        ConnectionState::Connected => eprintln!("[{name}] connected"),
        ConnectionState::Lost { reason, .. } => eprintln!("[{name}] lost: {reason}"),
        ConnectionState::Retrying { delay, .. } => eprintln!("[{name}] retries after {delay:?}"),
        ConnectionState::GaveUp { error, .. } => eprintln!("[{name}] gave up: {error}"),
        _ => {}
    }
}

fn read_line() -> Option<String> {
    stdin().lines().next()?.ok()
}

fn name(cx: &ClientCx) -> &str {
    cx.label().unwrap_or("server")
}

/// Returns text of a server without what a terminal would interpret.
fn shown(text: &str) -> String {
    printable(text.as_bytes(), 2000)
}
