//! Callbacks of clients over HTTP, which may block, make calls and end their connection.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};

use mcp_adapter::Connection;
use mcp_adapter::proto::Revision;
use mcp_adapter::proto::schema::Level;
use mcp_adapter_tests::{client, rows, shop, success};
use mcp_http_client_tests::{Connected, OverHttp, Served, Site, modern};
use serde_json::json;
use smol::channel::unbounded;
use smol::future::block_on;

use crate::modern_client;

rows! {
    an_authorization_that_blocks_delays_no_other_call,
    a_callback_about_a_challenge_may_wait_for_a_call,
    a_callback_about_a_notification_may_call_and_drop_the_last_handle,
}

async fn echoes(connection: &Connection) {
    assert_eq!(success(connection.call_tool("echo", &json!({"text": "on"})).await), "on");
}

async fn an_authorization_that_blocks_delays_no_other_call<R: OverHttp>() {
    let site = Site::new(modern);
    let (says, begun) = unbounded();
    let (release, released) = channel::<()>();
    let (is_slow, released) = (Arc::new(AtomicBool::new(false)), Mutex::new(released));
    let blocks = Arc::clone(&is_slow);
    let remote = site.remote().authorization(move || {
        if blocks.load(Ordering::SeqCst) {
            says.try_send(()).unwrap();
            let _is_released = released.lock().unwrap().recv();
        }
        Some("Bearer good".into())
    });
    let slow = R::connect_http(modern_client(), remote).await.unwrap();
    let other = R::connect_http(modern_client(), site.remote()).await.unwrap();
    is_slow.store(true, Ordering::SeqCst);
    let pending = slow.call_tool("echo", &json!({"text": "late"})).start().await.unwrap();
    begun.recv().await.unwrap();
    echoes(&other).await;
    drop(release);
    assert_eq!(success(pending.await), "late");
}

async fn a_callback_about_a_challenge_may_wait_for_a_call<R: OverHttp>() {
    let site = Site::new(|request, answer| match request.text() {
        "401" => answer.status(401, &[("www-authenticate", "Basic")], ""),
        _ => modern(request, answer),
    });
    let handle: Arc<Mutex<Option<Connection>>> = Arc::default();
    let (calling, (says, heard)) = (Arc::clone(&handle), unbounded());
    let remote = site.remote().on_challenge(move |_| {
        let connection = calling.lock().unwrap().take().unwrap();
        block_on(echoes(&connection));
        says.try_send(()).unwrap();
    });
    let connection = R::connect_http(modern_client(), remote).await.unwrap();
    *handle.lock().unwrap() = Some(connection.clone());
    connection.call_tool("echo", &json!({"text": "401"})).await.unwrap_err();
    heard.recv().await.unwrap();
}

async fn a_callback_about_a_notification_may_call_and_drop_the_last_handle<R: OverHttp>() {
    let served = Served::new(shop());
    let handle: Arc<Mutex<Option<Connected>>> = Arc::default();
    let (ending, (says, heard)) = (Arc::clone(&handle), unbounded());
    let client = client().revisions(&Revision::LEGACY).on_notification(move |_, _, _| {
        let taken = ending.lock().unwrap().take();
        if let Some(connection) = taken {
            block_on(echoes(&connection));
            drop(connection);
            says.try_send(()).unwrap();
        }
    });
    let connection = R::connect_http(client, served.remote()).await.unwrap();
    connection.set_log_level(Level::Debug).await.unwrap();
    let logging = connection.call_tool("log", &json!({"times": 1})).start().await.unwrap();
    *handle.lock().unwrap() = Some(connection);
    let _result_or_lost = logging.await;
    let taken = handle.lock().unwrap().take();
    // Otherwise, the notification came before the handle was stored.
    if taken.is_none() {
        heard.recv().await.unwrap();
    }
}
