//! What a server learns of its clients outside of requests, and what it sends them there.

use std::sync::Mutex;
use std::sync::mpsc::channel;

use mcp_adapter::proto::schema::{
    self, CreateMessage, CreateMessageResult, Level, ListRoots, Ping, Role, Root,
};
use mcp_adapter::proto::tasks::TaskLimits;
use mcp_adapter::proto::{CallError, Capability, Misuse, Raw, Revision};
use mcp_adapter::{Client, ClientHandle, ClientTasks, Cx, Error, Server, Tool};
use mcp_adapter_tests::{
    Runtime, call_by_hand, client, full_server, pair, rows, serve_by_hand, server, success, tool,
};
use serde_json::{Value, json};
use smol::channel::{Receiver, unbounded};
use smol::future::poll_once;

rows! {
    notifications_reach_the_application_in_order,
    changed_roots_are_a_notification,
    a_slow_callback_loses_no_notification,
    a_session_receives_log_messages_outside_of_requests,
    log_messages_of_the_modern_era_belong_to_requests,
    a_server_asks_a_session_outside_of_requests,
    tools_for_sampling_outside_of_requests_are_readable,
    a_request_ends_with_its_connection_and_when_dropped,
    a_handle_outlives_its_connection,
    both_sides_declare_experimental_features_and_revisions,
}

fn name(client: &ClientHandle) -> String {
    client.peer().map(|peer| peer.info.name.clone()).unwrap_or_default()
}

async fn notifications_reach_the_application_in_order<R: Runtime>() {
    let (says, heard) = unbounded();
    let server = full_server().on_notification(move |method, params, client| {
        let params: Option<Value> = params.map(|params| params.parse().unwrap());
        assert!(client.principal().is_none());
        says.try_send((method.to_owned(), params, name(client))).unwrap();
    });
    let (hand, _serving) = serve_by_hand::<R>(server).await;
    let hand = call_by_hand(hand, |hand| {
        hand.say_all(&[
            json!({"jsonrpc": "2.0", "method": "x/one", "params": {"a": 1}}),
            json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}),
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {
                "requestId": 99}}),
            json!({"jsonrpc": "2.0", "method": "x/two"}),
        ]);
    })
    .await;
    for (method, params) in [
        ("x/one", Some(json!({"a": 1}))),
        ("notifications/roots/list_changed", None),
        ("x/two", None),
    ] {
        assert_eq!(heard.recv().await.unwrap(), (method.into(), params, "hand".into()));
    }
    drop(hand);
}

async fn changed_roots_are_a_notification<R: Runtime>() {
    let (says, heard) = unbounded();
    let server = full_server().on_notification(move |method, _, client| {
        says.try_send(format!("{method} of {}", name(client))).unwrap();
    });
    let client = client()
        .revisions(&Revision::LEGACY)
        .on_roots(Vec::new)
        .configure(|config| config.capability(Capability::RootsListChanged));
    let (connection, _serving) = pair::<R>(client, server).await;
    connection.notify_raw("notifications/roots/list_changed", None).await.unwrap();
    connection.notify_raw("x/other", None).await.unwrap();
    assert_eq!(heard.recv().await.unwrap(), "notifications/roots/list_changed of row");
    assert_eq!(heard.recv().await.unwrap(), "x/other of row");
}

/// The queue of callbacks holds 1,024, and reading stops while it is full.
async fn a_slow_callback_loses_no_notification<R: Runtime>() {
    const COUNT: u64 = 3_000;
    let (says, heard) = unbounded();
    let (release, released) = channel::<()>();
    let released = Mutex::new(released);
    let server = full_server().on_notification(move |_, params, _| {
        let _is_released = released.lock().unwrap().recv();
        let params: Value = params.unwrap().parse().unwrap();
        says.try_send(params["number"].as_u64().unwrap()).unwrap();
    });
    let (connection, serving) = pair::<R>(client().revisions(&Revision::LEGACY), server).await;
    let sending = connection.clone();
    R::run(async move {
        for number in 0..COUNT {
            let params = json!({"number": number});
            sending.notify_raw("x/count", Some(&params)).await.unwrap();
        }
    });
    drop(release);
    for number in 0..COUNT {
        assert_eq!(heard.recv().await.unwrap(), number);
    }
    connection.clone().close().await.unwrap();
    serving.ends_well().await;
}

/// Builds a server that passes on the handle of each client that opens a session or calls `greet`.
fn host() -> (Server, Receiver<ClientHandle>) {
    let (says, heard) = unbounded();
    let also = says.clone();
    let server = server()
        .logging()
        .on_session(move |client| says.try_send(client.clone()).unwrap())
        .add(Tool::define(tool("greet"), move |cx: Cx| {
            also.try_send(cx.client()).unwrap();
            "well"
        }));
    (server, heard)
}

async fn a_session_receives_log_messages_outside_of_requests<R: Runtime>() {
    let (server, handles) = host();
    let (says, logged) = unbounded();
    let client = client().revisions(&Revision::LEGACY).on_notification(move |method, params, _| {
        let params: Value = params.unwrap().parse().unwrap();
        says.try_send((method.to_owned(), params["data"].clone())).unwrap();
    });
    let (connection, _serving) = pair::<R>(client, server).await;
    let handle = handles.recv().await.unwrap();
    assert_eq!(name(&handle), "row");
    handle.log(Level::Error, "outside").unwrap();
    let log = ("notifications/message".to_owned(), json!("outside"));
    assert_eq!(logged.recv().await.unwrap(), log);
    connection.set_log_level(Level::Critical).await.unwrap();
    handle.log(Level::Error, "too low").unwrap();
    handle.log(Level::Alert, "grave").unwrap();
    assert_eq!(logged.recv().await.unwrap().1, "grave");
}

async fn log_messages_of_the_modern_era_belong_to_requests<R: Runtime>() {
    let (server, handles) = host();
    let client: Client = client().revisions(&[Revision::V2026_07_28]);
    let (connection, _serving) = pair::<R>(client, server).await;
    assert_eq!(success(connection.call_tool("greet", &json!({})).await), "well");
    let handle = handles.recv().await.unwrap();
    assert_eq!(name(&handle), "row");
    assert_eq!(handle.log(Level::Error, "outside"), Err(Misuse::Unsupported));
    let asked = handle.request(ListRoots::new()).await;
    assert!(matches!(asked, Err(Error::Misuse(Misuse::Unsupported))), "{asked:?}");
}

async fn a_server_asks_a_session_outside_of_requests<R: Runtime>() {
    let (says, listed) = unbounded();
    let server = full_server().on_notification(move |_, _, client| {
        client.request(Ping::new()).wait().unwrap();
        let refused = client.request(CreateMessage::new(Vec::new(), 1)).wait().map(drop);
        assert!(matches!(refused, Err(Error::Misuse(Misuse::Undeclared))), "{refused:?}");
        let roots = client.request(ListRoots::new()).wait().unwrap().roots;
        says.try_send(roots.iter().map(|root| root.uri.clone()).collect::<Vec<_>>()).unwrap();
    });
    let client = client()
        .revisions(&Revision::LEGACY)
        .on_roots(|| vec![Root::new("file:///home")])
        .configure(|config| config.capability(Capability::RootsListChanged));
    let (connection, serving) = pair::<R>(client, server).await;
    connection.notify_raw("notifications/roots/list_changed", None).await.unwrap();
    assert_eq!(listed.recv().await.unwrap(), ["file:///home"]);
    connection.clone().close().await.unwrap();
    serving.ends_well().await;
}

// G-01: some clients refuse boolean schemas.
async fn tools_for_sampling_outside_of_requests_are_readable<R: Runtime>() {
    let (says, schemas) = unbounded();
    let client = client()
        .revisions(&[Revision::V2025_11_25])
        .on_sampling(move |request: CreateMessage| {
            let tools = request.tools.unwrap_or_default();
            says.try_send(tools[0].input_schema.to_string()).unwrap();
            Ok(CreateMessageResult::new(Role::Assistant, "hello", "model"))
        })
        .configure(|config| config.capability(Capability::SamplingTools))
        .extension(ClientTasks::new().answer_as_tasks(TaskLimits::default()));
    let (server, handles) = host();
    let (_connection, _serving) = pair::<R>(client, server).await;
    let handle = handles.recv().await.unwrap();
    let schema = Raw::from_text(r#"{"type":"object","properties":{"a":true}}"#).unwrap();
    let sample =
        || CreateMessage::new(Vec::new(), 1).tools([schema::Tool::new("t", schema.clone())]);
    handle.request(sample()).await.unwrap();
    handle.request_task(sample(), None).await.unwrap().result().await.unwrap();
    for _ in 0..2 {
        let schema = schemas.recv().await.unwrap();
        assert_eq!(schema, r#"{"type":"object","properties":{"a":{}}}"#);
    }
}

async fn a_request_ends_with_its_connection_and_when_dropped<R: Runtime>() {
    let (server, handles) = host();
    let (hand, _serving) = serve_by_hand::<R>(server).await;
    let handle = handles.recv().await.unwrap();
    let mut asking = Box::pin(handle.request(Ping::new()));
    assert!(poll_once(&mut asking).await.is_none());
    let hand = call_by_hand(hand, |hand| assert_eq!(hand.hear()["method"], "ping")).await;
    drop(asking);
    let cancelled = "notifications/cancelled";
    let hand = call_by_hand(hand, move |hand| assert_eq!(hand.hear()["method"], cancelled)).await;
    let mut asking = Box::pin(handle.request(Ping::new()));
    assert!(poll_once(&mut asking).await.is_none());
    drop(hand);
    let lost = asking.await;
    assert!(matches!(lost, Err(Error::Call(CallError::Lost))), "{lost:?}");
}

async fn a_handle_outlives_its_connection<R: Runtime>() {
    let (server, handles) = host();
    let (connection, serving) = pair::<R>(client().revisions(&Revision::LEGACY), server).await;
    let handle = handles.recv().await.unwrap();
    connection.clone().close().await.unwrap();
    serving.ends_well().await;
    assert_eq!(handle.log(Level::Error, "late"), Err(Misuse::Closed));
    assert_eq!(name(&handle), "row");
}

async fn both_sides_declare_experimental_features_and_revisions<R: Runtime>() {
    let features =
        |name: &str| Raw::from_text(&format!(r#"{{"example.com/{name}":{{}}}}"#)).unwrap();
    let server = server()
        .revisions(&[Revision::V2025_03_26, Revision::V2025_06_18])
        .configure(|config| config.experimental(features("of-server")))
        .add(Tool::define(tool("seen"), |cx: Cx| {
            cx.peer().capabilities.raw().map(ToString::to_string).unwrap_or_default()
        }));
    let client = client().configure(|config| config.experimental(features("of-client")));
    let (connection, _serving) = pair::<R>(client, server).await;
    let seen = success(connection.call_tool("seen", &json!({})).await);
    assert!(seen.contains(r#""experimental":{"example.com/of-client":{}}"#), "{seen}");
    let peer = connection.peer();
    assert_eq!(peer.revision, Revision::V2025_06_18);
    let declared = peer.capabilities.raw().unwrap().member("experimental");
    assert_eq!(declared, Some(features("of-server")));
}
