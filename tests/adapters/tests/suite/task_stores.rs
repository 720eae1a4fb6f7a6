//! Tasks whose store fails or is slow, and tasks that are stopped.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use mcp_adapter::proto::Progress;
use mcp_adapter::proto::tasks::{TaskId, TaskLimits, TaskRecord};
use mcp_adapter::tasks::{TaskPolicy, TaskStore, Tasks};
use mcp_adapter::{Cx, HandlerError, Server, Tool};
use mcp_adapter_tests::{Hand, Runtime, rows, serve, server, socket_pair};
use serde_json::{Value, json};
use smol::channel::{Receiver, Sender, bounded};
use smol::unblock;

rows! {
    a_store_that_panics_refuses_tasks_and_ends_nothing_else,
    tasks_that_cannot_be_saved_take_no_room,
    an_outcome_that_could_not_be_saved_is_saved_later,
    subscribers_hear_of_an_outcome_after_it_is_saved,
    a_slow_store_does_not_stop_the_timers_of_handlers,
    a_cancelled_handler_is_dropped,
    the_arguments_of_running_tasks_are_bounded,
}

const TASKS: &str = "io.modelcontextprotocol/tasks";

/// A store that calls a function before it saves.
#[derive(Clone)]
struct Hooked {
    records: Arc<Mutex<BTreeMap<TaskId, TaskRecord>>>,
    before: Arc<Hook>,
}

type Hook = dyn Fn(&TaskRecord) -> io::Result<()> + Send + Sync;

impl Hooked {
    fn new(before: impl Fn(&TaskRecord) -> io::Result<()> + Send + Sync + 'static) -> Self {
        Self { records: Arc::default(), before: Arc::new(before) }
    }

    /// Returns the number of saved tasks with this status.
    fn count(&self, status: &str) -> usize {
        let records = self.records.lock().unwrap();
        records.values().filter(|record| is(record, status)).count()
    }
}

fn is(record: &TaskRecord, status: &str) -> bool {
    record.to_json().member("status").unwrap().to_text().unwrap() == status
}

impl TaskStore for Hooked {
    fn load(&self) -> io::Result<Vec<TaskRecord>> {
        Ok(self.records.lock().unwrap().values().cloned().collect())
    }

    fn save(&self, record: &TaskRecord) -> io::Result<()> {
        (self.before)(record)?;
        self.records.lock().unwrap().insert(record.id(), record.clone());
        Ok(())
    }

    fn remove(&self, task: TaskId) -> io::Result<()> {
        self.records.lock().unwrap().remove(&task);
        Ok(())
    }
}

/// A client of revision 2026-07-28.
struct Modern {
    hand: Hand,
}

impl Modern {
    fn of<R: Runtime>(server: &Server) -> Self {
        let (ours, theirs) = socket_pair();
        drop(serve::<R>(server.clone(), theirs));
        ours.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        Self { hand: Hand::of(ours) }
    }

    fn send(&mut self, id: u64, method: &str, mut params: Value) {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {"extensions": {TASKS: {}}},
        });
        self.hand.request(id, method, &params);
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        self.send(1, method, params);
        self.hand.hear_with_id()
    }

    fn call(&mut self, tool: &str) -> Value {
        self.request("tools/call", json!({"name": tool}))
    }

    fn create(&mut self, tool: &str) -> Value {
        let created = self.call(tool);
        assert_eq!(created["result"]["resultType"], "task", "{created}");
        json!({"taskId": created["result"]["taskId"]})
    }
}

/// Waits until `is_true` returns true.
fn until(what: &str, is_true: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !is_true() {
        assert!(Instant::now() < deadline, "{what}");
        thread::yield_now();
    }
}

/// A server with a tool that waits for a signal.
fn gated(store: Hooked) -> (Server, Sender<()>) {
    let (open, gate): (_, Receiver<()>) = bounded(8);
    let server = server()
        .add(
            Tool::new("gated", move || {
                gate.recv_blocking().map_err(|_| HandlerError::failed("closed"))?;
                Ok("opened")
            })
            .always_on_pool()
            .as_task(TaskPolicy::required()),
        )
        .tasks(Tasks::new().store(store));
    (server, open)
}

async fn a_store_that_panics_refuses_tasks_and_ends_nothing_else<R: Runtime>() {
    let fails = Arc::new(AtomicBool::new(true));
    let panics = Arc::clone(&fails);
    let store = Hooked::new(move |_| {
        assert!(!panics.load(Ordering::SeqCst), "secret");
        Ok(())
    });
    let (server, open) = gated(store);
    let mut client = Modern::of::<R>(&server);
    unblock(move || {
        let refused = client.call("gated");
        assert_eq!(refused["error"]["code"], -32603, "{refused}");
        assert!(!refused.to_string().contains("secret"), "{refused}");
        fails.store(false, Ordering::SeqCst);
        let task = client.create("gated");
        assert_eq!(client.request("tasks/get", task)["result"]["status"], "working");
        open.send_blocking(()).unwrap();
    })
    .await;
}

async fn tasks_that_cannot_be_saved_take_no_room<R: Runtime>() {
    let store = Hooked::new(|_| Err(io::Error::other("/srv/tasks is full")));
    let (server, _open) = gated(store.clone());
    let limits = TaskLimits { tasks_max: 1, ..TaskLimits::default() };
    let server = server.tasks(Tasks::new().limits(limits).store(store));
    let mut client = Modern::of::<R>(&server);
    unblock(move || {
        for _ in 0..3 {
            let refused = client.call("gated");
            assert_eq!(refused["error"]["message"], "the task cannot be saved", "{refused}");
        }
    })
    .await;
}

async fn an_outcome_that_could_not_be_saved_is_saved_later<R: Runtime>() {
    let (failed, fails) = bounded(1);
    // The first save of an outcome fails.
    let store = Hooked::new(move |record| match is(record, "completed") {
        true if failed.try_send(()).is_ok() => Err(io::Error::other("full")),
        _ => Ok(()),
    });
    let (server, open) = gated(store.clone());
    let mut client = Modern::of::<R>(&server);
    unblock(move || {
        client.create("gated");
        open.send_blocking(()).unwrap();
        until("the outcome was never saved", || store.count("completed") == 1);
        fails.try_recv().unwrap();
    })
    .await;
}

async fn subscribers_hear_of_an_outcome_after_it_is_saved<R: Runtime>() {
    let store = Hooked::new(|record| {
        if is(record, "completed") {
            thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    });
    let (server, open) = gated(store.clone());
    let (mut caller, mut watcher) = (Modern::of::<R>(&server), Modern::of::<R>(&server));
    unblock(move || {
        let task = caller.create("gated");
        let ids = json!({"notifications": {"taskIds": [task["taskId"]]}});
        watcher.send(2, "subscriptions/listen", ids);
        watcher.hand.hear_notification("notifications/subscriptions/acknowledged");
        open.send_blocking(()).unwrap();
        let status = watcher.hand.hear_notification("notifications/tasks");
        assert_eq!(status["status"], "completed", "{status}");
        assert_eq!(store.count("completed"), 1, "it is not saved");
    })
    .await;
}

async fn a_slow_store_does_not_stop_the_timers_of_handlers<R: Runtime>() {
    let is_over = Arc::new(AtomicBool::new(false));
    let changes = Arc::new(AtomicUsize::new(0));
    let (over, counted) = (Arc::clone(&is_over), Arc::clone(&changes));
    // Each save lasts until the next change waits to be saved.
    let store = Hooked::new(move |record| {
        let before = counted.load(Ordering::SeqCst);
        let is_next = || counted.load(Ordering::SeqCst) > before + 1 || over.load(Ordering::SeqCst);
        if is(record, "working") && before > 0 {
            until("there is no next change", is_next);
        }
        Ok(())
    });
    let (woke, wakes) = bounded(1);
    let over = Arc::clone(&is_over);
    let server = server()
        .add(
            Tool::new("busy", move |cx: Cx| {
                let deadline = Instant::now() + Duration::from_secs(30);
                while !over.load(Ordering::SeqCst) && Instant::now() < deadline {
                    cx.progress(Progress::new(1.0).with_message("busy"))?;
                    changes.fetch_add(1, Ordering::SeqCst);
                    thread::yield_now();
                }
                Ok("over")
            })
            .always_on_pool()
            .as_task(TaskPolicy::required()),
        )
        .add(
            Tool::new("sleepy", move |cx: Cx| {
                let woke = woke.clone();
                async move {
                    cx.sleep(Duration::from_millis(20)).await;
                    let _gone = woke.send(()).await;
                    Ok("awake")
                }
            })
            .as_task(TaskPolicy::required()),
        )
        .tasks(Tasks::new().store(store));
    let mut client = Modern::of::<R>(&server);
    unblock(move || {
        client.create("busy");
        client.create("sleepy");
        until("the timer did not fire", || !wakes.is_empty());
        is_over.store(true, Ordering::SeqCst);
    })
    .await;
}

async fn a_cancelled_handler_is_dropped<R: Runtime>() {
    let (began, begins) = bounded(1);
    let held = Arc::new(());
    let handler = Arc::clone(&held);
    let server = server().add(
        Tool::new("waits", move || {
            let (began, held) = (began.clone(), Arc::clone(&handler));
            async move {
                let _began = began.send(()).await;
                std::future::pending::<()>().await;
                drop(held);
                Ok("over")
            }
        })
        .as_task(TaskPolicy::required()),
    );
    let mut client = Modern::of::<R>(&server);
    unblock(move || {
        let task = client.create("waits");
        begins.recv_blocking().unwrap();
        let done = client.request("tasks/cancel", task);
        assert_eq!(done["result"]["resultType"], "complete", "{done}");
        drop((client, server));
        // The connection, and the server with its handlers, are gone.
        until("something holds the handler", || Arc::strong_count(&held) == 1);
    })
    .await;
}

async fn the_arguments_of_running_tasks_are_bounded<R: Runtime>() {
    let (server, open) = gated(Hooked::new(|_| Ok(())));
    let limits = TaskLimits { bytes_per_principal_max: 10_000, ..TaskLimits::default() };
    let server = server.tasks(Tasks::new().limits(limits));
    let mut client = Modern::of::<R>(&server);
    unblock(move || {
        let params = json!({"name": "gated", "more": "x".repeat(6000)});
        let created = client.request("tools/call", params.clone());
        assert_eq!(created["result"]["resultType"], "task", "{created}");
        let refused = client.request("tools/call", params);
        assert_eq!(refused["error"]["code"], -32603, "{refused}");
        open.send_blocking(()).unwrap();
    })
    .await;
}
