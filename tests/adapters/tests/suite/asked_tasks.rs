//! Requests of servers that clients run as tasks, in revision 2025-11-25: both roles, and each
//! against a scripted peer.

use mcp_adapter::ClientCx;
use std::time::Duration;

use mcp_adapter::proto::schema::{
    CreateMessage, CreateMessageResult, Elicit, ElicitAction, ElicitResult, ListRoots, Role,
    TaskStatus,
};
use mcp_adapter::proto::tasks::TaskLimits;
use mcp_adapter::proto::{CallError, Capability, Era, ErrorObject, Misuse, Raw, Revision};
use mcp_adapter::{Client, ClientHandle, ClientTasks, Connection, Error, Server};
use mcp_adapter_tests::{Hand, Runtime, call_by_hand, client, pair, rows, server};
use serde_json::{Value, json};
use smol::channel::{Receiver, Sender, bounded};
use smol::future::zip;
use smol::unblock;

use crate::served_tasks::by_hand;
use crate::task_script::{connect_to, hears};

rows! {
    a_client_runs_requests_as_tasks,
    a_failed_handler_fails_its_task,
    a_cancelled_task_stops_the_handler_of_the_client,
    tasks_of_a_client_end_with_their_time,
    the_tasks_of_a_client_are_bounded,
    a_client_that_declares_no_tasks_is_not_asked_for_any,
    a_client_without_tasks_ignores_that_one_is_asked_for,
    results_of_clients_wait_and_carry_their_task,
    tasks_of_a_client_end_with_the_connection,
    a_server_polls_as_the_client_wishes,
    a_request_that_is_given_up_cancels_its_late_task,
    an_answer_without_a_task_is_the_result,
    a_cancellation_may_be_dropped_and_repeated,
    a_task_that_cannot_be_cancelled_continues,
    the_time_of_a_task_ends_without_further_requests,
}

/// Limits that let servers poll quickly.
fn limits() -> TaskLimits {
    TaskLimits { poll_interval: Duration::from_millis(1), ..TaskLimits::default() }
}

fn legacy(client: Client) -> Client {
    client.revisions(&[Revision::V2025_11_25])
}

fn form() -> Elicit {
    Elicit::form("Sure?", Raw::empty_object())
}

fn sample() -> CreateMessage {
    CreateMessage::new(Vec::new(), 10)
}

/// A server that hands out the handle of its client.
fn server_of_handles() -> (Server, Receiver<ClientHandle>) {
    let (give, take) = bounded(1);
    let server = server().on_session(move |client| {
        let _given = give.try_send(client.clone());
    });
    (server, take)
}

/// A client whose form handler waits for a signal.
fn gated() -> (Client, Sender<()>) {
    let (open, gate): (_, Receiver<()>) = bounded(8);
    let client = client().on_elicitation(move || {
        let gate = gate.clone();
        async move {
            let _open = gate.recv().await;
            ElicitResult::decline()
        }
    });
    (legacy(client).extension(ClientTasks::new().answer_as_tasks(limits())), open)
}

/// A client whose form handler runs until it is cancelled. Returns where it tells that it has
/// begun, and whether it was cancelled.
fn sleeping() -> (Client, Receiver<()>, Receiver<bool>) {
    let ((began, begins), (ended, ends)) = (bounded(1), bounded(1));
    let client = client().on_elicitation(move |cx: ClientCx| {
        let _began = began.send_blocking(());
        let _ended = ended.send_blocking(cx.sleep(Duration::from_secs(60)).wait());
        ElicitResult::cancel()
    });
    (legacy(client).extension(ClientTasks::new().answer_as_tasks(limits())), begins, ends)
}

// TSK-01, TSK-08, TSK-14
async fn a_client_runs_requests_as_tasks<R: Runtime>() {
    let (client, open) = gated();
    let client =
        client.on_sampling(|| Ok(CreateMessageResult::new(Role::Assistant, "hello", "model")));
    let (server, handles) = server_of_handles();
    let (_connection, _serving) = pair::<R>(client, server).await;
    let handle = handles.recv().await.unwrap();
    let ttl = Some(Duration::from_secs(60));
    let mut task = handle.request_task(form(), ttl).await.unwrap();
    assert!(task.id().is_some() && !task.is_over());
    let first = task.next_update().await.unwrap().unwrap();
    assert_eq!(first.status, TaskStatus::Working);
    open.send(()).await.unwrap();
    for _ in 0..2 {
        assert_eq!(task.result().await.unwrap().action, ElicitAction::Decline);
    }
    task.cancel().await.unwrap();
    // The blocking methods, on a separate thread.
    let sampled = unblock(move || {
        let mut task = handle.request_task(sample(), None).wait().unwrap();
        let sampled = task.result().wait().unwrap();
        assert_eq!(task.next_update().wait().unwrap(), None);
        (task.is_over(), sampled.model)
    });
    assert_eq!(sampled.await, (true, "model".to_owned()));
}

// TSK-13
async fn a_failed_handler_fails_its_task<R: Runtime>() {
    let client = legacy(client().on_sampling(|| Err(ErrorObject::new(-7, "no"))));
    let (server, handles) = server_of_handles();
    let (_connection, _serving) =
        pair::<R>(client.extension(ClientTasks::new().answer_as_tasks(limits())), server).await;
    let handle = handles.recv().await.unwrap();
    let mut task = handle.request_task(sample(), None).await.unwrap();
    match task.result().await {
        Err(Error::Call(CallError::Refused(error))) => assert_eq!(error.code, -7),
        other => panic!("{other:?}"),
    }
}

// TSK-18, CAN-10
async fn a_cancelled_task_stops_the_handler_of_the_client<R: Runtime>() {
    let (client, begins, ends) = sleeping();
    let (server, handles) = server_of_handles();
    let (_connection, _serving) = pair::<R>(client, server).await;
    let handle = handles.recv().await.unwrap();
    let mut task = handle.request_task(form(), None).await.unwrap();
    begins.recv().await.unwrap();
    task.cancel().await.unwrap();
    assert!(ends.recv().await.unwrap(), "the handler was not cancelled");
    let over = task.result().await;
    assert!(matches!(over, Err(Error::Call(CallError::Cancelled))), "{over:?}");
}

// TSK-12
async fn tasks_of_a_client_end_with_their_time<R: Runtime>() {
    let (client, begins, ends) = sleeping();
    let (server, handles) = server_of_handles();
    let (_connection, _serving) = pair::<R>(client, server).await;
    let handle = handles.recv().await.unwrap();
    let ttl = Some(Duration::from_millis(20));
    let mut task = handle.request_task(form(), ttl).await.unwrap();
    match task.result().await {
        // Both sides watch the time.
        Err(Error::Call(CallError::Refused(_) | CallError::TimedOut)) => {}
        other => panic!("{other:?}"),
    }
    // On a busy machine, the time may be over before the handler begins.
    if begins.try_recv().is_ok() {
        assert!(ends.recv().await.unwrap(), "the handler was not stopped");
    }
}

async fn the_tasks_of_a_client_are_bounded<R: Runtime>() {
    let (client, open) = gated();
    let client = client
        .extension(ClientTasks::new().answer_as_tasks(TaskLimits { tasks_max: 1, ..limits() }));
    let (server, handles) = server_of_handles();
    let (_connection, _serving) = pair::<R>(client, server).await;
    let handle = handles.recv().await.unwrap();
    let mut first = handle.request_task(form(), None).await.unwrap();
    match handle.request_task(form(), None).await {
        Err(Error::Call(CallError::Refused(error))) => {
            assert!(error.message.contains("TaskLimits::tasks_max"), "{error}");
        }
        other => panic!("{other:?}"),
    }
    // A plain request needs no task.
    open.send(()).await.unwrap();
    open.send(()).await.unwrap();
    handle.request(form()).await.unwrap();
    first.result().await.unwrap();
    // A result that was fetched makes room.
    drop(handle.request_task(form(), None).await.unwrap());
}

// TSK-01, TSK-02
async fn a_client_that_declares_no_tasks_is_not_asked_for_any<R: Runtime>() {
    let forms = || client().on_elicitation(ElicitResult::decline);
    let sampling = || forms().configure(|config| config.capability(Capability::Sampling));
    for (client, is_form, expected) in [
        (legacy(forms()), true, Misuse::Undeclared),
        // It declares the requests for which it has handlers.
        (
            legacy(sampling()).extension(ClientTasks::new().answer_as_tasks(limits())),
            false,
            Misuse::Undeclared,
        ),
        (
            forms()
                .extension(ClientTasks::new().answer_as_tasks(limits()))
                .revisions(&[Revision::V2025_06_18]),
            true,
            Misuse::Unsupported,
        ),
    ] {
        let (server, handles) = server_of_handles();
        let (_connection, _serving) = pair::<R>(client, server).await;
        let handle = handles.recv().await.unwrap();
        let refused = match is_form {
            true => handle.request_task(form(), None).await.map(drop),
            false => handle.request_task(sample(), None).await.map(drop),
        };
        assert!(matches!(&refused, Err(Error::Misuse(it)) if *it == expected), "{refused:?}");
        let roots = handle.request_task(ListRoots::new(), None).await;
        assert!(matches!(roots, Err(Error::Misuse(Misuse::Unsupported))), "{roots:?}");
        assert_eq!(handle.request(form()).await.unwrap().action, ElicitAction::Decline);
    }
}

/// Connects a client to a scripted server.
async fn to_hand<R: Runtime>(client: Client) -> (Connection, Hand) {
    connect_to::<R>(client, Era::Legacy, json!({})).await
}

fn asks(hand: &mut Hand, id: u64) {
    let params = json!({"message": "Sure?", "requestedSchema": {}, "task": {"ttl": 60_000}});
    hand.request(id, "elicitation/create", &params);
}

/// Receives the response to a request.
fn hears_response(hand: &mut Hand, id: u64) -> Value {
    loop {
        let message = hand.hear();
        if message["id"] == id {
            return message;
        }
        assert_eq!(message["method"], "notifications/tasks/status", "{message}");
    }
}

// TSK-07
async fn a_client_without_tasks_ignores_that_one_is_asked_for<R: Runtime>() {
    let client = legacy(client().on_elicitation(ElicitResult::decline));
    let (connection, hand) = to_hand::<R>(client).await;
    call_by_hand(hand, |hand| {
        asks(hand, 1);
        assert_eq!(hears_response(hand, 1)["result"], json!({"action": "decline"}));
        hand.request(2, "tasks/list", &json!({}));
        assert_eq!(hears_response(hand, 2)["error"]["code"], -32601);
    })
    .await;
    drop(connection);
}

// TSK-08, TSK-13, TSK-15, TSK-16, TSK-17, TSK-18, TSK-19, TSK-20
async fn results_of_clients_wait_and_carry_their_task<R: Runtime>() {
    let (client, open) = gated();
    let client = client
        .extension(ClientTasks::new().answer_as_tasks(TaskLimits { page_max: 1, ..limits() }));
    let (connection, hand) = to_hand::<R>(client).await;
    call_by_hand(hand, move |hand| {
        let mut ids = Vec::new();
        for number in [1, 2] {
            asks(hand, number);
            let created = hears_response(hand, number)["result"]["task"].take();
            assert_eq!((&created["status"], &created["ttl"]), (&json!("working"), &json!(60_000)));
            assert_eq!(created["pollInterval"], 1, "{created}");
            ids.push(json!({"taskId": created["taskId"]}));
        }
        hand.request(3, "tasks/list", &json!({}));
        let mut page = hears_response(hand, 3)["result"].take();
        assert_eq!(page["tasks"][0]["taskId"], ids[0]["taskId"], "{page}");
        hand.request(4, "tasks/list", &json!({"cursor": page["nextCursor"].take()}));
        let page = hears_response(hand, 4)["result"].take();
        assert_eq!(page["tasks"][0]["taskId"], ids[1]["taskId"], "{page}");
        assert!(page.get("nextCursor").is_none(), "{page}");
        // One wait is withdrawn, the other one is answered.
        hand.request(5, "tasks/result", &ids[0]);
        hand.notify("notifications/cancelled", &json!({"requestId": 5}));
        hand.request(6, "tasks/result", &ids[0]);
        hand.request(7, "tasks/get", &ids[0]);
        assert_eq!(hears_response(hand, 7)["result"]["status"], "working");
        // The handlers wait in their own order.
        open.send_blocking(()).unwrap();
        open.send_blocking(()).unwrap();
        let mut completed = 0;
        let result = loop {
            let message = hand.hear();
            if message["method"] == "notifications/tasks/status" {
                assert!(message["params"]["_meta"].is_null(), "{message}");
                completed += usize::from(message["params"]["status"] == "completed");
                continue;
            }
            break message;
        };
        assert_eq!((&result["id"], &result["result"]["action"]), (&json!(6), &json!("decline")));
        let related = &result["result"]["_meta"]["io.modelcontextprotocol/related-task"];
        assert_eq!(*related, ids[0], "{result}");
        hand.request(8, "tasks/result", &ids[1]);
        let second = loop {
            let message = hand.hear();
            completed += usize::from(message["params"]["status"] == "completed");
            if message["id"] == 8 {
                break message;
            }
        };
        assert_eq!(second["result"]["action"], "decline", "{second}");
        hand.request(9, "tasks/cancel", &ids[0]);
        loop {
            let message = hand.hear();
            completed += usize::from(message["params"]["status"] == "completed");
            if message["id"] == 9 {
                assert_eq!(message["error"]["code"], -32602, "{message}");
                break;
            }
        }
        assert_eq!(completed, 2, "the client tells the server about its tasks");
        for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
            hand.request(10, method, &json!({"taskId": "other"}));
            let refused = hears_response(hand, 10);
            assert_eq!(refused["error"]["code"], -32602, "{method}: {refused}");
        }
        hand.request(11, "tasks/get", &json!({"taskId": 7}));
        assert_eq!(hears_response(hand, 11)["error"]["code"], -32602);
    })
    .await;
    drop(connection);
}

async fn tasks_of_a_client_end_with_the_connection<R: Runtime>() {
    let (client, begins, ends) = sleeping();
    let (connection, hand) = to_hand::<R>(client).await;
    let hand = call_by_hand(hand, move |hand| {
        asks(hand, 1);
        assert!(hears_response(hand, 1)["result"]["task"].is_object());
        begins.recv_blocking().unwrap();
    })
    .await;
    drop(hand);
    assert!(ends.recv().await.unwrap(), "the handler was not stopped");
    drop(connection);
}

/// What a client declares that runs forms as tasks.
fn task_client() -> Value {
    json!({
        "elicitation": {},
        "tasks": {"cancel": {}, "requests": {"elicitation": {"create": {}}}},
    })
}

fn task(status: &str) -> Value {
    json!({"taskId": "t", "status": status, "createdAt": "", "lastUpdatedAt": "",
        "ttl": 60_000, "pollInterval": 1})
}

/// Connects a scripted client to a server. Returns the handle of the client.
async fn hand_to<R: Runtime>() -> (ClientHandle, Hand) {
    let (server, handles) = server_of_handles();
    let mut hand = by_hand::<R>(&server);
    let hand = unblock(move || {
        hand.greet(&task_client());
        hand
    })
    .await;
    (handles.recv().await.unwrap(), hand)
}

// TSK-14, TSK-15, TSK-17, TSK-22
async fn a_server_polls_as_the_client_wishes<R: Runtime>() {
    let (handle, hand) = hand_to::<R>().await;
    let hand = call_by_hand(hand, |hand| {
        let asked = hears(hand, "elicitation/create");
        assert_eq!(asked["params"]["task"], json!({"ttl": 5000}), "{asked}");
        hand.answer(&asked, &json!({"task": task("working")}));
        for status in ["working", "completed"] {
            let get = hears(hand, "tasks/get");
            assert_eq!(get["params"], json!({"taskId": "t"}), "{get}");
            hand.answer(&get, &task(status));
        }
        let fetch = hears(hand, "tasks/result");
        assert_eq!(fetch["params"], json!({"taskId": "t"}), "{fetch}");
        hand.answer(&fetch, &json!({"action": "accept", "content": {}}));
    });
    let run = async {
        let ttl = Some(Duration::from_secs(5));
        let mut task = handle.request_task(form(), ttl).await.unwrap();
        assert_eq!(task.id(), Some("t"));
        assert_eq!(task.result().await.unwrap().action, ElicitAction::Accept);
    };
    zip(hand, run).await;
}

// CAN-10
async fn a_request_that_is_given_up_cancels_its_late_task<R: Runtime>() {
    let (handle, hand) = hand_to::<R>().await;
    let (asked, is_asked) = bounded(1);
    let (given_up, is_given_up) = bounded(1);
    let hand = call_by_hand(hand, move |hand| {
        let request = hears(hand, "elicitation/create");
        asked.send_blocking(()).unwrap();
        is_given_up.recv_blocking().unwrap();
        hand.answer(&request, &json!({"task": task("working")}));
        // No `notifications/cancelled` comes before.
        let cancel = hears(hand, "tasks/cancel");
        assert_eq!(cancel["params"], json!({"taskId": "t"}), "{cancel}");
        hand.answer(&cancel, &task("cancelled"));
    });
    let run = async {
        let request = async {
            let _never = handle.request_task(form(), None).await;
            panic!("the request was answered");
        };
        smol::future::or(request, async { is_asked.recv().await.unwrap() }).await;
        given_up.send(()).await.unwrap();
    };
    zip(hand, run).await;
}

async fn an_answer_without_a_task_is_the_result<R: Runtime>() {
    let (handle, hand) = hand_to::<R>().await;
    let hand = call_by_hand(hand, |hand| {
        let asked = hears(hand, "elicitation/create");
        hand.answer(&asked, &json!({"action": "decline"}));
    });
    let run = async {
        let mut task = handle.request_task(form(), None).await.unwrap();
        assert_eq!((task.id(), task.is_over()), (None, true));
        assert_eq!(task.result().await.unwrap().action, ElicitAction::Decline);
    };
    zip(hand, run).await;
}

async fn a_cancellation_may_be_dropped_and_repeated<R: Runtime>() {
    let (handle, hand) = hand_to::<R>().await;
    let (cancelling, is_cancelling) = bounded(1);
    let (dropped, is_dropped) = bounded(1);
    let hand = call_by_hand(hand, move |hand| {
        let asked = hears(hand, "elicitation/create");
        hand.answer(&asked, &json!({"task": task("working")}));
        let cancel = hears(hand, "tasks/cancel");
        cancelling.send_blocking(()).unwrap();
        is_dropped.recv_blocking().unwrap();
        hand.answer(&cancel, &task("cancelled"));
    });
    let run = async {
        let mut task = handle.request_task(form(), None).await.unwrap();
        let first = async {
            let _never = task.cancel().await;
            panic!("the cancellation was answered");
        };
        smol::future::or(first, async { is_cancelling.recv().await.unwrap() }).await;
        let again = async { task.cancel().await.unwrap() };
        zip(again, async { dropped.send(()).await.unwrap() }).await;
        assert!(matches!(task.result().await, Err(Error::Call(CallError::Cancelled))));
    };
    zip(hand, run).await;
}

async fn a_task_that_cannot_be_cancelled_continues<R: Runtime>() {
    let (server, handles) = server_of_handles();
    let mut hand = by_hand::<R>(&server);
    let hand = unblock(move || {
        let tasks = json!({"requests": {"elicitation": {"create": {}}}});
        hand.greet(&json!({"elicitation": {}, "tasks": tasks}));
        hand
    })
    .await;
    let handle = handles.recv().await.unwrap();
    let hand = call_by_hand(hand, |hand| {
        let asked = hears(hand, "elicitation/create");
        hand.answer(&asked, &json!({"task": task("working")}));
        let get = hears(hand, "tasks/get");
        hand.answer(&get, &task("completed"));
        let fetch = hears(hand, "tasks/result");
        hand.answer(&fetch, &json!({"action": "decline"}));
    });
    let run = async {
        let mut task = handle.request_task(form(), None).await.unwrap();
        let refused = task.cancel().await;
        assert!(matches!(refused, Err(Error::Misuse(Misuse::Undeclared))), "{refused:?}");
        assert_eq!(task.result().await.unwrap().action, ElicitAction::Decline);
    };
    zip(hand, run).await;
}

// TSK-12
async fn the_time_of_a_task_ends_without_further_requests<R: Runtime>() {
    let (client, begins, ends) = sleeping();
    let (connection, hand) = to_hand::<R>(client).await;
    let hand = call_by_hand(hand, move |hand| {
        hand.request(
            1,
            "elicitation/create",
            &json!({
            "mode": "form", "message": "Sure?", "task": {"ttl": 1_000},
            "requestedSchema": {"type": "object", "properties": {}}}),
        );
        let created = hears_response(hand, 1);
        let id = &created["result"]["task"]["taskId"];
        hand.request(2, "tasks/result", &json!({"taskId": id}));
        begins.recv_blocking().unwrap();
        assert_eq!(hears_response(hand, 2)["error"]["code"], -32602);
    })
    .await;
    assert!(ends.recv().await.unwrap(), "the handler was not stopped");
    drop((connection, hand));
}
