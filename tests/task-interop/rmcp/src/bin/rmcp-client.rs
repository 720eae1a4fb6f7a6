//! Checks a server of ours with the client of the official Rust SDK, which has the tasks extension.
//!
//! `rmcp-client SERVER [ARG…]` prints `ok NAME` or `not ok NAME: why` for each check.

use std::process::{ExitCode, Stdio};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, ClientCapabilities, ClientConfig,
    DetailedTask, GetTaskParams, Implementation, ProtocolVersion, TaskPayload, TaskStatus,
    UpdateTaskParams,
};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt, RunningService};
use rmcp::{RoleClient, ServiceError};
use serde_json::{Value, json};
use tokio::process::Command;

type Client = RunningService<RoleClient, ClientConfig>;
type Outcome = Result<(), String>;

const CHECK_MAX: Duration = Duration::from_secs(10);
const INVALID_PARAMS: i32 = -32602;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let mut failed = 0;
    let mut number = 0;
    let mut report = |name: &str, outcome: Outcome| {
        number += 1;
        match outcome {
            Ok(()) => println!("ok {number} - {name}"),
            Err(why) => {
                failed += 1;
                println!("not ok {number} - {name}: {}", why.replace('\n', " / "));
            }
        }
    };
    match within(connect()).await {
        Ok(client) => {
            report("connect: the server has the tasks extension", declares(&client));
            report("create, poll, result", within(completes(&client)).await);
            report("a task asks its user", within(asks(&client)).await);
            report("a task asks two things together", within(asks_twice(&client)).await);
            report("status messages of a task", within(tells(&client)).await);
            report("a tool that fails completes its task", within(tool_fails(&client)).await);
            report("a request that fails fails its task", within(request_fails(&client)).await);
            report("a task is cancelled", within(cancels(&client)).await);
            report("an unknown id is refused", within(unknown(&client)).await);
            report("a tool without tasks responds immediately", within(plain(&client)).await);
            report("the end", client.cancel().await.map(drop).map_err(|error| error.to_string()));
        }
        Err(why) => report("connect", Err(why)),
    }
    println!("1..{number}\n# {} passed, {failed} failed", number - failed);
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

async fn within<T>(check: impl Future<Output = Result<T, String>>) -> Result<T, String> {
    let late = format!("nothing after {} s", CHECK_MAX.as_secs());
    tokio::time::timeout(CHECK_MAX, check).await.unwrap_or(Err(late))
}

fn holds(condition: bool, why_not: impl FnOnce() -> String) -> Outcome {
    if condition { Ok(()) } else { Err(why_not()) }
}

async fn connect() -> Result<Client, String> {
    let mut arguments = std::env::args().skip(1);
    let mut server = Command::new(arguments.next().ok_or("usage: rmcp-client SERVER [ARG…]")?);
    server.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut server = server.spawn().map_err(|error| error.to_string())?;
    let pipes = server.stdout.take().zip(server.stdin.take()).ok_or("there are no pipes")?;
    // It ends with its input.
    tokio::spawn(async move { server.wait().await });
    let capabilities = ClientCapabilities::builder().enable_elicitation().enable_tasks().build();
    let config = ClientConfig::new(capabilities, Implementation::new("rmcp-client", "1.0.0"));
    let mode =
        ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
    config.serve_with_lifecycle(pipes, mode).await.map_err(|error| error.to_string())
}

fn declares(client: &Client) -> Outcome {
    let capabilities = client.peer_info().map(|info| info.capabilities.clone());
    holds(capabilities.as_ref().is_some_and(|it| it.supports_tasks()), || {
        format!("{capabilities:?}")
    })
}

async fn call(client: &Client, tool: &str, arguments: Value) -> Result<CallToolResponse, String> {
    let arguments = serde_json::from_value(arguments).map_err(|error| error.to_string())?;
    let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
    client.call_tool_once(params).await.map_err(|error| error.to_string())
}

/// Creates a task and returns its id.
async fn create(client: &Client, tool: &str, arguments: Value) -> Result<String, String> {
    match call(client, tool, arguments).await? {
        CallToolResponse::Task(created) => Ok(created.task.task_id),
        other => Err(format!("no task but {other:?}")),
    }
}

async fn get(client: &Client, id: &str) -> Result<DetailedTask, ServiceError> {
    Ok(client.get_task(GetTaskParams::new(id)).await?.task)
}

/// Polls a task until `wanted` returns something.
async fn poll<T>(
    client: &Client,
    id: &str,
    mut wanted: impl FnMut(&DetailedTask) -> Option<T>,
) -> Result<T, String> {
    loop {
        let task = get(client, id).await.map_err(|error| error.to_string())?;
        if let Some(found) = wanted(&task) {
            return Ok(found);
        }
        holds(!task.status().is_terminal(), || format!("it ended with {:?}", task.payload))?;
        let interval = task.task.poll_interval_ms.unwrap_or(100);
        tokio::time::sleep(Duration::from_millis(interval)).await;
    }
}

/// Polls a task until it is over.
async fn end(client: &Client, id: &str) -> Result<TaskPayload, String> {
    poll(client, id, |task| task.status().is_terminal().then(|| task.payload.clone())).await
}

/// Expects the text of a result.
async fn says(client: &Client, id: &str, said: &str) -> Outcome {
    match end(client, id).await? {
        TaskPayload::Completed { result } if result["content"][0]["text"] == said => Ok(()),
        other => Err(format!("{other:?}")),
    }
}

async fn completes(client: &Client) -> Outcome {
    let id = create(client, "slow_compute", json!({"seconds": 1, "label": "pi"})).await?;
    says(client, &id, "computed pi").await
}

/// Answers all questions of a task.
async fn answer(client: &Client, id: &str, count: usize) -> Outcome {
    let keys = poll(client, id, |task| match &task.payload {
        TaskPayload::InputRequired { input_requests } => {
            Some(input_requests.keys().cloned().collect::<Vec<_>>())
        }
        _ => None,
    });
    let keys = keys.await?;
    holds(keys.len() == count, || format!("{keys:?}"))?;
    let content = json!({"name": "Ada", "confirm": "yes"});
    let answers = keys
        .into_iter()
        .map(|key| (key, json!({"action": "accept", "content": content})))
        .collect();
    let updated = client.update_task(UpdateTaskParams::new(id, answers)).await;
    updated.map_err(|error| error.to_string())
}

async fn asks(client: &Client) -> Outcome {
    let id = create(client, "confirm_delete", json!({"filename": "a.txt"})).await?;
    answer(client, &id, 1).await?;
    says(client, &id, "deleted").await
}

async fn asks_twice(client: &Client) -> Outcome {
    let id = create(client, "multi_input", json!({})).await?;
    answer(client, &id, 2).await?;
    says(client, &id, "2 answers").await
}

async fn tells(client: &Client) -> Outcome {
    let id = create(client, "sleep", json!({"ms": 2000, "steps": 4})).await?;
    poll(client, &id, |task| {
        task.task.status_message.as_ref().filter(|message| message.starts_with("step")).cloned()
    })
    .await
    .map(drop)
}

async fn tool_fails(client: &Client) -> Outcome {
    let id = create(client, "failing_job", json!({})).await?;
    match end(client, &id).await? {
        TaskPayload::Completed { result } if result["isError"] == true => Ok(()),
        other => Err(format!("{other:?}")),
    }
}

async fn request_fails(client: &Client) -> Outcome {
    let id = create(client, "protocol_error_job", json!({})).await?;
    match end(client, &id).await? {
        TaskPayload::Failed { error } if error["message"] == "the job is broken" => Ok(()),
        other => Err(format!("{other:?}")),
    }
}

async fn cancels(client: &Client) -> Outcome {
    let id = create(client, "slow_compute", json!({"seconds": 60})).await?;
    let cancelled = client.cancel_task(CancelTaskParams::new(&*id)).await;
    cancelled.map_err(|error| error.to_string())?;
    let ended = end(client, &id).await?.status();
    holds(ended == TaskStatus::Cancelled, || format!("{ended:?}"))
}

async fn unknown(client: &Client) -> Outcome {
    match get(client, "no-such-task").await {
        Err(ServiceError::McpError(error)) if error.code.0 == INVALID_PARAMS => Ok(()),
        other => Err(format!("{other:?}")),
    }
}

async fn plain(client: &Client) -> Outcome {
    match call(client, "echo", json!({"text": "plain"})).await? {
        CallToolResponse::Complete(_) => Ok(()),
        other => Err(format!("{other:?}")),
    }
}
