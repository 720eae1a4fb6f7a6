//! Tasks whose handlers start again after a restart of the server.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_adapter::proto::tasks::{PollLimits, TaskId, TaskRecord};
use mcp_adapter::proto::{CallError, Revision};
use mcp_adapter::tasks::{TaskPolicy, TaskStore, Tasks};
use mcp_adapter::{Client, ClientTasks, Connection, Cx, Error, HandlerError, Server, Tool};
use mcp_adapter_tests::{Runtime, client, eventually, pair, rows, server, success};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use smol::channel::{Receiver, Sender, bounded};

rows! {
    a_handler_starts_again_with_what_it_has_kept,
    a_task_fails_that_cannot_start_again,
    a_stopped_handler_leaves_nothing_behind,
    tasks_of_a_connection_end_with_it_or_with_the_server_sec_19,
}

/// A client that polls quickly, in the modern era: tasks of the legacy era belong to a connection.
fn quick() -> Client {
    let ms = Duration::from_millis(1);
    let limits = PollLimits { interval_min: ms, interval_default: ms, ..PollLimits::default() };
    client().extension(ClientTasks::new().limits(limits)).revisions(&[Revision::V2026_07_28])
}

fn policy() -> TaskPolicy {
    TaskPolicy::required().poll_interval(Duration::from_millis(1))
}

/// Survives the server, but not the process.
#[derive(Clone, Default)]
pub(crate) struct InMemory(Arc<Mutex<BTreeMap<TaskId, TaskRecord>>>);

impl InMemory {
    /// Returns what a server finds that is started after the present one was killed.
    fn after_kill(&self) -> Self {
        Self(Arc::new(Mutex::new(self.0.lock().unwrap().clone())))
    }

    fn contains(&self, text: &str) -> bool {
        self.0.lock().unwrap().values().any(|record| record.to_json().as_str().contains(text))
    }
}

impl TaskStore for InMemory {
    fn load(&self) -> io::Result<Vec<TaskRecord>> {
        Ok(self.0.lock().unwrap().values().cloned().collect())
    }

    fn save(&self, record: &TaskRecord) -> io::Result<()> {
        self.0.lock().unwrap().insert(record.id(), record.clone());
        Ok(())
    }

    fn remove(&self, task: TaskId) -> io::Result<()> {
        self.0.lock().unwrap().remove(&task);
        Ok(())
    }
}

#[derive(Deserialize, JsonSchema)]
struct Job {
    name: String,
}

/// What a run of a handler reports when it has begun: how often it was restarted, and its step.
type Begun = (u32, u32);

/// A server with a tool that asks, pays once, counts its runs, reports that it has begun, and then
/// waits for a signal.
fn steps(
    store: &InMemory,
    payments: &Arc<AtomicU32>,
    policy: TaskPolicy,
) -> (Server, Receiver<Begun>, Sender<()>) {
    let (open, gate): (_, Receiver<()>) = bounded(8);
    let (begin, begun) = bounded(8);
    let payments = Arc::clone(payments);
    let server = server()
        .add(
            Tool::new("steps", move |job: Job, cx: Cx| {
                let sure = cx.confirm("sure", "Sure?")?;
                let step: u32 = cx.state()?.unwrap_or(0);
                cx.set_state(&(step + 1))?;
                let paid = cx.once("pay", || Ok(payments.fetch_add(1, Ordering::SeqCst) + 7))?;
                let _begun = begin.send_blocking((cx.restarts(), step));
                gate.recv_blocking().map_err(|_| HandlerError::failed("closed"))?;
                Ok(format!("{} {sure} {paid} {step} {}", job.name, cx.restarts()))
            })
            .always_on_pool()
            .as_task(policy),
        )
        .tasks(Tasks::new().store(store.clone()));
    (server, begun, open)
}

async fn create(connection: &Connection) -> String {
    let call = connection.call_tool("steps", &json!({"name": "ada"}));
    call.task().await.unwrap().id().unwrap().to_owned()
}

async fn a_handler_starts_again_with_what_it_has_kept<R: Runtime>() {
    let (store, payments) = (InMemory::default(), Arc::default());
    let (server, begun, _open) = steps(&store, &payments, policy().restarts_max(2));
    let (connection, _serving) = pair::<R>(quick(), server).await;
    let mut task = connection.call_tool("steps", &json!({"name": "ada"})).task().await.unwrap();
    let id = task.id().unwrap().to_owned();
    // The task asks its client, which answers while it polls.
    let _lost = smol::future::or(async { task.result().await.map(drop) }, async {
        assert_eq!(begun.recv().await.unwrap(), (0, 0));
        Ok(())
    })
    .await;
    // Its state is saved.
    eventually("the state is saved", || store.contains(r#",1,[[\"pay\",7]]"#)).await;

    let second = store.after_kill();
    let (server, begun, _open) = steps(&second, &payments, policy().restarts_max(2));
    let (_connection, _serving) = pair::<R>(quick(), server).await;
    assert_eq!(begun.recv().await.unwrap(), (1, 1));
    eventually("the state is saved again", || second.contains(r#",2,[[\"pay\",7]]"#)).await;

    let third = second.after_kill();
    let (server, begun, open) = steps(&third, &payments, policy().restarts_max(2));
    let (connection, _serving) = pair::<R>(quick(), server).await;
    assert_eq!(begun.recv().await.unwrap(), (2, 2));
    open.send(()).await.unwrap();
    let mut task = connection.task(&id).unwrap();
    assert_eq!(success(task.result().await), "ada true 7 2 2");
    assert_eq!(payments.load(Ordering::SeqCst), 1);
    // Nothing of the call is kept with the result.
    assert!(!third.contains("checkpoint"));
}

/// Restarts a server whose only task runs. Returns the error of the task.
async fn failure_after_restart<R: Runtime>(store: &InMemory, server: Server) -> String {
    let id = store.load().unwrap()[0].id().to_text();
    let (connection, _serving) = pair::<R>(quick(), server).await;
    match connection.task(&id).unwrap().result().await {
        Err(Error::Call(CallError::Refused(error))) => error.message.to_string(),
        other => panic!("{other:?}"),
    }
}

async fn a_task_fails_that_cannot_start_again<R: Runtime>() {
    let (store, payments) = (InMemory::default(), Arc::default());
    let (server, _begun, _open) = steps(&store, &payments, policy().restarts_max(1));
    let (connection, _serving) = pair::<R>(quick(), server).await;
    let _id = create(&connection).await;
    let first = store.after_kill();

    // It starts again once, and not twice.
    let second = first.after_kill();
    let (server, ..) = steps(&second, &payments, policy().restarts_max(1));
    let (_connection, _serving) = pair::<R>(quick(), server).await;
    eventually("the restart is counted", || second.contains(r#""restarts":1"#)).await;
    let third = second.after_kill();
    let (server, begun, _open) = steps(&third, &payments, policy().restarts_max(1));
    let error = failure_after_restart::<R>(&third, server).await;
    assert!(error.contains("TaskPolicy::restarts_max"), "{error}");
    assert!(begun.is_empty());

    // The tool now says otherwise, or does not exist.
    let second = first.after_kill();
    let (server, begun, _open) = steps(&second, &payments, policy());
    let error = failure_after_restart::<R>(&second, server).await;
    assert!(error.contains("TaskPolicy::restarts_max"), "{error}");
    assert!(begun.is_empty());
    let second = first.after_kill();
    let other = server_without_steps(&second);
    let error = failure_after_restart::<R>(&second, other).await;
    assert!(error.contains("steps"), "{error}");
}

fn server_without_steps(store: &InMemory) -> Server {
    server()
        .add(Tool::new("other", || "other").as_task(policy()))
        .tasks(Tasks::new().store(store.clone()))
}

async fn tasks_of_a_connection_end_with_it_or_with_the_server_sec_19<R: Runtime>() {
    let store = InMemory::default();
    let client = || client().extension(ClientTasks::new()).revisions(&[Revision::V2025_11_25]);
    let (connection, _serving) = pair::<R>(client(), server_without_steps(&store)).await;
    for _ in 0..3 {
        let call = connection.call_tool("other", &json!({}));
        assert!(call.task().await.unwrap().id().is_some());
    }
    let is_over = |record: &TaskRecord| record.to_json().as_str().contains(r#""completed""#);
    eventually("they are over", || {
        let records = store.load().unwrap();
        records.len() == 3 && records.iter().all(is_over)
    })
    .await;
    // The server is killed: the connection that could fetch the results is gone.
    let second = store.after_kill();
    let (_other, _serving) = pair::<R>(client(), server_without_steps(&second)).await;
    eventually("they are dropped", || second.load().unwrap().is_empty()).await;
    // The connection ends.
    connection.clone().close().await.unwrap();
    eventually("they are dropped", || store.load().unwrap().is_empty()).await;
}

async fn a_stopped_handler_leaves_nothing_behind<R: Runtime>() {
    let held = Arc::new(());
    let (weak, handler) = (Arc::downgrade(&held), held);
    let server = server().add(
        Tool::new("waits", move |cx: Cx| {
            let handler = Arc::clone(&handler);
            async move {
                cx.sleep(Duration::from_secs(600)).await;
                drop(handler);
                Ok("over")
            }
        })
        .as_task(policy()),
    );
    let (connection, serving) = pair::<R>(quick(), server).await;
    let mut task = connection.call_tool("waits", &json!({})).task().await.unwrap();
    task.cancel().await.unwrap();
    drop((task, connection, serving));
    eventually("the handler is dropped", || weak.upgrade().is_none()).await;
}
