//! Callbacks of the application, which may block, make calls and end their connection.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};

use mcp_adapter::proto::schema::Level;
use mcp_adapter::proto::{Filter, Revision};
use mcp_adapter::{Connection, Error, SubscriptionSettings};
use mcp_adapter_tests::{
    Runtime, call_by_hand, client, connect_by_hand, full_server, pair, rows, success,
};
use serde_json::json;
use smol::channel::unbounded;
use smol::future::block_on;

rows! {
    a_callback_that_blocks_delays_nothing_else,
    a_callback_may_wait_for_a_call,
    a_callback_may_drop_the_last_handle,
}

/// Returns a function that blocks until the sender is dropped.
fn blocker() -> (impl Fn() + Send + Sync, Sender<()>) {
    let (release, released) = channel();
    let released = Mutex::new(released);
    let block = move || {
        let _is_released = released.lock().unwrap().recv();
    };
    (block, release)
}

async fn echoes(connection: &Connection) {
    assert_eq!(success(connection.call_tool("echo", &json!({"text": "on"})).await), "on");
}

async fn a_callback_that_blocks_delays_nothing_else<R: Runtime>() {
    let (watched, release_server) = blocker();
    let (notified, release_client) = blocker();
    let server =
        full_server().subscriptions(SubscriptionSettings::new().on_change(move |_| watched()));
    let client = client().revisions(&Revision::LEGACY).on_notification(move |_, _, _| notified());
    let (connection, serving) = pair::<R>(client, server).await;
    let _listening = connection.subscribe(&Filter::new().resource("note://one")).await.unwrap();
    connection.set_log_level(Level::Debug).await.unwrap();
    assert_eq!(success(connection.call_tool("log", &json!({"times": 3})).await), "3");
    echoes(&connection).await;
    drop((release_server, release_client));
    connection.clone().close().await.unwrap();
    serving.ends_well().await;

    let (violated, release) = blocker();
    let (connection, hand) = connect_by_hand::<R>(client_with(violated)).await;
    let calling = connection.call_tool("any", &json!({})).start().await.unwrap();
    call_by_hand(hand, |hand| {
        hand.say(&json!({"jsonrpc": "2.0", "id": 99, "result": {}}));
        let call = hand.hear();
        hand.answer(&call, &json!({"content": [{"type": "text", "text": "well"}]}));
    })
    .await;
    assert_eq!(success(calling.await), "well");
    drop(release);
}

/// Builds a client that calls this function for violations.
fn client_with(violated: impl Fn() + Send + Sync + 'static) -> mcp_adapter::Client {
    client().on_violation(move |_, _| violated())
}

async fn a_callback_may_wait_for_a_call<R: Runtime>() {
    let handle: Arc<Mutex<Option<Connection>>> = Arc::default();
    let (says, heard) = unbounded();
    let calling = Arc::clone(&handle);
    let client = client().revisions(&Revision::LEGACY).on_notification(move |_, _, _| {
        let connection = calling.lock().unwrap().clone().unwrap();
        block_on(echoes(&connection));
        says.try_send(()).unwrap();
    });
    let (connection, serving) = pair::<R>(client, full_server()).await;
    *handle.lock().unwrap() = Some(connection.clone());
    connection.set_log_level(Level::Debug).await.unwrap();
    assert_eq!(success(connection.call_tool("log", &json!({"times": 3})).await), "3");
    for _ in 0..3 {
        heard.recv().await.unwrap();
    }
    *handle.lock().unwrap() = None;
    connection.clone().close().await.unwrap();
    serving.ends_well().await;
}

async fn a_callback_may_drop_the_last_handle<R: Runtime>() {
    let handle: Arc<Mutex<Option<Connection>>> = Arc::default();
    let (says, heard) = unbounded();
    let dropping = Arc::clone(&handle);
    let (violated, violation) = unbounded();
    let client = client_with(move || {
        block_on(violation.recv()).unwrap();
        drop(dropping.lock().unwrap().take().unwrap());
        says.try_send(()).unwrap();
    });
    let (connection, hand) = connect_by_hand::<R>(client).await;
    let lost = connection.call_tool("any", &json!({})).start().await.unwrap();
    *handle.lock().unwrap() = Some(connection);
    violated.try_send(()).unwrap();
    call_by_hand(hand, |hand| {
        hand.hear();
        hand.say(&json!({"jsonrpc": "2.0", "id": 99, "result": {}}));
        while hand.hear_or_end().is_some() {}
    })
    .await;
    heard.recv().await.unwrap();
    assert!(matches!(lost.await, Err(Error::Call(_))));
}
