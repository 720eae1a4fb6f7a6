//! An agent: a model that calls the tools of a server until its task is done.
//!
//! Run it with `cargo run -p mcp-cookbook --example agent -- "sqlite_notes notes.db"
//! 'add {"text":"buy milk"}' 'search {"text":"milk"}'`. The model is a script, a call for each
//! turn, so that the example needs no account: replace `Model::reply` with a request to a real one.
//! Ctrl-C cancels the call in progress.

#![expect(clippy::print_stdout, reason = "it is what the example is for")]

use std::env;
use std::error::Error;
use std::process::Command;
use std::time::Duration;

use mcp_tokio::proto::Raw;
use mcp_tokio::proto::schema::{CallToolResult, ModelApi, ModelTools};
use mcp_tokio::{Client, Connection};
use serde_json::{Value, json};

const API: ModelApi = ModelApi::Anthropic;
const TURNS_MAX: usize = 20;

/// A model that follows a script, from its end.
#[derive(Debug)]
pub(crate) struct Model(pub(crate) Vec<String>);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let server = arguments.next().ok_or("expected the command of a server")?;
    let mut words = server.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words);
    let connection = Client::new("agent", "1.0.0").spawn(command).await?;
    let model = Model(arguments.rev().collect());
    let outcome = tokio::select! {
        outcome = run(&connection, model) => outcome,
        // The other future is dropped, which cancels its call.
        interrupted = tokio::signal::ctrl_c() => {
            interrupted.map(|()| "interrupted".to_owned()).map_err(Into::into)
        }
    };
    connection.close().await?;
    println!("{}", outcome?);
    Ok(())
}

/// Returns the answer of the model, after all its calls.
pub(crate) async fn run(
    connection: &Connection,
    mut model: Model,
) -> Result<String, Box<dyn Error>> {
    let tools = ModelTools::new(connection.list_tools().await?);
    let definitions = tools.definitions(API);
    let mut messages = vec![json!({"role": "user", "content": "Do what the script says."})];
    for _ in 0..TURNS_MAX {
        let content = model.reply(&definitions, &messages);
        messages.push(json!({"role": "assistant", "content": content}));
        let mut results = Vec::new();
        for block in &content {
            match block["type"].as_str() {
                Some("tool_use") => results.push(call(connection, &tools, block).await),
                _ => println!("model: {}", block["text"].as_str().unwrap_or_default()),
            }
        }
        if results.is_empty() {
            return Ok("done".into());
        }
        messages.push(json!({"role": "user", "content": results}));
    }
    Err(format!("the model made calls in {TURNS_MAX} turns and gave no answer").into())
}

/// Makes a call of the model. Failures are results, too, with which the model continues.
async fn call(connection: &Connection, tools: &ModelTools, block: &Value) -> Raw {
    let name = block["name"].as_str().unwrap_or_default();
    let result = match tools.get(name) {
        None => CallToolResult::error(format!("no tool `{name}`")),
        Some(tool) => connection
            .call_tool(&tool.name, &block["input"])
            .progress(|at| println!("{name}: {} of {:?}", at.progress, at.total))
            .timeout(Duration::from_secs(30))
            .timeout_max(Duration::from_secs(300))
            .await
            .unwrap_or_else(|error| CallToolResult::error(error.to_string())),
    };
    API.tool_result(block["id"].as_str().unwrap_or_default(), name, &result)
}

impl Model {
    /// Returns the content blocks of the next message of the model.
    fn reply(&mut self, tools: &Raw, messages: &[Value]) -> Vec<Value> {
        if messages.len() == 1 {
            println!("tools: {tools}");
        } else if let Some(results) = messages.last() {
            println!("results: {}", results["content"]);
        }
        let Some(line) = self.0.pop() else {
            return vec![json!({"type": "text", "text": "I have done it."})];
        };
        let (name, input) = line.split_once(' ').unwrap_or((&line, "{}"));
        let input: Value = serde_json::from_str(input).unwrap_or_default();
        let id = format!("toolu_{}", messages.len());
        vec![json!({"type": "tool_use", "id": id, "name": name, "input": input})]
    }
}
