//! Handles of tasks, against scripted servers.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcp_adapter::proto::schema::ElicitResult;
use mcp_adapter::proto::{CallError, Era};
use mcp_adapter::{Client, ClientTasks, Connection, Error, TaskHandle};
use mcp_adapter_tests::{Hand, Runtime, call_by_hand, client, eventually, raw, rows, success};
use serde_json::{Value, json};
use smol::channel::bounded;
use smol::future::{or, zip};

use crate::task_script::{
    ERAS, accepts, completes, connect, connect_to, creates, hears, hears_it_cancelled, lists,
    quick, status, text,
};

rows! {
    a_task_runs_to_its_result,
    a_call_is_plain_where_tasks_are_not_supported,
    input_requests_are_answered_once_by_the_handlers_of_the_client,
    an_input_request_without_a_handler_cancels_the_task,
    a_task_is_cancelled_by_its_handle,
    a_task_outlives_its_connection,
    a_status_notification_saves_the_wait,
    a_poll_that_a_notification_answers_is_not_withdrawn,
    the_number_of_polled_tasks_is_bounded,
    a_failed_task_fails_with_the_error_of_the_call,
    progress_of_a_task_reaches_its_handle,
}

/// Creates a task, with its handle.
async fn create<R: Runtime>(client: Client, era: Era) -> (Connection, Hand, TaskHandle) {
    let (connection, hand) = connect::<R>(client, era).await;
    let hand = call_by_hand(hand, move |hand| drop(accepts(hand, era)));
    let task = async { connection.call_tool("index", &json!({})).task().await.unwrap() };
    let (hand, task) = zip(hand, task).await;
    (connection, hand, task)
}

// TSK-02, TSK-03, TSK-14, TSK-23, TSK-26
async fn a_task_runs_to_its_result<R: Runtime>() {
    for era in ERAS {
        let (connection, hand) = connect::<R>(quick(), era).await;
        let hand = call_by_hand(hand, move |hand| {
            let call = accepts(hand, era);
            if era == Era::Legacy {
                assert_eq!(call["params"]["task"], json!({"ttl": 5000}));
            } else {
                // TSK-23
                let declared =
                    &call["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"];
                let tasks = &declared["extensions"]["io.modelcontextprotocol/tasks"];
                assert!(tasks.is_object(), "{call}");
            }
            let get = hears(hand, "tasks/get");
            hand.answer(&get, &status(era, "working", &json!({"statusMessage": "half"})));
            completes(hand, era, "done");
        });
        let run = async {
            let call = connection.call_tool("index", &json!({}));
            let mut task = call.task().ttl(Duration::from_secs(5)).await.unwrap();
            assert_eq!((task.id(), task.is_over()), (Some("t"), false));
            let mut seen = Vec::new();
            while let Some(update) = task.next_update().await.unwrap() {
                seen.push((update.status.name().to_owned(), update.message));
            }
            let seen: Vec<_> = seen.iter().map(|(name, note)| (&**name, note.as_deref())).collect();
            let expected = [("working", None), ("working", Some("half")), ("completed", None)];
            assert_eq!(seen, expected, "{era:?}");
            assert!(task.is_over());
            for _ in 0..2 {
                assert_eq!(success(task.result().await), "done");
            }
            task.cancel().await.unwrap();
        };
        zip(hand, run).await;
    }
}

// TSK-02, TSK-03
async fn a_call_is_plain_where_tasks_are_not_supported<R: Runtime>() {
    let tasks = json!({"tools": {}, "tasks": {"requests": {"tools": {"call": {}}}}});
    for (era, capabilities, support) in [
        (Era::Legacy, json!({"tools": {}}), None),
        (Era::Legacy, tasks, Some("forbidden")),
        (Era::Modern, json!({"tools": {}}), None),
    ] {
        let (connection, hand) = connect_to::<R>(quick(), era, capabilities).await;
        let hand = call_by_hand(hand, move |hand| {
            if let Some(support) = support {
                lists(hand, support);
            }
            let call = hears(hand, "tools/call");
            assert_eq!(call["params"].get("task"), None);
            hand.answer(&call, &text("plain"));
        });
        let run = async {
            let mut task = connection.call_tool("index", &json!({})).task().await.unwrap();
            assert_eq!((task.id(), task.is_over()), (None, true));
            assert_eq!(task.next_update().await.unwrap(), None);
            task.cancel().await.unwrap();
            assert_eq!(success(task.result().await), "plain");
        };
        zip(hand, run).await;
    }
}

// TSK-32
async fn input_requests_are_answered_once_by_the_handlers_of_the_client<R: Runtime>() {
    let asked = Arc::new(AtomicUsize::new(0));
    for is_async in [false, true] {
        let (count, count_async) = (Arc::clone(&asked), Arc::clone(&asked));
        let accept = || ElicitResult::accept(raw(&json!({"name": "Ada"})));
        let client = match is_async {
            false => quick().on_elicitation(move || {
                count.fetch_add(1, Ordering::Relaxed);
                accept()
            }),
            true => quick().on_elicitation(move || {
                count_async.fetch_add(1, Ordering::Relaxed);
                async move { accept() }
            }),
        };
        let (_connection, hand, mut task) = create::<R>(client, Era::Modern).await;
        let hand = call_by_hand(hand, |hand| {
            let params = json!({"message": "Name?", "mode": "form", "requestedSchema": {
                "type": "object", "properties": {"name": {"type": "string"}},
            }});
            let asks = json!({
                "inputRequests": {"k": {"method": "elicitation/create", "params": params}},
            });
            let mut updates = 0;
            while updates == 0 {
                let request = hand.hear();
                match request["method"].as_str() {
                    Some("tasks/update") => {
                        let answer = &request["params"]["inputResponses"]["k"];
                        assert_eq!(answer["action"], "accept", "{request}");
                        assert_eq!(answer["content"]["name"], "Ada", "{request}");
                        hand.answer(&request, &json!({"resultType": "complete"}));
                        updates += 1;
                    }
                    _ => {
                        hand.answer(&request, &status(Era::Modern, "input_required", &asks));
                    }
                }
            }
            // The status may lag behind.
            let get = hears(hand, "tasks/get");
            hand.answer(&get, &status(Era::Modern, "input_required", &asks));
            completes(hand, Era::Modern, "Hello, Ada!");
        });
        let (_, result) = zip(hand, task.result()).await;
        assert_eq!(success(result), "Hello, Ada!");
    }
    assert_eq!(asked.load(Ordering::Relaxed), 2);
}

async fn an_input_request_without_a_handler_cancels_the_task<R: Runtime>() {
    for method in ["sampling/createMessage", "tools/call"] {
        let (_connection, hand, mut task) = create::<R>(quick(), Era::Modern).await;
        let hand = call_by_hand(hand, move |hand| {
            let get = hears(hand, "tasks/get");
            let asks = json!({"inputRequests": {"k": {"method": method, "params": {}}}});
            hand.answer(&get, &status(Era::Modern, "input_required", &asks));
            hears_it_cancelled(hand, Era::Modern);
        });
        let (_, result) = zip(hand, task.result()).await;
        match result {
            Err(Error::Call(CallError::InputRefused(error))) => {
                assert!(error.message.contains(method), "{error}");
            }
            other => panic!("{other:?}"),
        }
    }
}

// CAN-10, TSK-18, TSK-34
async fn a_task_is_cancelled_by_its_handle<R: Runtime>() {
    for era in ERAS {
        let (_connection, hand, mut task) = create::<R>(quick(), era).await;
        let hand = call_by_hand(hand, move |hand| hears_it_cancelled(hand, era));
        let run = async {
            task.cancel().await.unwrap();
            let result = task.result().await;
            assert!(matches!(result, Err(Error::Call(CallError::Cancelled))), "{result:?}");
        };
        zip(hand, run).await;
    }
}

// TSK-39
async fn a_task_outlives_its_connection<R: Runtime>() {
    for era in ERAS {
        let (_lost, hand, mut task) = create::<R>(quick(), era).await;
        let hand = call_by_hand(hand, move |hand| drop(hears(hand, "tasks/get")));
        let poll = async {
            let _never = task.result().await;
            panic!("the task is not over");
        };
        drop(or(poll, hand).await);
        let result = task.result().await;
        assert!(matches!(result, Err(Error::Call(CallError::Lost))), "{result:?}");
        let (connection, hand) = connect::<R>(quick(), era).await;
        task.attach(&connection).unwrap();
        let hand = call_by_hand(hand, move |hand| {
            completes(hand, era, "first");
            completes(hand, era, "second");
        });
        let run = async {
            assert_eq!(success(task.result().await), "first");
            let mut resumed = connection.task("t").unwrap();
            assert_eq!(resumed.id(), Some("t"));
            assert_eq!(success(resumed.result().await), "second");
        };
        zip(hand, run).await;
    }
}

// TSK-17
async fn a_status_notification_saves_the_wait<R: Runtime>() {
    for era in ERAS {
        // The first poll would come after the end of the test.
        let (connection, hand) = connect::<R>(client().extension(ClientTasks::new()), era).await;
        let slow = match era {
            Era::Legacy => json!({"pollInterval": 60_000}),
            Era::Modern => json!({"pollIntervalMs": 60_000}),
        };
        let hand = call_by_hand(hand, move |hand| {
            let get = hears(hand, "tasks/get");
            hand.answer(&get, &status(era, "working", &slow));
            match era {
                Era::Legacy => {
                    let params = status(era, "completed", &json!({}));
                    hand.notify("notifications/tasks/status", &params);
                    let fetch = hears(hand, "tasks/result");
                    hand.answer(&fetch, &text("done"));
                }
                Era::Modern => {
                    let params = status(era, "completed", &json!({"result": text("done")}));
                    hand.notify("notifications/tasks", &params);
                }
            }
        });
        let mut task = connection.task("t").unwrap();
        let (_, result) = zip(hand, task.result()).await;
        assert_eq!(success(result), "done");
    }
}

// TSK-17: the official Python SDK hangs if a request is cancelled while it is answered.
async fn a_poll_that_a_notification_answers_is_not_withdrawn<R: Runtime>() {
    let era = Era::Legacy;
    let (connection, hand, mut task) = create::<R>(quick(), era).await;
    let hand = call_by_hand(hand, move |hand| {
        let get = hears(hand, "tasks/get");
        let completed = status(era, "completed", &json!({}));
        hand.notify("notifications/tasks/status", &completed);
        let fetch = hears(hand, "tasks/result");
        hand.answer(&get, &completed);
        hand.answer(&fetch, &text("done"));
        lists(hand, "optional");
    });
    let run = async {
        assert_eq!(success(task.result().await), "done");
        connection.list_tools().await.unwrap();
    };
    zip(hand, run).await;
}

async fn the_number_of_polled_tasks_is_bounded<R: Runtime>() {
    let (connection, hand, task) =
        create::<R>(quick().extension(ClientTasks::new().tasks_max(1)), Era::Modern).await;
    let hand = call_by_hand(hand, |hand| {
        let call = hears(hand, "tools/call");
        creates(hand, Era::Modern, &call);
        hears_it_cancelled(hand, Era::Modern);
    });
    let run = async {
        let error = connection.call_tool("index", &json!({})).await.unwrap_err();
        assert!(error.to_string().contains("`ClientTasks::tasks_max`"), "{error}");
        assert!(connection.task("u").is_err());
        drop(task);
        eventually("the handle is gone", || connection.task("u").is_ok()).await;
    };
    zip(hand, run).await;
}

// TSK-13, TSK-29
async fn a_failed_task_fails_with_the_error_of_the_call<R: Runtime>() {
    for era in ERAS {
        let (_connection, hand, mut task) = create::<R>(quick(), era).await;
        let hand = call_by_hand(hand, move |hand| {
            let error = json!({"code": -32050, "message": "out of paper"});
            let get = hears(hand, "tasks/get");
            hand.answer(&get, &status(era, "failed", &json!({"error": error})));
            if era == Era::Legacy {
                let fetch = hears(hand, "tasks/result");
                hand.say(&json!({"jsonrpc": "2.0", "id": fetch["id"], "error": error}));
            }
        });
        let (_, result) = zip(hand, task.result()).await;
        match result {
            Err(Error::Call(CallError::Refused(error))) => assert_eq!(error.code, -32050),
            other => panic!("{other:?}"),
        }
    }
}

// PRG-09, PRG-11, PRG-12, PRG-16
async fn progress_of_a_task_reaches_its_handle<R: Runtime>() {
    let (connection, hand) = connect::<R>(quick(), Era::Legacy).await;
    let (shown, is_shown) = bounded::<()>(2);
    let hand = call_by_hand(hand, move |hand| {
        let progress = |hand: &mut Hand, token: &Value, value: u32| {
            let params = json!({"progressToken": token, "progress": value, "total": 9});
            hand.notify("notifications/progress", &params);
        };
        lists(hand, "optional");
        let call = hears(hand, "tools/call");
        let token = call["params"]["_meta"]["progressToken"].clone();
        assert!(token.is_number(), "{call}");
        creates(hand, Era::Legacy, &call);
        // Immediately after the response, before anything polls the task.
        progress(hand, &token, 1);
        is_shown.recv_blocking().unwrap();
        let get = hears(hand, "tasks/get");
        progress(hand, &json!(token.to_string()), 8);
        progress(hand, &token, 3);
        progress(hand, &token, 2);
        is_shown.recv_blocking().unwrap();
        hand.answer(&get, &status(Era::Legacy, "working", &json!({"statusMessage": "half"})));
        completes(hand, Era::Legacy, "done");
        progress(hand, &token, 9);
    });
    let run = async {
        let mut task = connection.call_tool("index", &json!({})).task().await.unwrap();
        let mut seen = Vec::new();
        while let Some(update) = task.next_update().await.unwrap() {
            if let Some(progress) = update.progress {
                assert_eq!((update.status.name(), progress.total), ("working", Some(9.0)));
                seen.push(progress.progress);
                shown.send(()).await.unwrap();
            }
        }
        assert_eq!(seen, [1.0, 3.0]);
        assert_eq!(success(task.result().await), "done");
    };
    zip(hand, run).await;
}
