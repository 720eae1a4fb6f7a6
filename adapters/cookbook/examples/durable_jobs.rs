//! Jobs that survive restarts of their server and of their client.
//!
//! ```sh
//! cargo run -p mcp-cookbook --example durable_jobs -- serve     # in one terminal
//! cargo run -p mcp-cookbook --example durable_jobs -- import 50 # in another one
//! ```
//!
//! The server keeps the job in `jobs.redb`: kill it and start it again, and the job continues from
//! its last checkpoint. The client keeps the id of its job in `job.id`: kill it and start it again,
//! and it waits for that job. The working directory has both files.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "the program talks to its user")]

use std::fs;
use std::time::Duration;

use mcp_tokio::http::{Http, Remote, Stop};
use mcp_tokio::proto::schema::CallToolResult;
use mcp_tokio::proto::tasks::PollLimits;
use mcp_tokio::proto::{CallError, Progress};
use mcp_tokio::tasks::{FileTaskStore, TaskPolicy, Tasks};
use mcp_tokio::{
    Client, ClientTasks, Connection, Cx, Error, HandlerError, Server, TaskHandle, Tool,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tokio::net::TcpListener;

const ADDRESS: &str = "127.0.0.1:8090";
const JOBS: &str = "jobs.redb";
const JOB_ID: &str = "job.id";
const DAY: Duration = Duration::from_secs(24 * 3600);

#[derive(Deserialize, JsonSchema)]
struct Import {
    /// The number of rows.
    rows: u32,
}

/// Imports rows. The state is the checkpoint: the number of rows that are done.
async fn import(Import { rows }: Import, cx: Cx) -> Result<String, HandlerError> {
    let done: u32 = cx.state()?.unwrap_or(0);
    eprintln!("importing from row {done}, after {} restarts", cx.restarts());
    for row in done + 1..=rows {
        cx.sleep(Duration::from_millis(200)).await; // import the row
        cx.set_state(&row)?;
        let progress = Progress::new(row.into()).with_total(rows.into());
        cx.progress(progress.with_message(format!("{row} of {rows} rows")))?;
    }
    Ok(format!("imported {rows} rows, after {} restarts", cx.restarts()))
}

async fn serve() -> Result<(), Error> {
    let policy = TaskPolicy::optional().restarts_max(100).poll_interval(Duration::from_secs(1));
    let import = Tool::new("import", import).description("Imports rows").as_task(policy);
    let tasks = Tasks::new().store(FileTaskStore::open(JOBS)?).result_time(DAY);
    let server = Server::new("jobs", "1.0.0").add(import).tasks(tasks);
    let listener = TcpListener::bind(ADDRESS).await?;
    server.serve_http(listener, Http::new(), &Stop::on_signal()).await
}

async fn run(rows: u32) -> Result<(), Error> {
    let limits = PollLimits { time_max: DAY, ..PollLimits::default() };
    let client = Client::new("jobs-cli", "1.0.0").extension(ClientTasks::new().limits(limits));
    let connection = client.connect_http(Remote::new(&format!("http://{ADDRESS}/mcp"))?).await?;
    let mut job = match fs::read_to_string(JOB_ID) {
        Ok(id) => connection.task(&id)?,
        Err(_) => start(&connection, rows).await?,
    };
    let result = loop {
        match follow(&mut job).await {
            Err(Error::Call(CallError::Lost)) => {
                eprintln!("the server is gone: waiting for it");
                connection.ready().await?;
                job.attach(&connection)?;
            }
            result => break result,
        }
    };
    fs::remove_file(JOB_ID)?;
    println!("{}", result?.to_text());
    connection.close().await?;
    Ok(())
}

async fn start(connection: &Connection, rows: u32) -> Result<TaskHandle, Error> {
    let job = connection.call_tool("import", &json!({"rows": rows})).task().await?;
    if let Some(id) = job.id() {
        fs::write(JOB_ID, id)?;
    }
    Ok(job)
}

async fn follow(job: &mut TaskHandle) -> Result<CallToolResult, Error> {
    while let Some(update) = job.next_update().await? {
        println!("{}: {}", update.status, update.message.unwrap_or_default());
    }
    job.result().await
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["serve"] => serve().await,
        ["import", rows] => run(rows.parse().unwrap_or(50)).await,
        _ => {
            eprintln!("usage: durable_jobs serve | import ROWS");
            std::process::exit(2)
        }
    }
}
