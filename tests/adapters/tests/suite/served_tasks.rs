//! Tasks from end to end: clients and servers of ours, in both eras.

use std::collections::HashSet;
use std::time::Duration;

use mcp_adapter::proto::schema::TaskStatus;
use mcp_adapter::proto::tasks::{PollLimits, TaskLimits};
use mcp_adapter::proto::{CallError, Progress, Revision};
use mcp_adapter::tasks::{TaskPolicy, TaskStore as _, Tasks};
use mcp_adapter::{Client, ClientTasks, Connection, Cx, Error, HandlerError, Server, Tool};
use mcp_adapter_tests::{Hand, Runtime, client, pair, rows, serve, server, socket_pair, success};
use serde_json::{Value, json};
use smol::channel::{Receiver, Sender, bounded};
use smol::unblock;

use crate::task_restarts::InMemory;

rows! {
    a_task_ends_with_the_result_of_its_handler,
    a_task_asks_the_user_of_its_client,
    a_cancelled_task_stops_its_handler,
    a_task_that_ran_fails_after_a_restart_and_an_earlier_result_remains,
    a_task_is_gone_after_its_time,
    tasks_that_exceed_the_limits_are_refused,
    subscribers_hear_of_their_tasks,
    a_legacy_task_is_known_to_its_connection_alone,
    legacy_results_wait_and_carry_their_task,
    progress_of_a_legacy_task_continues_until_it_is_over,
    the_handle_of_a_legacy_task_shows_its_progress,
}

const REVISIONS: [Revision; 2] = [Revision::V2025_11_25, Revision::V2026_07_28];

/// A client of one revision that polls quickly.
fn quick(revision: Revision) -> Client {
    let ms = Duration::from_millis(1);
    let limits = PollLimits { interval_min: ms, interval_default: ms, ..PollLimits::default() };
    client().extension(ClientTasks::new().limits(limits)).revisions(&[revision])
}

/// A policy whose clients poll quickly.
pub(crate) fn policy() -> TaskPolicy {
    TaskPolicy::required().poll_interval(Duration::from_millis(1))
}

/// A server with a tool that reports progress, and then waits for a signal.
fn gated() -> (Server, Sender<()>) {
    let (open, gate): (_, Receiver<()>) = bounded(8);
    let server = server().add(
        Tool::new("gated", move |cx: Cx| {
            cx.progress(Progress::new(1.0).with_message("waiting"))?;
            gate.recv_blocking().map_err(|_| HandlerError::failed("closed"))?;
            Ok("opened")
        })
        .always_on_pool()
        .as_task(policy()),
    );
    (server, open)
}

// TSK-09
async fn a_task_ends_with_the_result_of_its_handler<R: Runtime>() {
    let mut ids = HashSet::new();
    for revision in REVISIONS {
        let (server, open) = gated();
        let (connection, _serving) = pair::<R>(quick(revision), server).await;
        let mut task = connection.call_tool("gated", &json!({})).task().await.unwrap();
        assert!(ids.insert(task.id().unwrap().to_owned()), "{revision:?}");
        loop {
            let update = task.next_update().await.unwrap().unwrap();
            assert_eq!(update.status, TaskStatus::Working);
            if update.message.as_deref() == Some("waiting") {
                break;
            }
        }
        open.send(()).await.unwrap();
        assert_eq!(success(task.result().await), "opened");
        // A plain call is served nevertheless, if the client can poll its task.
        if revision == Revision::V2026_07_28 {
            open.send(()).await.unwrap();
            assert_eq!(success(connection.call_tool("gated", &json!({})).await), "opened");
        }
    }
}

async fn a_task_asks_the_user_of_its_client<R: Runtime>() {
    for revision in REVISIONS {
        let server = server().add(
            Tool::new("asks", |cx: Cx| {
                let first = cx.confirm("first", "Sure?")?;
                let second = cx.confirm("second", "Really?")?;
                Ok(format!("{first} {second}"))
            })
            .as_task(policy()),
        );
        let (connection, _serving) = pair::<R>(quick(revision), server).await;
        let mut task = connection.call_tool("asks", &json!({})).task().await.unwrap();
        assert_eq!(success(task.result().await), "true true", "{revision:?}");
    }
}

// CAN-10, TSK-34: with `tasks/cancel`.
async fn a_cancelled_task_stops_its_handler<R: Runtime>() {
    for revision in REVISIONS {
        let (began, begins) = bounded(1);
        let (ended, ends) = bounded(1);
        let server = server().add(
            Tool::new("waits", move |cx: Cx| {
                let _began = began.send_blocking(());
                let _ended = ended.send_blocking(cx.sleep(Duration::from_secs(60)).wait());
                "over"
            })
            .always_on_pool()
            .as_task(policy()),
        );
        let (connection, _serving) = pair::<R>(quick(revision), server).await;
        let mut task = connection.call_tool("waits", &json!({})).task().await.unwrap();
        begins.recv().await.unwrap();
        task.cancel().await.unwrap();
        assert!(ends.recv().await.unwrap(), "{revision:?}: the handler was not cancelled");
        let over = task.result().await;
        assert!(matches!(over, Err(Error::Call(CallError::Cancelled))), "{revision:?}: {over:?}");
    }
}

async fn a_task_that_ran_fails_after_a_restart_and_an_earlier_result_remains<R: Runtime>() {
    let store = InMemory::default();
    let start = || {
        let (server, open) = gated();
        (server.tasks(Tasks::new().store(store.clone())), open)
    };
    let (server, open) = start();
    let modern = || quick(Revision::V2026_07_28);
    let (connection, _serving) = pair::<R>(modern(), server).await;
    let call = async || connection.call_tool("gated", &json!({})).task().await.unwrap();
    let mut done = call().await;
    open.send(()).await.unwrap();
    assert_eq!(success(done.result().await), "opened");
    let runs = call().await;
    let ids = [done.id().unwrap().to_owned(), runs.id().unwrap().to_owned()];
    // The client has learned the result, so it is saved.
    let saved = store.load().unwrap();
    assert_eq!(saved.len(), 2);
    let (server, _open) = start();
    let (connection, _serving) = pair::<R>(modern(), server).await;
    let mut tasks = ids.map(|id| connection.task(&id).unwrap());
    assert_eq!(success(tasks[0].result().await), "opened");
    match tasks[1].result().await {
        Err(Error::Call(CallError::Refused(error))) => {
            assert_eq!(&*error.message, "the server was restarted while the task ran");
        }
        other => panic!("{other:?}"),
    }
}

async fn a_task_is_gone_after_its_time<R: Runtime>() {
    let (server, _open) = gated();
    let tasks = Tasks::new().result_time(Duration::from_millis(20));
    let (connection, _serving) = pair::<R>(quick(REVISIONS[1]), server.tasks(tasks)).await;
    let mut task = connection.call_tool("gated", &json!({})).task().await.unwrap();
    match task.result().await {
        // Both sides watch the time.
        Err(Error::Call(CallError::Refused(_) | CallError::TimedOut)) => {}
        other => panic!("{other:?}"),
    }
    let mut again = connection.task(task.id().unwrap()).unwrap();
    match again.result().await {
        Err(Error::Call(CallError::Refused(error))) => assert_eq!(error.code, -32602),
        other => panic!("{other:?}"),
    }
}

async fn tasks_that_exceed_the_limits_are_refused<R: Runtime>() {
    let (server, open) = gated();
    let limits = TaskLimits { tasks_max: 1, ..TaskLimits::default() };
    let server = server.tasks(Tasks::new().limits(limits));
    let (connection, _serving) = pair::<R>(quick(REVISIONS[1]), server).await;
    let create = async |connection: &Connection| {
        connection.call_tool("gated", &json!({})).task().await.map_err(|error| error.to_string())
    };
    let mut first = create(&connection).await.unwrap();
    let refused = create(&connection).await.unwrap_err();
    assert!(refused.contains("tasks"), "{refused}");
    open.send(()).await.unwrap();
    assert_eq!(success(first.result().await), "opened");
    // A result that was fetched makes room.
    drop(create(&connection).await.unwrap());
}

const TASKS: &str = "io.modelcontextprotocol/tasks";

/// Returns the params of a modern request.
fn modern(mut params: Value, extensions: &Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"extensions": extensions},
    });
    params
}

pub(crate) fn by_hand<R: Runtime>(server: &Server) -> Hand {
    let (ours, theirs) = socket_pair();
    drop(serve::<R>(server.clone(), theirs));
    ours.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    Hand::of(ours)
}

// TSK-17, TSK-35, PRG-14
async fn subscribers_hear_of_their_tasks<R: Runtime>() {
    let (server, open) = gated();
    let (mut caller, mut watcher) = (by_hand::<R>(&server), by_hand::<R>(&server));
    unblock(move || {
        let declared = json!({TASKS: {}});
        caller.request(1, "tools/call", &modern(json!({"name": "gated"}), &declared));
        let created = caller.hear();
        let task = created["result"]["taskId"].as_str().unwrap().to_owned();
        let filter = |ids: Value| json!({"notifications": {"taskIds": ids}});
        let known = filter(json!([task, "other"]));
        watcher.request(1, "subscriptions/listen", &modern(known.clone(), &json!({})));
        let refused = watcher.hear();
        assert_eq!(refused["error"]["code"], -32021, "{refused}");
        assert_eq!(
            refused["error"]["data"]["requiredCapabilities"]["extensions"], declared,
            "{refused}"
        );
        watcher.request(2, "subscriptions/listen", &modern(known, &declared));
        let begun = watcher.hear_notification("notifications/subscriptions/acknowledged");
        assert_eq!(begun["notifications"]["taskIds"], json!([task]), "{begun}");
        open.send_blocking(()).unwrap();
        loop {
            let status = watcher.hear_notification("notifications/tasks");
            assert_eq!(status["taskId"], *task, "{status}");
            let meta = &status["_meta"];
            assert_eq!(meta["io.modelcontextprotocol/subscriptionId"], 2, "{status}");
            if status["status"] == "completed" {
                assert_eq!(status["result"]["content"][0]["text"], "opened", "{status}");
                break;
            }
            assert_eq!(status["status"], "working", "{status}");
        }
    })
    .await;
}

// TSK-04, TSK-05, TSK-08, TSK-19, TSK-20, TSK-21
async fn a_legacy_task_is_known_to_its_connection_alone<R: Runtime>() {
    let (server, open) = gated();
    let server = server.tool("plain", "Is plain", || "plain");
    let (mut owner, mut other) = (by_hand::<R>(&server), by_hand::<R>(&server));
    unblock(move || {
        owner.greet(&json!({}));
        other.greet(&json!({}));
        let call = |name: &str, task: bool| match task {
            true => json!({"name": name, "task": {"ttl": 60_000}}),
            false => json!({"name": name}),
        };
        for (name, is_task) in [("gated", false), ("plain", true)] {
            owner.request(1, "tools/call", &call(name, is_task));
            let refused = owner.hear_with_id();
            assert_eq!(refused["error"]["code"], -32601, "{refused}");
        }
        owner.request(2, "tools/call", &call("gated", true));
        let created = owner.hear_with_id();
        let task = created["result"]["task"].clone();
        assert_eq!(task["status"], "working", "{created}");
        assert_eq!(task["ttl"], 60_000, "{created}");
        let id = json!({"taskId": task["taskId"]});
        for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
            other.request(1, method, &id);
            let refused = other.hear_with_id();
            assert_eq!(refused["error"]["code"], -32602, "{method}: {refused}");
        }
        other.request(2, "tasks/list", &json!({}));
        assert_eq!(other.hear_with_id()["result"]["tasks"], json!([]));
        owner.request(3, "tasks/list", &json!({}));
        let listed = owner.hear_with_id();
        assert_eq!(listed["result"]["tasks"][0]["taskId"], task["taskId"], "{listed}");
        open.send_blocking(()).unwrap();
    })
    .await;
}

// TSK-13, TSK-15, TSK-16, TSK-17, TSK-18
async fn legacy_results_wait_and_carry_their_task<R: Runtime>() {
    let (server, open) = gated();
    let mut hand = by_hand::<R>(&server);
    unblock(move || {
        hand.greet(&json!({}));
        hand.request(1, "tools/call", &json!({"name": "gated", "task": {}}));
        let task = hand.hear_with_id()["result"]["task"]["taskId"].clone();
        let id = json!({"taskId": task});
        hand.request(2, "tasks/result", &id);
        // Answered while the result is waited for.
        hand.request(3, "tasks/get", &id);
        let status = hand.hear_with_id();
        assert_eq!((&status["id"], &status["result"]["status"]), (&json!(3), &json!("working")));
        open.send_blocking(()).unwrap();
        let mut told = false;
        let result = loop {
            let message = hand.hear();
            if message["method"] == "notifications/tasks/status" {
                assert!(message["params"]["_meta"].is_null(), "{message}");
                told |= message["params"]["status"] == "completed";
                continue;
            }
            break message;
        };
        assert_eq!(result["id"], 2, "{result}");
        assert_eq!(result["result"]["content"][0]["text"], "opened", "{result}");
        let related = &result["result"]["_meta"]["io.modelcontextprotocol/related-task"];
        assert_eq!(*related, id, "{result}");
        hand.request(4, "tasks/cancel", &id);
        let refused = loop {
            let message = hand.hear();
            told |= message["params"]["status"] == "completed";
            if message["id"] == 4 {
                break message;
            }
        };
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
        assert!(told, "the status was not sent");
    })
    .await;
}

// PRG-05, PRG-11, PRG-12, TSK-15
async fn progress_of_a_legacy_task_continues_until_it_is_over<R: Runtime>() {
    let (over, waits) = bounded::<()>(1);
    let (late, is_late) = bounded::<()>(1);
    let (open, gate): (Sender<()>, Receiver<()>) = bounded(1);
    let server = server().add(
        Tool::new("steps", move |cx: Cx| {
            cx.progress(Progress::new(1.0).with_total(3.0).with_message("begun"))?;
            // Dropped: it does not increase.
            cx.progress(Progress::new(1.0))?;
            gate.recv_blocking().map_err(|_| HandlerError::failed("closed"))?;
            cx.progress(Progress::new(2.0))?;
            let _cancelled = waits.recv_blocking();
            cx.progress(Progress::new(3.0))?;
            let _heard = late.send_blocking(());
            Ok("done")
        })
        .always_on_pool()
        .as_task(policy()),
    );
    let mut hand = by_hand::<R>(&server);
    unblock(move || {
        hand.greet(&json!({}));
        let meta = json!({"progressToken": "p"});
        hand.request(1, "tools/call", &json!({"name": "steps", "task": {}, "_meta": meta}));
        let created = hand.hear();
        let task = created["result"]["task"]["taskId"].clone();
        let progress = |hand: &mut Hand| loop {
            let message = hand.hear();
            match message["method"].as_str() {
                Some("notifications/progress") => break message["params"].clone(),
                _ => assert_eq!(message["method"], "notifications/tasks/status", "{message}"),
            }
        };
        let related = json!({"io.modelcontextprotocol/related-task": {"taskId": task}});
        let first = progress(&mut hand);
        assert_eq!(
            first,
            json!({
                "progressToken": "p", "progress": 1, "total": 3, "message": "begun",
                "_meta": related,
            })
        );
        open.send_blocking(()).unwrap();
        assert_eq!(
            progress(&mut hand),
            json!({"progressToken": "p", "progress": 2, "_meta": related})
        );
        hand.request(2, "tasks/cancel", &json!({"taskId": task}));
        let cancelled = hand.hear_with_id();
        assert_eq!(cancelled["result"]["status"], "cancelled", "{cancelled}");
        // The handler continues, but its task is over.
        over.send_blocking(()).unwrap();
        is_late.recv_blocking().unwrap();
        hand.request(3, "ping", &json!({}));
        loop {
            let message = hand.hear();
            assert_ne!(message["method"], "notifications/progress", "{message}");
            if message["id"] == 3 {
                break;
            }
        }
    })
    .await;
}

// PRG-11, PRG-14
async fn the_handle_of_a_legacy_task_shows_its_progress<R: Runtime>() {
    for revision in REVISIONS {
        let (server, open) = gated();
        let (connection, _serving) = pair::<R>(quick(revision), server).await;
        let mut task = connection.call_tool("gated", &json!({})).task().await.unwrap();
        let mut seen = Vec::new();
        let mut is_open = false;
        while let Some(update) = task.next_update().await.unwrap() {
            let is_waiting = update.message.as_deref() == Some("waiting");
            seen.extend(update.progress);
            let has_seen = match revision {
                Revision::V2025_11_25 => !seen.is_empty(),
                _ => is_waiting,
            };
            if has_seen && !std::mem::replace(&mut is_open, true) {
                open.send(()).await.unwrap();
            }
        }
        let expected = match revision {
            Revision::V2025_11_25 => vec![Progress::new(1.0).with_message("waiting")],
            _ => Vec::new(),
        };
        assert_eq!(seen, expected, "{revision:?}");
        assert_eq!(success(task.result().await), "opened");
    }
}
